"""Why did it happen: the chain of causes upward, the direct consequences downward, each in words."""

from collections.abc import Callable, Mapping, Sequence

from midwatch.errors import Unknown
from midwatch.journal.entry import Entry
from midwatch.terms.term import Term
from midwatch.views.entries.advice import AdviceExplained, why_recommendation
from midwatch.views.entries.causes import Threads
from midwatch.views.entries.describe import describe
from midwatch.views.text.names import Names

__all__ = ["AdviceExplained", "CauseStep", "Explanation", "why", "why_recommendation"]

LONGEST = 50


class CauseStep(Term):
    """One entry of a chain; depth is its distance from the question."""

    seq: int
    kind: str
    text: str
    depth: int


class Explanation(Term):
    """What happened, what caused it, nearest first, and what followed from it."""

    seq: int
    kind: str
    text: str
    causes: tuple[CauseStep, ...]
    consequences: tuple[CauseStep, ...]


def why(
    seq: int, entries: Sequence[Entry], names: Names, belongs: Mapping[str, tuple[str, ...]] | None = None
) -> Explanation:
    """Explain one entry by the entries it depends on and those that follow from it."""
    find = {entry.seq: entry for entry in entries}.get
    asked = find(seq)
    if asked is None:
        raise Unknown(f"The journal has no entry {seq}.", hint="List them: midwatch replay")
    threads = Threads(entries, belongs)
    led = [entry for number in threads.effects(seq) if (entry := find(number)) is not None]
    return Explanation(
        seq=seq,
        kind=asked.event.kind,
        text=describe(asked.event, names),
        causes=_upward(asked, threads, find, names),
        consequences=tuple(_step(entry, names, 1) for entry in led),
    )


def _upward(asked: Entry, threads: Threads, find: Callable[[int], Entry | None], names: Names) -> tuple[CauseStep, ...]:
    """Walk level by level; an entry reached twice is listed once, at its nearest."""
    steps: list[CauseStep] = []
    seen = {asked.seq}
    level = [asked]
    while level and len(steps) < LONGEST:
        above = [number for entry in level for number in threads.causes.get(entry.seq, entry.because)]
        fresh = [number for number in dict.fromkeys(above) if number not in seen]
        seen.update(fresh)
        level = [entry for number in fresh if (entry := find(number)) is not None]
        depth = steps[-1].depth + 1 if steps else 1
        steps += [_step(entry, names, depth) for entry in level]
    return tuple(steps)


def _step(entry: Entry, names: Names, depth: int) -> CauseStep:
    return CauseStep(seq=entry.seq, kind=entry.event.kind, text=describe(entry.event, names), depth=depth)
