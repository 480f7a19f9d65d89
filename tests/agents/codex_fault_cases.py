"""Codex in the matrix, when its model is unwell."""

import asyncio

from midwatch.terms.agents import Outcome
from tests.agents.cases import case
from tests.agents.codex_acts import DRIVER, RESET, brief, execute, used_up
from tests.agents.model import FOREVER, Fault, Garbage, Hang, HangUp, Say, Shell, refused_port
from tests.agents.stage import Stage


@case("codex", "429, then an answer")
async def hasty_once(stage: Stage) -> None:
    run = await execute(stage, Fault(429, headers={"retry-after": "0"}, times=1), Say("Done."))
    assert run.ended.outcome is Outcome.OK, run.ended


@case("codex", "429 without end")
async def hasty(stage: Stage) -> None:
    run = await execute(stage, Fault(429, headers={"retry-after": "0"}))
    assert run.ended.outcome is Outcome.LIMIT, run.ended
    assert run.ended.resets_at is None


async def refused_with(stage: Stage, status: int, outcome: Outcome, most: int) -> None:
    run = await execute(stage, Fault(status))
    assert run.ended.outcome is outcome, run.ended
    assert 1 <= len(stage.model.requests("job", main=True)) <= most


@case("codex", "529 overloaded")
async def overloaded(stage: Stage) -> None:
    await refused_with(stage, 529, Outcome.NETWORK, 4)


@case("codex", "401 credential refused")
async def unknown(stage: Stage) -> None:
    await refused_with(stage, 401, Outcome.AUTH, 4)


@case("codex", "401 with a subscription's login")
async def unknown_login(stage: Stage) -> None:
    run = await execute(stage, Fault(401), kind="oauth")
    assert run.ended.outcome is Outcome.AUTH, run.ended


@case("codex", "402 at the line")
async def line(stage: Stage) -> None:
    await refused_with(stage, 402, Outcome.BUDGET, 2)


@case("codex", "500 fault of the provider")
async def fault(stage: Stage) -> None:
    await refused_with(stage, 500, Outcome.NETWORK, 4)


@case("codex", "400 that no retry can mend")
async def bad(stage: Stage) -> None:
    await refused_with(stage, 400, Outcome.FAILED, 2)


@case("codex", "the account's quota is used up")
async def poor(stage: Stage) -> None:
    run = await execute(stage, Fault(429, "You exceeded your current quota.", kind="insufficient_quota"))
    assert run.ended.outcome is Outcome.AUTH, run.ended


@case("codex", "connection refused")
async def refused(stage: Stage) -> None:
    run = await execute(stage, base_url=f"http://127.0.0.1:{refused_port()}")
    assert run.ended.outcome is Outcome.NETWORK, run.ended


@case("codex", "hang")
async def hang(stage: Stage) -> None:
    run = await execute(
        stage, Say("Never heard.", hold=40, times=FOREVER), extra={"retries": "0", "timeout_ms": "1000"}
    )
    assert run.ended.outcome is Outcome.NETWORK, run.ended


@case("codex", "hang, stopped by us")
async def hang_stopped(stage: Stage) -> None:
    stage.model.play("job", Hang())
    asked = brief(stage)
    talk = await stage.begin(DRIVER, asked)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(stage.lead(talk, DRIVER, asked))
        await stage.model.asked("job")
        await talk.stop()
    assert running.result().ended.outcome is Outcome.CANCELLED, running.result().ended


@case("codex", "drip")
async def drip(stage: Stage) -> None:
    run = await execute(stage, Say("Drop by drop.", drip=0.0005))
    assert run.ended.outcome is Outcome.OK, run.ended
    assert run.only("said")[0].text == "Drop by drop."


@case("codex", "stream cut, then whole")
async def cut_once(stage: Stage) -> None:
    text = "A text that is long enough to be cut in its middle."
    run = await execute(stage, Say(text, cut=600), Say("Whole."))
    assert run.ended.outcome is Outcome.OK, run.ended
    assert run.only("said")[-1].text == "Whole."
    assert [one.attempt for one in run.only("retried")] == [1]


@case("codex", "stream cut every time")
async def cut(stage: Stage) -> None:
    run = await execute(stage, Say("A text that is long enough to be cut.", cut=150, times=FOREVER))
    assert run.ended.outcome is Outcome.NETWORK, run.ended


@case("codex", "hung up on")
async def hung_up(stage: Stage) -> None:
    run = await execute(stage, HangUp())
    assert run.ended.outcome is Outcome.NETWORK, run.ended


@case("codex", "garbage")
async def garbage(stage: Stage) -> None:
    run = await execute(stage, Garbage())
    assert run.ended.outcome is Outcome.NETWORK, run.ended


@case("codex", "usage limit with reset")
async def limit(stage: Stage) -> None:
    run = await execute(stage, Say(do=(Shell("true"),)), used_up(RESET), kind="oauth")
    assert run.ended.outcome is Outcome.LIMIT, run.ended
    assert run.ended.resets_at is not None
    assert run.ended.resets_at.timestamp() == RESET
    assert [(one.limit, one.rejected) for one in run.only("limit")] == [("primary", True), ("secondary", False)]
    again = await execute(stage, Say("Back again."), kind="oauth", conversation=run.ended.conversation)
    assert again.ended.outcome is Outcome.OK, again.ended


@case("codex", "ceiling in mid-stream")
async def ceiling(stage: Stage) -> None:
    run = await execute(stage, Say(do=(Shell("touch one.txt"),)), Say("Too dear, so cut.", cut=400), Fault(402))
    assert run.ended.outcome is Outcome.BUDGET, run.ended
    assert len(stage.model.requests("job", main=True)) == 3
