"""Turns Claude Code's output, line by line, into events; unknown lines are ignored, broken ones reported once."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from midwatch.crew.drivers.line_protocol import Events, LineReader, Message, ends_of
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

HANDOVER = "StructuredOutput"
"""Its own tool for returning an answer in the required form; it changes nothing."""


class ClaudeReader(LineReader):
    """Reads one run; keeps what later lines refer to."""

    def __init__(self, *, shaped: bool) -> None:
        super().__init__()
        self.conversation = ""
        self.result: Message | None = None
        """Its last result; there may be several, and none after it got another message."""
        self.results = 0
        self.limit: LimitMet | None = None
        """The last limit that was used up."""
        self._shaped = shaped
        self._began = False
        self._turns = 0
        self._counts: dict[str, Tokens] = {}
        self._wanted: dict[str, ToolRequested] = {}
        self._own_calls: set[str] = set()
        self._requested: set[str] = set()
        self._kinds: dict[str, Callable[[Message], Events]] = {
            "system": self._system,
            "assistant": self._assistant,
            "user": self._user,
            "stream_event": self._streamed,
            "rate_limit_event": self._limit,
            "result": self._result,
        }

    def own(self, tool: str) -> bool:
        """Whether this tool only returns the answer we asked for."""
        return self._shaped and tool == HANDOVER

    def events(self, message: Message) -> Events:
        read = self._kinds.get(str(message.get("type")))
        return read(message) if read else ()

    def asked(self, call: str, tool: str, given: dict[str, Any]) -> list[AgentEvent]:
        """Report once that it wants to use a tool, with exactly what would run."""
        self._wanted.pop(call, None)
        if call and call in self._requested:
            return []
        self._requested.add(call)
        return [ToolRequested(call=call, tool=tool, input=given)]

    def _system(self, message: Message) -> Events:
        match message.get("subtype"):
            case "init":
                self.conversation = str(message["session_id"])
                if not self._began:
                    self._began = True
                    version = str(message.get("claude_code_version", ""))
                    yield RunBegan(conversation=self.conversation, model=str(message["model"]), version=version)
            case "api_retry":
                yield ProviderRetried(
                    status=message.get("error_status") or 0,
                    attempt=message.get("attempt") or 0,
                    error=str(message.get("error") or ""),
                )
            case _:
                return

    def _assistant(self, message: Message) -> Events:
        spoken = message["message"]
        if spoken.get("model") == "<synthetic>":
            return  # its own text about a failed request; the result says the same
        for block in spoken["content"]:
            if block["type"] == "text" and block["text"].strip():
                yield Said(text=block["text"])
            elif block["type"] == "tool_use" and self.own(block["name"]):
                self._own_calls.add(block["id"])
            elif block["type"] == "tool_use":
                self._wanted[block["id"]] = ToolRequested(call=block["id"], tool=block["name"], input=block["input"])
        if spoken.get("stop_reason"):  # only a request that was not streamed has its count here
            yield from self._count(spoken["id"], spoken["usage"], turn=message.get("parent_tool_use_id") is None)

    def _user(self, message: Message) -> Events:
        content = message["message"]["content"]
        for block in content if isinstance(content, list) else ():
            if block["type"] != "tool_result" or block["tool_use_id"] in self._own_calls:
                continue
            call = block["tool_use_id"]
            if wanted := self._wanted.pop(call, None):
                yield wanted  # the program refused it itself, without asking us
            yield _ended(call, _text(block.get("content")), ok=not block.get("is_error"))

    def _streamed(self, message: Message) -> Events:
        event = message["event"]
        name = str(message.get("api_message_id", ""))
        if event["type"] == "message_start":
            self._counts[name] = Tokens(**_kinds(event["message"]["usage"]))
        elif event["type"] == "message_delta":
            yield from self._count(name, event["usage"], turn=message.get("parent_tool_use_id") is None)

    def _count(self, name: str, usage: Message, *, turn: bool) -> Events:
        begun = self._counts.get(name, Tokens())
        self._counts[name] = begun.model_copy(update=_kinds(usage))
        yield Counted(tokens=self.total())
        if turn:
            self._turns += 1
            yield TurnEnded(number=self._turns)

    def total(self) -> Tokens:
        """Add up what it said it used in this run."""
        sums = dict.fromkeys(Tokens.model_fields, 0)
        for count in self._counts.values():
            for kind in sums:
                sums[kind] += getattr(count, kind)
        return Tokens(**sums)

    def _limit(self, message: Message) -> Events:
        info = message["rate_limit_info"]
        resets = info.get("resetsAt")
        met = LimitMet(
            limit=str(info.get("rateLimitType") or "unknown"),
            rejected=info["status"] == "rejected",
            resets_at=datetime.fromtimestamp(resets, UTC) if resets else None,
        )
        self.limit = met if met.rejected else self.limit
        if met.rejected or info.get("rateLimitType"):  # each answer of a subscription says at least "allowed"
            yield met

    def _result(self, message: Message) -> Events:
        self.result = message
        self.results += 1
        self.conversation = str(message.get("session_id") or self.conversation)
        yield Counted(tokens=self.total(), usd=message.get("total_cost_usd"))


_EXIT = re.compile(r"Exit code (\d{1,3})(?:\n|$)")
KINDS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


def _ended(call: str, text: str, *, ok: bool) -> ToolEnded:
    """Report the end of a call; a command that failed says its exit code in its first line."""
    failed = None if ok else _EXIT.match(text)
    rest, code = (text[failed.end() :], int(failed.group(1))) if failed else (text, None)
    return ToolEnded(call=call, ok=ok, summary=ends_of(rest), exit_code=code)


def _kinds(usage: Message) -> dict[str, int]:
    return {ours: usage[theirs] for ours, theirs in KINDS.items() if usage.get(theirs) is not None}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
