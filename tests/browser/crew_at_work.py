"""`python -m tests.browser.crew_at_work HOME`: writes down what a model-driven agent does, in a house nobody serves."""

import asyncio
import sys
from pathlib import Path

from midwatch.compose.house import Parts
from midwatch.compose.opening import open_house
from midwatch.engine.inline import InlineEngine
from midwatch.terms.records import JobRow
from tests.surfaces.doings import a_plan, fuel, hold


async def work(home: Path) -> None:
    """Let the first job's agent plan, spend, meet a limit, and be held in the middle of a call."""
    async with open_house(home, parts=Parts(engine=InlineEngine())) as house:
        (job, *_) = await house.records.find(JobRow)
        await a_plan(house, job)
        await fuel(house)
        await hold(house, job)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1])))
