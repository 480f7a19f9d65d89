"""Answers every question of an ACP agent, once; no answer allows more than the one call."""

from collections.abc import Mapping
from typing import Any

from midwatch.crew.drivers import rpc
from midwatch.crew.drivers.acp.calls import Call
from midwatch.crew.drivers.acp.reading import AcpReader
from midwatch.crew.drivers.line_protocol import ENOUGH, READING, UNREADABLE, Questions, decided
from midwatch.ports.agent import Decide, Tell
from midwatch.ports.room import Talk
from midwatch.terms.agents import Decision, ToolDecided

ONLY_READING = Decision(allowed=False, why="While planning only reading is allowed.")
NOT_ONCE = Decision(allowed=False, why="This call cannot be allowed only once, so it is refused.")


class AcpDeciding:
    """Takes its questions; each is answered by a task of its own."""

    def __init__(self, talk: Talk, decide: Decide, tell: Tell, reader: AcpReader, questions: Questions) -> None:
        self._talk = talk
        self._decide = decide
        self._tell = tell
        self._reader = reader
        self.questions = questions
        self._known: dict[str, tuple[list[Call], Decision]] = {}
        self.planning = False
        self.closed = False
        """Set at the turn limit: no more calls are allowed."""
        self.reasons: list[str] = []
        """Why calls were refused since the last prompt: the protocol's refusal carries no reason."""

    async def take(self, message: Mapping[str, Any]) -> None:
        """Start to answer one question."""
        question = f"acp-{message['id']}"
        call, found = "", list[Call]()
        if message["method"] == "session/request_permission":
            call, found = self._reader.wants(rpc.content(message, "params", "toolCall"))
            for event in self._reader.asked(call, found):
                await self._tell(event)
        if not await self._talk.answered(question):
            self.questions.begin(question, self._answer(question, message, call, found))

    async def _answer(self, question: str, message: Mapping[str, Any], call: str, found: list[Call]) -> None:
        if message["method"] != "session/request_permission":
            await rpc.once(self._talk, question, rpc.refusal(message["id"], str(message["method"])))
            return
        options = rpc.content(message, "params").get("options")
        known = self._known.get(call)
        if known is not None and known[0] == found:
            decision = known[1]  # some agents ask twice about the same call: a person is asked once
        else:
            decision = await self._verdict(found, _option(options, "allow_once"))
            self._known[call] = found, decision
            # Reported before it takes effect: what was allowed is on record even if we die between the two.
            await self._tell(ToolDecided(call=call, allowed=decision.allowed, why=decision.why))
        if decision.allowed:
            self._reader.allowed.add(call)
        else:
            self._reader.allowed.discard(call)
            self._reader.refused_one = True
            self.reasons.append(decision.why)
        chosen = _option(options, "allow_once" if decision.allowed else "reject_once")
        outcome = {"outcome": "selected", "optionId": chosen} if chosen else {"outcome": "cancelled"}
        await rpc.once(self._talk, question, rpc.result(message["id"], {"outcome": outcome}))

    async def _verdict(self, found: list[Call], once: str) -> Decision:
        """Ask about each part; one no is a no to all of it."""
        decision = UNREADABLE
        if self.closed:
            return ENOUGH
        if self.planning and any(tool not in (*READING, "Bash") for tool, _ in found):
            return ONLY_READING  # of commands, the rules know which only read
        for tool, given in found:
            decision = await decided(self._decide, tool, given)
            if not decision.allowed:
                return decision
        return decision if once or not decision.allowed else NOT_ONCE


def _option(options: object, kind: str) -> str:
    """Find the option of this kind; one that would allow more than this call is never chosen."""
    for option in options if isinstance(options, list) else ():
        if isinstance(option, dict) and option.get("kind") == kind and isinstance(option.get("optionId"), str):
            return str(option["optionId"])
    return ""
