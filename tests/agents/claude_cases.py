"""Claude Code in the matrix: what it does when all goes well, and who decides."""

import asyncio
from collections.abc import Mapping
from typing import Any

from midwatch.terms.agents import Decision, Outcome
from tests.agents.cases import case
from tests.agents.claude_acts import DRIVER, execute, sent
from tests.agents.model import (
    FOREVER,
    Read,
    Say,
    Shell,
    Use,
    Write,
)
from tests.agents.stage import EVERY_KIND, Judge, Stage, Word, reads_again

COMMIT = Shell("git add -A && git commit -q -m 'Add a file'")


@case("claude", "plan with structured output")
async def plan(stage: Stage) -> None:
    stage.model.play(
        "job",
        Say(
            "Looking.", do=(Read("README.md"), Use("Bash", {"command": "touch evil"}), Use("Write", {"file_path": "e"}))
        ),
        Say(do=(Use("StructuredOutput", {"steps": ["write", "commit"]}),)),
    )
    judge = Judge()
    run = await stage.run(DRIVER, stage.planning("job"), judge)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert run.ended.structured == {"steps": ["write", "commit"]}
    assert run.only("plan")[0].structured == run.ended.structured
    assert [tool for tool, _ in judge.asked] == ["Read"]
    assert stage.files() == ["README.md"]
    told = stage.model.told("job")
    assert run.only("counted")[-1].tokens == told


@case("claude", "plan without the agreed shape")
async def shapeless(stage: Stage) -> None:
    stage.model.play("job", Say("I would rather talk.", times=FOREVER))
    run = await stage.run(DRIVER, stage.planning("job"))
    assert run.ended.outcome is Outcome.FAILED, run.ended
    assert "required JSON form" in run.ended.why


@case("claude", "deny, then allow")
async def deny(stage: Stage) -> None:
    judge = Judge(no=("forbidden",), why="Only files named in the orders; use allowed.txt.")
    tries = (Say(do=(Shell("touch forbidden.txt"),)), Say(do=(Shell("touch allowed.txt"),)), Say("Done."))
    run = await execute(stage, *tries, decide=judge)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert stage.files() == ["README.md", "allowed.txt"]
    assert judge.why in sent(stage, 2)
    assert [(one.allowed, one.why == judge.why) for one in run.only("tool_decided")] == [(False, True), (True, False)]
    assert [one.ok for one in run.only("tool_ended")] == [False, True]


@case("claude", "told beside a call")
async def told(stage: Stage) -> None:
    """It hears it in the middle of its turn: with what its first call came to."""
    word = Word("Your time is nearly over.")
    heard, steps = word.text, (Say(do=(Shell("touch a.txt"),)), Say(do=(Shell("touch b.txt"),)), Say("Done."))
    run = await execute(stage, *steps, note=word)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert stage.files() == ["README.md", "a.txt", "b.txt"]
    assert [sent(stage, number).count(heard) for number in (1, 2, 3)] == [0, 1, 1]


@case("claude", "ask, held, then allowed")
async def ask(stage: Stage) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def person(tool: str, given: Mapping[str, Any]) -> Decision:
        assert (tool, given["command"]) == ("Bash", "touch asked.txt")
        asked.set()
        await answer.wait()
        return Decision(allowed=True, why="The person said yes.")

    stage.model.play("job", Say(do=(Shell("touch asked.txt"),)), Say("Done."))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(stage.run(DRIVER, stage.brief("job"), person))
        await asked.wait()
        await asyncio.sleep(1)
        assert stage.files() == ["README.md"]
        assert len(stage.model.requests("job", main=True)) == 1
        answer.set()
    assert running.result().ended.outcome is Outcome.OK
    assert stage.files() == ["README.md", "asked.txt"]


@case("claude", "its own second question is asked once")
async def sensitive(stage: Stage) -> None:
    judge = Judge()
    run = await execute(stage, Say(do=(Write(".claude/settings.json", "{}"),)), Say("Done."), decide=judge)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert len(judge.asked) == 1
    assert sum(b'"can_use_tool"' in said for said in run.talk.heard) == 1
    assert (stage.repository / ".claude/settings.json").read_text() == "{}"


@case("claude", "edit and commit")
async def edit(stage: Stage) -> None:
    change = Use("Edit", {"file_path": "README.md", "old_string": "hello", "new_string": "good night"})
    run = await execute(stage, Say(do=(Read("README.md"),)), Say(do=(change,)), Say(do=(COMMIT,)), Say("Done."))
    assert run.ended.outcome is Outcome.OK, run.ended
    assert stage.git("show", "HEAD:README.md") == "good night\n"
    assert stage.git("log", "--format=%s").split("\n")[0] == "Add a file"
    assert [one.number for one in run.only("turn")] == [1, 2, 3, 4]
    assert set(run.kinds()) == EVERY_KIND
    reads_again(run, stage.repository)


@case("claude", "resume by conversation")
async def resume(stage: Stage) -> None:
    first = await execute(stage, Say("The word is lantern."))
    run = await execute(stage, Say("Still here."), conversation=first.ended.conversation, prompt="Go on.")
    assert run.ended.outcome is Outcome.OK, run.ended
    assert run.ended.conversation == first.ended.conversation != ""
    assert "The word is lantern." in sent(stage, 1)
    assert run.only("counted")[-1].tokens == stage.model.told("job")


@case("claude", "resume of a conversation that is gone")
async def resume_nothing(stage: Stage) -> None:
    run = await execute(stage, Say("Hello."), conversation="00000000-0000-4000-8000-000000000000")
    assert run.ended.outcome is Outcome.FAILED, run.ended
    assert "No conversation found" in run.ended.why
    assert not stage.model.requests("job")


@case("claude", "as many turns as it may")
async def turns(stage: Stage) -> None:
    run = await execute(stage, Say(do=(Shell("true"),), times=FOREVER), max_turns=2)
    assert run.ended.outcome is Outcome.MAX_TURNS, run.ended


@case("claude", "as much money as it may")
async def money(stage: Stage) -> None:
    run = await execute(stage, Say(do=(Shell("true"),), times=FOREVER), extra={"budget_usd": "0.001"})
    assert run.ended.outcome is Outcome.BUDGET, run.ended


@case("claude", "a decision that fails is a no")
async def fails_closed(stage: Stage) -> None:
    async def broken(tool: str, given: Mapping[str, Any]) -> Decision:
        if "first" in given["command"]:
            raise RuntimeError(tool)
        raise asyncio.CancelledError

    calls = (Shell("touch first.txt"), Shell("touch second.txt"))
    run = await execute(stage, Say(do=calls), Say("Done."), decide=broken)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert stage.files() == ["README.md"]
    assert [one.allowed for one in run.only("tool_decided")] == [False, False]


@case("claude", "we restart while it asks")
async def restart(stage: Stage) -> None:
    asked = asyncio.Event()

    async def before(tool: str, given: Mapping[str, Any]) -> Decision:
        if "two" in given["command"]:
            asked.set()
            await asyncio.Event().wait()
        return Decision(allowed=True, why=f"{tool} was fine before.")

    steps = (Say(do=(Shell("echo one >> log.txt"),)), Say(do=(Shell("echo two >> log.txt"),)), Say("Done."))
    stage.model.play("job", *steps)
    brief = stage.brief("job")
    talk = await stage.begin(DRIVER, brief)
    first = asyncio.ensure_future(stage.lead(talk, DRIVER, brief, before))
    await asked.wait()
    first.cancel()
    await asyncio.wait([first])
    assert first.cancelled()
    judge = Judge()
    run = await stage.lead(talk, DRIVER, brief, judge)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert [given["command"] for _, given in judge.asked] == ["echo two >> log.txt"]
    assert (stage.repository / "log.txt").read_text() == "one\ntwo\n"
    assert all(len(answers) == 1 for answers in talk.given.values())
    assert [one.input["command"][:8] for one in run.only("tool_requested")] == ["echo one", "echo two"]
    replayed = await stage.lead(talk, DRIVER, brief, judge)
    assert (replayed.ended, len(judge.asked)) == (run.ended, 1)


@case("claude", "a prompt that looks like a command")
async def slash(stage: Stage) -> None:
    (stage.repository / "secret.txt").write_text("a-secret-in-a-file")
    run = await execute(stage, Say("Read."), prompt="/config and then @secret.txt")
    assert run.ended.outcome is Outcome.OK, run.ended
    assert "/config and then @secret.txt" in sent(stage, 1)
    assert "a-secret-in-a-file" not in sent(stage, 1)
