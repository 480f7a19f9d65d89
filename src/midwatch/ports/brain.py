"""A brain: it proposes and never acts."""

from typing import Protocol

from midwatch.terms.acts import BrainAnswer, Sense


class Brain(Protocol):
    """Proposes; never acts."""

    name: str

    async def propose(self, sense: Sense) -> BrainAnswer:
        """Propose what should happen next."""
        ...

    async def reply(self, sense: Sense, said: str) -> str:
        """Answer a person's message in a few sentences: what is done with it. Nothing else follows from the answer."""
        ...
