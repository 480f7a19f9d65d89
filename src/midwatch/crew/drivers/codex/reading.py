"""Turns the output of Codex's app server, line by line, into events; unknown messages are ignored."""

from collections.abc import Callable
from datetime import UTC, datetime

from midwatch.crew.drivers.codex.plain_reading import Call, readings, unwrapped
from midwatch.crew.drivers.line_protocol import Events, LineReader, Message, ends_of, shortened
from midwatch.crew.drivers.rpc import content, number_in
from midwatch.terms.agents import (
    AgentEvent,
    Counted,
    LimitMet,
    ProviderRetried,
    RunBegan,
    Said,
    Tokens,
    ToolEnded,
    ToolRequested,
    TurnEnded,
)

BEGIN, THREAD, TURN = 1, 2, 3
"""The ids of our requests."""
MORE = "more-"
"""The prefix of the ids of messages we send after a turn."""
MORE_LEAVE = ("grantRoot", "additionalPermissions", "permissions")
"""Fields of a question that would widen its own sandbox beyond the one call."""


class CodexRun:
    """What a run has said so far that decides its outcome, for both ways of running Codex."""

    def __init__(self) -> None:
        self.conversation = ""
        self.result: Message | None = None
        """The finished turn; None after it got another message."""
        self.refused: str | None = None
        """Why it did not start."""
        self.limit: LimitMet | None = None
        self.said = ""
        """Its last message."""


class CodexReader(LineReader, CodexRun):
    """Reads one run; keeps what later lines refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = ""
        self.over = 0
        """How many of our turns are over."""
        self.turns = 0
        self.latest = 0
        """How many turns were over when it last started something."""
        self._version = ""
        self._tokens = Tokens()
        self._retries = 0
        self._items: dict[str, Message] = {}
        self._requested: set[str] = set()
        self._gauges: dict[str, LimitMet] = {}
        self._kinds: dict[str, Callable[[Message], Events]] = {
            "item/started": self._started,
            "item/completed": self._completed,
            "item/fileChange/patchUpdated": self._changed,
            "thread/tokenUsage/updated": self._counted,
            "account/rateLimits/updated": self._limits,
            "error": self._error,
            "turn/completed": self._over,
        }

    def events(self, message: Message) -> Events:
        if "method" not in message:
            return self._answer(message)
        read = self._kinds.get(str(message["method"])) if "id" not in message else None
        return read(message["params"]) if read else ()

    def calls(self, item: str, asked: Message) -> list[Call]:
        """Return what an approval is about, as tool calls; empty if that is not exact."""
        about = self._items.get(item, {})
        more = {word: asked[word] for word in MORE_LEAVE if asked.get(word)}
        if more:
            return [("RequestPermissions", more)]
        if about.get("type") == "fileChange":
            return [call for change in about.get("changes") or () for call in _change(change)]
        command, folder = asked.get("command"), str(asked.get("cwd") or "")
        odd = asked.get("kind", "command") != "command" or asked.get("networkApprovalContext")
        if not isinstance(command, str) or odd:
            return []
        script = unwrapped(command)
        return readings(script, folder) or [("Bash", {"command": script, "cwd": folder})]

    def asked(self, item: str, calls: list[Call]) -> list[AgentEvent]:
        """Report once that it wants to use a tool, with exactly what would happen."""
        if item in self._requested or not calls:
            return []
        self._requested.add(item)
        tool, given = calls[0]
        if len(calls) > 1:
            given = {"calls": [{"tool": name, **about} for name, about in calls]}
        return [ToolRequested(call=item, tool=tool, input=dict(given))]

    def _answer(self, message: Message) -> Events:
        number, result = message.get("id"), content(message, "result")
        if "error" in message and (number in (BEGIN, THREAD, TURN) or str(number).startswith(MORE)):
            self.refused = str(content(message, "error").get("message") or "It gave no reason.")
        elif number == BEGIN:
            self._version = str(result.get("userAgent", "")).partition("/")[2].partition(" ")[0]
        elif number == THREAD:
            self.conversation = str(result["thread"]["id"])
            yield RunBegan(conversation=self.conversation, model=str(result.get("model") or ""), version=self._version)
        elif number == TURN or str(number).startswith(MORE):
            self.turn = str(result["turn"]["id"])
            self.result = None

    def _ours(self, given: Message) -> bool:
        return given.get("threadId") == self.conversation

    def _started(self, given: Message) -> Events:
        if self._ours(given):
            item = given["item"]
            self._items[str(item["id"])] = item
            self.latest = self.turns
        return ()

    def _changed(self, given: Message) -> Events:
        item = self._items.get(str(given["itemId"]))
        if item is not None:
            self._items[str(given["itemId"])] = {**item, "changes": given["changes"]}
        return ()

    def _completed(self, given: Message) -> Events:
        item = given["item"]
        match item["type"]:
            case "agentMessage" if item["text"].strip():
                self.said = item["text"]
                yield Said(text=item["text"])
            case "commandExecution" | "fileChange" | "mcpToolCall" | "dynamicToolCall":
                yield from self._tool(item)
            case _:
                return

    def _tool(self, item: Message) -> Events:
        name = str(item["id"])
        if name not in self._requested:  # it ran, or was refused, without asking us: report it
            yield from self.asked(name, self.calls(name, item) or [(str(item["type"]), {"item": dict(item)})])
        ok = item.get("status") == "completed" and not item.get("exitCode")
        output = str(item.get("aggregatedOutput") or item["status"])
        yield ToolEnded(call=name, ok=ok, summary=ends_of(output), exit_code=number_in(item, "exitCode"))

    def _counted(self, given: Message) -> Events:
        if not self._ours(given) or not self.turn or given.get("turnId") != self.turn:
            return  # the count of an earlier turn, repeated when it is resumed
        last = given["tokenUsage"]["last"]
        cached, written = last.get("cachedInputTokens") or 0, last.get("cacheWriteInputTokens") or 0
        self._tokens = Tokens(
            input=self._tokens.input + last["inputTokens"] - cached - written,
            output=self._tokens.output + last["outputTokens"],
            cache_read=self._tokens.cache_read + cached,
            cache_write=self._tokens.cache_write + written,
        )
        self.turns += 1
        self._retries = 0
        yield Counted(tokens=self._tokens)
        yield TurnEnded(number=self.turns)

    def _limits(self, given: Message) -> Events:
        for name in ("primary", "secondary"):
            window = content(given, "rateLimits", name)
            if not window:
                continue
            resets = window.get("resetsAt")
            met = LimitMet(
                limit=name,
                rejected=float(window.get("usedPercent") or 0) >= 100,
                resets_at=datetime.fromtimestamp(resets, UTC) if resets else None,
            )
            if self._gauges.get(name) != met:
                self._gauges[name] = met
                yield met
            self.limit = met if met.rejected else self.limit

    def _error(self, given: Message) -> Events:
        if given.get("willRetry"):
            self._retries += 1
            error = content(given, "error")
            text = str(error.get("additionalDetails") or error.get("message") or "")
            yield ProviderRetried(status=status(error), attempt=self._retries, error=shortened(text, 300))

    def _over(self, given: Message) -> Events:
        if self._ours(given):
            self.result = given["turn"]
            self.over += 1
        return ()


def status(error: Message) -> int:
    """Return the provider's status in an error; 0 if it has none."""
    info = error.get("codexErrorInfo")
    for about in info.values() if isinstance(info, dict) else ():
        number = about.get("httpStatusCode") if isinstance(about, dict) else None
        if isinstance(number, int):
            return number
    return 0


def _change(change: Message) -> list[Call]:
    path, kind = str(change["path"]), change["kind"]
    if kind["type"] == "add":
        return [("Write", {"file_path": path, "content": change.get("diff", "")})]
    edits: list[Call] = [("Edit", {"file_path": path, "diff": change.get("diff", ""), "change": kind["type"]})]
    moved = kind.get("move_path")
    return [*edits, ("Write", {"file_path": str(moved), "moved_from": path})] if moved is not None else edits
