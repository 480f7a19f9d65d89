"""The running count of one answer: what the provider reported, and an estimate for the rest."""

from collections.abc import Iterable
from typing import Final

from midwatch.gateway.metering.calls import TokenUsage

CHARACTERS_PER_TOKEN: Final = 4
_ABSURD: Final = 1_000_000_000
LONGEST_NAME: Final = 1_000
"""Characters of a name that a provider gives an answer."""


class UsageTally:
    """Counts one answer while it comes. Until the provider reports the output, it is estimated from the text."""

    def __init__(self) -> None:
        self.model = ""
        self.terms = ""
        self.reported_input = False
        """Whether the provider has reported the input."""
        self.ended = False
        """Whether the provider has said that the answer is complete, and what it has used."""
        self._input = self._cache_read = self._cache_write = self._kept_1h = 0
        self._floor = self._output = self._characters = 0
        self._reported_output = False
        self.dripped: set[str] = set()
        """Items of the answer that came in pieces, each of which was counted."""
        self.answer = ""
        """The provider's name for the answer, by which a later request may refer to it."""
        self.items: set[str] = set()
        """Likewise of its parts."""
        self.passing = 0
        """Characters of a part that is not complete yet."""

    @property
    def usage(self) -> TokenUsage:
        characters = self._characters + self.passing
        guess = -(-characters // CHARACTERS_PER_TOKEN)
        return TokenUsage(
            input=self._input,
            output=max(self._floor, self._output + guess),
            cache_read=self._cache_read,
            cache_write=self._cache_write,
            cache_write_1h=min(self._kept_1h, self._cache_write),
            terms=self.terms,
            estimated=characters > 0,
        )

    def came(self, characters: int) -> None:
        self._characters += characters

    def begins(self, output: object) -> None:
        """Record the output reported at the beginning of an answer, which is only its first token."""
        self._floor = max(self._floor, whole(output) or 0)

    def put_out(self, *parts: object) -> None:
        """Record the reported output so far; it replaces our estimate, even a higher one."""
        numbers = [whole(part) for part in parts]
        if all(number is None for number in numbers):
            return
        self._output = sum(number or 0 for number in numbers)
        self._reported_output = True
        self._floor = self._characters = self.passing = 0

    def took_in(self, fresh: object, *, read: object = None, written: object = None, kept_1h: object = None) -> None:
        """Record the reported input; a kind that is not mentioned stays unchanged."""
        number = whole(fresh)
        if number is not None:
            self.reported_input = True
            self._input = max(self._input, number)
        self._cache_read = max(self._cache_read, whole(read) or 0)
        self._cache_write = max(self._cache_write, whole(written) or 0)
        self._kept_1h = max(self._kept_1h, whole(kept_1h) or 0)

    def ends(self, *, whole: bool = True) -> None:
        """Record that the provider has said its last about this answer."""
        self.ended = self.ended or (whole and self._reported_output)

    def served(self, terms: object, *, usual: tuple[str, ...] = ("", "default", "standard")) -> None:
        """Record how the provider served the answer, where that changes its price."""
        if isinstance(terms, str) and terms.lower() not in usual:
            self.terms = terms.lower()[:40]

    def named(self, model: object) -> None:
        """Record the provider's name for the model."""
        if isinstance(model, str) and model:
            self.model = model[:120]

    def identified(self, answer: object, items: Iterable[object] = ()) -> None:
        """Record what the provider calls the answer and its parts."""
        if isinstance(answer, str) and len(answer) <= LONGEST_NAME:
            self.answer = answer
        self.items |= {one for one in items if isinstance(one, str) and len(one) <= LONGEST_NAME}


def whole(value: object) -> int | None:
    """Parse a count; None where it is not a plausible number."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < _ABSURD else None
