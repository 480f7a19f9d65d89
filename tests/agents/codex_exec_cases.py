"""Codex in the matrix by its fallback, `codex exec`: it asks nobody, and we listen."""

import json
import signal
from typing import Any

from midwatch.crew.drivers.codex.executing import CodexExecDriver
from midwatch.terms.agents import Errand, Outcome
from tests.agents.cases import case
from tests.agents.codex_acts import RESET, brief, used_up
from tests.agents.model import FOREVER, Fault, Garbage, Read, Say, Shell, Step, Write
from tests.agents.stage import SHAPE, Judge, Played, Stage, reads_again

DRIVER = CodexExecDriver()


async def execute(stage: Stage, *steps: Step, **more: Any) -> Played:
    stage.model.play("job", *steps)
    return await stage.run(DRIVER, brief(stage, **more))


@case("codex", "exec: plan can only read")
async def plan(stage: Stage) -> None:
    tries = (Read("README.md"), Shell("touch evil"), Write("evil", "x"))
    stage.model.play("job", Say(do=tries), Say('{"steps": []}'))
    run = await stage.run(DRIVER, brief(stage, errand=Errand.PLAN, schema=SHAPE))
    assert run.ended.outcome is Outcome.OK, run.ended
    assert (run.ended.structured, stage.files()) == ({"steps": []}, ["README.md"])


@case("codex", "exec: edit and commit, nobody is asked")
async def edit(stage: Stage) -> None:
    commit = Shell("git add -A && git commit -q -m 'Add a file'")
    stage.model.play("job", Say("Go.", do=(Write("new.txt", "new\n"),)), Say(do=(commit,)), Say("Done."))
    judge = Judge()
    prompt = "A prompt with 'quotes', $HOME and\nlines."
    run = await stage.run(DRIVER, brief(stage, prompt=prompt), judge)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert (judge.asked, run.only("tool_decided")) == ([], [])
    assert stage.git("show", "HEAD:new.txt") == "new\n"
    assert [one.tool for one in run.only("tool_requested")] == ["Edit", "Bash"]
    assert run.only("turn") == [], "it does not show where an answer of the model ends"
    reads_again(run, stage.repository)
    assert run.only("counted")[-1].tokens == stage.model.told("job")
    assert json.dumps(prompt)[1:-1] in json.dumps(stage.model.requests("job", main=True)[0].body)


@case("codex", "exec: resume by conversation")
async def resume(stage: Stage) -> None:
    first = await execute(stage, Say("The word is lantern."))
    run = await execute(stage, Say("Still here."), conversation=first.ended.conversation)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert run.ended.conversation == first.ended.conversation != ""
    assert "lantern" in json.dumps(stage.model.requests("job", main=True)[0].body)


async def ends(stage: Stage, step: Step, outcome: Outcome, **more: Any) -> None:
    run = await execute(stage, step, **more)
    assert run.ended.outcome is outcome, run.ended


@case("codex", "exec: 429 without end")
async def hasty(stage: Stage) -> None:
    await ends(stage, Fault(429, headers={"retry-after": "0"}), Outcome.LIMIT)


@case("codex", "exec: 401 credential refused")
async def unknown(stage: Stage) -> None:
    await ends(stage, Fault(401), Outcome.AUTH)


@case("codex", "exec: 402 at the line")
async def line(stage: Stage) -> None:
    await ends(stage, Fault(402), Outcome.BUDGET)


@case("codex", "exec: 500 fault of the provider")
async def fault(stage: Stage) -> None:
    await ends(stage, Fault(500), Outcome.NETWORK)


@case("codex", "exec: stream cut every time")
async def cut(stage: Stage) -> None:
    await ends(stage, Say("A text that is long enough to be cut.", cut=150, times=FOREVER), Outcome.NETWORK)


@case("codex", "exec: garbage")
async def garbage(stage: Stage) -> None:
    await ends(stage, Garbage(), Outcome.NETWORK)


@case("codex", "exec: usage limit")
async def limit(stage: Stage) -> None:
    await ends(stage, used_up(RESET), Outcome.LIMIT, kind="oauth")


@case("codex", "exec: SIGKILL in the middle")
async def killed(stage: Stage) -> None:
    stage.model.play("job", Say("Never heard.", hold=100))
    asked = brief(stage)
    talk = await stage.begin(DRIVER, asked)
    await stage.model.sending(await stage.model.asked("job"), 100)
    talk.signal(signal.SIGKILL)
    run = await stage.lead(talk, DRIVER, asked)
    assert run.ended.outcome is Outcome.CRASHED, run.ended
