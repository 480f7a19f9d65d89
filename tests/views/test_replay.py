from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings

from midwatch.errors import Unknown
from midwatch.journal.entry import Entry
from midwatch.journal.events.jobs import JobApproved, JobCreated
from midwatch.journal.events.morning import ReportWritten
from midwatch.journal.events.session import RoundCalled, SessionResumed
from midwatch.views.entries.causes import Threads
from midwatch.views.entries.replay import Gap, Row, rows
from midwatch.views.entries.why import Explanation, why, why_recommendation
from midwatch.views.text.names import Names
from tests.views.learned_names import names_after
from tests.views.strategies import as_entries, journals


def why_of(seq: int, entries: tuple[Entry, ...]) -> Explanation:
    return why(seq, entries, names_after(entries))


def test_idle_time_is_folded_and_nothing_is_lost() -> None:
    told = [RoundCalled(session="s", number=i, why="timer") for i in range(3)]
    shown = rows(as_entries(list(told), step=timedelta(minutes=6)), Names())
    assert [type(one) for one in shown] == [Row, Gap, Row, Gap, Row]
    assert shown[1] == Gap(seconds=360)
    close = rows(as_entries(list(told), step=timedelta(minutes=5)), Names())
    assert [type(one) for one in close] == [Row, Row, Row]


def test_a_filter_keeps_what_it_names_and_one_gap_between() -> None:
    approved = JobApproved(job="j", by="silence", plan_hash="h")
    told = as_entries(
        [approved, SessionResumed(session="s"), SessionResumed(session="s"), approved, SessionResumed(session="s")],
        step=timedelta(minutes=10),
    )
    shown = rows(told, Names(), tags=frozenset({"assumptions"}))
    assert [getattr(one, "seq", None) for one in shown] == [1, None, 4]
    assert shown[1] == Gap(seconds=1800)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(journals)
def test_a_part_reads_as_it_does_in_the_whole(entries: tuple[Entry, ...]) -> None:
    half = len(entries) // 2
    names = names_after(entries)
    whole = rows(entries, names)
    since = entries[half - 1].at if half else None
    assert (*rows(entries[:half], names), *rows(entries[half:], names, since=since)) == whole
    assert all(cause < seq for seq, causes in Threads(entries).causes.items() for cause in causes)


def test_a_delivery_goes_back_to_the_signature_step_by_step(entries: tuple[Entry, ...]) -> None:
    delivered = next(entry for entry in entries if entry.event.kind == "pull_request.opened")
    told = why_of(delivered.seq, entries)
    kinds = [step.kind for step in told.causes]
    wanted = [
        "job.verified",
        "job.quarantined",
        "job.executed",
        "job.approved",
        "ask.expired",
        "ask.opened",
        "job.planned",
        "job.prepared",
        "job.created",
        "act.judged",
        "round.planned",
        "round.called",
        "session.started",
        "orders.signed",
        "session.opened",
    ]
    assert [kind for kind in kinds if kind in wanted] == wanted
    assert "Job 1 is planned" in " ".join(step.text for step in told.causes)
    assert "job.ended" in {step.kind for step in told.consequences}


def test_without_any_recorded_cause_the_thread_holds_by_what_entries_are_about(entries: tuple[Entry, ...]) -> None:
    bare = tuple(Entry(one.seq, one.at, one.actor, one.key, (), one.event) for one in entries)
    delivered = next(entry for entry in bare if entry.event.kind == "pull_request.opened")
    kinds = {step.kind for step in why_of(delivered.seq, bare).causes}
    assert {"job.planned", "job.approved", "act.judged", "round.planned", "orders.signed"} <= kinds
    alone = {one.event.kind for one in bare if not Threads(bare).causes[one.seq]}
    assert alone <= {"project.added", "session.opened", "level.changed"}


def test_a_cause_before_the_part_is_told_if_it_is_given(entries: tuple[Entry, ...]) -> None:
    late = next(entry for entry in entries if entry.event.kind == "act.ended")
    assert late.because
    part = tuple(entry for entry in entries if entry.seq in late.because or entry.seq >= late.seq)
    assert "act.judged" in {step.kind for step in why_of(late.seq, part).causes}
    with pytest.raises(Unknown, match="no entry 999999"):
        why_of(999_999, entries)


def test_a_recommendation_says_what_it_stands_on_and_who_allowed_it(entries: tuple[Entry, ...]) -> None:
    report = next(entry.event for entry in entries if isinstance(entry.event, ReportWritten))
    told = why_recommendation(entries, report.recommendations[0].id, names_after(entries))
    assert told.job == "Job 1"
    assert (told.work_item, told.goals) == ("Tidy up", ("Keep it tidy",))
    assert told.evidence[0].citation.startswith("`python3 check.py` on a fresh checkout")
    assert told.rests_on == "The checks pass on a fresh checkout; 1 piece of evidence"
    assert told.plan.startswith("Job 1 is planned: Remove 2 unused imports")
    assert told.approved == "The plan of job 1 is approved by silence"
    assert (told.outcome, told.reasons) == ("done, and you get a notice", ("At cautious, start is done and reported.",))
    assert told.signed == "ann signed the orders"
    assert told.tradeoffs
    jobless = tuple(entry for entry in entries if not isinstance(entry.event, JobCreated))
    assert why_recommendation(jobless, report.recommendations[0].id, Names()).outcome == ""
    with pytest.raises(Unknown, match="No brief has"):
        why_recommendation(entries, "rec_none", Names())
