"""The answers that one job has received, which its later requests may name; and what each brings with it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

MOST: Final = 20_000
"""Names that are remembered of a job; the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class Received:
    """What a request takes in by naming an answer, or a part of one."""

    answer: str
    tokens: int


@dataclass(slots=True)
class AnswersReceived:
    """Remembers each complete answer of one job and provider, until the server ends."""

    _known: dict[str, Received] = field(default_factory=dict)

    def remember(self, answer: str, items: Iterable[str], *, tokens: int, made: int) -> None:
        """Note an answer: named as a whole it brings all its tokens, a part of it at most what the model made."""
        self._known[answer] = Received(answer, tokens)
        self._known |= {item: Received(f"parts of {answer}", made) for item in items}
        while len(self._known) > MOST:
            del self._known[next(iter(self._known))]

    def brought_by(self, name: object) -> Received | None:
        """Return what a name brings; None where this job has received no such answer."""
        return self._known.get(name) if isinstance(name, str) else None
