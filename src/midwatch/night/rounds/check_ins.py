"""What ends a round or a session: check-ins, limits, completion."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from midwatch.journal.events import Event
from midwatch.journal.events.session import CheckInMade, RoundPlanned
from midwatch.night.notify.notice import notice
from midwatch.night.rounds.debrief import NightEnd, debrief_events, stop_events
from midwatch.night.rounds.news import News, lines, news_of
from midwatch.night.rounds.news import due as news_due
from midwatch.night.rounds.work_state import wasted
from midwatch.night.rounds.world import World
from midwatch.ports.books import Books
from midwatch.ports.clock import Ids
from midwatch.rules.budget.limits import (
    SessionEnd,
    Signs,
    SinceCheckIn,
    alarming,
    check_ins_due,
    marks_crossed,
    session_ends,
)
from midwatch.rules.gate.act_groups import COOLDOWNS, only_waits
from midwatch.rules.gate.state import cooldown_over
from midwatch.rules.morning.tally import held_back, tally
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.settings.night import CheckinsSettings
from midwatch.terms.facts import Budget
from midwatch.terms.figures import dollars, many
from midwatch.terms.jobs import JobState
from midwatch.terms.records import ActRow, CheckInRow
from midwatch.views.text.progress import progress

GOING = frozenset({"todo", "working", "waiting", "asked", "boxed"})
WHY = {
    SessionEnd.TIME: "the night's time is used up",
    SessionEnd.USD: "the night's money is used up",
    SessionEnd.TOKENS: "the night's tokens are used up",
    SessionEnd.ROUNDS: "the night's rounds are used up",
    SessionEnd.IDLE: "nothing happened for a while",
}
BUDGETS = {"usd_micros": "money", "tokens": "tokens", "seconds": "time", "rounds": "rounds"}
"""The limits of a night, with the word for each."""


async def check_in(books: Books, world: World) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
    """Return the check-in that is due, and what ends the session if it is over; then its end is the check-in."""
    made = await books.records.find(CheckInRow, session=world.session.id)
    news = await news_of(books, world.session, world.jobs, made)
    over = _debrief_if_over(books.ids, world, lines(news))
    waits = held_back(world.running, world.acts)
    why = f" Nothing is at work. {(await books.records.get(ActRow, waits.id)).text}" if waits else ""
    reported = _check_in(books.ids, world, made, () if over else news, why)
    quiet = bool(over) and not any(isinstance(one, CheckInMade) and one.type == "alert" for one in reported)
    return () if quiet else reported, over


def _check_in(ids: Ids, world: World, made: Sequence[CheckInRow], news: Sequence[News], why: str) -> tuple[Event, ...]:
    session = world.session
    began = session.started_at or world.now
    last = session.last_check_in_at or began
    marks = _marks(world, made)
    since = SinceCheckIn(
        elapsed=world.now - last,
        silent_for=world.now - session.last_moved_at,
        decisions=sum(act.judged_at > last and not only_waits(act) for act in world.acts),
        event=any(job.ended_at and job.ended_at > last for job in world.jobs),
        marks=tuple(sorted({mark for _, mark in marks})),
    )
    signs = _signs(world.settings.checkins)
    due = check_ins_due(since, signs)
    told = news if news_due(news, made, began, world.now, signs.every) else ()
    if not due and not told:
        return ()
    passed = [_passed(name, mark) for name, mark in marks]
    text = f"{_standing(world)}{why}"
    trigger = ", ".join([*(one.value for one in due), *passed, *(one.trigger for one in told)])
    if alarming(since.marks, alert_from=world.settings.limits.alert_percent):
        kind, said = NoticeKind.CHECK_IN_ALERT, f"Night {session.number} has used {' and '.join(_highest(marks))}."
    else:
        kind, said = NoticeKind.CHECK_IN_PROGRESS, f"Night {session.number}:"
    tier = tier_of(NoticeKind.PULL_REQUEST_READY) if told else tier_of(kind)
    return (
        CheckInMade(
            session=session.id,
            type="alert" if kind is NoticeKind.CHECK_IN_ALERT else "progress",
            trigger=trigger,
            text=text,
        ),
        notice(ids, session.id, tier, f"{said} {text}{lines(told)}", subject=session.id),
    )


def _standing(world: World) -> str:
    counted = tally(world.session.works(), world.jobs, world.acts)
    text = f"{progress(counted)}."
    money, tokens = world.budgets().usd_micros, world.budgets().tokens
    if not money.spent and not tokens.spent:
        return text
    of_money = f"{dollars(money.spent)} of {dollars(money.limit or 0)}"
    return f"{text} {of_money} and {many(tokens.spent)} of {many(tokens.limit or 0)} tokens are spent."


def _marks(world: World, result: Iterable[CheckInRow]) -> list[tuple[str, int]]:
    """Return the shares of a limit that are passed and that no check-in of this night has reported yet."""
    wanted = {*world.settings.checkins.budget_percents, world.settings.limits.alert_percent}
    known = {part for row in result for part in row.trigger.split(", ")}
    return [
        (name, mark)
        for name in BUDGETS
        for now in (getattr(world.budgets(), name),)
        for mark in marks_crossed(Budget(limit=now.limit), now, marks=wanted)
        if _passed(name, mark) not in known
    ]


def _passed(name: str, mark: int) -> str:
    return f"{mark} % of its {BUDGETS[name]}"


def _highest(marks: Iterable[tuple[str, int]]) -> list[str]:
    return [_passed(name, mark) for name, mark in dict(sorted(marks, key=lambda one: one[1])).items()]


def _signs(checkins: CheckinsSettings) -> Signs:
    return Signs(
        every=timedelta(minutes=checkins.every_minutes),
        keep_alive=timedelta(minutes=checkins.keep_alive_minutes),
        decisions=checkins.every_decisions,
    )


def next_round_at(world: World, plan: RoundPlanned) -> datetime:
    """Say when the next round is due: as planned, or sooner where a cooldown that held an act of this round is over."""
    refused = {act.id for act in world.acts if act.state == "refused" and act.code in COOLDOWNS}
    held = [one.proposal for one in plan.proposals if one.act in refused]
    over = [at for proposal in held if (at := cooldown_over(proposal, world.facts_for(proposal))) is not None]
    return min([world.now + timedelta(seconds=plan.next_in_seconds), *(at.astimezone(UTC) for at in over)])


def stop_wasted(ids: Ids, world: World) -> tuple[Event, ...]:
    """Stop the runs that a hard guardrail ends, keep their work, and notify the person (N16)."""
    events: list[Event] = []
    for job in world.running:
        mine = job.session == world.session.id and job.state is not JobState.STOPPING
        if mine and (why := wasted(world, job)) is not None:
            events += stop_events(job, by="midwatch", why=why.text)
            text = f"Job {job.number} ({job.title}) is stopped: {why.text}"
            events.append(notice(ids, world.session.id, tier_of(NoticeKind.ERROR), text, subject=job.id))
    return tuple(events)


def _debrief_if_over(ids: Ids, world: World, news: str) -> tuple[Event, ...]:
    """End the session when everything ordered is settled, nothing happens any more, or a limit is reached."""
    session = world.session
    if session.paused:
        return ()  # a person paused it: only its time limit and the person end it now
    reason = _why_over(world)
    if not reason:
        return ()
    end = NightEnd(reason, news=news)
    return tuple(debrief_events(ids, session, end, jobs=world.running, asks=world.asks))


def _why_over(world: World) -> str:
    """Say why the night is over; a used-up limit stops running jobs, the other reasons apply only when none runs."""
    used_up = session_ends(world.budgets())
    if used_up is not None:
        return WHY[used_up]
    items = world.items()
    running = any(job.session == world.session.id for job in world.running)
    blocking = any(ask.blocking and ask.session == world.session.id for ask in world.asks)
    if running or blocking:
        return ""
    if not any(item.state in GOING or item.may_retry for item in items):
        return "everything ordered is settled"
    patience = timedelta(minutes=world.settings.autonomous.idle_timeout_minutes)
    end = session_ends(world.budgets(), idle_for=world.now - _last_moved(world), idle_after=patience)
    return WHY[end] if end else ""


def _last_moved(world: World) -> datetime:
    """Return when something last happened; a check-in does not count."""
    session = world.session
    if session.last_moved_at != session.last_check_in_at:
        return session.last_moved_at
    moments = [
        session.started_at,
        *(act.ended_at for act in world.acts if act.state == "done"),
        *(job.ended_at for job in world.jobs),
        *(ask.settled_at for ask in world.answered),
        *(message.created_at for message in world.messages),
    ]
    return max((at for at in moments if at), default=session.last_moved_at)
