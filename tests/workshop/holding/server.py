"""A server in a process of its own, to be killed: launches one agent, says so, and follows it for ever."""

import asyncio
import json
import sys
from pathlib import Path

from midwatch.workshop.holding.adoption import launch
from midwatch.workshop.holding.spec import Limits, Spec


async def main(folder: Path, mark: str, code: str) -> None:
    """Launch, then follow."""
    name, value = mark.split("=", 1)
    argv = (sys.executable, "-I", "-S", "-c", code)
    held = await launch(Spec(folder, 1, argv, cwd=folder, env={name: value}, limits=Limits(grace=0.2)))
    async for piece in held.follow():
        if b"ready" in piece.data:
            print(json.dumps({"holder": held.state.holder}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
