"""`python -m tests.browser.reaching_out HOME`: writes connections down as a doorman does, in a house nobody serves."""

import asyncio
import sys
from pathlib import Path

from midwatch.compose.house import Parts
from midwatch.compose.opening import open_house
from midwatch.engine.inline import InlineEngine
from midwatch.journal.events.workshop import ConnectionSeen
from midwatch.terms.records import JobRow

REFUSED = 14


async def reach_out(home: Path) -> None:
    """Let the first job be refused often, and once not."""
    async with open_house(home, parts=Parts(engine=InlineEngine())) as house:
        (job, *_) = await house.records.find(JobRow)
        for number in range(REFUSED):
            host = f"telemetry-{number}.a-rather-long-name-of-a-host.example.org"
            why = "It is not on this job's list of hosts."
            refused = ConnectionSeen(job=job.id, epoch=1, host=host, port=443, verdict="refused", why=why)
            await house.journal.record(refused)
        fine = ConnectionSeen(job=job.id, epoch=1, host="docs.example.org", port=443, verdict="allowed", why="named")
        await house.journal.record(fine.model_copy(update={"bytes_out": 2_000, "bytes_in": 90_000}))


if __name__ == "__main__":
    asyncio.run(reach_out(Path(sys.argv[1])))
