"""A brain: it proposes and never acts."""

from typing import Protocol

from midwatch.terms.acts import Answer, Sense


class Brain(Protocol):
    """Proposes; never acts."""

    name: str

    async def propose(self, sense: Sense) -> Answer:
        """Say what should happen next."""
        ...
