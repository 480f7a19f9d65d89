"""Codex in the matrix: what it does when all goes well, and what it may not do."""

import asyncio
import signal
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from midwatch.crew.drivers.codex.driver import CodexDriver
from midwatch.ports.agent import AgentBrief, Launch
from midwatch.terms.agents import Decision, Errand, Outcome, Tokens
from tests.agents.cases import case
from tests.agents.codex_acts import DRIVER, brief, execute, sent
from tests.agents.model import FOREVER, Read, Say, Shell, Use, Write
from tests.agents.stage import EVERY_KIND, SHAPE, Judge, Stage, Word, reads_again

COMMIT = Shell("git add -A && git commit -q -m 'Add a file'")
PATCH = "*** Begin Patch\n*** Update File: README.md\n@@\n-hello\n+good night\n*** End Patch\n"


@case("codex", "plan with structured output")
async def plan(stage: Stage) -> None:
    tries = (Read("README.md"), Shell("touch evil"), Shell("cat README.md > evil"), Write("evil", "x"))
    stage.model.play("job", Say("Looking.", do=tries), Say('{"steps": ["write", "commit"]}'))
    judge = Judge()
    run = await stage.run(DRIVER, brief(stage, errand=Errand.PLAN, schema=SHAPE), judge)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert run.ended.structured == {"steps": ["write", "commit"]}
    assert run.only("plan")[0].structured == run.ended.structured
    assert [(tool, given["file_path"][-9:]) for tool, given in judge.asked] == [("Read", "README.md")]
    assert stage.files() == ["README.md"]
    assert sorted(one.allowed for one in run.only("tool_decided")) == [False, False, False, True]
    assert "only plain reading is allowed" in sent(stage, 2)
    assert run.only("counted")[-1].tokens == stage.model.told("job")


class Walled(CodexDriver):
    """Codex behind walls that let nobody build more walls, as ours do."""

    def launch(self, brief: AgentBrief, program: str) -> Launch:
        plain = super().launch(brief, program)
        walls = ("bwrap", "--die-with-parent", "--unshare-user", "--unshare-pid", "--disable-userns")
        return replace(
            plain, argv=(*walls, "--uid", "1000", "--dev-bind", "/", "/", "--proc", "/proc", "--", *plain.argv)
        )


@case("codex", "plan and execute behind walls like ours")
async def walled(stage: Stage) -> None:
    steps = (Say(do=(Read("README.md"), Shell("touch a.txt"))), Say('{"steps": []}'))
    for errand, found in ((Errand.PLAN, ["README.md"]), (Errand.EXECUTE, ["README.md", "a.txt"])):
        stage.model.play("job", *steps)
        run = await stage.run(Walled(), brief(stage, errand=errand))
        assert run.ended.outcome is Outcome.OK, run.ended
        assert "hello" in [one.summary.strip() for one in run.only("tool_ended")]
        assert stage.files() == found


@case("codex", "plan without the agreed shape")
async def shapeless(stage: Stage) -> None:
    run = await execute(stage, Say("I would rather talk."), errand=Errand.PLAN, schema=SHAPE)
    assert run.ended.outcome is Outcome.FAILED, run.ended
    assert "required JSON form" in run.ended.why


@case("codex", "deny, then allow")
async def deny(stage: Stage) -> None:
    judge = Judge(no=("forbidden",), why="Only files named in the orders; use allowed.txt.")
    tries = (
        Say(do=(Shell("touch forbidden.txt"),)),
        Say(do=(Write("forbidden2.txt", "x"),)),
        Say(do=(Shell("touch allowed.txt"),)),
        Say("Done."),
    )
    run = await execute(stage, *tries, decide=judge)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert stage.files() == ["README.md", "allowed.txt"]
    assert judge.why in sent(stage, 2)
    assert [one.allowed for one in run.only("tool_decided")] == [False, False, True]
    assert [one.ok for one in run.only("tool_ended")] == [False, False, True]


@case("codex", "told beside a call")
async def told(stage: Stage) -> None:
    """It hears it in the middle of its turn: with what its first call came to."""
    word = Word("Your time is nearly over.")
    heard, steps = word.text, (Say(do=(Shell("touch a.txt"),)), Say(do=(Shell("touch b.txt"),)), Say("Done."))
    run = await execute(stage, *steps, note=word)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert stage.files() == ["README.md", "a.txt", "b.txt"]
    assert [sent(stage, number).count(heard) for number in (1, 2, 3)] == [0, 1, 1]


@case("codex", "ask, held, then allowed")
async def ask(stage: Stage) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def person(tool: str, given: Mapping[str, Any]) -> Decision:
        assert (tool, given["command"]) == ("Bash", "touch asked.txt")
        asked.set()
        await answer.wait()
        return Decision(allowed=True, why="The person said yes.")

    stage.model.play("job", Say(do=(Shell("touch asked.txt"),)), Say("Done."))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(stage.run(DRIVER, brief(stage), person))
        await asked.wait()
        await asyncio.sleep(1)
        assert stage.files() == ["README.md"]
        assert len(stage.model.requests("job", main=True)) == 1
        answer.set()
    assert running.result().ended.outcome is Outcome.OK
    assert stage.files() == ["README.md", "asked.txt"]


@case("codex", "edit and commit")
async def edit(stage: Stage) -> None:
    judge = Judge()
    change = Shell(f"apply_patch <<'END'\n{PATCH}END")
    steps = (Say(do=(Read("README.md"),)), Say(do=(change,)), Say(do=(COMMIT,)), Say("Done."))
    run = await execute(stage, *steps, decide=judge)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert stage.git("show", "HEAD:README.md") == "good night\n"
    assert stage.git("log", "--format=%s").split("\n")[0] == "Add a file"
    assert [one.number for one in run.only("turn")] == [1, 2, 3, 4]
    assert set(run.kinds()) == EVERY_KIND
    reads_again(run, stage.repository)
    assert [tool for tool, _ in judge.asked] == ["Read", "Edit", "Bash"]
    assert run.only("counted")[-1].tokens == stage.model.told("job")


@case("codex", "resume by conversation")
async def resume(stage: Stage) -> None:
    first = await execute(stage, Say("The word is lantern."))
    run = await execute(stage, Say("Still here."), conversation=first.ended.conversation, prompt="Go on.")
    assert run.ended.outcome is Outcome.OK, run.ended
    assert run.ended.conversation == first.ended.conversation != ""
    assert "The word is lantern." in sent(stage, 1)
    assert run.only("counted")[-1].tokens == stage.model.told("job")


@case("codex", "resume of a conversation that is gone")
async def resume_nothing(stage: Stage) -> None:
    run = await execute(stage, Say("Hello."), conversation="00000000-0000-4000-8000-000000000000")
    assert run.ended.outcome is Outcome.FAILED, run.ended
    assert not stage.model.requests("job")


@case("codex", "with a subscription's login")
async def login(stage: Stage) -> None:
    run = await execute(stage, Say("Hello.", usage=Tokens(input=50, output=7, cache_read=30)), kind="oauth")
    assert run.ended.outcome is Outcome.OK, run.ended
    headers = stage.model.requests("job", main=True)[0].headers
    assert headers["authorization"].endswith("script-job")
    assert headers["chatgpt-account-id"] == "midwatch"
    assert run.only("counted")[-1].tokens == Tokens(input=50, output=7, cache_read=30)


@case("codex", "SIGKILL in the middle, then resumed")
async def killed(stage: Stage) -> None:
    stage.model.play("job", Say(do=(Shell("touch before.txt"),)), Say("Never heard.", hold=100))
    asked = brief(stage)
    talk = await stage.begin(DRIVER, asked)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(stage.lead(talk, DRIVER, asked))
        await stage.model.sending(await stage.model.asked("job", 2), 100)
        talk.signal(signal.SIGKILL)
    ended = running.result().ended
    assert ended.outcome is Outcome.CRASHED, ended
    again = await execute(stage, Say("Here again."), conversation=ended.conversation)
    assert again.ended.outcome is Outcome.OK, again.ended
    assert "before.txt" in sent(stage, 1)


@case("codex", "as many turns as it may")
async def turns(stage: Stage) -> None:
    judge = Judge()
    run = await execute(stage, Say(do=(Shell("true"),), times=FOREVER), max_turns=2, decide=judge)
    assert run.ended.outcome is Outcome.MAX_TURNS, run.ended
    assert len(stage.model.requests("job", main=True)) == 3
    assert len(judge.asked) == 2


@case("codex", "no more turns than it may, and done")
async def enough(stage: Stage) -> None:
    run = await execute(stage, Say(do=(Shell("true"),)), Say("Done."), max_turns=2)
    assert run.ended.outcome is Outcome.OK, run.ended


@case("codex", "a decision that fails is a no")
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


@case("codex", "we restart while it asks")
async def restart(stage: Stage) -> None:
    asked = asyncio.Event()

    async def before(tool: str, given: Mapping[str, Any]) -> Decision:
        assert tool == "Bash"
        if "two" in given["command"]:
            asked.set()
            await asyncio.Event().wait()
        return Decision(allowed=True, why="Before.")

    steps = (Say(do=(Shell("echo one >> log.txt"),)), Say(do=(Shell("echo two >> log.txt"),)), Say("Done."))
    stage.model.play("job", *steps)
    wanted = brief(stage)
    talk = await stage.begin(DRIVER, wanted)
    first = asyncio.ensure_future(stage.lead(talk, DRIVER, wanted, before))
    await asked.wait()
    first.cancel()
    await asyncio.wait([first])
    assert first.cancelled()
    judge = Judge()
    run = await stage.lead(talk, DRIVER, wanted, judge)
    assert run.ended.outcome is Outcome.OK, run.ended
    assert [given["command"] for _, given in judge.asked] == ["echo two >> log.txt"]
    assert (stage.repository / "log.txt").read_text() == "one\ntwo\n"
    assert all(len(answers) == 1 for answers in talk.given.values())
    assert [one.input["command"][:8] for one in run.only("tool_requested")] == ["echo one", "echo two"]
    replayed = await stage.lead(talk, DRIVER, wanted, judge)
    assert (replayed.ended, len(judge.asked)) == (run.ended, 1)


@case("codex", "a question for the person has no answer")
async def question(stage: Stage) -> None:
    asks = {"questions": [{"id": "a", "header": "A", "question": "Which?", "options": [{"label": "x"}]}]}
    run = await execute(stage, Say(do=(Use("request_user_input", asks),)), Say("Then without."))
    assert run.ended.outcome is Outcome.OK, run.ended
