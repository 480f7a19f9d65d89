"""Answers every question of Claude Code, once; no answer runs anything by mistake."""

from collections.abc import Mapping
from typing import Any

from midwatch.crew.drivers.claude import control
from midwatch.crew.drivers.claude.reading import ClaudeReader
from midwatch.crew.drivers.line_protocol import UNREADABLE, Questions, answer_once, decided, noted
from midwatch.ports.agent import AgentBrief, Decide, Tell
from midwatch.ports.room import Talk
from midwatch.terms.agents import Decision, ToolDecided

HANDING_OVER = Decision(allowed=True, why="This only returns the answer.")


class ClaudeDeciding:
    """Takes its control requests; each is answered by a task of its own."""

    def __init__(
        self, talk: Talk, brief: AgentBrief, decide: Decide, tell: Tell, reader: ClaudeReader, questions: Questions
    ) -> None:
        self._talk = talk
        self._brief = brief
        self._decide = decide
        self._tell = tell
        self._reader = reader
        self.questions = questions
        self._known: dict[str, tuple[Mapping[str, Any], Decision]] = {}
        self._cwd = ""
        """Its shell's folder as last reported; a question of its own rules does not report it."""

    async def take(self, message: Mapping[str, Any]) -> None:
        """Start to answer one control request."""
        question = str(message.get("request_id", ""))
        request = message.get("request")
        request = request if isinstance(request, dict) else {}
        call, tool, given = asked(request)
        self._cwd = _cwd(request) or self._cwd
        if tool and not self._reader.own(tool):
            for event in self._reader.asked(call, tool, given):
                await self._tell(event)
        if not await self._talk.answered(question):
            self.questions.begin(question, self._answer(question, request, self._cwd))

    async def _answer(self, question: str, request: Mapping[str, Any], cwd: str) -> None:
        subtype = str(request.get("subtype", "nothing"))
        call, tool, given = asked(request)
        if subtype == "hook_callback":
            decision = await self._verdict(call, tool, given, cwd)
            data = control.hook_answer(question, decision, await noted(self._brief, question))
        elif subtype == "can_use_tool":
            data = control.prompt_answer(question, await self._verdict(call, tool, given, cwd), given)
        else:
            data = control.refusal(question, subtype)
        await answer_once(self._talk, question, data)

    async def _verdict(self, call: str, tool: str, given: Mapping[str, Any], cwd: str) -> Decision:
        if not tool:
            return UNREADABLE
        if self._reader.own(tool):
            return HANDING_OVER
        before = self._known.get(call) if call else None
        if before is not None and before[0] == given:
            return before[1]  # its own rules ask again about the same call: a person is asked once
        # The folder comes from beside the input; a `cwd` that the model put inside it is ignored.
        decision = await decided(self._decide, tool, {**given, "cwd": cwd})
        self._known[call] = given, decision
        # Reported before it takes effect: what was allowed is on record even if we die between the two.
        await self._tell(ToolDecided(call=call, allowed=decision.allowed, why=decision.why))
        return decision


def asked(request: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """Read which call a request is about: its id, its tool, what the tool would be given; empty if unreadable."""
    if request.get("subtype") == "hook_callback":
        about = request.get("input")
        about = about if isinstance(about, dict) and about.get("hook_event_name") == "PreToolUse" else {}
        call, tool, given = about.get("tool_use_id"), about.get("tool_name"), about.get("tool_input")
    elif request.get("subtype") == "can_use_tool":
        call, tool, given = request.get("tool_use_id"), request.get("tool_name"), request.get("input")
    else:
        return "", "", {}
    if not isinstance(tool, str) or not isinstance(given, dict):
        return "", "", {}
    return str(call or ""), tool, given


def _cwd(request: Mapping[str, Any]) -> str:
    about = request.get("input") if request.get("subtype") == "hook_callback" else None
    cwd = about.get("cwd") if isinstance(about, dict) else None
    return cwd if isinstance(cwd, str) else ""
