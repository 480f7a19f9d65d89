"""A brain: it proposes and never acts."""

from typing import Protocol

from midwatch.terms.acts import BrainAnswer, Sense


class Brain(Protocol):
    """Proposes; never acts."""

    name: str

    async def propose(self, sense: Sense) -> BrainAnswer:
        """Propose what should happen next."""
        ...
