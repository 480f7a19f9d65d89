"""Claude Code in the matrix: what our driver makes of everything that does not go well."""

import asyncio
import signal

from midwatch.terms.agents import Outcome
from tests.agents.cases import case
from tests.agents.claude_acts import DRIVER, RESET, execute, sent
from tests.agents.model import (
    FOREVER,
    Fault,
    Garbage,
    Hang,
    HangUp,
    Say,
    Shell,
    fuel,
    refused_port,
    usage_limit,
)
from tests.agents.stage import Stage


@case("claude", "429, then an answer")
async def hasty_once(stage: Stage) -> None:
    run = await execute(stage, Fault(429, headers={"retry-after": "0"}, times=1), Say("Done."))
    assert run.ended.outcome is Outcome.OK, run.ended
    assert [(one.status, one.attempt) for one in run.only("retried")] == [(429, 1)]


@case("claude", "429 without end")
async def hasty(stage: Stage) -> None:
    run = await execute(stage, Fault(429, headers={"retry-after": "0"}))
    assert run.ended.outcome is Outcome.LIMIT, run.ended
    assert run.ended.resets_at is None


async def refused_with(stage: Stage, status: int, outcome: Outcome, requests: int) -> None:
    run = await execute(stage, Fault(status))
    assert run.ended.outcome is outcome, run.ended
    assert len(stage.model.requests("job", main=True)) == requests
    assert len(run.only("retried")) == requests - 1


@case("claude", "529 overloaded")
async def overloaded(stage: Stage) -> None:
    await refused_with(stage, 529, Outcome.NETWORK, 2)


@case("claude", "401 credential refused")
async def unknown(stage: Stage) -> None:
    await refused_with(stage, 401, Outcome.AUTH, 2)


@case("claude", "402 at the line stops at once")
async def line(stage: Stage) -> None:
    await refused_with(stage, 402, Outcome.BUDGET, 1)


@case("claude", "500 fault of the provider")
async def fault(stage: Stage) -> None:
    await refused_with(stage, 500, Outcome.NETWORK, 2)


@case("claude", "credit balance too low")
async def poor(stage: Stage) -> None:
    run = await execute(stage, Fault(400, "Your credit balance is too low to access the Anthropic API."))
    assert run.ended.outcome is Outcome.AUTH, run.ended


@case("claude", "connection refused")
async def refused(stage: Stage) -> None:
    run = await execute(stage, base_url=f"http://127.0.0.1:{refused_port()}")
    assert run.ended.outcome is Outcome.NETWORK, run.ended


@case("claude", "hang")
async def hang(stage: Stage) -> None:
    run = await execute(stage, Hang(), extra={"retries": "0", "timeout_ms": "1000"})
    assert run.ended.outcome is Outcome.NETWORK, run.ended


@case("claude", "hang, stopped by us")
async def hang_stopped(stage: Stage) -> None:
    stage.model.play("job", Hang())
    brief = stage.brief("job")
    talk = await stage.begin(DRIVER, brief)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(stage.lead(talk, DRIVER, brief))
        await stage.model.asked("job")
        await talk.stop()
    assert running.result().ended.outcome is Outcome.CANCELLED, running.result().ended


@case("claude", "drip")
async def drip(stage: Stage) -> None:
    run = await execute(stage, Say("Drop by drop.", drip=0.0005))
    assert run.ended.outcome is Outcome.OK, run.ended
    assert run.only("said")[0].text == "Drop by drop."


@case("claude", "stream cut, then whole")
async def cut_once(stage: Stage) -> None:
    text = "A text that is long enough to be cut in its middle."
    run = await execute(stage, Say(text, cut=600), Say("Whole."))
    assert run.ended.outcome is Outcome.OK, run.ended
    assert run.only("said")[-1].text == "Whole."


@case("claude", "stream cut every time")
async def cut(stage: Stage) -> None:
    run = await execute(stage, Say("A text that is long enough to be cut.", cut=150, times=FOREVER))
    assert run.ended.outcome is Outcome.NETWORK, run.ended


@case("claude", "hung up on")
async def hung_up(stage: Stage) -> None:
    run = await execute(stage, HangUp())
    assert run.ended.outcome is Outcome.NETWORK, run.ended


@case("claude", "garbage")
async def garbage(stage: Stage) -> None:
    run = await execute(stage, Garbage())
    assert run.ended.outcome is Outcome.NETWORK, run.ended


@case("claude", "usage limit with reset")
async def limit(stage: Stage) -> None:
    run = await execute(stage, Say(do=(Shell("true"),)), usage_limit(RESET), kind="oauth")
    assert run.ended.outcome is Outcome.LIMIT, run.ended
    assert run.ended.resets_at is not None
    assert run.ended.resets_at.timestamp() == RESET
    assert [(one.limit, one.rejected) for one in run.only("limit")] == [("five_hour", True)]
    again = await execute(stage, Say("Back again."), kind="oauth", conversation=run.ended.conversation)
    assert again.ended.outcome is Outcome.OK, again.ended


@case("claude", "what is left of a subscription")
async def gauge(stage: Stage) -> None:
    run = await execute(stage, Say("Hello.", headers=fuel(0.4, RESET)), kind="oauth")
    assert run.ended.outcome is Outcome.OK, run.ended
    assert all(not one.rejected for one in run.only("limit"))
    headers = stage.model.requests("job")[0].headers
    assert headers["authorization"].startswith("Bearer sk-ant-oat01-")
    assert "x-api-key" not in headers


@case("claude", "SIGKILL in the middle, then resumed")
async def killed(stage: Stage) -> None:
    stage.model.play("job", Say(do=(Shell("touch before.txt"),)), Say("Never heard.", hold=100))
    brief = stage.brief("job")
    talk = await stage.begin(DRIVER, brief)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(stage.lead(talk, DRIVER, brief))
        await stage.model.sending(await stage.model.asked("job", 2), 100)
        talk.signal(signal.SIGKILL)
    ended = running.result().ended
    assert ended.outcome is Outcome.CRASHED, ended
    again = await execute(stage, Say("Here again."), conversation=ended.conversation)
    assert again.ended.outcome is Outcome.OK, again.ended
    assert "before.txt" in sent(stage, 1)


@case("claude", "ceiling in mid-stream")
async def ceiling(stage: Stage) -> None:
    run = await execute(stage, Say(do=(Shell("touch one.txt"),)), Say("Too dear, so cut.", cut=400), Fault(402))
    assert run.ended.outcome is Outcome.BUDGET, run.ended
    assert len(stage.model.requests("job", main=True)) == 3
