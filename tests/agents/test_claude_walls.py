"""Claude Code behind the real walls: its only way out is the door at which the model is served."""

import asyncio
import json
from pathlib import Path

import pytest

from midwatch.crew.drivers.claude.driver import ClaudeDriver
from midwatch.ports.agent import AgentBrief
from midwatch.terms.agents import Access, AgentEvent, Errand, Outcome, RunEnded
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.walls.doors import waiting_at
from midwatch.workshop.sandbox.walls.entry import command
from midwatch.workshop.sandbox.walls.probe import probe
from midwatch.workshop.sandbox.walls.spec import SandboxSpec
from tests.agents.model import Read, Say, Shell, Step, Use, scripted_model
from tests.agents.plain_talk import PlainTalk
from tests.agents.stage import SHAPE, Judge, lay_down
from tests.conftest import missing
from tools.agents import program

DRIVER = ClaudeDriver()
PORT = 8123


@pytest.fixture(scope="module")
def walls_stand() -> None:
    standing = probe()
    if standing.isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", standing.why)


async def behind_walls(folder: Path, brief: AgentBrief, *steps: Step) -> tuple[RunEnded, list[AgentEvent]]:
    """Lead one run in walls that lend it a home, its program and one door."""
    native = program("claude").resolve()
    launch = DRIVER.launch(brief, str(native))
    (folder / "home").mkdir(exist_ok=True)
    around = SandboxSpec(
        tree=folder / "tree",
        home=folder / "home",
        read_only=(native.parent,),
        environment=launch.environment,
        ports=(PORT,),
        control=folder / "doors",
        tree_read_only=brief.errand is Errand.PLAN,
    )
    argv = await asyncio.to_thread(
        command, around, launch.argv, isolation=Isolation.BUBBLEWRAP, note=folder / "note.json"
    )
    events: list[AgentEvent] = []

    async def tell(event: AgentEvent) -> None:
        events.append(event)

    async with waiting_at(folder / "doors") as doors:
        talk = await PlainTalk.begin(tuple(argv), {})
        try:
            [door] = await doors.listeners((PORT,))
            async with scripted_model(door) as model:
                model.play("job", *steps)
                doors.let_in()
                return await DRIVER.drive(talk, brief, Judge(), tell), events
        finally:
            await talk.clear()


def brief(errand: Errand, **more: object) -> AgentBrief:
    access = Access(base_url=f"http://127.0.0.1:{PORT}", placeholder="sk-ant-api03-script-job")
    plain: dict[str, object] = {"errand": errand, "prompt": "Do it.", "model": "claude-sonnet-4-5", "access": access}
    return AgentBrief(**(plain | more))  # type: ignore[arg-type]


@pytest.mark.usefixtures("claude", "walls_stand")
async def test_it_plans_and_then_works_in_the_same_conversation_behind_walls(tmp_path: Path) -> None:
    lay_down(tmp_path / "tree", {"README.md": "hello\n"})
    looking = (Say(do=(Read("README.md"),)), Say(do=(Use("StructuredOutput", {"steps": ["write"]}),)))
    plan = brief(Errand.PLAN, schema=SHAPE)
    planned, _ = await behind_walls(tmp_path, plan, *looking)
    assert planned.outcome is Outcome.OK, planned
    outside = "curl -s -m 3 http://192.0.2.1 && touch reached; git add -A && git commit -q -m Work && git log --oneline"
    working = (Say(do=(Shell("echo night > work.txt"), Shell(outside))), Say("Done."))
    worked, events = await behind_walls(tmp_path, brief(Errand.EXECUTE, conversation=planned.conversation), *working)
    assert worked.outcome is Outcome.OK, worked
    assert (tmp_path / "tree" / "work.txt").read_text() == "night\n"
    assert not (tmp_path / "tree" / "reached").exists()
    assert "Work" in json.dumps([event.summary for event in events if event.kind == "tool_ended"])
