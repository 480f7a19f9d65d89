"""Reads an agent's log again: the same events as while it ran, whichever program wrote it.

Each line says by its form which protocol it belongs to, so a log needs no note about its agent: it may be of an agent
that is no longer in the settings, or of two agents after each other.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from midwatch.crew.drivers import rpc
from midwatch.crew.drivers.acp.reading import BEGIN, AcpReader
from midwatch.crew.drivers.claude.deciding import asked
from midwatch.crew.drivers.claude.reading import ClaudeReader
from midwatch.crew.drivers.codex.deciding import APPROVALS
from midwatch.crew.drivers.codex.executing import ExecReader
from midwatch.crew.drivers.codex.reading import CodexReader
from midwatch.crew.drivers.line_protocol import LineReader, parsed
from midwatch.crew.drivers.templates import shape
from midwatch.terms.agents import AgentEvent, PlanSpoken, Printed, Said

Happenings = list[AgentEvent | Printed]
SKIPPED: Final = b'{"type":"stream_event"'
"""Claude Code repeats each word this way before the whole message comes; most of its log is this."""
CLAUDE: Final = frozenset(
    {
        *("system", "assistant", "user", "stream_event", "result", "rate_limit_event"),
        *("control_request", "control_response", "control_cancel_request", "keep_alive"),
    }
)
EXEC: Final = ("thread.", "turn.", "item.")


class AgentOutput:
    """Reads a log line by line, from its first line or from one in the middle."""

    def __init__(self, root: str = "", *, midway: bool = False) -> None:
        """`root` is the folder that relative paths belong to."""
        self._root = root
        self._claude = ClaudeReader(shaped=True)
        self._codex = CodexReader()
        self._exec = ExecReader("")
        self._acp = self._new_acp(live=midway)

    def read(self, line: bytes) -> Happenings:
        """Return what happened by one line; a line of no protocol is printed text."""
        if line.startswith(SKIPPED):
            return []
        message = parsed(line) if line.startswith(b"{") else None
        if message is None:
            return _printed(line)
        found = self._read(line, message)
        if found is None:
            text = message.get("text")
            return [Said(text=text)] if isinstance(text, str) else _printed(line)
        return [_planned(event) if isinstance(event, Said) else event for event in found]

    def _read(self, line: bytes, message: Mapping[str, Any]) -> Iterable[AgentEvent] | None:
        kind = message.get("type")
        if "jsonrpc" in message:
            return self._of_acp(line, message)
        if isinstance(kind, str):
            if kind in CLAUDE:
                return self._of_claude(line, message)
            return self._exec.events(line) if kind.startswith(EXEC) or kind == "error" else None
        if "method" in message or "result" in message or ("id" in message and "error" in message):
            return self._of_codex(line, message)
        return None

    def _of_claude(self, line: bytes, message: Mapping[str, Any]) -> Iterable[AgentEvent]:
        events = _quiet(self._claude, line)
        if message["type"] == "control_request":
            request = rpc.content(message, "request")
            call, tool, given = asked(request)
            folder = rpc.content(request, "input").get("cwd")
            if tool and not self._claude.own(tool):
                # The folder is beside the input, and belongs to what was decided.
                events += self._claude.asked(call, tool, {**given, "cwd": folder if isinstance(folder, str) else ""})
        structured = message.get("structured_output") if message["type"] == "result" else None
        return [*events, PlanSpoken(structured=structured)] if isinstance(structured, dict) else events

    def _of_codex(self, line: bytes, message: Mapping[str, Any]) -> Iterable[AgentEvent]:
        given = rpc.content(message, "params")
        if not self._codex.conversation and isinstance(given.get("threadId"), str):
            self._codex.conversation = given["threadId"]  # the log is read from its middle
        if message.get("method") not in APPROVALS:
            return _quiet(self._codex, line)
        item = str(given.get("itemId") or "")
        return self._codex.asked(item, self._codex.calls(item, given))

    def _of_acp(self, line: bytes, message: Mapping[str, Any]) -> Iterable[AgentEvent]:
        if message.get("id") == BEGIN and "method" not in message:
            self._acp = self._new_acp(live=False)  # another run begins, and may repeat its history first
        if message.get("method") != "session/request_permission":
            return _quiet(self._acp, line)
        call, found = self._acp.wants(rpc.content(message, "params", "toolCall"))
        return list(self._acp.asked(call, found))

    def _new_acp(self, *, live: bool) -> AcpReader:
        reader = AcpReader(self._root, "", "")
        reader.live = live
        return reader


def _quiet(reader: LineReader, line: bytes) -> list[AgentEvent]:
    """Read a message; one that the reader cannot make sense of is in the raw log."""
    message, events = reader.message(line)
    return events if message else []


def _planned(event: Said) -> AgentEvent:
    """Recognise a plan that was returned as text."""
    plan = shape(event.text) if "{" in event.text else None
    if plan is None or not {"summary", "files"} <= plan.keys():
        return event
    return PlanSpoken(text=event.text, structured=plan)


def _printed(line: bytes) -> Happenings:
    text = line.decode(errors="replace").rstrip("\r\n")
    plan = _planned(Said(text=text)) if text.startswith("{") else None
    if isinstance(plan, PlanSpoken):
        return [plan]
    return [Printed(text=text)] if text.strip() else []
