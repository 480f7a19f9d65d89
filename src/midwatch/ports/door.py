"""The door: every effect outside the database passes it."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from midwatch.terms.term import Term
from midwatch.terms.trust import Verdict


class Effect(Term):
    """One effect for the door. Effects with the same key are the same effect."""

    key: str
    tool: str
    session: str
    run: str
    job: str
    request: dict[str, str]


class Door(Protocol):
    """Carries out effects, once per key."""

    async def pass_through(
        self, effect: Effect, judge: Callable[[], Awaitable[Verdict]], act: Callable[[], Awaitable[dict[str, str]]]
    ) -> dict[str, str]:
        """Judge again, act at most once, and record it."""
        ...
