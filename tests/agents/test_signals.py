"""Real agents that ask in the middle of their work, wait, hear the answer and go on with it (O16)."""

import asyncio
import json
from pathlib import Path

import pytest

from midwatch.journal.events.crew import AgentBegan, ToolCallDecided
from midwatch.journal.events.signals import SignalPassed
from midwatch.night.asks import settlement
from midwatch.night.jobs import attempt
from midwatch.rules.budget.time_boxes import TIME_LEFT
from midwatch.terms.agents import SignalState
from midwatch.terms.asks import AskKind
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.records import AskRow, PullRequestRow, SignalRow, TimerRow
from tests.agents.conftest import need
from tests.agents.model import Action, Read, Say, Shell, Step, Use
from tests.agents.nights import PLAN, AgentNight, agent_night
from tests.nights.house import git
from tests.nights.test_first_night import all_is_well
from tests.patience import PATIENCE

BOX = "/home/agent/signals"
SIGNAL = json.dumps({"question": "Which greeting?", "options": ["evening", "night"]})
TIDY = '[execution]\nallowed_tools = ["Read", "Glob", "Grep", "Edit", "Write", "Bash(git *)", "Bash(echo *)"]\n'
ECHO = f"echo '{SIGNAL}' > {BOX}/needs-input.json"
WAIT = f"while [ ! -e {BOX}/answer.json ]; do sleep 0.05; done; cat {BOX}/answer.json; rm {BOX}/answer.json"
WRITES = "echo 'evening = True' > sample/evening.py"
BY: dict[str, tuple[Step, ...]] = {
    "claude": (
        Say(do=(Read("sample/greet.py"),)),
        Say(do=(Use("StructuredOutput", PLAN),)),
        Say(do=(Use("Write", {"file_path": f"{BOX}/needs-input.json", "content": SIGNAL}),)),
        Say("I asked, and wait."),
        Say(do=(Use("Write", {"file_path": "/ws/sample/evening.py", "content": "evening = True\n"}),)),
        Say("Said good evening."),
    ),
    "codex": (
        Say(do=(Shell("cat sample/greet.py"),)),
        Say(json.dumps(PLAN)),
        Say(do=(Shell(ECHO),)),
        Say("I asked, and wait."),
        Say(do=(Shell(WRITES),)),
        Say("Said good evening."),
    ),
    "opencode": (
        Say(do=(Read("sample/greet.py"),)),
        Say(json.dumps(PLAN)),
        Say(do=(Shell(ECHO),)),
        Say("I asked, and wait."),
        Say(do=(Shell(WRITES),)),
        Say("Said good evening."),
    ),
    "command": (
        Say(json.dumps(PLAN)),
        Say(do=(Shell(ECHO),)),
        Say(do=(Shell(WAIT),)),
        Say(do=(Shell(WRITES),)),
        Say("Said good evening."),
    ),
}


async def asked(night: AgentNight, running: asyncio.Task[None]) -> AskRow:
    """Wait for its question; where none comes, the job's stage and the agent's log say why."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not (rows := await night.house.house.records.find(AskRow, kind=AskKind.GUIDANCE_UNCERTAIN)):
                assert not running.done(), (running.exception(), (await night.job()).why, await night.log())
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(((await night.job()).stage, await night.log())) from None
    (row,) = rows
    assert (row.question.partition("\n")[2], row.options) == ("Which greeting?", ("evening", "night"))
    return row


async def heard_once(night: AgentNight, how: str) -> None:
    job, house = await night.job(), night.house.house
    assert job.state is JobState.DONE, (job.why, await night.log())
    (row,) = await house.records.find(SignalRow)
    assert (row.state, row.answer, row.answered_by) == (SignalState.PASSED, "evening", "ann")
    events = await night.events()
    assert [event.how for event in events if isinstance(event, SignalPassed)] == [how]
    assert len([event for event in events if isinstance(event, AgentBegan)]) == 2, "one plans, one does both parts"
    assert len(await house.records.find(AskRow, kind=AskKind.GUIDANCE_UNCERTAIN)) == 1
    assert len(await house.records.find(PullRequestRow)) == 1
    assert git(night.source, "show", f"agent/{job.id}:sample/evening.py") == "evening = True"
    changed = git(night.source, "diff", "--name-only", f"main...agent/{job.id}").splitlines()
    assert changed == ["sample/evening.py"]
    if how == "turn":
        bodies = [json.dumps(asked.body) for asked in night.model.requests()]
        told = [body for body in bodies if "ann answered: evening" in body]
        assert told, "the model read the answer"
        assert all(body.count("ann answered: evening") == 1 for body in told)
    wrote = [event for event in events if isinstance(event, ToolCallDecided) and BOX in event.shown]
    assert {event.verdict for event in wrote} == (set() if night.agent == "command" else {"allow"})
    await all_is_well(night.house)


@pytest.mark.parametrize(
    "agent", ["command", *(pytest.param(one, marks=pytest.mark.sweep) for one in ("claude", "codex", "opencode"))]
)
async def test_an_agent_asks_waits_hears_the_answer_and_goes_on(tmp_path: Path, agent: str) -> None:
    if agent != "command":
        need(agent)
    async with agent_night(tmp_path, agent, BY[agent], more=TIDY) as night:
        await night.order()
        running = asyncio.create_task(night.house.pass_time(hours=1))
        ask = await asked(night, running)
        await settlement.answer(night.house.house.books, ask.id, "evening", by="ann", shown=ask.shown_hash)
        await running
        await heard_once(night, "file" if agent == "command" else "turn")


WORK: dict[str, Action] = {
    "claude": Use("Write", {"file_path": "/ws/sample/evening.py", "content": "evening = True\n"}),
    "codex": Shell(WRITES),
}


@pytest.mark.parametrize("agent", ["claude", pytest.param("codex", marks=pytest.mark.sweep)])
async def test_an_agent_hears_in_the_middle_of_its_work_that_its_time_is_nearly_over(
    tmp_path: Path, agent: str
) -> None:
    """O11: beside its next tool call; ACP has no word for that, and leaves its agents the file."""
    need(agent)
    steps = (*BY[agent][:2], Say(do=(WORK[agent],), hold=1), Say("Said good evening."))
    async with agent_night(tmp_path, agent, steps, more=TIDY) as night:
        await night.order()
        running = asyncio.create_task(night.house.pass_time(hours=1))
        async with asyncio.timeout(PATIENCE):
            await night.model.sending(await night.model.asked("night", 3), 1)
        (box,) = await night.house.house.records.find(TimerRow, kind="box")
        night.house.clock.jump_to(box.due_at)
        await night.house.house.timers.serve_due()
        night.model.release("night")
        await running
        job = await night.job()
        assert (job.state, job.box_warned_at is not None) == (JobState.DONE, True), (job.why, await night.log())
        assert [one.how for one in await night.events() if isinstance(one, SignalPassed)] == ["file", "call"]
        bodies = [json.dumps(asked.body) for asked in night.model.requests("night", main=True)]
        assert [body.count(TIME_LEFT) for body in bodies] == [0, 0, 0, 1]
        await all_is_well(night.house)


@pytest.mark.parametrize(
    ("agent", "answered_first"),
    [
        ("claude", True),
        ("codex", False),
        pytest.param("claude", False, marks=pytest.mark.sweep),
        pytest.param("codex", True, marks=pytest.mark.sweep),
    ],
)
async def test_a_server_killed_while_an_agent_waits_asks_once_and_answers_once(
    tmp_path: Path, agent: str, answered_first: bool
) -> None:
    """It asks, waits, hears the answer and continues as where no server is killed."""
    need(agent)
    async with agent_night(tmp_path, agent, BY[agent], more=TIDY) as night:
        await night.order()
        house = night.house.house
        running = asyncio.create_task(night.house.pass_time(hours=1))
        ask = await asked(night, running)
        running.cancel()
        await asyncio.wait([running])
        job = await night.job()
        again = asyncio.create_task(attempt.attempt_stage(house.night, job.id, Stage.EXECUTE, 1))
        if not answered_first:
            while (await night.job()).epoch == job.epoch:  # noqa: ASYNC110 - the server is another task
                await asyncio.sleep(0.02)
        await settlement.answer(house.books, ask.id, "evening", by="ann")
        await again
        await night.house.to_the_brief()
        await heard_once(night, "turn")
