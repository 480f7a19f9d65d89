"""The driver of any agent that uses the Agent Client Protocol."""

import asyncio
from collections.abc import Mapping
from typing import Any

from midwatch.crew.drivers import rpc
from midwatch.crew.drivers.acp.agents import AcpAgent, launch
from midwatch.crew.drivers.acp.deciding import AcpDeciding
from midwatch.crew.drivers.acp.outcome import judge
from midwatch.crew.drivers.acp.reading import BEGIN, SESSION, SIGN_IN, AcpReader
from midwatch.crew.drivers.acp.turns import Turns
from midwatch.crew.drivers.line_protocol import TURNS_USED_UP, Questions
from midwatch.crew.drivers.templates import shape
from midwatch.errors import Misuse
from midwatch.ports.agent import AgentBrief, Decide, Launch, Tell
from midwatch.ports.room import Talk
from midwatch.terms.agents import Errand, PlanSpoken, RunEnded

PROTOCOL = 1


class AcpDriver:
    """Runs an agent over the Agent Client Protocol.

    The brief must give the working folder in `extra["folder"]`: the protocol needs it in every session. After a
    restart the same program's lines are read again from the first, and only questions never answered are decided.
    """

    governance = (
        "Limited: what the agent asks about is decided by Midwatch, but an agent of this kind may do things without"
        " asking, and its turns are counted from outside; only the sandbox and the model proxy hold it."
    )

    takes_turns = True

    def __init__(self, agent: AcpAgent) -> None:
        self.name = agent.name
        self.agent = agent
        self.tested = agent.tested
        self.install = agent.install

    def launch(self, brief: AgentBrief, program: str) -> Launch:
        _folder(brief)
        return launch(self.agent, brief, program)

    async def drive(self, talk: Talk, brief: AgentBrief, decide: Decide, tell: Tell) -> RunEnded:
        reader = AcpReader(_folder(brief), brief.model, brief.conversation)
        try:
            async with asyncio.TaskGroup() as group:
                questions = Questions(group)
                deciding = AcpDeciding(talk, decide, tell, reader, questions)
                deciding.planning = brief.errand is Errand.PLAN
                await rpc.once(talk, "midwatch-begin", _begin())
                await self._follow(talk, brief, tell, reader, deciding)
                questions.withdraw_all()
        except ExceptionGroup as several:
            raise several.exceptions[0] from several
        ended = judge(reader, brief, await talk.left(), deciding.reasons)
        if deciding.closed:
            outcome, why = TURNS_USED_UP
            ended = ended.model_copy(update={"outcome": outcome, "why": why})
        if brief.errand is Errand.PLAN and reader.results and reader.said:
            await tell(PlanSpoken(text=reader.said, structured=shape(reader.said)))
        await tell(ended)
        return ended

    async def _follow(
        self, talk: Talk, brief: AgentBrief, tell: Tell, reader: AcpReader, deciding: AcpDeciding
    ) -> None:
        turns = Turns(talk, brief, reader, deciding)
        async for said in talk.lines():
            message, events = reader.message(said)
            for event in events:
                await tell(event)
            await _count(talk, brief, reader, deciding)
            if "method" in message and "id" in message:
                await deciding.take(message)
            elif message.get("id") == BEGIN and reader.begun:
                await rpc.once(talk, "midwatch-session", self._session(brief, reader.able))
            await turns.go_on()

    def _session(self, brief: AgentBrief, able: Mapping[str, Any]) -> bytes:
        """Ask for a session, after signing in if needed; resume one without its history if the agent can."""
        given: dict[str, Any] = {"cwd": _folder(brief), "mcpServers": []}
        method = "session/new"
        if brief.conversation:
            method = "session/resume" if "resume" in rpc.content(able, "sessionCapabilities") else "session/load"
            given["sessionId"] = brief.conversation
        ask = rpc.request(SESSION, method, given)
        if not self.agent.sign_in:
            return ask
        return rpc.request(SIGN_IN, "authenticate", {"methodId": self.agent.sign_in}) + ask


async def _count(talk: Talk, brief: AgentBrief, reader: AcpReader, deciding: AcpDeciding) -> None:
    """Cancel it when it starts a turn above its limit."""
    if deciding.closed or not brief.max_turns or reader.latest < brief.max_turns:
        return
    deciding.closed = True
    given = {"sessionId": reader.conversation}
    await rpc.once(talk, "midwatch-cancel", rpc.notification("session/cancel", given))


def _folder(brief: AgentBrief) -> str:
    folder = brief.extra.get("folder", "")
    if not folder.startswith("/"):
        raise Misuse(
            "The ACP agent was given no working folder.",
            hint="Give the checkout's path inside the room as extra['folder'] of the brief.",
        )
    return folder


def _begin() -> bytes:
    given = {
        "protocolVersion": PROTOCOL,
        # No files and no terminal through us: an agent does everything itself, in its sandbox.
        "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
        "clientInfo": {"name": "midwatch", "title": "Midwatch", "version": "1"},
    }
    return rpc.request(BEGIN, "initialize", given)
