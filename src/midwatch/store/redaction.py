"""Removes every secret before anything is written: only the clean form is projected, queued, sent and hashed."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pydantic import JsonValue, ValidationError

from midwatch.errors import Broken
from midwatch.journal.entry import canonical
from midwatch.journal.events import Event
from midwatch.journal.upcasts import Shape, read_event, write_event

LARGE = 64 * 1024
Scrub = Callable[[str, JsonValue], JsonValue]
"""Takes secrets out of a payload of this kind, or out of a text without a kind; clean input is returned unchanged."""


class Draft(NamedTuple):
    """Events with the bodies that are stored, under one key."""

    events: tuple[Event, ...]
    bodies: tuple[str, ...]
    actor: str
    key: str
    because: tuple[int, ...]

    @property
    def keys(self) -> list[str]:
        return [self.key if i == 0 else f"{self.key}#{i}" for i in range(len(self.events))]


async def drafted(draft: Draft, scrub: Scrub | None) -> Draft:
    """Write the bodies of a draft that has none yet, clean."""
    shapes = [write_event(event) for event in draft.events]
    bodies = tuple(canonical(shape) for shape in shapes)
    if scrub is None:
        return draft._replace(bodies=bodies)
    draft = draft._replace(bodies=bodies, actor=clean_text(draft.actor, scrub), key=clean_text(draft.key, scrub))
    if sum(map(len, bodies)) < LARGE:
        return _scrubbed(draft, shapes, scrub)
    # In a thread: neither the loop nor a transaction waits for a long scan.
    return await asyncio.to_thread(_scrubbed, draft, shapes, scrub)


def clean_text(text: str, scrub: Scrub | None) -> str:
    """Redact an actor or a key."""
    clean = scrub("", text) if scrub else text
    return str(clean)


def _scrubbed(draft: Draft, shapes: Sequence[Shape], scrub: Scrub) -> Draft:
    """Redact each event, and check that it is still valid."""
    events, bodies = list(draft.events), list(draft.bodies)
    for i, (event, shape) in enumerate(zip(draft.events, shapes, strict=True)):
        clean: Any = scrub(event.kind, shape)
        if clean is shape:
            continue
        try:
            events[i], bodies[i] = read_event(event.kind, clean), canonical(clean)
        except ValidationError:
            raise Broken(
                f"A secret cannot be removed from {event.kind}; nothing was written.",
                hint="Change that secret: a word or number that Midwatch itself uses cannot be hidden.",
            ) from None  # the cause would repeat it
    return draft._replace(events=tuple(events), bodies=tuple(bodies))
