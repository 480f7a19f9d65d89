"""What the scripted model was asked, and exactly what it has sent."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from midwatch.terms.agents import Tokens
from tests.agents.model.answers import NOTHING
from tests.agents.model.script import FOREVER, Fault, Say, Step


@dataclass
class Asked:
    """One request and what became of it; it is filled in while the answer goes out."""

    name: str
    """Whose script was played."""
    api: str
    """anthropic, responses, chat, gemini, or other for what no model is asked."""
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    main: bool
    """It offered tools, so it was answered from the steps."""
    step: Step
    told: Tokens = NOTHING
    """What the reader was told, in events that went out whole (an event ends with its empty line)."""
    made: Tokens = NOTHING
    """What was made for it, told or not; real providers bill this."""
    sent: int = 0
    """Bytes of the body that went out."""
    whole: bool = False


def total(parts: Iterable[Tokens]) -> Tokens:
    """Add up."""
    sums: dict[str, int] = dict.fromkeys(Tokens.model_fields, 0)
    for part in parts:
        for kind in sums:
            sums[kind] += getattr(part, kind)
    return Tokens(**sums)


@dataclass
class Part:
    """One credential's script, and how far it has come."""

    steps: tuple[Step, ...]
    final: Step
    side: Step
    every: bool
    """Requests without tools are answered from the steps too."""
    played: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def next(self, *, main: bool) -> Step:
        """Take the step for this request."""
        if not main:
            return self.side
        reached = 0
        for step in self.steps:
            reached += step.times
            if self.played < reached:
                self.played += 1
                return step
        return self.final


class Ledger:
    """All scripts and all requests."""

    def __init__(self) -> None:
        self.parts: dict[str, Part] = {}
        self.log: list[Asked] = []
        self.news = asyncio.Condition()

    def part(self, name: str) -> Part:
        """Give the script of this name; a stranger is refused, as by a real provider."""
        nobody = Fault(401, "invalid x-api-key", times=FOREVER)
        return self.parts.get(name) or Part((), nobody, nobody, every=True)

    async def note(self, asked: Asked) -> None:
        """Write down a request before it is answered."""
        async with self.news:
            self.log.append(asked)
            self.news.notify_all()


SIDE = Say('{"title": "A scripted side call", "isNewTopic": true}')
"""What requests without tools are told: agents ask for titles and the like."""
