"""What drivers share for programs that talk line by line: tolerant reading, and answers that fail closed."""

import asyncio
import contextlib
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any

from midwatch.ports.agent import AgentBrief, Decide, Tell
from midwatch.ports.room import ProgramEnd, Talk
from midwatch.rules.recovery.failure_texts import telling_line
from midwatch.terms.agents import AgentEvent, Decision, Outcome, Said

UNDECIDED = "This call could not be decided, so it is denied. Continue without it, or say what you need it for."
UNREADABLE = Decision(allowed=False, why="Midwatch could not read this call, so it is refused.")

Message = Mapping[str, Any]
Events = Iterable[AgentEvent]

READING = ("Read", "Grep", "Glob")
"""The only tools offered while planning; an agent's own plan mode lets other tools write."""
Ending = tuple[Outcome, str]
STOPPED: Ending = (Outcome.CANCELLED, "It was stopped.")
TURNS_USED_UP: Ending = (Outcome.MAX_TURNS, "It reached its turn limit.")
MONEY_USED_UP: Ending = (Outcome.BUDGET, "It reached its spending limit.")
USAGE_LIMIT: Ending = (Outcome.LIMIT, "The usage limit is reached.")
OVERLOADED: Ending = (Outcome.NETWORK, "The provider was overloaded.")
PROVIDER_ERROR: Ending = (Outcome.NETWORK, "The provider reported an internal error.")
UNREACHED: Ending = (Outcome.NETWORK, "The provider could not be reached.")
REFUSED_CREDENTIAL: Ending = (Outcome.AUTH, "The provider did not accept the credential.")
LIMITED: Ending = (Outcome.LIMIT, "The provider is limiting requests.")
SHAPELESS: Ending = (Outcome.FAILED, "The agent finished without an answer in the required JSON form.")
NO_REASON = "It stopped without giving a reason."
ENOUGH = Decision(allowed=False, why=TURNS_USED_UP[1])
STATUSES: Mapping[int, Ending] = {
    401: REFUSED_CREDENTIAL,
    402: (Outcome.BUDGET, "The budget of this job is used up."),
    403: (Outcome.AUTH, "The provider does not allow this request with this credential."),
    404: (Outcome.FAILED, "The provider does not know this model, or does not offer it with this credential."),
    429: LIMITED,
}
"""What a provider's status means for a run."""

_log = logging.getLogger(__name__)


def line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def parsed(said: bytes) -> dict[str, Any] | None:
    """Read a line as a JSON object; None if it is something else."""
    try:
        message = json.loads(said)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def shortened(text: str, most: int = 500) -> str:
    """Cut a text to what fits into an event; the whole of it stays in the log."""
    return text if len(text) <= most else f"{text[:most]}…"


def ends_of(text: str, most: int = 500) -> str:
    """Cut the middle out of what a call returned: a command says at its end how it went."""
    return text if len(text) <= most else f"{text[: most // 4]}…\n…{text[-most * 3 // 4 :]}"


def without_a_result(left: ProgramEnd, refused: str | None = None) -> Ending:
    """Say how a run ended that reported no result; `refused` says why it did not start."""
    if refused is not None:
        return Outcome.FAILED, f"It did not start: {shortened(refused, 300)}"
    if left.stopped:
        return STOPPED
    last = [shortened(said, 300) for said in (left.last_words or telling_line(left.tail),) if said]
    return Outcome.CRASHED, " ".join((f"It ended without a result: {left.sentence}", *last))


class LineReader(ABC):
    """Reads what a program writes; unknown messages are ignored, broken lines reported once."""

    def __init__(self) -> None:
        super().__init__()
        self._complained = False

    @abstractmethod
    def events(self, message: Message) -> Events:
        """Return what happened by one message."""

    def message(self, said: bytes) -> tuple[Message, list[AgentEvent]]:
        """Read a line: the message, empty if it is none, and the events in it."""
        if not said.strip():
            return {}, []
        message = parsed(said)
        if message is None:
            return {}, self._complain(said)
        try:
            return message, list(self.events(message))
        except (KeyError, TypeError, ValueError, AttributeError):
            return message, self._complain(said)

    def _complain(self, said: bytes) -> list[AgentEvent]:
        if self._complained:
            return []
        self._complained = True
        text = shortened(said.decode(errors="replace").strip(), 200)
        return [Said(text=f"(It wrote something outside its protocol; the log has all of it.) {text}")]


async def decided(decide: Decide, tool: str, given: Mapping[str, Any]) -> Decision:
    """Ask for a decision; any error on the way is a no, unless this task itself is being stopped."""
    try:
        return await decide(tool, given)
    except asyncio.CancelledError:
        if stopped_from_outside():
            raise
    except Exception:  # noqa: BLE001 - after any error the call must not run
        _log.exception("A tool call could not be decided, so it is refused: %s", tool)
    return Decision(allowed=False, why=UNDECIDED)


def stopped_from_outside() -> bool:
    """Return whether this task itself was cancelled, not something it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def answer_once(talk: Talk, question: str, data: bytes) -> None:
    """Write an answer unless it was written before a restart; if the program is gone, its end explains why."""
    if not await talk.answered(question):
        with contextlib.suppress(ConnectionError):
            await talk.answer(question, data)


async def owed(brief: AgentBrief, turn: int) -> str:
    """Wait for the messages due to an agent after a turn."""
    return await brief.hear(turn) if brief.hear is not None else ""


async def noted(brief: AgentBrief, call: str) -> str:
    """Ask for a note to send with the answer to a tool call; an error here must not hold back the answer."""
    try:
        return await brief.note(call) if brief.note is not None else ""
    except Exception:  # noqa: BLE001 - after any error the call is still answered
        _log.exception("The note for a tool call could not be read.")
        return ""


class InTurn:
    """Reports one event after the other, although lines and answers are handled in parallel."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._turn = asyncio.Lock()

    async def __call__(self, event: AgentEvent) -> None:
        """Wait for its turn, then report the event."""
        async with self._turn:
            await self._tell(event)


class Questions:
    """The program's open questions, each answered by a task of its own while other lines are read."""

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
        """Stop answering: the program withdrew the question."""
        if task := self._open.get(name):
            task.cancel()

    def withdraw_all(self) -> None:
        """Stop answering anything: the program has ended."""
        for task in self._open.values():
            task.cancel()
