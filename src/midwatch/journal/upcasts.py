"""Old shapes of events, lifted to today's when read. Events are forever: meaning is added here, never edited there."""

from collections.abc import Callable

from pydantic import JsonValue

from midwatch.journal.events import Event, TaggedEvent

Shape = dict[str, JsonValue]

UPCASTS: dict[str, Callable[[Shape], Shape]] = {}
"""By kind as it was written. Each has a golden file under tests/journal/golden."""


def read_event(kind: str, payload: Shape) -> Event:
    """Turn a stored payload, of whatever age, into today's event."""
    lift = UPCASTS.get(kind)
    return TaggedEvent.validate_python({"kind": kind} | (lift(payload) if lift else payload))


def write_event(event: Event) -> Shape:
    """Turn an event into the payload that is stored; the kind has its own column."""
    body: Shape = event.model_dump(mode="json", exclude={"kind"})
    return body
