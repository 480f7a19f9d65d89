"""What the scripted model was asked, and exactly what it has sent."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
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
    opening: str = ""
    """Where it is given, the step follows from the conversation, as with a real model, not from what was answered
    before: a conversation with these words begins at the first step, any other after the `opened` first ones."""
    opened: int = 0
    played: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def next(self, body: dict[str, Any], *, main: bool) -> Step:
        """Take the step for this request."""
        if not main:
            return self.side
        if self.opening:
            self.played = turns(body) + (0 if self.opening in json.dumps(body) else self.opened)
        reached = 0
        for step in self.steps:
            reached += step.times
            if self.played < reached:
                self.played += 1
                return step
        return self.final


MADE_BY_MODELS = ("function_call", "custom_tool_call", "reasoning")
"""Items of a Responses conversation that have no role."""


def turns(body: dict[str, Any]) -> int:
    """Count the answers that a conversation holds already."""
    parts = body.get("messages") or body.get("input") or body.get("contents") or ()
    own = [
        isinstance(part, dict) and (part.get("role") in ("assistant", "model") or part.get("type") in MADE_BY_MODELS)
        for part in parts
    ]
    return sum(now and not before for before, now in pairwise([False, *own]))


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
