"""One more worker on a shared PostgreSQL, as `midwatch up --worker` runs it."""

import asyncio
import sys
from pathlib import Path

from midwatch.compose.opening import open_house
from midwatch.surfaces.server import serve
from tests.crash.doomed import FLAGS


async def main(home: Path, url: str) -> None:
    """Work until told to stop."""
    async with open_house(home, flags=FLAGS | {"database.url": url}, extra_worker=True) as house:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await serve(house, api=False)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
