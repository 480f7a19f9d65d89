"""Codex without its app server: one run of `codex exec`, which asks nothing; the fallback for older versions."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from midwatch.crew.drivers.codex.launching import TESTED, credentials, words
from midwatch.crew.drivers.codex.outcome import judge
from midwatch.crew.drivers.codex.plain_reading import unwrapped
from midwatch.crew.drivers.codex.reading import CodexRun
from midwatch.crew.drivers.line_protocol import ends_of, parsed, shortened
from midwatch.crew.drivers.rpc import content, number_in
from midwatch.crew.drivers.templates import PROMPT_FILE, in_home, shape
from midwatch.ports.agent import AgentBrief, Decide, Launch, Tell
from midwatch.ports.room import Talk
from midwatch.terms.agents import (
    AgentEvent,
    Counted,
    Errand,
    PlanSpoken,
    ProviderRetried,
    RunBegan,
    RunEnded,
    Said,
    Tokens,
    ToolEnded,
    ToolRequested,
)

SCHEMA_FILE = ".midwatch/schema.json"
TOOLS = ("command_execution", "file_change", "mcp_tool_call", "web_search")

_RETRY = re.compile(r"Reconnecting\.\.\. (\d+)/\d+ \((.*)\)", re.DOTALL)
_STATUS = re.compile(r"status:? (\d{3})")


class CodexExecDriver:
    """Runs `codex exec` and reads its output; Midwatch decides none of its calls.

    Its usage comes at the end, and nothing shows where one answer of the model ends, so it reports no turns.
    """

    name = "codex"
    governance = (
        "None: this Codex has no app server, so its commands run without asking Midwatch; only the sandbox, the model"
        " proxy and the gate hold it. Planning is held to reading by Codex's own sandbox."
    )
    tested: tuple[str, ...] = TESTED
    install = f"npm install -g @openai/codex@{TESTED[-1]}"
    takes_turns = False

    def launch(self, brief: AgentBrief, program: str) -> Launch:
        files, environment = credentials(brief)
        sandbox = "read-only" if brief.errand is Errand.PLAN else "danger-full-access"
        line = [program, "exec", "--json", "--skip-git-repo-check", "--sandbox", sandbox, *words(brief)]
        if brief.schema is not None:
            line += ["--output-schema", f"{{home}}/{SCHEMA_FILE}"]
            files = {**files, SCHEMA_FILE: json.dumps(brief.schema)}
        line += ["resume", brief.conversation] if brief.conversation else []
        return Launch(
            argv=in_home([*line, "-"], reads=PROMPT_FILE),
            environment=environment,
            files={**files, PROMPT_FILE: brief.prompt},
            takes_input=False,
        )

    async def drive(self, talk: Talk, brief: AgentBrief, decide: Decide, tell: Tell) -> RunEnded:
        del decide
        reader = ExecReader(brief.model)
        async for said in talk.lines():
            for event in reader.events(said):
                await tell(event)
        ended = judge(reader, brief, await talk.left())
        if brief.errand is Errand.PLAN and reader.result is not None and reader.said:
            await tell(PlanSpoken(text=reader.said, structured=shape(reader.said)))
        await tell(ended)
        return ended


class ExecReader(CodexRun):
    """Reads what `codex exec --json` says."""

    def __init__(self, model: str) -> None:
        super().__init__()
        self._model = model
        self._requested: set[str] = set()

    def events(self, said: bytes) -> list[AgentEvent]:
        """Read a line; unknown or broken lines are ignored."""
        message = parsed(said)
        try:
            return list(self._read(message)) if message is not None else []
        except (KeyError, TypeError, ValueError, AttributeError):
            return []

    def _read(self, message: Mapping[str, Any]) -> Iterable[AgentEvent]:
        match message.get("type"):
            case "thread.started":
                self.conversation = str(message["thread_id"])
                yield RunBegan(conversation=self.conversation, model=self._model)
            case "item.started" | "item.completed":
                yield from self._item(message["item"], over=message["type"] == "item.completed")
            case "error":
                yield from self._error(str(message.get("message") or ""))
            case "turn.completed":
                self.result = {"status": "completed"}
                yield from self._counted(message["usage"])
            case "turn.failed":
                self.result = {"status": "failed", "error": content(message, "error")}
            case _:
                return

    def _item(self, item: Mapping[str, Any], *, over: bool) -> Iterable[AgentEvent]:
        name = str(item["id"])
        if item["type"] == "agent_message" and over:
            self.said = str(item["text"])
            yield Said(text=self.said)
        elif item["type"] in TOOLS:
            if name not in self._requested:
                self._requested.add(name)
                yield _requested(name, item)
            if over:
                ok = item.get("status") == "completed" and not item.get("exit_code")
                output = str(item.get("aggregated_output") or item.get("status"))
                yield ToolEnded(call=name, ok=ok, summary=ends_of(output), exit_code=number_in(item, "exit_code"))

    def _error(self, text: str) -> Iterable[AgentEvent]:
        if retry := _RETRY.fullmatch(text):
            status = _STATUS.search(text)
            number = int(status.group(1)) if status else 0
            yield ProviderRetried(status=number, attempt=int(retry.group(1)), error=shortened(retry.group(2), 300))

    def _counted(self, usage: Mapping[str, int]) -> Iterable[AgentEvent]:
        cached, written = usage.get("cached_input_tokens", 0), usage.get("cache_write_input_tokens", 0)
        tokens = Tokens(
            input=usage["input_tokens"] - cached - written,
            output=usage["output_tokens"],
            cache_read=cached,
            cache_write=written,
        )
        yield Counted(tokens=tokens)


def _requested(name: str, item: Mapping[str, Any]) -> ToolRequested:
    if item["type"] == "command_execution":
        return ToolRequested(call=name, tool="Bash", input={"command": unwrapped(str(item["command"]))})
    if item["type"] == "file_change":
        return ToolRequested(call=name, tool="Edit", input={"changes": item.get("changes") or []})
    return ToolRequested(call=name, tool=str(item["type"]), input={})
