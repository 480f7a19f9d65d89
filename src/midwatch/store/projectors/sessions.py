"""Sessions, rounds, acts: the night's own state machine. A transition that is not drawn in SPEC.md is Stale."""

from datetime import datetime

import sqlalchemy as sa

from midwatch.errors import Refused, Stale
from midwatch.journal.entry import Entry, canonical, digest
from midwatch.journal.events import preflight as preflight_events
from midwatch.journal.events import session as ev
from midwatch.store.projectors.rows import adjust, begin, change, clear_timer, next_number, on, row, set_timer
from midwatch.store.schema.tables import (
    acts,
    check_ins,
    deliberations,
    messages,
    preflight_lines,
    preflights,
    rounds,
    sessions,
)
from midwatch.terms.preflight import LineState, PreflightState
from midwatch.terms.projects import SessionState

LIVE = ("briefing", "autonomous", "debrief")


def call_round(c: sa.Connection, session: str, at: datetime) -> None:
    """Something happened that calls for a round: at once, or right after the current one."""
    now = c.execute(sa.select(sessions).where(sessions.c.id == session)).mappings().first()
    if now is None or now["state"] != SessionState.AUTONOMOUS.value:
        return
    if now["round_active"] or now["paused"]:
        adjust(c, sessions, {"id": session}, round_wanted=True)
    else:
        _next_round(c, session, at)


def _next_round(c: sa.Connection, session: str, at: datetime) -> None:
    if row(c, sessions, session)["ad_hoc"]:
        return  # a command has one thing to do; no round looks for more
    adjust(c, sessions, {"id": session}, next_round_at=at, round_wanted=False)
    set_timer(c, f"round:{session}", "round", session, at)


@on(ev.SessionOpened)
def session_opened(c: sa.Connection, entry: Entry, event: ev.SessionOpened) -> None:
    """One night at a time; a second is refused. A person's own command may run beside it."""
    if not event.ad_hoc:
        _clear_the_stage(c, entry)
    number = next_number(c, sessions) if event.numbered else 0
    fresh = {"state": SessionState.BRIEFING, "level": event.orders.level, "last_moved_at": entry.at, "number": number}
    begin(c, entry, sessions, event.session, event, **fresh)


def _clear_the_stage(c: sa.Connection, entry: Entry) -> None:
    under_way = sa.select(sessions.c.number).where(
        sessions.c.state == SessionState.AUTONOMOUS.value, sessions.c.ad_hoc.is_(False)
    )
    if (busy := c.execute(under_way).scalar()) is not None:
        raise Refused(f"Night {busy} is under way.", hint="End it first: midwatch stop")
    adjust(
        c,
        sessions,
        {"state": SessionState.BRIEFING, "ad_hoc": False},
        state=SessionState.ENDED,
        reason="replaced by a newer briefing",
        ended_at=entry.at,
    )


@on(ev.OrdersChanged)
def orders_changed(c: sa.Connection, entry: Entry, event: ev.OrdersChanged) -> None:
    """Only a draft can be edited; signed orders never change."""
    where = {"id": event.session, "state": SessionState.BRIEFING, "signed_by": ""}
    change(c, sessions, where, orders=event.orders, level=event.orders.level, last_moved_at=entry.at)


@on(ev.OrdersSigned)
def orders_signed(c: sa.Connection, entry: Entry, event: ev.OrdersSigned) -> None:
    """Consent to exactly what was read: orders edited after that are not what was signed. A night gets its number."""
    now = row(c, sessions, event.session)
    if digest(canonical(now["orders"])) != event.orders_hash:
        raise Stale("The orders were changed while they were being signed.", hint="Read them again: midwatch brief")
    where = {"id": event.session, "state": SessionState.BRIEFING}
    waited = {"signing_by": "", "signing_hash": "", "signing_capped": False, "unsigned_because": ""}
    number = now["number"] if now["number"] or now["ad_hoc"] else next_number(c, sessions)
    signed = {"signed_by": event.by, "preflight": event.preflight, "number": number}
    change(c, sessions, where, last_moved_at=entry.at, **signed, **waited)


@on(ev.SessionStarted)
def session_started(c: sa.Connection, entry: Entry, event: ev.SessionStarted) -> None:
    """From briefing only, and only what was signed."""
    now = row(c, sessions, event.session)
    if not now["signed_by"]:
        raise Stale("The orders are not signed.", hint="Sign them: midwatch start")
    change(
        c,
        sessions,
        {"id": event.session, "state": SessionState.BRIEFING},
        state=SessionState.AUTONOMOUS,
        level=event.level,
        items=event.items,
        repositories=event.repositories,
        started_at=entry.at,
        ends_at=event.ends_at,
        last_moved_at=entry.at,
    )
    set_timer(c, f"limit:{event.session}", "session_limit", event.session, event.ends_at)
    _next_round(c, event.session, entry.at)


@on(ev.SessionPaused)
def session_paused(c: sa.Connection, _: Entry, event: ev.SessionPaused) -> None:
    """No round starts while paused."""
    where = {"id": event.session, "state": SessionState.AUTONOMOUS, "paused": False}
    change(c, sessions, where, paused=True, why_paused=event.why, next_round_at=None)
    clear_timer(c, f"round:{event.session}")


@on(ev.SessionResumed)
def session_resumed(c: sa.Connection, entry: Entry, event: ev.SessionResumed) -> None:
    """A round at once: the facts may have changed."""
    where = {"id": event.session, "state": SessionState.AUTONOMOUS, "paused": True}
    change(c, sessions, where, paused=False, why_paused="", last_moved_at=entry.at)
    if not row(c, sessions, event.session)["round_active"]:
        _next_round(c, event.session, entry.at)


@on(ev.SessionDebriefing)
def session_debriefing(c: sa.Connection, entry: Entry, event: ev.SessionDebriefing) -> None:
    """No more rounds; what runs is stopped by its workers."""
    change(
        c,
        sessions,
        {"id": event.session, "state": SessionState.AUTONOMOUS},
        state=SessionState.DEBRIEF,
        paused=False,
        reason=event.reason,
        next_round_at=None,
        debrief_at=entry.at,
        last_moved_at=entry.at,
    )
    clear_timer(c, f"round:{event.session}")
    clear_timer(c, f"limit:{event.session}")


@on(ev.SessionEnded)
def session_ended(c: sa.Connection, entry: Entry, event: ev.SessionEnded) -> None:
    change(
        c,
        sessions,
        {"id": event.session, "state": LIVE},
        state=SessionState.ENDED,
        ended_at=entry.at,
        next_round_at=None,
    )
    for name in ("round", "limit"):  # a review may still be given until it is due
        clear_timer(c, f"{name}:{event.session}")


@on(ev.MessageSaid)
def message_said(c: sa.Connection, entry: Entry, event: ev.MessageSaid) -> None:
    """Kept for the next round."""
    begin(c, entry, messages, event.message, event)


@on(ev.CheckInMade)
def check_in_made(c: sa.Connection, entry: Entry, event: ev.CheckInMade) -> None:
    """A report of the night."""
    begin(c, entry, check_ins, f"chk_{entry.seq}", event)
    adjust(c, sessions, {"id": event.session}, last_check_in_at=entry.at, last_moved_at=entry.at)


@on(ev.RoundCalled)
def round_called(c: sa.Connection, entry: Entry, event: ev.RoundCalled) -> None:
    change(
        c,
        sessions,
        {
            "id": event.session,
            "state": SessionState.AUTONOMOUS,
            "paused": False,
            "round_active": False,
            "rounds": event.number - 1,
        },
        rounds=event.number,
        round_active=True,
        next_round_at=None,
    )
    clear_timer(c, f"round:{event.session}")
    begin(c, entry, rounds, f"{event.session}.{event.number}", event, number=event.number, state="called")


@on(ev.RoundPlanned)
def round_planned(c: sa.Connection, _: Entry, event: ev.RoundPlanned) -> None:
    """What the brain said."""
    where = {"id": f"{event.session}.{event.number}", "state": "called"}
    change(c, rounds, where, brain=event.brain, summary=event.summary, state="planned")


@on(ev.RoundEnded)
def round_ended(c: sa.Connection, entry: Entry, event: ev.RoundEnded) -> None:
    """Set the next one, unless the session is over or holds."""
    where = {"id": f"{event.session}.{event.number}", "state": ("called", "planned")}
    change(c, rounds, where, state="ended", error=event.error)
    change(c, sessions, {"id": event.session, "round_active": True}, round_active=False)
    now = row(c, sessions, event.session)
    if now["state"] == SessionState.AUTONOMOUS.value and not now["paused"]:
        _next_round(c, event.session, entry.at if now["round_wanted"] else event.next_at)


@on(ev.CouncilSpoke)
def council_spoke(c: sa.Connection, entry: Entry, event: ev.CouncilSpoke) -> None:
    """Opinions and decision are kept."""
    begin(c, entry, deliberations, event.act, event, round=event.number)


@on(ev.ActJudged)
def act_judged(c: sa.Connection, entry: Entry, event: ev.ActJudged) -> None:
    """A decision exists from here on, and must have one end."""
    judged = {"state": "judged", "code": event.verdict.first.code, "judged_seq": entry.seq, "judged_at": entry.at}
    begin(c, entry, acts, event.act, event, event.proposal, about=event.proposal.about, round=event.number, **judged)
    counted = sa.update(sessions).where(sessions.c.id == event.session).values(decisions=sessions.c.decisions + 1)
    c.execute(counted)


@on(ev.ActEnded)
def act_ended(c: sa.Connection, entry: Entry, event: ev.ActEnded) -> None:
    change(
        c,
        acts,
        {"id": event.act, "state": "judged"},
        state=event.end,
        text=event.text,
        result=event.result,
        ended_at=entry.at,
        **({"code": event.code} if event.code else {}),
    )
    if event.end == "done":
        session = row(c, acts, event.act)["session"]
        counted = sa.update(sessions).where(sessions.c.id == session)
        c.execute(counted.values(actions=sessions.c.actions + 1, last_moved_at=entry.at))


@on(preflight_events.PreflightBegun)
def preflight_begun(c: sa.Connection, entry: Entry, event: preflight_events.PreflightBegun) -> None:
    """A night has one that counts: the newest."""
    if event.session:
        earlier = {"session": event.session, "state": PreflightState.RUNNING}
        adjust(c, preflights, earlier, state=PreflightState.REPLACED, ended_at=entry.at)
    begin(c, entry, preflights, event.preflight, event, state=PreflightState.RUNNING, asked_by=entry.actor)


@on(preflight_events.PreflightChecked)
def preflight_checked(c: sa.Connection, entry: Entry, event: preflight_events.PreflightChecked) -> None:
    """Each finding is recorded once, and only while the preflight runs."""
    found = row(c, preflights, event.preflight)
    if found["state"] != PreflightState.RUNNING.value:
        raise Stale("This preflight is over.", hint="Look at the newest one.")
    begin(c, entry, preflight_lines, f"{event.preflight}.{event.what}.{event.subject}", event)
    look, bad = (found[state.value] + (event.state is state) for state in (LineState.LOOK, LineState.BAD))
    change(c, preflights, {"id": event.preflight}, look=look, bad=bad)


@on(preflight_events.PreflightEnded)
def preflight_ended(c: sa.Connection, entry: Entry, event: preflight_events.PreflightEnded) -> None:
    """Its result is final."""
    running = {"id": event.preflight, "state": PreflightState.RUNNING}
    change(c, preflights, running, state=PreflightState.ENDED, error=event.error, ended_at=entry.at)


@on(preflight_events.SigningAsked)
def signing_asked(c: sa.Connection, _: Entry, event: preflight_events.SigningAsked) -> None:
    """It is for exactly the sheet that was shown; the first person who signs is the one who signed."""
    now = row(c, sessions, event.session)
    if digest(canonical(now["orders"])) != event.orders_hash:
        raise Stale("The orders were changed while they were being signed.", hint="Read them again.")
    where = {"id": event.session, "state": SessionState.BRIEFING, "signed_by": "", "signing_by": ""}
    asked = {"signing_by": event.by, "signing_hash": event.shown or event.orders_hash, "signing_capped": event.capped}
    change(c, sessions, where, unsigned_because="", **asked)


@on(preflight_events.SigningDropped)
def signing_dropped(c: sa.Connection, _: Entry, event: preflight_events.SigningDropped) -> None:
    """Only a signature that still waits."""
    if not row(c, sessions, event.session)["signing_by"]:
        raise Stale("No signature waits.", hint="Look at the orders again.")
    where = {"id": event.session, "state": SessionState.BRIEFING, "signed_by": ""}
    change(c, sessions, where, signing_by="", signing_hash="", signing_capped=False, unsigned_because=event.why)
