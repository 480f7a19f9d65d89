"""Old shapes of events, upgraded when they are read. Stored entries are never edited."""

from collections.abc import Callable

from pydantic import JsonValue

from midwatch.journal.events import Event, TaggedEvent

Shape = dict[str, JsonValue]


def _ended(payload: Shape) -> Shape:
    """A job could once be done without a delivery and without a word on why; those entries keep their meaning."""
    unsaid = payload.get("state") == "done" and "unneeded" not in payload
    return payload | {"unneeded": "Recorded before this had to be shown."} if unsaid else payload


def _opened(payload: Shape) -> Shape:
    """Every session once took the next number as it opened; people know these nights by those numbers."""
    return {"numbered": True} | payload


UPCASTS: dict[str, Callable[[Shape], Shape]] = {"job.ended": _ended, "session.opened": _opened}
"""By stored kind. Each has a golden file under tests/journal/golden."""


def read_event(kind: str, payload: Shape) -> Event:
    """Read a stored payload of any age as a current event."""
    lift = UPCASTS.get(kind)
    return TaggedEvent.validate_python({"kind": kind} | (lift(payload) if lift else payload))


def write_event(event: Event) -> Shape:
    """Return the payload to store; the kind has its own column."""
    body: Shape = event.model_dump(mode="json", exclude={"kind"})
    return body
