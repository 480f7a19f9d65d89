"""A night as rows for replay: every entry in words, idle time folded, filtered by tags."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events.crew import AgentBegan
from midwatch.terms.term import Term
from midwatch.views.entries.describe import describe
from midwatch.views.entries.tags import Phase, Tag, phase_of, tags_of
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean

IDLE = timedelta(minutes=5)
"""A longer gap than this is folded into one row."""


class PromptUsed(Term):
    """Where the full prompt of an agent is stored, and the template it came from."""

    template: str
    version: str
    prompt_blob: str


class Row(Term):
    """One entry as a reader sees it."""

    type: Literal["row"] = "row"
    seq: int
    at: datetime
    phase: Phase
    kind: str
    text: str
    actor: str
    because: tuple[int, ...] = ()
    tags: tuple[Tag, ...] = ()
    prompt: PromptUsed | None = None
    """The agent's prompt, on the entry where the agent began."""


class Gap(Term):
    """A stretch in which nothing was written."""

    type: Literal["gap"] = "gap"
    seconds: int


def rows(
    entries: Iterable[Entry],
    names: Names,
    *,
    tags: frozenset[Tag] = frozenset(),
    since: datetime | None = None,
) -> tuple[Row | Gap, ...]:
    """Lay entries out in order; with `tags` only those that carry one of them, idle stretches kept between.

    `since` is the time of the entry before the first, so that a page begins with the gap before it.
    """
    shown: list[Row | Gap] = []
    before = since
    for entry in entries:
        if before is not None and entry.at - before > IDLE:
            _idle(shown, entry.at - before, first=since is not None)
        before = entry.at
        marks = tags_of(entry.event)
        if not tags or marks & tags:
            shown.append(_row(entry, names, marks))
    while shown and isinstance(shown[-1], Gap):
        shown.pop()
    return tuple(shown)


def _idle(shown: list[Row | Gap], span: timedelta, *, first: bool) -> None:
    """Join gaps with nothing shown between them; before the very first row there is none."""
    if not shown and not first:
        return
    seconds = int(span.total_seconds())
    if shown and isinstance(last := shown[-1], Gap):
        shown[-1] = Gap(seconds=last.seconds + seconds)
    else:
        shown.append(Gap(seconds=seconds))


def _row(entry: Entry, names: Names, marks: frozenset[Tag]) -> Row:
    return Row(
        seq=entry.seq,
        at=entry.at,
        phase=phase_of(entry.event),
        kind=entry.event.kind,
        text=describe(entry.event, names),
        actor=clean(entry.actor, 60),
        because=entry.because,
        tags=tuple(sorted(marks)),
        prompt=prompt_used(entry.event),
    )


def prompt_used(event: Event) -> PromptUsed | None:
    """Return the prompt of an agent that began; other entries have none."""
    if not isinstance(event, AgentBegan) or not event.prompt_blob:
        return None
    return PromptUsed(
        template=clean(event.template, 80), version=clean(event.template_version, 200), prompt_blob=event.prompt_blob
    )
