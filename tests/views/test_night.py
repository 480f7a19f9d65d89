import re
from functools import reduce
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import (
    JobClaimed,
    JobCreated,
    JobStumbled,
    PullRequestClosed,
    PullRequestOpened,
    RunStarted,
)
from midwatch.journal.events.morning import EvidenceFound
from midwatch.journal.events.session import ActEnded, ActJudged, AskOpened, NoticeRaised, NoticeSent
from midwatch.terms.projects import SessionState
from midwatch.terms.records import ActRow, AskRow, JobRow, NoticeRow, PullRequestRow, RunRow, SessionRow
from tests.crash.oracle import night
from tests.crash.oracle.night import NightView, normalised
from tests.nights.house import a_house, orders, sample_repository
from tests.views.strategies import as_entries, journals

RELAXED = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def fold(entries: tuple[Entry, ...], begin: NightView | None = None) -> NightView:
    return reduce(night.apply, entries, begin or night.start())


@RELAXED
@given(journals, st.integers(0, 25))
def test_catching_up_equals_having_been_there(entries: tuple[Entry, ...], cut: int) -> None:
    kept = NightView.model_validate_json(fold(entries[:cut]).model_dump_json())
    assert fold(entries) == fold(entries[cut:], kept)


@RELAXED
@given(journals)
def test_a_view_survives_being_written_down(entries: tuple[Entry, ...]) -> None:
    view = fold(entries)
    assert NightView.model_validate_json(view.model_dump_json()) == view
    assert normalised(view) == normalised(NightView.model_validate(view.model_dump(mode="json")))


@pytest.mark.slow
async def test_the_view_counts_and_numbers_as_the_records_do(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home") as house:
        await house.project(source)
        records = house.house.records
        view = night.start()
        for name in ("Tidy up", "Tidy up again"):
            await house.begin(orders(name))
            await house.to_the_brief()
            await house.settle()
            view = fold(await house.house.journal.entries(limit=10_000))
            session = (await records.find(SessionRow))[-1]
            assert (view.number, view.state, view.level) == (session.number, session.state, session.level)
            assert (view.rounds, view.decisions, view.paused) == (session.rounds, session.decisions, session.paused)
            assert view.ends.get("done", 0) == session.actions
            jobs = await records.find(JobRow, session=session.id)
            assert [(j.number, j.state, j.stage, j.approved_by, j.stumbles, j.why) for j in view.jobs] == [
                (j.number, j.state, j.stage, j.approved_by, j.stumbles, j.why) for j in jobs
            ]
            asks = await records.find(AskRow, session=session.id)
            assert [(a.number, a.state, a.answer) for a in view.asks] == [(a.number, a.state, a.answer) for a in asks]
            runs = await records.find(RunRow, session=session.id)
            assert [(r.number, r.status, r.score_pre) for r in view.runs] == [
                (r.number, r.status, r.score_pre) for r in runs
            ]
            pulls = await records.find(PullRequestRow, run=tuple(run.id for run in runs))
            assert [(p.number, p.title, p.state) for p in view.pull_requests] == [
                (p.number, p.title, p.state) for p in pulls
            ]
            assert len(view.notices) == len(await records.find(NoticeRow, session=session.id))
            assert len(view.jobs) == 1
            for pull in pulls:  # or new work waits for it
                await house.house.journal.record(PullRequestClosed(pull_request=pull.id, by="ann"), actor="ann")
            assert sum(view.verdicts.values()) == len(await records.find(ActRow, session=session.id))
        assert (view.number, view.jobs[0].number) == (2, 2)
        assert view.state is SessionState.DEBRIEF


def renamed(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The same night with other ids: as if it had happened on another day."""
    ids = {name for entry in entries for name in _ids(entry.event.model_dump_json())}
    fresh = {old: old[:-6] + f"{i:06d}" for i, old in enumerate(sorted(ids))}
    again = []
    for entry in entries:
        body = entry.event.model_dump_json()
        for old, new in fresh.items():
            body = body.replace(old, new)
        again.append(
            Entry(entry.seq + 7, entry.at, "other", entry.key, (), type(entry.event).model_validate_json(body))
        )
    return tuple(again)


def _ids(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{2,8}_[0-9A-HJKMNP-TV-Z]{26}", text))


def doubled(entries: tuple[Entry, ...], *kinds: type[Event]) -> tuple[Entry, ...]:
    """The same night in which something happened twice."""
    twice = [event for entry in entries for event in [entry.event] * (2 if isinstance(entry.event, kinds) else 1)]
    return as_entries(twice)


def recovered(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The same night with every stage tried twice: a worker died, or stumbled, and another took the job up."""
    told: list[Event] = []
    for entry in entries:
        told.append(entry.event)
        if isinstance(claim := entry.event, JobClaimed):
            stumbled = JobStumbled(
                job=claim.job,
                epoch=claim.epoch,
                stage=claim.stage,
                attempt=claim.attempt,
                cause="network",
                error="away",
            )
            told += [stumbled, claim.model_copy(update={"epoch": claim.epoch + 1, "attempt": 2, "worker": "other"})]
    return as_entries(told)


def test_a_recovered_night_is_like_an_undisturbed_one(entries: tuple[Entry, ...]) -> None:
    plain = normalised(fold(entries))
    assert not _ids(str(plain))
    assert normalised(fold(renamed(entries))) == plain
    assert fold(recovered(entries)).jobs[0].attempts == 2 * fold(entries).jobs[0].attempts
    assert normalised(fold(recovered(entries))) == plain


def test_an_effect_that_came_twice_shows(entries: tuple[Entry, ...]) -> None:
    plain = normalised(fold(entries))
    for effect in (PullRequestOpened, NoticeRaised, NoticeSent, AskOpened, JobCreated, EvidenceFound, RunStarted):
        assert normalised(fold(doubled(entries, effect))) != plain, effect


def test_an_act_done_twice_shows_however_often_the_night_waited(entries: tuple[Entry, ...]) -> None:
    plain = normalised(fold(entries))
    waits = {
        entry.event.act for entry in entries if isinstance(entry.event, ActJudged) and not entry.event.proposal.writes
    }
    waiting = [entry for entry in entries if getattr(entry.event, "act", "") in waits]
    starting = [e for e in entries if isinstance(e.event, ActJudged | ActEnded) and e not in waiting]
    assert waiting
    assert starting
    assert normalised(fold((*entries, *waiting))) == plain
    assert normalised(fold((*entries, *starting))) != plain


@pytest.mark.parametrize("upto", [1, 10, 40])
def test_a_page_as_it_was_is_the_fold_of_what_was_written_then(entries: tuple[Entry, ...], upto: int) -> None:
    then = fold(entries[:upto])
    assert then.last is not None
    assert then.last.seq == upto
    assert fold(entries[upto:], then) == fold(entries)
    assert [job.project for job in fold(entries).jobs] == ["sample"]
