"""Answers every question of Codex, once; no answer runs anything by mistake."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from midwatch.crew.drivers import rpc
from midwatch.crew.drivers.codex.plain_reading import Call
from midwatch.crew.drivers.codex.reading import CodexReader
from midwatch.crew.drivers.line_protocol import ENOUGH, READING, UNREADABLE, Questions, decided, noted
from midwatch.ports.agent import AgentBrief, Decide, Tell
from midwatch.ports.room import Talk
from midwatch.terms.agents import Decision, ToolDecided

APPROVALS = ("item/commandExecution/requestApproval", "item/fileChange/requestApproval")
MORE_LEAVE = "item/permissions/requestApproval"

ONLY_READING = Decision(
    allowed=False,
    why="While planning only plain reading is allowed: cat, head, tail, sed -n, ls, rg or grep on named files,"
    " without pipes, redirections or variables.",
)

REFUSED = "Midwatch, which decides about your tool calls, refused one: {}"


class CodexDeciding:
    """Takes its questions; each is answered by a task of its own."""

    def __init__(
        self, talk: Talk, brief: AgentBrief, decide: Decide, tell: Tell, reader: CodexReader, questions: Questions
    ) -> None:
        self._talk = talk
        self._brief = brief
        self._decide = decide
        self._tell = tell
        self._reader = reader
        self.questions = questions
        self._arrived: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.planning = False
        self.closed = False
        """Set at the turn limit: no more calls are allowed."""

    async def take(self, message: Mapping[str, Any]) -> None:
        """Start to answer one question."""
        question = f"codex-{message['id']}"
        asked = rpc.content(message, "params")
        item = str(asked.get("itemId") or "")
        calls: list[Call] = []
        if message["method"] in APPROVALS:
            calls = self._reading(item, asked)
        elif message["method"] == MORE_LEAVE:
            calls = [("RequestPermissions", {"permissions": asked.get("permissions")})]
        for event in self._reader.asked(item, calls):
            await self._tell(event)
        if not await self._talk.answered(question):
            self.questions.begin(question, self._answer(question, message, item, calls))

    def _reading(self, item: str, asked: Mapping[str, Any]) -> list[Call]:
        try:
            return self._reader.calls(item, asked)
        except (KeyError, TypeError, ValueError, AttributeError):
            return []

    async def _answer(self, question: str, message: Mapping[str, Any], item: str, calls: list[Call]) -> None:
        if message["method"] not in APPROVALS:
            if calls:
                await self._verdict(calls)  # for the record; it is never allowed
            await rpc.once(self._talk, question, rpc.refusal(message["id"], str(message["method"])))
            return
        decision = await self._verdict(calls)
        # Reported before it takes effect: what was allowed is on record even if we die between the two.
        await self._tell(ToolDecided(call=item, allowed=decision.allowed, why=decision.why))
        if not decision.allowed:
            await self._say(f"why-{question}", REFUSED.format(decision.why))
        if note := await noted(self._brief, question):
            await self._say(f"why-{question}-note", note)
        answer = rpc.result(message["id"], {"decision": "accept" if decision.allowed else "decline"})
        await rpc.once(self._talk, question, answer)

    def taken(self, name: object) -> None:
        """Note that a message of ours arrived, or was rejected."""
        self._arrived[str(name)].set()

    async def _verdict(self, calls: list[Call]) -> Decision:
        """Ask about each part; one no is a no to all of it. An accepted call leaves Codex's own sandbox."""
        decision = UNREADABLE
        if self.closed:
            return ENOUGH
        if self.planning and any(tool not in READING for tool, _ in calls):
            return ONLY_READING
        for tool, given in calls:
            decision = await decided(self._decide, tool, given)
            if not decision.allowed:
                return decision
        return decision

    async def _say(self, name: str, text: str) -> None:
        """Send it before the answer, which carries no text; sent after it, it would cost another turn."""
        given = {
            "threadId": self._reader.conversation,
            "expectedTurnId": self._reader.turn,
            "input": [{"type": "text", "text": text, "text_elements": []}],
        }
        await rpc.once(self._talk, name, rpc.request(name, "turn/steer", given))
        await self._arrived[name].wait()
