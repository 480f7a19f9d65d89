"""A real server process with one place for jobs and several approved plans; it kills itself at an entry of a kind."""

import argparse
import asyncio
from pathlib import Path

from midwatch.compose.opening import open_house
from tests.crash.doomed import FLAGS, die_after_kind, die_before_kind, until_the_brief

ONE_PLACE = FLAGS | {"jobs.max_in_all": 1}


async def main(home: Path, kind: str, times: int, *, committed: bool) -> None:
    async with open_house(home, flags=ONE_PLACE) as house:
        if kind:
            (die_after_kind if committed else die_before_kind)(house, kind, times)
        await until_the_brief(house)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("--kind", default="")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--committed", action="store_true")
    asked = parser.parse_args()
    asyncio.run(main(asked.home, asked.kind, asked.times, committed=asked.committed))
