"""`python -m bench [NAMES]`: each figure beside its limit, in one run; all of them where none is named."""

import asyncio
import sys
from collections.abc import Awaitable, Callable

from bench import (
    adoption,
    agent_start,
    disk,
    history,
    idle,
    model_doors,
    model_proxy,
    record,
    redaction,
    sense,
    sentence,
    startup,
    status,
    viewers,
)
from bench.figure import Figure

BENCHES: dict[str, Callable[[], Awaitable[list[Figure]]]] = {
    "sentence": sentence.run,
    "record": record.run,
    "sense": sense.run,
    "status": status.run,
    "history": history.run,
    "idle": idle.run,
    "viewers": viewers.run,
    "startup": startup.run,
    "adoption": adoption.run,
    "disk": disk.run,
    "redaction": redaction.run,
    "model_proxy": model_proxy.run,
    "model_doors": model_doors.run,
    "agent_start": agent_start.run,
}


async def main(names: list[str]) -> int:
    """Run the named benches, or all; fail if one misses its bar."""
    missed = 0
    for name in names or list(BENCHES):
        for figure in await BENCHES[name]():
            print(figure.line(), flush=True)
            missed += not figure.met
    print(f"{missed} bars missed" if missed else "every bar met")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
