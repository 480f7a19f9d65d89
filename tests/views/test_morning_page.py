"""The morning's page says what the night's rows say, in one sentence and item by item."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midwatch.errors import Misuse
from midwatch.journal.entry import Entry
from midwatch.morning import review
from midwatch.rules.morning.tally import tally
from midwatch.surfaces.queries.replay import every_entry
from midwatch.surfaces.web.pages.morning import night_rows
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import CheckResult, Dropped, JobState, Proof, Stage
from midwatch.terms.orders import OrderedWork
from midwatch.terms.report import AssumptionVerdict, FlagKind, Given, Review, ReviewOutcome
from midwatch.terms.trust import Level
from midwatch.views.pages.morning_items import NightRows, checks
from midwatch.views.pages.morning_page import MorningPage, asked, morning_page, review_of, verdict
from midwatch.views.text.names import Names
from tests.nights.house import FAULTS, a_house, orders, sample_repository
from tests.views.learned_names import names_after

Night = tuple[NightRows, tuple[Entry, ...]]
pytestmark = pytest.mark.slow  # a whole real night stands behind each of them
RATED = {"usefulness": "4", "trust": "3", "brevity": "5"}


async def _nights(home: Path) -> tuple[Night, Night]:
    """Live through one night with a green and a red project; look at it before and after its review."""
    async with a_house(home / "home") as house:
        await house.project(sample_repository(home / "sample"))
        red = {**FAULTS, "check.py": "raise SystemExit(3)\n"}
        await house.project(sample_repository(home / "other", red), name="other")
        wanted = orders("Tidy up")
        work = (*wanted.work, OrderedWork(project="other", title="Tidy the other"))
        await house.begin(wanted.model_copy(update={"work": work}))
        await house.to_the_brief()
        await house.settle()
        before = await night_rows(house.house), await every_entry(house.house)
        first = before[0].report.recommendations[0].id
        given = Review(
            usefulness=4,
            trust=3,
            brevity=5,
            outcomes=(Given(recommendation=first, outcome=ReviewOutcome.REJECTED, reason="too much"),),
            flags=(FlagKind.WRONG_FACT,),
            notes="a note",
        )
        await review.submit(house.house.books, given, by="ann")
        return before, (await night_rows(house.house), await every_entry(house.house))


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> tuple[Night, Night]:
    return asyncio.run(_nights(tmp_path_factory.mktemp("nights")))


@pytest.fixture
def rows(nights: tuple[Night, Night]) -> NightRows:
    return nights[0][0]


@pytest.fixture
def page(nights: tuple[Night, Night]) -> MorningPage:
    return morning_page(*nights[0], names_after(nights[0][1]))


def jobs_ended(rows: NightRows, *states: JobState, verdict: str = "green") -> NightRows:
    """The same night with as many jobs, each ended so."""
    made = [
        rows.jobs[0].model_copy(
            update={
                "id": f"job_{place}",
                "work_item": f"work_{place}",
                "state": state,
                "stage": Stage.NOTICE if state is JobState.DONE else Stage.EXECUTE,
                "proof": Proof(verdict=verdict),
            }
        )
        for place, state in enumerate(states)
    ]
    items = tuple({"work_item": f"work_{place}"} for place in range(len(states)))
    session = rows.session.model_copy(update={"items": items})
    return replace(rows, jobs=tuple(made), asks=(), session=session, tally=tally(session.works(), made))


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ((JobState.DONE,), "The one thing ordered is done."),
        ((JobState.FAILED,), "The one thing ordered is not done. One needs your attention."),
        ((JobState.DONE,) * 2, "Both are done."),
        ((JobState.DONE,) * 5, "All five are done."),
        ((JobState.DONE,) * 4 + (JobState.FAILED,), "Four of five done. One needs your attention."),
        ((JobState.DONE, JobState.STOPPED, JobState.DECLINED), "One of three done. One needs your attention."),
        ((JobState.NOTHING_DELIVERED,), "The one thing ordered is not done. One needs your attention."),
        ((JobState.FAILED,) * 2, "None of two done. Two need your attention."),
        ((JobState.DONE,) * 13, "All 13 are done."),
        ((), "Nothing was ordered, nothing was done."),
    ],
)
def test_the_verdict_is_one_sentence_from_facts(rows: NightRows, states: tuple[JobState, ...], said: str) -> None:
    assert verdict(jobs_ended(rows, *states)) == said


def test_an_item_says_once_what_to_do(rows: NightRows) -> None:
    """Also one that never had a job, whose sentence is its title."""
    advice = "Say more exactly what should change, or drop the order."
    kinds = (rows.report.recommendations[0], rows.report.recommendations[0].model_copy(update={"why": "trace:none"}))
    told = tuple(one.model_copy(update={"text": f"It delivered nothing. {advice}", "advice": advice}) for one in kinds)
    report = rows.report.model_copy(update={"recommendations": told})
    shown = morning_page(replace(rows, report=report, pull_requests=()), (), Names()).items
    assert [(item.text, item.advice) for item in shown] == [("It delivered nothing.", advice)] * 2
    assert shown[1].title == "It delivered nothing."


def test_done_on_red_checks_needs_an_eye(rows: NightRows) -> None:
    assert verdict(jobs_ended(rows, JobState.DONE, verdict="still_red")).endswith("One needs your attention.")
    assert verdict(rows) == "Both are done. One needs your attention."


def test_an_open_ask_needs_an_eye(rows: NightRows) -> None:
    done, ask = jobs_ended(rows, JobState.DONE), rows.asks[0].model_copy(update={"state": AskState.OPEN})
    waiting = replace(done, asks=(ask,), tally=tally(done.session.works(), done.jobs, (), (ask,)))
    assert verdict(waiting) == "The one thing ordered is done. One needs your attention."
    assert [one.number for one in morning_page(waiting, (), Names()).decisions] == [rows.asks[0].number]


def test_a_night_that_only_watched_says_so(rows: NightRows) -> None:
    said = rows.acts[0].model_copy(update={"state": "said"})
    watched = replace(rows, jobs=(), acts=(said,), session=rows.session.model_copy(update={"level": Level.OBSERVE}))
    assert verdict(watched) == "Nothing was touched. One proposal to read."


def test_the_night_line_counts_what_was_asked(page: MorningPage, rows: NightRows) -> None:
    assert asked(page.night) == "2 questions asked, 2 decided by silence"
    answered = rows.asks[0].model_copy(update={"state": AskState.ANSWERED})
    mixed = morning_page(replace(rows, asks=(answered, rows.asks[1])), (), Names()).night
    assert asked(mixed) == "2 questions asked, 1 answered in time, 1 decided by silence"
    assert asked(morning_page(replace(rows, asks=()), (), Names()).night) == "no question asked"
    assert (page.night.called, page.night.spent) == ("Night 1", "$0 of $50, no tokens")


def test_an_item_has_its_pull_request_checks_and_evidence(page: MorningPage) -> None:
    green, red, look, _ = page.items
    assert (green.became, green.missing) == ("Delivered", False)
    assert (green.title, green.sure, green.project) == ("Tidy up: 3 changes", 60, "sample")
    assert green.pull is not None
    assert (green.pull.number, green.pull.state, green.pull.into) == (1, "open", "main")
    assert [(one.before, one.after, one.fine) for one in green.checks] == [("green", "green", True)]
    assert [(one.before, one.after, one.fine) for one in red.checks] == [("red (exit 3)", "red (exit 3)", None)]
    assert (look.pull, look.checks, look.diff_blob) == (None, (), "")
    assert look.evidence[0].place == "sample/broken.py:2"
    assert look.evidence[0].excerpt == "return summ(items)"
    assert len(look.evidence[0].commit) == 12


def test_decisions_made_for_the_person_name_their_entries(page: MorningPage, nights: tuple[Night, Night]) -> None:
    kinds = {entry.seq: entry.event.kind for entry in nights[0][1]}
    green, red, *_ = page.items
    assert [kinds[one.seq] for one in green.decisions] == ["act.judged", "ask.expired"]
    assert [kinds[one.seq] for one in red.decisions] == ["act.judged", "ask.expired", "job.verified"]


def test_a_piece_that_was_taken_back_is_a_decision(nights: tuple[Night, Night]) -> None:
    rows, entries = nights[0]
    changed = [_with_dropped(entry) for entry in entries]
    told = morning_page(rows, changed, names_after(changed)).items[0].decisions
    assert any(one.text == "Took back “imports”: it broke the check" for one in told)


def _with_dropped(entry: Entry) -> Entry:
    event: Any = entry.event
    if event.kind != "job.executed":
        return entry
    done = event.done.model_copy(update={"dropped": (Dropped(subject="imports", why="it broke the check"),)})
    return replace(entry, event=event.model_copy(update={"done": done}))


def test_checks_that_pass_only_with_changed_check_files_are_not_fine() -> None:
    good, bad = CheckResult(command="t", exit_code=0), CheckResult(command="t", exit_code=1, failures=2, tail="boom")
    (fooled,) = checks(Proof(before=(good,), delivered=(good,), restored=(bad,)))
    assert fooled.fine is False
    assert fooled.after == "green, but red (exit 1, 2 failed) with the old check files"
    (worse,) = checks(Proof(before=(good,), delivered=(bad,)))
    assert (worse.fine, worse.tail) == (False, "boom")
    (new,) = checks(Proof(delivered=(good,)))
    assert (new.before, new.fine) == ("not run", True)


def test_before_a_review_there_is_none(page: MorningPage) -> None:
    assert page.reviewed is None
    assert {item.outcome for item in page.items} == {ReviewOutcome.PENDING}
    assert [(one.run, one.after) for one in page.scores] == [(1, None), (2, None)]
    assert len(page.sections) == 9


def test_a_review_shows_what_it_changed(nights: tuple[Night, Night]) -> None:
    page = morning_page(*nights[1], names_after(nights[1][1]))
    assert page.reviewed is not None
    assert (page.reviewed.by, page.reviewed.usefulness, page.reviewed.flags) == ("ann", 4, ("wrong_fact",))
    assert (page.items[0].outcome, page.items[0].reason) == (ReviewOutcome.REJECTED, "too much")
    assert [one.after for one in page.scores] == [0.35, 0.65]
    kinds = {entry.seq: entry.event.kind for entry in nights[1][1]}
    assert [kinds[one.seq] for one in page.reviewed.recorded] == [
        "review.submitted",
        "run.scored",
        "run.scored",
        "session.ended",
    ]


def test_a_form_becomes_a_review(page: MorningPage) -> None:
    first, second, *_ = page.items
    form = RATED | {
        f"outcome:{first.id}": "accepted",
        f"reason:{first.id}": "not for an accepted one",
        f"outcome:{second.id}": "modified",
        f"reason:{second.id}": " smaller ",
        f"assumed:{page.assumptions[0].id}": "wrong",
        "notes": "fine",
    }
    given = review_of(form, ["unsafe"], page)
    assert given.outcomes == (
        Given(recommendation=first.id, outcome=ReviewOutcome.ACCEPTED),
        Given(recommendation=second.id, outcome=ReviewOutcome.MODIFIED, reason="smaller"),
    )
    assert (given.usefulness, given.trust, given.brevity, given.flags) == (4, 3, 5, (FlagKind.UNSAFE,))
    assert given.notes == "fine"
    assert given.assumptions == (AssumptionVerdict(assumption=page.assumptions[0].id, status="rejected"),)


@pytest.mark.parametrize(
    ("change", "flags", "said"),
    [
        ({"trust": ""}, [], "The rating for trust is missing."),
        ({"trust": "6"}, [], "The rating for trust is missing."),
        ({}, ["sad"], "That flag is not known."),
        ({"outcome:first": "loved"}, [], "That verdict is not known."),
        ({"outcome:first": "pending"}, [], "That verdict is not known."),
    ],
)
def test_what_is_missing_or_unknown_is_said(
    page: MorningPage, change: dict[str, str], flags: list[str], said: str
) -> None:
    named = {name.replace("first", page.items[0].id): value for name, value in change.items()}
    with pytest.raises(Misuse, match=said):
        review_of(RATED | named, flags, page)
