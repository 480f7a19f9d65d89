"""Any program in the matrix, and the same job by every agent."""

import shutil
import signal
from typing import Any

from midwatch.crew.drivers.command import CommandDriver
from midwatch.ports.agent import AgentBrief, Launch
from midwatch.terms.agents import Errand, Outcome
from tests.agents import acp_acts, claude_acts, codex_acts
from tests.agents.cases import case
from tests.agents.model import Hang, Say, Shell, Step, Write
from tests.agents.stage import EVERY_KIND, SHAPE, Played, Stage
from tools.agents import program

ASK = """
import json, os, sys, urllib.request
prompt = open(sys.argv[1]).read() if len(sys.argv) > 1 else sys.stdin.read()
body = {"model": os.environ["MODEL"], "tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": prompt}]}
address, key = os.environ["BASE"] + "/v1/messages", {"x-api-key": os.environ["KEY"]}
request = urllib.request.Request(address, json.dumps(body).encode(), key)
print(json.load(urllib.request.urlopen(request))["content"][0]["text"], flush=True)
"""
SURROUNDINGS = {"BASE": "{base_url}", "KEY": "{key}", "MODEL": "{model}"}
UNSEEN = {"tool_requested", "tool_decided", "tool_ended", "counted", "turn"}
"""What a plain command does not tell."""
WORK = "cat > /dev/null; echo Working.; echo text > new.txt; git add -A; git commit -qm 'Add a file'; echo Done."


class Here(CommandDriver):
    """A command whose program is one of this machine's."""

    def launch(self, brief: AgentBrief, program: str) -> Launch:
        return super().launch(brief, shutil.which(self.words[0]) or program)


def asking(*more: str) -> Here:
    return Here(("python3", "-c", ASK, *more), environment=SURROUNDINGS)


async def execute(stage: Stage, driver: CommandDriver, *steps: Step, **more: Any) -> Played:
    stage.model.play("job", *steps)
    return await stage.run(driver, stage.brief("job", **more))


@case("command", "prompt on stdin")
async def on_stdin(stage: Stage) -> None:
    prompt = "A prompt with 'quotes', $HOME, {prompt} and\nlines."
    run = await execute(stage, asking(), Say("Heard."), prompt=prompt)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert [one.text for one in run.only("said")] == ["Heard."]
    assert set(run.kinds()) == EVERY_KIND - UNSEEN
    assert stage.model.requests("job")[0].body["messages"][0]["content"] == prompt


@case("command", "prompt in a file")
async def in_a_file(stage: Stage) -> None:
    run = await execute(stage, asking("{prompt}"), Say("Heard."), prompt="In a file.")
    assert run.ended.outcome is Outcome.OK, run.ended
    assert stage.model.requests("job")[0].body["messages"][0]["content"] == "In a file."


@case("command", "plan with structured output")
async def plan(stage: Stage) -> None:
    run = await execute(stage, asking(), Say('Thus:\n{"steps": ["a"]}'), errand=Errand.PLAN, schema=SHAPE)
    assert run.ended.structured == {"steps": ["a"]}, run.ended
    assert run.only("plan")[0].structured == {"steps": ["a"]}
    again = await execute(stage, asking(), Say("No."), errand=Errand.PLAN, schema=SHAPE)
    assert "printed no plan" in again.ended.why


@case("command", "the exit code is the outcome")
async def exit_code(stage: Stage) -> None:
    run = await execute(stage, Here(("sh", "-c", "echo It broke.; exit 7")))
    assert run.ended.outcome is Outcome.FAILED, run.ended
    assert "It broke." in run.ended.why


@case("command", "SIGKILL and stop in the middle")
async def ended_early(stage: Stage) -> None:
    driver = asking()
    for how, outcome in (("kill", Outcome.CRASHED), ("stop", Outcome.CANCELLED)):
        stage.model.play("job", Hang())
        wanted = stage.brief("job")
        talk = await stage.begin(driver, wanted)
        await stage.model.asked("job")
        if how == "kill":
            talk.signal(signal.SIGKILL)
        else:
            await talk.stop()
        run = await stage.lead(talk, driver, wanted)
        assert run.ended.outcome is outcome, run.ended


@case("command", "the same job by every agent tells the same kinds of events")
async def same(stage: Stage) -> None:
    commit = Shell("git add -A && git commit -q -m 'Add a file'")
    kinds: dict[str, set[str]] = {}
    for name, acts in (("claude", claude_acts), ("codex", codex_acts), ("opencode", acp_acts)):
        if program(name).exists():
            steps = (Say("Working.", do=(Write(f"{name}.txt", "text\n"),)), Say(do=(commit,)), Say("Done."))
            run = await acts.execute(stage, *steps)
            assert run.ended.outcome is Outcome.OK, run.ended
            assert stage.git("show", "--name-only", "--format=%s", "HEAD").split() == [
                "Add",
                "a",
                "file",
                f"{name}.txt",
            ]
            kinds[name] = set(run.kinds())
    run = await execute(stage, Here(("sh", "-c", WORK)))
    assert run.ended.outcome is Outcome.OK, run.ended
    kinds["command"] = set(run.kinds())
    assert all(found == EVERY_KIND for name, found in kinds.items() if name != "command"), kinds
    assert kinds["command"] == EVERY_KIND - UNSEEN
