"""How a round and a session come to their end: check-ins, limits, completion."""

from datetime import timedelta
from typing import Literal

from midwatch.journal.events import Event
from midwatch.journal.events.session import CheckInMade, NoticeRaised, SessionDebriefing
from midwatch.night.roles import Night
from midwatch.night.world import World
from midwatch.rules.limits import CheckIn, SessionEnd, SinceCheckIn, check_ins_due, session_ends
from midwatch.rules.notices import NoticeKind, tier_of

GOING = frozenset({"todo", "working", "waiting"})
WHY = {
    SessionEnd.TIME: "the night's time is used up",
    SessionEnd.USD: "the night's money is used up",
    SessionEnd.TOKENS: "the night's tokens are used up",
    SessionEnd.ROUNDS: "the night's rounds are used up",
    SessionEnd.IDLE: "nothing happened any more",
}


def check_in(world: World) -> tuple[Event, ...]:
    """Say how it stands, when it is time to."""
    session = world.session
    last = session.last_check_in_at or session.started_at or world.now
    since = SinceCheckIn(
        elapsed=world.now - last,
        silent_for=world.now - session.last_moved_at,
        decisions=sum(act.judged_at > last for act in world.acts),
        event=any(job.ended_at and job.ended_at > last for job in world.jobs),
    )
    due = check_ins_due(since)
    if not due:
        return ()
    counted = [item.state for item in world.items()]
    text = f"{counted.count('delivered')} of {len(counted)} delivered, {len(world.running)} at work."
    trigger = ", ".join(one.value for one in due)
    kind: Literal["alert", "progress"] = "alert" if CheckIn.BUDGET in due else "progress"
    return (CheckInMade(session=session.id, type=kind, trigger=trigger, text=text),)


def debrief_if_over(night: Night, world: World) -> tuple[Event, ...]:
    """End the session when everything ordered is settled or a limit is reached."""
    session = world.session
    reason = _why_over(world)
    if not reason or world.running:
        return ()
    return (
        SessionDebriefing(session=session.id, reason=reason),
        CheckInMade(session=session.id, type="completion", trigger="over", text=f"The night is over: {reason}."),
        NoticeRaised(
            notice=night.ids.new("ntc"),
            session=session.id,
            tier=tier_of(NoticeKind.CHECK_IN_COMPLETION),
            text=f"Night {session.number} is over: {reason}.",
            subject=session.id,
        ),
    )


def _why_over(world: World) -> str:
    items = world.items()
    blocking = any(ask.blocking for ask in world.asks)
    if not blocking and not any(item.state in GOING or item.may_retry for item in items):
        return "everything ordered is settled"
    waits = blocking or any(item.state in GOING for item in items)
    idle = timedelta(0) if waits and _something_moves(world) else world.now - world.session.last_moved_at
    end = session_ends(world.budgets(), idle_for=idle)
    return WHY[end] if end else ""


def _something_moves(world: World) -> bool:
    return bool(world.running) or any(ask.blocking for ask in world.asks)
