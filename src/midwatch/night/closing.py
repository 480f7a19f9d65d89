"""How a round and a session come to their end: check-ins, limits, completion."""

from datetime import datetime, timedelta

from midwatch.journal.events import Event
from midwatch.journal.events.session import CheckInMade, NoticeRaised
from midwatch.night.ending import debrief_events
from midwatch.night.roles import Night
from midwatch.night.world import World
from midwatch.rules.limits import (
    SessionEnd,
    Signs,
    SinceCheckIn,
    alarming,
    check_ins_due,
    marks_crossed,
    session_ends,
)
from midwatch.rules.notices import NoticeKind, tier_of
from midwatch.settings.night import Checkins

GOING = frozenset({"todo", "working", "waiting"})
WHY = {
    SessionEnd.TIME: "the night's time is used up",
    SessionEnd.USD: "the night's money is used up",
    SessionEnd.TOKENS: "the night's tokens are used up",
    SessionEnd.ROUNDS: "the night's rounds are used up",
    SessionEnd.IDLE: "nothing happened any more",
}


def check_in(night: Night, world: World) -> tuple[Event, ...]:
    """Say how it stands, when it is time to."""
    session = world.session
    last = session.last_check_in_at or session.started_at or world.now
    since = SinceCheckIn(
        elapsed=world.now - last,
        silent_for=world.now - session.last_moved_at,
        decisions=sum(act.judged_at > last for act in world.acts),
        event=any(job.ended_at and job.ended_at > last for job in world.jobs),
        marks=_marks(world, last),
    )
    due = check_ins_due(since, _signs(world.settings.checkins))
    if not due:
        return ()
    counted = [item.state for item in world.items()]
    text = f"{counted.count('delivered')} of {len(counted)} delivered, {len(world.running)} at work."
    trigger = ", ".join(one.value for one in due)
    if not alarming(since.marks, alert_from=world.settings.limits.alert_percent):
        return (CheckInMade(session=session.id, type="progress", trigger=trigger, text=text),)
    return (
        CheckInMade(session=session.id, type="alert", trigger=trigger, text=text),
        NoticeRaised(
            notice=night.ids.new("ntc"),
            session=session.id,
            tier=tier_of(NoticeKind.CHECK_IN_ALERT),
            text=f"Night {session.number} has used {max(since.marks)} % of its time or rounds. {text}",
            subject=session.id,
        ),
    )


def _marks(world: World, last: datetime) -> tuple[int, ...]:
    """Shares of a limit that were passed: of the time since the last check-in, of the rounds by this very round."""
    wanted = {*world.settings.checkins.budget_percents, world.settings.limits.alert_percent}
    seconds, rounds = world.budgets().seconds, world.budgets().rounds
    until_then = int((last - (world.session.started_at or last)).total_seconds())
    steps = ((until_then, seconds), (max(0, rounds.spent - 1), rounds))
    crossed = {
        mark
        for spent, now in steps
        for mark in marks_crossed(now.model_copy(update={"spent": spent}), now, marks=wanted)
    }
    return tuple(sorted(crossed))


def _signs(checkins: Checkins) -> Signs:
    return Signs(
        every=timedelta(minutes=checkins.every_minutes),
        keep_alive=timedelta(minutes=checkins.keep_alive_minutes),
        decisions=checkins.every_decisions,
    )


def debrief_if_over(night: Night, world: World) -> tuple[Event, ...]:
    """End the session when everything ordered is settled, nothing happens any more, or a limit is reached."""
    session = world.session
    if session.paused:
        return ()  # a person holds it: only the clock and the person end it now
    reason = _why_over(world)
    if not reason:
        return ()
    return tuple(debrief_events(night, session, reason, jobs=world.running, asks=world.asks, by="midwatch"))


def _why_over(world: World) -> str:
    """Used-up limits stop what runs; that all is settled, or nothing moves, is said only when nothing runs."""
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
    """When something last happened; a check-in is a sign of life, but nothing that happened."""
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
