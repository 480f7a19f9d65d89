"""A person merges a stack, and the process dies before one of its git commands or with its entries uncommitted."""

import argparse
import asyncio
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from midwatch.compose.house import House
from midwatch.morning import merge_stack
from midwatch.terms.records import StackRow
from midwatch.terms.stack import StackState
from midwatch.workshop.git.git import Git
from tests.crash.doomed import die


def die_at(command: int) -> None:
    """Die before the n-th git command from now on."""
    begin, counted = Git._start, [0]

    async def start(self: Git, *given: Any) -> asyncio.subprocess.Process:
        counted[0] += 1
        if counted[0] == command:
            die()
        return await begin(self, *given)

    Git._start = start  # type: ignore[method-assign, assignment]


async def main(home: Path, command: int, *, uncommitted: bool) -> None:
    house = House(home)
    try:
        if (await house.records.get(StackRow, "1")).state is StackState.MERGED:
            return
        if uncommitted:
            sa.event.listen(house.writer.engine, "commit", lambda _: die())
        die_at(command)
        await merge_stack.take(house.morning, "1", by="ann")
    finally:
        await house.dispose()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("--before-command", type=int, default=0)
    parser.add_argument("--uncommitted", action="store_true")
    asked = parser.parse_args()
    asyncio.run(main(asked.home, asked.before_command, uncommitted=asked.uncommitted))
