"""The door: the boundary every effect outside the database passes."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from midwatch.terms.term import Term
from midwatch.terms.trust import Verdict


class Effect(Term):
    """One effect that is to pass. Its key decides what counts as the same effect."""

    key: str
    tool: str
    session: str
    run: str
    job: str
    request: dict[str, str]


class Door(Protocol):
    """Lets effects out, once per key."""

    async def pass_through(
        self, effect: Effect, judge: Callable[[], Awaitable[Verdict]], act: Callable[[], Awaitable[dict[str, str]]]
    ) -> dict[str, str]:
        """Judge again, act at most once, trace."""
        ...
