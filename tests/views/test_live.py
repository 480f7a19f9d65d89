from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events.crew import ToolCallDecided
from midwatch.journal.events.jobs import JobApproved, JobClaimed, JobCreated, JobEnded, JobPlanned
from midwatch.journal.events.session import AskAnswered, AskOpened, RoundCalled, RoundEnded, RoundPlanned
from midwatch.journal.events.signals import MilestoneReached
from midwatch.rules.people.asks import silence_in_words
from midwatch.surfaces.web.site.pictures import LEFT, RIGHT, Ruler, merged, timeline_svg
from midwatch.terms.asks import AskDraft, AskKind, AskState, Silence
from midwatch.terms.jobs import Plan, Stage
from midwatch.terms.records import AskRow, JobRow
from midwatch.terms.report import WorkTally
from midwatch.views.entries.tags import MILESTONES, PHASES
from midwatch.views.pages.live.jobs import LAST_LINES, job_groups, job_shown, jobs_shown, last_line
from midwatch.views.pages.live.night import counts, feed_rows
from midwatch.views.pages.live.night_picture import IDLE, NightPicture, Span, in_words, night_picture
from midwatch.views.pages.live.open_asks import asks_shown, silence_parts
from midwatch.views.text.names import Names
from tests.views.learned_names import names_after
from tests.views.strategies import as_entries, journals

DUSK = datetime(2026, 3, 1, 21, 0, tzinfo=UTC)


def at(minutes: float, event: Event, seq: int) -> Entry:
    return Entry(seq=seq, at=DUSK + timedelta(minutes=minutes), actor="midwatch", key="", because=(), event=event)


def a_job(**more: object) -> JobRow:
    """A job with nothing in it: no words, no numbers, and None where that is allowed."""
    empty: dict[object, object] = {str: "", int: 0, bool: False}
    plain = {name: empty.get(info.annotation) for name, info in JobRow.model_fields.items()}
    fixed = {"id": "j1", "number": 1, "title": "Tidy", "state": "running", "stage": "plan", "created_at": DUSK}
    fixed |= {"isolation": "none", "failures": ()}
    return JobRow.model_validate(plain | fixed | more)


def an_ask(**more: object) -> AskRow:
    plain: dict[str, object] = dict.fromkeys(AskRow.model_fields, "")
    fixed = {
        "id": "a1", "number": 1, "kind": AskKind.APPROVE_PLAN, "question": "May I?", "options": ("yes", "no"),
        "priority": 5, "silence": Silence.APPROVED, "blocking": False, "subject": "j1", "shown_hash": "h",
        "state": AskState.OPEN, "created_at": DUSK, "due_at": DUSK + timedelta(minutes=20), "settled_at": None,
    }  # fmt: skip
    return AskRow.model_validate(plain | fixed | more)


def a_night() -> list[Entry]:
    created = JobCreated(
        job="j", session="s", run="r", project="p", work_item="w", title="Tidy <up>", agent="housekeeper"
    )
    claimed = JobClaimed(job="j", stage=Stage.MIRROR, attempt=1, epoch=1, worker="w")
    planned = JobPlanned(job="j", epoch=1, version=1, plan=Plan(summary="Edit."), plan_hash="h")
    asked = AskOpened(ask="a", session="s", draft=AskDraft(kind=AskKind.APPROVE_PLAN, question="May I?"), due_at=DUSK)
    round_planned = RoundPlanned(
        session="s", number=1, brain="rules", summary="begin", sensed={}, proposals=(), next_in_seconds=60
    )
    return [
        at(0, RoundCalled(session="s", number=1, why="start"), 1),
        at(1, round_planned, 2),
        at(2, RoundEnded(session="s", number=1, next_at=DUSK), 3),
        at(2, created, 4),
        at(3, claimed, 5),
        at(5, planned, 6),
        at(5, asked, 7),
        at(15, AskAnswered(ask="a", answer="yes", by="ann"), 8),
        at(15, JobApproved(job="j", by="ann", plan_hash="h"), 9),
        at(25, JobEnded(job="j", epoch=1, state="done", why=""), 10),
        at(90, RoundCalled(session="s", number=2, why="timer"), 11),
    ]


def test_a_night_is_spans_by_phase_and_its_silence_is_folded() -> None:
    picture = night_picture(a_night(), DUSK, DUSK + timedelta(minutes=95))
    seen = [
        (one.lane, (one.begin - DUSK).seconds // 60, (one.end - DUSK).seconds // 60, one.going) for one in picture.spans
    ]
    assert seen == [
        ("sense", 0, 1, False),
        ("plan", 1, 2, False),
        ("job", 3, 5, False),
        ("ask", 5, 15, False),
        ("job", 15, 25, False),
        ("sense", 90, 95, True),
    ]
    (fold,) = picture.folds
    assert ((fold.begin - DUSK).seconds // 60, (fold.end - DUSK).seconds // 60) == (25, 90)
    assert in_words(picture) == "The night so far, 1 h 35 min: 2 rounds, 1 job, 1 ask, 1 h 5 min idle and folded."


def test_the_quiet_since_the_last_thing_is_folded_too() -> None:
    first = a_night()[:3]
    assert not night_picture(first, DUSK, DUSK + timedelta(minutes=12)).folds
    (fold,) = night_picture(first, DUSK, DUSK + timedelta(minutes=13)).folds
    assert (fold.begin, fold.end) == (DUSK + timedelta(minutes=2), DUSK + timedelta(minutes=13))


def test_time_runs_to_the_right_and_stays_inside_the_picture() -> None:
    ruler = Ruler(night_picture(a_night(), DUSK, DUSK + timedelta(minutes=95)))
    places = [ruler.at(DUSK + timedelta(minutes=minute)) for minute in range(-5, 101)]
    assert places == sorted(places)
    assert places[0] == LEFT
    assert places[-1] == pytest.approx(RIGHT)
    folded = ruler.at(DUSK + timedelta(minutes=90)) - ruler.at(DUSK + timedelta(minutes=25))
    assert folded == pytest.approx(ruler.fold)


def test_a_long_night_stays_a_small_picture_and_hides_nothing() -> None:
    called = [RoundCalled(session="s", number=number, why="timer") for number in range(2000)]
    ended = [RoundEnded(session="s", number=number, next_at=DUSK) for number in range(2000)]
    both = [event for pair in zip(called, ended, strict=True) for event in pair]
    entries = as_entries(list(both), step=timedelta(seconds=9))
    picture = night_picture(entries, entries[0].at, entries[-1].at)
    bars = merged(picture.spans, Ruler(picture))
    assert sum(bar.count for bar in bars) == len(picture.spans) == 2000
    assert len(timeline_svg(picture)) < 60_000


def test_two_asks_at_once_lie_beside_each_other() -> None:
    def ask(seq: int, begin: int, end: int) -> Span:
        moments = {"begin": DUSK + timedelta(minutes=begin), "end": DUSK + timedelta(minutes=end)}
        return Span(lane="ask", seq=seq, what=f"ask {seq}", going=False, **moments)

    spans = ask(1, 0, 40), ask(2, 10, 20), ask(3, 45, 60)
    picture = NightPicture(begin=DUSK, end=DUSK + timedelta(minutes=60), spans=spans)
    bars = {bar.seq: (bar.row, bar.rows) for bar in merged(picture.spans, Ruler(picture))}
    assert bars == {1: (0, 2), 2: (1, 2), 3: (0, 2)}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(journals)
def test_any_journal_can_be_pictured_and_no_word_of_it_becomes_markup(entries: tuple[Entry, ...]) -> None:
    begin = entries[0].at if entries else DUSK
    now = max((entry.at for entry in entries), default=DUSK) + timedelta(hours=1)
    picture = night_picture(entries, begin, now)
    assert all(span.begin <= span.end <= now for span in picture.spans)
    assert all(fold.end - fold.begin > IDLE for fold in picture.folds)
    drawn = ElementTree.fromstring(timeline_svg(picture))  # noqa: S314  our own drawing
    assert {one.tag for one in drawn.iter()} <= {"svg", "defs", "pattern", "line", "rect", "title", "text", "a", "g"}
    assert len(drawn.findall("a")) == len(merged(picture.spans, Ruler(picture)))


def test_the_picture_escapes_what_an_agent_called_its_work() -> None:
    drawn = timeline_svg(night_picture(a_night(), DUSK, DUSK + timedelta(minutes=95)))
    assert "Tidy &lt;up&gt;" in drawn
    assert "<up>" not in drawn


def test_rows_come_newest_first_and_count_as_the_records_do(entries: tuple[Entry, ...]) -> None:
    rows = feed_rows(entries, names_after(entries))
    assert [row.seq for row in rows] == sorted((entry.seq for entry in entries), reverse=True)
    assert any("job 1" in row.text.lower() for row in rows)
    assert not any("job 2" in row.text.lower() for row in rows)


def test_a_question_says_once_what_silence_means() -> None:
    """The time that is left has its place below the question."""
    kind, silence = AskKind.GUIDANCE_UNCERTAIN, Silence.PARKED
    asked = f"Job 1 (Tidy) failed. {silence_in_words(silence, 60)}"
    (shown,) = asks_shown([an_ask(kind=kind, silence=silence, question=asked)], {"j1": a_job()}, {})
    assert shown.text == "Job 1 (Tidy) failed."
    assert f"{shown.silence_before} an hour{shown.silence_after}".startswith("If you do not answer within an hour, ")
    other = f"{asked} Look at its log."
    (shown,) = asks_shown([an_ask(kind=kind, silence=silence, question=other)], {"j1": a_job()}, {})
    assert shown.text == other, "only what is said below is left out"


@pytest.mark.parametrize("silence", Silence)
def test_every_silence_is_told_and_the_time_has_its_place(silence: Silence) -> None:
    before, after = silence_parts(silence, due=True)
    if silence is Silence.WAITS:
        assert (before, after) == ("It waits for you.", "")
    else:
        assert before == "If you do not answer within"
        assert after.startswith(", ")
    assert silence_parts(silence, due=False)[1] == ""


def test_the_plan_is_shown_only_if_it_is_the_one_that_was_asked_about() -> None:
    plan = Plan(summary="Edit one file.", files=("a.py",))
    (shown,) = asks_shown([an_ask()], {"j1": a_job(plan=plan, plan_hash="h")}, {})
    assert (shown.plan, shown.text) == (plan, "Edit one file.")
    (older,) = asks_shown([an_ask()], {"j1": a_job(plan=plan, plan_hash="newer")}, {})
    assert (older.plan, older.text) == (None, "May I?")


def test_a_folded_ask_about_a_failure_says_which_job_failed_and_not_all_that_was_tried() -> None:
    job = a_job()
    long = f"Job {job.number} ({job.title}) failed after 3 tries: unknown cause. Tried: {'all sorts of things, ' * 20}"
    (shown,) = asks_shown([an_ask(kind=AskKind.GUIDANCE_UNCERTAIN, question=long)], {"j1": job}, {})
    assert shown.line == f"Job {job.number} failed. What now? {job.title}"
    assert shown.text.startswith(f"Job {job.number} ({job.title}) failed after 3 tries")


def test_the_recommended_answer_is_the_bright_one_and_urgent_asks_come_first() -> None:
    mild = an_ask(kind=AskKind.QUESTION, options=("wait", "go_on"), recommendation="go_on", priority=2)
    urgent = an_ask(id="a2", number=2, priority=9)
    first, second = asks_shown([mild, urgent], {}, {})
    assert (first.number, second.number) == (2, 1)
    assert [(one.label, one.primary) for one in second.choices] == [("Wait", False), ("Go on", True)]


def test_what_would_always_be_allowed_is_on_its_button_all_of_it() -> None:
    option = f"always allow here: mcp__db__read, Bash(npm run {'x' * 70} *)"
    (shown,) = asks_shown([an_ask(kind=AskKind.CONFIRM_ACT, options=("yes", option, "no"))], {}, {})
    assert [one.label for one in shown.choices] == ["Yes", "A" + option[1:], "No"]


def test_nothing_in_a_plan_can_lie_to_its_reader() -> None:
    plan = Plan(summary="\x1b[8mhidden\x1b[0m \u202etxt", files=("a\u202e.py",), risks=("\x1b]0;x\x07r",))
    (shown,) = asks_shown([an_ask()], {"j1": a_job(plan=plan, plan_hash="h")}, {})
    assert shown.plan is not None
    assert (shown.text, shown.plan.files, shown.plan.risks) == ("hidden txt", ("a.py",), ("r",))


def test_every_milestone_and_last_line_is_a_kind_of_entry() -> None:
    assert PHASES.keys() >= MILESTONES
    assert PHASES.keys() >= LAST_LINES


def test_the_counts_say_what_needs_the_person_and_leave_out_what_is_zero() -> None:
    tally = WorkTally(ordered=9, delivered=2, unneeded=1, working=1, waiting=1, undelivered=4, not_started=3)
    assert [(one.number, one.words, one.wanted) for one in counts(tally, 1)] == [
        (1, "needs you", True),
        (1, "at work", False),
        (1, "waits", False),
        (3, "of 9 done", False),
        (1, "not done", False),
        (3, "not started", False),
    ]
    assert [one.words for one in counts(WorkTally(ordered=1), 0)] == ["need you", "at work", "of 1 done"]


def test_a_try_that_another_one_followed_is_not_counted_as_undone() -> None:
    rows = [
        a_job(id="j1", number=1, work_item="w1", state="failed"),
        a_job(id="j2", number=2, work_item="w1", state="done"),
        a_job(id="j3", number=3, work_item="w2", state="declined"),
        a_job(id="j4", number=4, work_item="w3"),
    ]
    groups = job_groups(jobs_shown(rows, {}, DUSK, {}, {"j4": "Bash: $ make", "j3": "x"}), rows)
    assert [(one.name, [job.number for job in one.jobs]) for one in groups] == [
        ("Under way", [4]),
        ("Not done", [3]),
        ("Done", [2]),
        ("Earlier tries", [1]),
    ]
    assert [job.last for group in groups for job in group.jobs] == ["Bash: $ make", "", "", ""]


def test_the_last_line_of_a_job_is_said_without_its_name() -> None:
    names = Names(things={"j": "job 7"})
    assert last_line(JobApproved(job="j", by="ann", plan_hash="h"), names) == "The plan of job 7 is approved by ann"
    assert last_line(MilestoneReached(job="j", epoch=1, stone="remark", text="wrote a test"), names) == "Wrote a test"
    call = {"job": "j", "epoch": 1, "call": "1", "tool": "Bash", "shown": "$ make", "code": "x", "why": "y"}
    assert last_line(ToolCallDecided.model_validate(call | {"verdict": "allow"}), names) == "Bash: $ make"
    assert last_line(ToolCallDecided.model_validate(call | {"verdict": "deny"}), names).startswith("May not use Bash")


def test_a_job_in_repair_stands_at_its_checks() -> None:
    steps = {step.name: step.state for step in job_shown(a_job(stage="repair"), None, DUSK).steps}
    assert (steps["execute"], steps["verify"], steps["deliver"]) == ("done", "now", "later")
