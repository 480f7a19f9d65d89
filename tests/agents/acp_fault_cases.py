"""A real ACP agent (opencode) in the matrix, when its model is unwell; it tells the provider's words and no status."""

import asyncio

from midwatch.terms.agents import Outcome
from tests.agents.acp_acts import DRIVER, brief, execute
from tests.agents.cases import case
from tests.agents.model import Fault, Garbage, Hang, HangUp, Say, Shell, refused_port
from tests.agents.stage import Stage

AT_ONCE = {"retry-after-ms": "1"}
CEILING = "This job may spend $1. No further request is sent until a person raises the ceiling."


async def refused_with(stage: Stage, fault: Fault, outcome: Outcome, most: int) -> None:
    run = await execute(stage, fault)
    assert run.ended.outcome is outcome, run.ended
    assert 1 <= len(stage.model.requests("job", main=True)) <= most


@case("opencode", "429, then an answer")
async def hasty_once(stage: Stage) -> None:
    run = await execute(stage, Fault(429, headers=AT_ONCE, times=1), Say("Done."))
    assert run.ended.outcome is Outcome.OK, run.ended


@case("opencode", "429 without end")
async def hasty(stage: Stage) -> None:
    await refused_with(stage, Fault(429, "Rate limit reached for requests", AT_ONCE), Outcome.LIMIT, 6)


@case("opencode", "529 overloaded")
async def overloaded(stage: Stage) -> None:
    await refused_with(stage, Fault(529, "Overloaded", AT_ONCE), Outcome.NETWORK, 6)


@case("opencode", "500 fault of the provider")
async def fault(stage: Stage) -> None:
    message = "The server had an error while processing your request."
    await refused_with(stage, Fault(500, message, AT_ONCE), Outcome.NETWORK, 6)


@case("opencode", "401 credential refused")
async def unknown(stage: Stage) -> None:
    await refused_with(stage, Fault(401, "Incorrect API key provided."), Outcome.AUTH, 1)


@case("opencode", "402 at the line stops at once")
async def line(stage: Stage) -> None:
    await refused_with(stage, Fault(402, CEILING), Outcome.BUDGET, 1)


@case("opencode", "400 that no retry can mend")
async def bad(stage: Stage) -> None:
    await refused_with(stage, Fault(400, "This model does not take tools."), Outcome.FAILED, 1)


@case("opencode", "usage limit")
async def limit(stage: Stage) -> None:
    reached = Fault(429, "The usage limit has been reached", AT_ONCE, kind="usage_limit_reached")
    run = await execute(stage, Say(do=(Shell("true"),)), reached)
    assert run.ended.outcome is Outcome.LIMIT, run.ended
    again = await execute(stage, Say("Back again."), conversation=run.ended.conversation)
    assert again.ended.outcome is Outcome.OK, again.ended


async def stopped_after(stage: Stage, requests: int) -> None:
    """It tries again by itself, ever more slowly, and says nothing meanwhile; so we stop it."""
    asked = brief(stage)
    talk = await stage.begin(DRIVER, asked)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(stage.lead(talk, DRIVER, asked))
        await stage.model.asked("job", requests)
        await talk.stop()
    assert running.result().ended.outcome is Outcome.CANCELLED, running.result().ended


@case("opencode", "hang, stopped by us")
async def hang_stopped(stage: Stage) -> None:
    stage.model.play("job", Hang())
    await stopped_after(stage, 1)


@case("opencode", "hung up on, stopped by us")
async def hung_up(stage: Stage) -> None:
    stage.model.play("job", HangUp())
    await stopped_after(stage, 2)


@case("opencode", "connection refused, stopped by us")
async def refused(stage: Stage) -> None:
    asked = brief(stage, base_url=f"http://127.0.0.1:{refused_port()}")
    talk = await stage.begin(DRIVER, asked)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(stage.lead(talk, DRIVER, asked))
        await talk.hears(3)
        await asyncio.sleep(1)
        await talk.stop()
    assert running.result().ended.outcome is Outcome.CANCELLED, running.result().ended


@case("opencode", "drip")
async def drip(stage: Stage) -> None:
    run = await execute(stage, Say("Drop by drop.", drip=0.0005))
    assert run.ended.outcome is Outcome.OK, run.ended
    assert run.only("said")[0].text == "Drop by drop."


@case("opencode", "stream cut, then whole")
async def cut_once(stage: Stage) -> None:
    run = await execute(stage, Say("A text that is long enough to be cut in its middle.", cut=400), Say("Whole."))
    assert run.ended.outcome is Outcome.OK, run.ended
    assert run.only("said")[-1].text.endswith("Whole.")


@case("opencode", "garbage, stopped by us")
async def garbage(stage: Stage) -> None:
    stage.model.play("job", Garbage())
    await stopped_after(stage, 2)


@case("opencode", "ceiling in mid-stream")
async def ceiling(stage: Stage) -> None:
    first = Say(do=(Shell("touch one.txt"),))
    run = await execute(stage, first, Say("Too dear, so cut.", cut=200), Fault(402, CEILING))
    assert run.ended.outcome is Outcome.BUDGET, run.ended
