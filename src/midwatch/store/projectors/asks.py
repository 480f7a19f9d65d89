"""Asks, and effects behind the door."""

import sqlalchemy as sa

from midwatch.errors import Refused
from midwatch.journal.entry import Entry
from midwatch.journal.events import session as ev
from midwatch.journal.events.notices import AskPostponed
from midwatch.store.projectors.rows import begin, change, clear_timer, on, row, set_timer
from midwatch.store.projectors.sessions import call_round
from midwatch.store.schema.tables import asks, tool_invocations
from midwatch.terms.asks import AskState, Silence


@on(ev.AskOpened)
def ask_opened(c: sa.Connection, entry: Entry, event: ev.AskOpened) -> None:
    """It is open, with its deadline."""
    begin(c, entry, asks, event.ask, event.draft, session=event.session, state=AskState.OPEN, due_at=event.due_at)
    if event.due_at is not None:
        set_timer(c, f"ask:{event.ask}", "ask", event.ask, event.due_at)


def _settle(c: sa.Connection, entry: Entry, ask: str, state: AskState, **values: object) -> None:
    now = row(c, asks, ask)
    if now["state"] != AskState.OPEN.value:
        said = f"answered {now['answer']!r} by {now['answered_by']}" if now["answer"] else now["state"]
        raise Refused(f"Ask {now['number']} is settled already: {said}.", hint="Open asks: midwatch asks")
    change(c, asks, {"id": ask, "state": AskState.OPEN}, state=state, settled_at=entry.at, **values)
    clear_timer(c, f"ask:{ask}")
    call_round(c, now["session"], entry.at)


@on(ev.AskAnswered)
def ask_answered(c: sa.Connection, entry: Entry, event: ev.AskAnswered) -> None:
    """The first answer wins; later ones are refused."""
    _settle(c, entry, event.ask, AskState.ANSWERED, answer=event.answer, answer_text=event.text, answered_by=event.by)


@on(ev.AskExpired)
def ask_expired(c: sa.Connection, entry: Entry, event: ev.AskExpired) -> None:
    """Silence counts as the answer that the ask stated."""
    _settle(c, entry, event.ask, AskState.EXPIRED, answer=event.meant, answered_by="silence")


@on(ev.AskWithdrawn)
def ask_withdrawn(c: sa.Connection, entry: Entry, event: ev.AskWithdrawn) -> None:
    """Not needed any more."""
    _settle(c, entry, event.ask, AskState.WITHDRAWN, answer_text=event.why)


@on(AskPostponed)
def ask_postponed(c: sa.Connection, _: Entry, event: AskPostponed) -> None:
    """It is due at another time, or waits for a person; only while it is open and has a deadline at all."""
    if row(c, asks, event.ask)["due_at"] is None:
        raise Refused("This ask has no deadline.", hint="Look at the current state and try again.")
    still_open = {"id": event.ask, "state": AskState.OPEN}
    if event.due_at is None:
        change(c, asks, still_open, due_at=None, silence=Silence.WAITS)
        clear_timer(c, f"ask:{event.ask}")
        return
    change(c, asks, still_open, due_at=event.due_at)
    set_timer(c, f"ask:{event.ask}", "ask", event.ask, event.due_at)


@on(ev.ToolCalled)
def tool_called(c: sa.Connection, entry: Entry, event: ev.ToolCalled) -> None:
    """An effect is under way."""
    begin(c, entry, tool_invocations, event.invocation, event, status="running", result={}, started_at=entry.at)


@on(ev.ToolFinished)
def tool_finished(c: sa.Connection, entry: Entry, event: ev.ToolFinished) -> None:
    change(
        c,
        tool_invocations,
        {"id": event.invocation, "status": "running"},
        status=event.status,
        result=event.result,
        error=event.error,
        ended_at=entry.at,
    )
