"""The driver of Claude Code."""

import asyncio

from midwatch.crew.drivers.claude import control
from midwatch.crew.drivers.claude.deciding import ClaudeDeciding
from midwatch.crew.drivers.claude.launching import INSTALL, TESTED, launch
from midwatch.crew.drivers.claude.outcome import judge
from midwatch.crew.drivers.claude.reading import ClaudeReader
from midwatch.crew.drivers.line_protocol import InTurn, Questions, answer_once, owed
from midwatch.ports.agent import AgentBrief, Decide, Launch, Tell
from midwatch.ports.room import Talk
from midwatch.terms.agents import Errand, PlanSpoken, RunEnded


class ClaudeDriver:
    """Runs Claude Code over its pipes.

    After a restart the same program's lines are read again from the first: all events are reported again, in the same
    order, and only questions that were never answered are decided. `Counted` is the run's total so far; its dollars
    are the program's own and count the whole conversation.
    """

    name = "claude"
    governance = "Every tool call is decided by Midwatch before it runs; a call without an answer does not run."
    tested: tuple[str, ...] = TESTED
    install = INSTALL
    takes_turns = True

    def launch(self, brief: AgentBrief, program: str) -> Launch:
        return launch(brief, program)

    async def drive(self, talk: Talk, brief: AgentBrief, decide: Decide, tell: Tell) -> RunEnded:
        tell = InTurn(tell)
        reader = ClaudeReader(shaped=brief.schema is not None)
        try:
            async with asyncio.TaskGroup() as group:
                questions = Questions(group)
                deciding = ClaudeDeciding(talk, brief, decide, tell, reader, questions)
                await answer_once(talk, "midwatch-begin", control.begin(brief.prompt))
                await _follow(talk, brief, tell, reader, deciding)
                questions.withdraw_all()
        except ExceptionGroup as several:
            raise several.exceptions[0] from several
        if brief.errand is Errand.PLAN and reader.result is not None:
            await tell(_plan(reader))
        ended = judge(reader, brief, await talk.left())
        await tell(ended)
        return ended


async def _follow(talk: Talk, brief: AgentBrief, tell: Tell, reader: ClaudeReader, deciding: ClaudeDeciding) -> None:
    """Read it to its last line; a result is not the end, because more turns may follow."""
    async for said in talk.lines():
        message, events = reader.message(said)
        for event in events:
            await tell(event)
        match message.get("type"):
            case "control_request":
                await deciding.take(message)
            case "control_cancel_request":
                deciding.questions.withdraw(str(message.get("request_id")))
            case "result" if not message.get("queued_turn_count"):
                failed = bool(message.get("is_error"))
                over = _turn_over(talk, brief, reader, reader.results, failed=failed)
                deciding.questions.begin(f"midwatch-turn-{reader.results}", over)
            case _:
                continue


async def _turn_over(talk: Talk, brief: AgentBrief, reader: ClaudeReader, number: int, *, failed: bool) -> None:
    """Send it waiting messages, or end it."""
    more = "" if failed or await talk.answered(f"midwatch-end-{number}") else await owed(brief, number)
    if not more:
        await answer_once(talk, f"midwatch-end-{number}", control.end(number))
        return
    await answer_once(talk, f"midwatch-more-{number}", control.more(more))
    if reader.results == number:
        reader.result = None  # the new message must have a result of its own


def _plan(reader: ClaudeReader) -> PlanSpoken:
    result = reader.result or {}
    shape = result.get("structured_output")
    return PlanSpoken(text=str(result.get("result") or ""), structured=shape if isinstance(shape, dict) else None)
