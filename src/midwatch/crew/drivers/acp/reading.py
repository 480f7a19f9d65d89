"""Turns an ACP agent's output, line by line, into events; unknown messages are ignored."""

from typing import Any

from midwatch.crew.drivers.acp.calls import Call, calls, merged, unknown
from midwatch.crew.drivers.line_protocol import Events, LineReader, Message, ends_of
from midwatch.crew.drivers.rpc import content, number_in
from midwatch.terms.agents import Counted, RunBegan, Said, Tokens, ToolEnded, ToolRequested, TurnEnded

BEGIN, SIGN_IN, SESSION, PROMPT = 1, 2, 3, 10
"""The ids of our requests; prompts count up from the last."""


class AcpReader(LineReader):
    """Reads one run; keeps what later lines refer to."""

    def __init__(self, folder: str, model: str, conversation: str) -> None:
        super().__init__()
        self.conversation = conversation
        self.able: Message = {}
        self.begun = False
        self.live = False
        """Set once there is a session; messages before that repeat the history."""
        self.results: list[Message] = []
        """How each prompt ended: its result or its error."""
        self.refused: str | None = None
        """Why it did not start."""
        self.said = ""
        self.unheard = False
        """Set if a call was refused, and it has neither said nor begun anything since."""
        self.refused_one = False
        """Set if a call of this prompt was refused: with it some agents end every other open call."""
        self.turns = 0
        """Finished turns, as seen from outside: what follows the end of a tool call is the next turn."""
        self.latest = 0
        """How many turns were over when it last started something."""
        self.allowed: set[str] = set()
        """Calls that we allowed; if one of these fails, no refusal was the cause."""
        self._folder = folder
        self._model = model
        self._version = ""
        self._spoken: list[str] = []
        self._speaking = ""
        self._tokens = Tokens()
        self._usd: float | None = None
        self._busy = self._worked = False
        self._calls: dict[str, dict[str, Any]] = {}
        self._requested: set[str] = set()
        self._asked: set[str] = set()
        self._over: set[str] = set()

    def events(self, message: Message) -> Events:
        if "method" not in message:
            return self._answer(message)
        return self._update(message["params"]["update"]) if message["method"] == "session/update" and self.live else ()

    def wants(self, about: Message) -> tuple[str, list[Call]]:
        """Return which call a question is about, and what it would do."""
        call = str(about.get("toolCallId") or "")
        self._calls[call] = merged(self._calls.get(call, {}), about)
        self._asked.add(call)
        try:
            return call, calls(self._calls[call], self._folder)
        except (TypeError, ValueError, AttributeError):
            return call, []

    def asked(self, call: str, found: list[Call]) -> Events:
        """Report once that it wants to use a tool, with exactly what would happen."""
        if call in self._requested or not found:
            return
        self._requested.add(call)
        tool, given = found[0]
        if len(found) > 1:
            given = {"calls": [{"tool": name, **about} for name, about in found]}
        yield from self._pause()
        yield ToolRequested(call=call, tool=tool, input=dict(given))

    def _answer(self, message: Message) -> Events:
        number, result, error = message.get("id"), content(message, "result"), message.get("error")
        if isinstance(number, int) and number >= PROMPT:
            yield from self._prompted(error if isinstance(error, dict) else None, result)
        elif error and number in (BEGIN, SIGN_IN, SESSION):
            self.refused = str(content(message, "error").get("message") or "It gave no reason.")
        elif number == BEGIN:
            self.begun = True
            self.able = content(result, "agentCapabilities")
            self._version = str(content(result, "agentInfo").get("version") or "")
        elif number == SESSION:
            self.conversation = str(result.get("sessionId") or self.conversation)
            self.live = True
            yield RunBegan(conversation=self.conversation, model=self._model, version=self._version)

    def _prompted(self, error: Message | None, result: Message) -> Events:
        yield from self._pause()
        usage = content(result, "usage")
        if usage:
            self._count(usage)
            yield Counted(tokens=self._tokens, usd=self._usd)
        self.results.append({"error": error} if error is not None else result)
        yield from self._turn()

    def _turn(self) -> Events:
        if self._busy:
            self.turns += 1
            yield TurnEnded(number=self.turns)
        self._busy = self._worked = False

    def _begins(self) -> Events:
        """Note that it starts something; after the end of a tool call, that is a new turn."""
        if self._worked:
            yield from self._pause()
            yield from self._turn()
            self.unheard = False
        self._busy, self.latest = True, self.turns

    def _count(self, usage: Message) -> None:
        had = self._tokens
        self._tokens = Tokens(
            input=had.input + (usage.get("inputTokens") or 0),
            output=had.output + (usage.get("outputTokens") or 0),
            cache_read=had.cache_read + (usage.get("cachedReadTokens") or 0),
            cache_write=had.cache_write + (usage.get("cachedWriteTokens") or 0),
        )

    def _update(self, update: Message) -> Events:
        match update["sessionUpdate"]:
            case "agent_message_chunk":
                yield from self._begins()
                yield from self._chunk(update)
            case "tool_call" | "tool_call_update":
                if update["toolCallId"] not in self._calls:
                    yield from self._begins()
                yield from self._tool(update)
            case "usage_update":
                amount = content(update, "cost").get("amount")
                self._usd = float(amount) if isinstance(amount, int | float) and amount else self._usd
            case _:
                return

    def _chunk(self, update: Message) -> Events:
        name = str(update.get("messageId") or self._speaking)
        if name != self._speaking:
            yield from self._pause()
        self._speaking = name
        self._spoken.append(str(content(update, "content").get("text") or ""))

    def _pause(self) -> Events:
        """Return what it said so far as one event."""
        text, self._spoken = "".join(self._spoken), []
        if text.strip():
            self.said, self.unheard = text, False
            yield Said(text=text)

    def _tool(self, update: Message) -> Events:
        call = str(update["toolCallId"])
        self._calls[call] = merged(self._calls.get(call, {}), update)
        yield from self._pause()
        status = update.get("status")
        if status not in ("completed", "failed") or call in self._over:
            return
        self._over.add(call)
        self._worked = True
        about = self._calls[call]
        # It ran, or was refused, without asking us: report it.
        found = calls(about, self._folder) or [unknown(about)]
        yield from self.asked(call, found)
        refused = status == "failed" and call not in self.allowed and (self.refused_one or call in self._asked)
        self.unheard = self.unheard or refused  # others of the same turn may end well after it
        code = number_in(about, "rawOutput", "metadata", "exit")
        yield ToolEnded(call=call, ok=status == "completed", summary=ends_of(_text(about)), exit_code=code)
        self._calls[call] = {}  # it is over; what it returned may be long


def _text(about: Message) -> str:
    parts = [content(part, "content").get("text") for part in about.get("content") or () if isinstance(part, dict)]
    return "\n".join(str(part) for part in parts if part)
