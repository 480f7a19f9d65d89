"""A real night keeps every promise; each way of breaking one is told by the name of exactly that one."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events import jobs as work
from midwatch.journal.events import session as ev
from midwatch.rules.invariants.invariants import RULES, check
from midwatch.rules.invariants.records_seen import RecordsSeen
from midwatch.terms import records as rows
from midwatch.terms.acts import ActKind
from midwatch.terms.asks import AskDraft, AskKind, AskState
from midwatch.terms.jobs import JobState
from midwatch.terms.trust import Level
from tests.nights.house import EVENING, TestHouse, a_house, orders, sample_repository

Entries = tuple[Entry, ...]


@dataclass(frozen=True)
class Seen:
    entries: Entries
    records: RecordsSeen


async def look(house: TestHouse) -> Seen:
    find = house.house.records.find
    records = RecordsSeen(
        sessions=await find(rows.SessionRow),
        acts=await find(rows.ActRow),
        runs=await find(rows.RunRow),
        jobs=await find(rows.JobRow),
        asks=await find(rows.AskRow),
        pull_requests=await find(rows.PullRequestRow),
        notices=await find(rows.NoticeRow),
        timers=await find(rows.TimerRow),
    )
    return Seen(await house.house.journal.entries(limit=10_000), records)


async def live_through(home: Path) -> tuple[Seen, Seen, Seen]:
    async with a_house(home / "home") as house:
        await house.project(sample_repository(home / "sample"))
        await house.begin(orders("Tidy up"))
        await house.settle()
        waiting = await look(house)
        await house.to_the_brief()
        await house.settle()
        brief = await look(house)
        await house.pass_time(days=4)
        return waiting, brief, await look(house)


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> tuple[Seen, Seen, Seen]:
    """One night at three moments: a plan waits for its answer, the brief is written, the session is closed."""
    return asyncio.run(live_through(tmp_path_factory.mktemp("night")))


@pytest.fixture
def waiting(nights: tuple[Seen, Seen, Seen]) -> Seen:
    return nights[0]


@pytest.fixture
def ended(nights: tuple[Seen, Seen, Seen]) -> Seen:
    return nights[2]


def broken(entries: Entries, records: RecordsSeen) -> set[str]:
    return {violation.rule for violation in check(entries, records)}


def test_a_whole_night_keeps_every_promise_at_every_rest(nights: tuple[Seen, Seen, Seen]) -> None:
    for seen in nights:
        assert check(seen.entries, seen.records) == ()
    kinds = {entry.event.kind for entry in nights[2].entries}
    assert {"tool.finished", "pull_request.opened", "ask.expired", "session.ended", "act.ended"} <= kinds


def written(events: list[Event], like: Entries) -> Entries:
    """Write events down anew, in order."""
    return tuple(
        Entry(seq=i, at=like[0].at + timedelta(seconds=i), actor="midwatch", key=f"k{i}", because=(), event=event)
        for i, event in enumerate(events, start=1)
    )


def dropping(kind: type[Event]) -> Callable[[Entries], Entries]:
    return lambda entries: written([one.event for one in entries if not isinstance(one.event, kind)], entries)


def twice(kind: type[Event]) -> Callable[[Entries], Entries]:
    def again(entries: Entries) -> Entries:
        return written([e for one in entries for e in [one.event] * (1 + isinstance(one.event, kind))], entries)

    return again


def altering(kind: type[Event], **changes: Any) -> Callable[[Entries], Entries]:
    def alter(entries: Entries) -> Entries:
        return tuple(
            replace(one, event=one.event.model_copy(update=changes)) if isinstance(one.event, kind) else one
            for one in entries
        )

    return alter


def last_entry(**changes: Any) -> Callable[[Entries], Entries]:
    return lambda entries: (*entries[:-1], replace(entries[-1], **changes))


def without_a_check_in(entries: Entries) -> Entries:
    return tuple(one for one in entries if not isinstance(one.event, ev.CheckInMade))


def debriefed_before_the_start(entries: Entries) -> Entries:
    events = [one.event for one in entries if not isinstance(one.event, ev.SessionDebriefing)]
    at = next(i for i, event in enumerate(events) if isinstance(event, ev.ActEnded))
    over = next(one.event for one in entries if isinstance(one.event, ev.SessionDebriefing))
    return written([*events[:at], over, *events[at:]], entries)


def merged(times: int) -> Callable[[Entries], Entries]:
    def merge(entries: Entries) -> Entries:
        opened = next(one.event for one in entries if isinstance(one.event, work.PullRequestOpened))
        once = work.PullRequestMerged(pull_request=opened.pull_request, sha="a" * 40, by="ann")
        return written([*(one.event for one in entries), *[once] * times], entries)

    return merge


def a_late_word(entries: Entries) -> Entries:
    """A worker that was thought dead speaks after the job is over."""
    verified = next(one.event for one in entries if isinstance(one.event, work.JobVerified))
    newest = max(one.event.epoch for one in entries if isinstance(one.event, work.JobClaimed))
    return written([*(one.event for one in entries), verified.model_copy(update={"epoch": newest})], entries)


def beside_another(entries: Entries) -> Entries:
    """Another job is at work all the time, and there is one place."""
    one_place = altering(work.JobClaimed, places=1)(entries)
    claimed = next(one.event for one in one_place if isinstance(one.event, work.JobClaimed))
    return written([claimed.model_copy(update={"job": "job_other"}), *(one.event for one in one_place)], entries)


CORRUPTIONS: list[tuple[str, Callable[[Entries], Entries]]] = [
    ("in_order", without_a_check_in),
    ("in_order", last_entry(at=EVENING - timedelta(days=1))),
    ("because_backwards", last_entry(because=(999_999,))),
    ("because_backwards", last_entry(because=(0,))),
    ("one_effect", twice(ev.NoticeSent)),
    ("one_effect", twice(ev.ToolFinished)),
    ("one_effect", twice(ev.ToolCalled)),
    ("one_effect", twice(work.PullRequestOpened)),
    ("one_effect", merged(2)),
    ("one_effect", last_entry(key="act:used")),
    ("one_end", dropping(ev.ActEnded)),
    ("one_end", twice(ev.ActEnded)),
    ("one_end", dropping(ev.ActJudged)),
    ("one_end", twice(ev.AskExpired)),
    ("one_end", twice(work.JobEnded)),
    ("one_end", twice(work.RunFinished)),
    ("runs_end_together", dropping(work.JobEnded)),
    ("no_more_than_places", beside_another),
    ("done_is_delivered", dropping(work.PullRequestOpened)),
    ("tools_finished", dropping(ev.ToolFinished)),
    ("nothing_above_the_level", altering(ev.SessionStarted, level=Level.OBSERVE)),
    ("nothing_outside_a_session", debriefed_before_the_start),
    ("newest_epoch_speaks", altering(work.JobExecuted, epoch=1)),
    ("newest_epoch_speaks", altering(work.PullRequestOpened, epoch=99)),
    ("newest_epoch_speaks", a_late_word),
    ("only_agent_refs", altering(ev.ToolCalled, request={"into": "main"})),
    ("only_agent_refs", altering(ev.ToolFinished, result={"branch": "refs/heads/main"})),
    ("only_agent_refs", altering(work.PullRequestOpened, branch="agent/../main")),
]


@pytest.mark.parametrize(("rule", "corrupt"), CORRUPTIONS)
def test_a_journal_that_breaks_a_promise_is_told_by_its_name(
    ended: Seen, rule: str, corrupt: Callable[[Entries], Entries]
) -> None:
    entries = corrupt(ended.entries)
    if entries[-1].key == "act:used":
        entries = (replace(entries[0], key="act:used"), *entries[1:])
    assert entries != ended.entries
    assert broken(entries, ended.records) == {rule}


def test_one_merge_is_no_violation(ended: Seen) -> None:
    assert broken(merged(1)(ended.entries), ended.records) == set()


@pytest.mark.parametrize(
    ("rule", "lost"),
    [
        ("deadlines_have_timers", {"timers": "ask"}),
        ("nights_stay_awake", {"timers": "round"}),
        ("no_job_is_stuck", {"asks": ""}),
    ],
)
def test_records_that_strand_somebody_are_told(waiting: Seen, rule: str, lost: dict[str, str]) -> None:
    if "asks" in lost:
        records = replace(waiting.records, asks=())
    else:
        left = tuple(timer for timer in waiting.records.timers if timer.kind != lost["timers"])
        assert len(left) < len(waiting.records.timers)
        records = replace(waiting.records, timers=left)
    assert broken(waiting.entries, records) == {rule}


def test_a_time_box_that_nothing_ends_is_told_and_so_is_one_that_wakes_for_nothing(waiting: Seen) -> None:
    (job,) = waiting.records.jobs
    running = job.model_copy(update={"state": JobState.RUNNING, "box_began_at": EVENING})
    assert broken(waiting.entries, replace(waiting.records, jobs=(running,))) == {"boxes_have_timers"}
    timer = rows.TimerRow(id=f"box:{job.id}", kind="box", subject=job.id, due_at=EVENING)
    timed = (*waiting.records.timers, timer)
    assert broken(waiting.entries, replace(waiting.records, jobs=(running,), timers=timed)) == set()
    over = job.model_copy(update={"state": JobState.DONE})
    assert broken(waiting.entries, replace(waiting.records, jobs=(over,), timers=timed)) == {"boxes_have_timers"}


def test_a_paused_night_and_a_round_under_way_need_no_timer(waiting: Seen) -> None:
    timers = tuple(timer for timer in waiting.records.timers if timer.kind != "round")
    for change in ({"paused": True}, {"round_active": True}):
        sessions = tuple(session.model_copy(update=change) for session in waiting.records.sessions)
        assert broken(waiting.entries, replace(waiting.records, timers=timers, sessions=sessions)) == set()


def test_a_job_that_spent_past_its_ceilings_is_told(ended: Seen) -> None:
    (job, *others), run = ended.records.jobs, ended.records.runs[0]
    spent = job.model_copy(update={"usd_micros": run.contract.constraints.max_usd_micros + 1})
    assert broken(ended.entries, replace(ended.records, jobs=(spent, *others))) == {"within_ceilings"}


def delivery(row: rows.NoticeRow, **more: object) -> rows.DeliveryRow:
    way = {"id": f"{row.id}.phone", "notice": row.id, "channel": "phone", "session": "", "tier": 2, "delivery": "now"}
    stands = {"state": "waiting", "due_at": row.created_at, "attempts": 0, "push": "", "error": "", "settled_at": None}
    return rows.DeliveryRow.model_validate(way | stands | {"created_at": row.created_at} | more)


def test_a_notice_on_its_way_is_woken_logged_and_sent_in_a_message(ended: Seen) -> None:
    notice = next(row for row in ended.records.notices if row.sent_by)
    timer = rows.TimerRow(id="channel:phone", kind="channel", subject="phone", due_at=notice.created_at)
    late = timer.model_copy(update={"due_at": notice.created_at + timedelta(seconds=1)})
    timers, sent = ended.records.timers, {"state": "sent", "push": "psh_1"}
    nobody = notice.model_copy(update={"id": "ntc_nobody", "sent_by": ""})
    for row, woken, holds in (
        (delivery(notice), (*timers, timer), True),
        (delivery(notice, **sent), timers, True),
        (delivery(notice), timers, False),
        (delivery(notice), (*timers, late), False),
        (delivery(notice, state="sent"), timers, False),
        (delivery(nobody, **sent), timers, False),
    ):
        told = broken(ended.entries, replace(ended.records, deliveries=(row,), timers=woken))
        assert told == (set() if holds else {"notices_are_on_their_way"}), row


def test_two_pull_requests_for_one_job_are_told_from_the_records_too(ended: Seen) -> None:
    (only,) = ended.records.pull_requests
    other = only.model_copy(update={"id": "pr_other", "number": 2})
    assert broken(ended.entries, replace(ended.records, pull_requests=(only, other))) == {"one_effect"}


def confirmed(entries: Entries, *, answer: str, by: str) -> Entries:
    """The night at observe, in which the start was asked about first."""
    told: list[Event] = []
    for one in altering(ev.SessionStarted, level=Level.OBSERVE)(entries):
        if isinstance(event := one.event, ev.ActEnded) and event.text.startswith("start"):
            draft = AskDraft(kind=AskKind.CONFIRM_ACT, question="May I?", subject=event.act)
            session = next(e.event.session for e in entries if isinstance(e.event, ev.SessionStarted))
            told += [
                ev.AskOpened(ask="ask_x", session=session, draft=draft, due_at=None),
                ev.AskAnswered(ask="ask_x", answer=answer, by=by),
            ]
        told.append(one.event)
    return written(told, entries)


def test_a_persons_yes_lifts_the_level_and_nothing_else_does(ended: Seen) -> None:
    assert broken(confirmed(ended.entries, answer="yes", by="ann"), ended.records) == set()
    assert broken(confirmed(ended.entries, answer="no", by="ann"), ended.records) == {"nothing_above_the_level"}
    assert broken(confirmed(ended.entries, answer="yes", by="silence"), ended.records) == {"nothing_above_the_level"}


def test_not_even_a_person_gets_what_no_tool_exists_for(ended: Seen) -> None:
    def forbidden(one: Entry) -> Entry:
        if not isinstance(one.event, ev.ActJudged):
            return one
        proposal = one.event.proposal.model_copy(update={"kind": ActKind.DEPLOY})
        return replace(one, event=one.event.model_copy(update={"proposal": proposal}))

    entries = tuple(forbidden(one) for one in confirmed(ended.entries, answer="yes", by="ann"))
    assert "nothing_above_the_level" in broken(entries, ended.records)


def test_an_act_that_waits_for_an_open_ask_may_outlive_the_autonomous_part(nights: tuple[Seen, Seen, Seen]) -> None:
    brief = nights[1]
    act = next(one.event.act for one in brief.entries if isinstance(one.event, ev.ActEnded))
    left = written(
        [e.event for e in brief.entries if not (isinstance(e.event, ev.ActEnded) and e.event.act == act)], brief.entries
    )
    assert broken(left, brief.records) == {"one_end"}
    open_ask = brief.records.asks[0].model_copy(update={"subject": act, "state": AskState.OPEN, "due_at": None})
    assert broken(left, replace(brief.records, asks=(*brief.records.asks, open_ask))) == set()


def test_every_promise_is_broken_somewhere_in_this_file() -> None:
    from_records = {"boxes_have_timers", "deadlines_have_timers", "nights_stay_awake", "no_job_is_stuck"}
    from_records |= {"within_ceilings", "notices_are_on_their_way"}
    assert {rule for rule, _ in CORRUPTIONS} | from_records == set(RULES)
