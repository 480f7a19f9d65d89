"""What drivers share when they talk with a program line by line: tolerant reading, and answers that fail closed."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Coroutine, Mapping
from typing import Any

from midwatch.ports.agent import AgentBrief, Decide, Tell
from midwatch.ports.room import Talk
from midwatch.terms.agents import AgentEvent, Decision

UNDECIDED = "This call could not be decided, so it is denied. Continue without it, or say what you need it for."
UNREADABLE = Decision(allowed=False, why="Midwatch could not read this call, so it is refused.")
ENOUGH = Decision(allowed=False, why="It took as many turns as it may.")

_log = logging.getLogger(__name__)


def line(message: Mapping[str, Any]) -> bytes:
    """Write a message as one line of JSON."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def parsed(said: bytes) -> dict[str, Any] | None:
    """Read a line as a JSON object; nothing when it is something else."""
    try:
        message = json.loads(said)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def shortened(text: str, most: int = 500) -> str:
    """Cut a text to what fits into an event; the whole of it stays in the log."""
    return text if len(text) <= most else f"{text[:most]}…"


async def decided(decide: Decide, tool: str, given: Mapping[str, Any]) -> Decision:
    """Ask for a decision; whatever goes wrong on the way is a no, unless we ourselves are being stopped."""
    try:
        return await decide(tool, given)
    except asyncio.CancelledError:
        if stopped_from_outside():
            raise
    except Exception:  # noqa: BLE001 - whatever it was, the call must not run
        _log.exception("A tool call could not be decided, so it is refused: %s", tool)
    return Decision(allowed=False, why=UNDECIDED)


def stopped_from_outside() -> bool:
    """Tell a cancelled task from one in which something awaited was cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def answer_once(talk: Talk, question: str, data: bytes) -> None:
    """Write an answer unless a restart came after it; what a program that has gone does not hear, its end explains."""
    if not await talk.answered(question):
        with contextlib.suppress(ConnectionError):
            await talk.answer(question, data)


async def owed(brief: AgentBrief, turn: int) -> str:
    """Wait for what an agent is owed after a turn."""
    return await brief.hear(turn) if brief.hear is not None else ""


async def noted(brief: AgentBrief, call: str) -> str:
    """Ask what there is to say beside the answer to a tool call; no trouble with that may keep the answer back."""
    try:
        return await brief.note(call) if brief.note is not None else ""
    except Exception:  # noqa: BLE001 - whatever it was, the call is answered
        _log.exception("What there was to say with a tool call could not be asked.")
        return ""


class InTurn:
    """Tells one event after the other, although lines and answers go on side by side."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._turn = asyncio.Lock()

    async def __call__(self, event: AgentEvent) -> None:
        """Wait for the turn, and tell."""
        async with self._turn:
            await self._tell(event)


class Questions:
    """The program's open questions, each answered in its own time while its other lines are read."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._open: dict[str, asyncio.Task[None]] = {}

    def begin(self, name: str, answering: Coroutine[Any, Any, None]) -> None:
        """Start to answer a question; the same one asked twice is answered once."""
        if name in self._open:
            answering.close()
            return
        self._open[name] = self._group.create_task(answering)

    def withdraw(self, name: str) -> None:
        """Stop answering: the program does not want to know any more."""
        if task := self._open.get(name):
            task.cancel()

    def withdraw_all(self) -> None:
        """Stop answering anything: the program has gone."""
        for task in self._open.values():
            task.cancel()
