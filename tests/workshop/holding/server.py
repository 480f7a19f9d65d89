"""A server in a process of its own, to be killed: launches agents, says when all are ready, follows them for ever."""

import asyncio
import sys
from pathlib import Path

from midwatch.workshop.holding.adoption import launch
from midwatch.workshop.holding.held import HeldProgram
from midwatch.workshop.holding.spec import HolderLimits, Spec


async def main(mark: str, code: str, folders: list[Path]) -> None:
    """Launch, then follow."""
    name, value = mark.split("=", 1)
    argv = (sys.executable, "-I", "-S", "-c", code)
    limits = HolderLimits(grace=0.2)
    all_held = [await launch(Spec(folder, 1, argv, cwd=folder, env={name: value}, limits=limits)) for folder in folders]
    ready = asyncio.Semaphore(0)
    async with asyncio.TaskGroup() as group:
        for held in all_held:
            group.create_task(follow(held, ready))
        for _ in all_held:
            await ready.acquire()
        print("ready", flush=True)


async def follow(held: HeldProgram, ready: asyncio.Semaphore) -> None:
    """Read along, and say when it is ready."""
    async for piece in held.follow():
        if b"ready" in piece.data:
            ready.release()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], [Path(word) for word in sys.argv[3:]]))
