"""The driver of Codex."""

import asyncio

from midwatch.crew.drivers import rpc
from midwatch.crew.drivers.codex.deciding import CodexDeciding
from midwatch.crew.drivers.codex.launching import TESTED, launch
from midwatch.crew.drivers.codex.outcome import judge
from midwatch.crew.drivers.codex.reading import BEGIN, MORE, THREAD, TURN, CodexReader
from midwatch.crew.drivers.line_protocol import Questions, owed
from midwatch.crew.drivers.templates import shape
from midwatch.ports.agent import AgentBrief, Decide, Launch, Tell
from midwatch.ports.room import Talk
from midwatch.terms.agents import Errand, PlanSpoken, RunEnded

VERSION = "1"


class CodexDriver:
    """Runs Codex's app server over its pipes.

    After a restart the same program's lines are read again from the first: all events are reported again, in the same
    order, and only questions that were never answered are decided. `Counted` is the run's total so far.
    """

    name = "codex"
    governance = (
        "Every command and every change of a file is decided by Midwatch before it happens;"
        " without an answer it does not happen."
    )

    tested: tuple[str, ...] = TESTED
    install = f"npm install -g @openai/codex@{TESTED[-1]}"
    takes_turns = True

    def launch(self, brief: AgentBrief, program: str) -> Launch:
        return launch(brief, program)

    async def drive(self, talk: Talk, brief: AgentBrief, decide: Decide, tell: Tell) -> RunEnded:
        reader = CodexReader()
        try:
            async with asyncio.TaskGroup() as group:
                questions = Questions(group)
                deciding = CodexDeciding(talk, brief, decide, tell, reader, questions)
                deciding.planning = brief.errand is Errand.PLAN
                await rpc.once(talk, "midwatch-begin", _begin(brief))
                many = await _follow(talk, brief, tell, reader, deciding)
                questions.withdraw_all()
        except ExceptionGroup as several:
            raise several.exceptions[0] from several
        ended = judge(reader, brief, await talk.left(), many_turns=many)
        if brief.errand is Errand.PLAN and reader.result is not None and reader.said:
            await tell(PlanSpoken(text=reader.said, structured=shape(reader.said)))
        await tell(ended)
        return ended


async def _follow(talk: Talk, brief: AgentBrief, tell: Tell, reader: CodexReader, deciding: CodexDeciding) -> bool:
    """Read it to its last line, and say whether it was stopped for taking too many turns."""
    stopped, over = False, 0
    async for said in talk.lines():
        message, events = reader.message(said)
        for event in events:
            await tell(event)
        if "method" in message and "id" in message:
            await deciding.take(message)
        elif str(message.get("id")).startswith("why-"):
            deciding.taken(message["id"])
        elif message.get("id") == THREAD and reader.conversation:
            await rpc.once(talk, "midwatch-turn", _turn(brief, reader.conversation, brief.prompt, TURN))
        await _count(talk, brief, reader, deciding)
        if reader.refused is not None and not stopped:
            stopped = True
            await talk.stop()
        elif reader.over > over:
            over = reader.over
            well = (reader.result or {}).get("status") == "completed" and not deciding.closed
            deciding.questions.begin(f"midwatch-turn-{over}", _turn_over(talk, brief, reader, over, well=well))
    return deciding.closed


async def _turn_over(talk: Talk, brief: AgentBrief, reader: CodexReader, number: int, *, well: bool) -> None:
    """Send it waiting messages, or end it."""
    more = await owed(brief, number) if well else ""
    if not more:
        await talk.stop()  # the server would wait for another turn; it has no request to end
        return
    await rpc.once(talk, f"midwatch-more-{number}", _turn(brief, reader.conversation, more, f"{MORE}{number}"))
    if reader.over == number:
        reader.result = None  # the new message must have a result of its own


async def _count(talk: Talk, brief: AgentBrief, reader: CodexReader, deciding: CodexDeciding) -> None:
    """Interrupt it when it starts a turn above its limit."""
    if deciding.closed or not brief.max_turns or reader.latest < brief.max_turns:
        return
    deciding.closed = True
    given = {"threadId": reader.conversation, "turnId": reader.turn}
    await rpc.once(talk, "midwatch-interrupt", rpc.request("interrupt", "turn/interrupt", given))


def _begin(brief: AgentBrief) -> bytes:
    client = {"name": "midwatch", "title": "Midwatch", "version": VERSION}
    hello = rpc.request(BEGIN, "initialize", {"clientInfo": client, "capabilities": None})
    given = {
        "model": brief.model,
        "modelProvider": "midwatch",
        "approvalPolicy": "untrusted",
        "approvalsReviewer": "user",
        # It runs in our sandbox, where its own sandbox cannot start, not even the read-only one
        # (measured). So it asks about everything, and while planning only plain reading is allowed.
        "sandbox": "danger-full-access",
    }
    if brief.conversation:
        begin = rpc.request(THREAD, "thread/resume", given | {"threadId": brief.conversation, "excludeTurns": True})
    else:
        begin = rpc.request(THREAD, "thread/start", given)
    return hello + rpc.notification("initialized") + begin


def _turn(brief: AgentBrief, conversation: str, text: str, number: int | str) -> bytes:
    given: dict[str, object] = {
        "threadId": conversation,
        "input": [{"type": "text", "text": text, "text_elements": []}],
    }
    if brief.schema is not None:
        given["outputSchema"] = dict(brief.schema)
    return rpc.request(number, "turn/start", given)
