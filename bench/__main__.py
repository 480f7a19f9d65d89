"""`python -m bench [NAMES]`: each figure beside its limit, in one run; all of them where none is named.

Each bench has a process of its own. One that breaks or takes too long counts as a missed bar, and the others go on.
"""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence

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
from bench.bounded import Ended, alone
from bench.figure import MISSED, Figure

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


async def main(names: Sequence[str], measured: Callable[[str], Awaitable[Ended]] = alone) -> int:
    """Run benches one after the other; fail if one misses its bar, breaks or does not end."""
    missed = 0
    for name in names:
        ended = await measured(name)
        for line in ended.said:
            print(line, flush=True)
            missed += line.startswith(MISSED)
        if ended.why:
            missed += 1
            print(f"{MISSED} {name:<44} {ended.why}; its last words:", flush=True)
            print("".join(f"       {line}\n" for line in ended.last_words), end="", flush=True)
    print(f"{missed} bars missed" if missed else "every bar met")
    return int(missed > 0)


async def here(name: str) -> int:
    """Measure one bench in this process."""
    for figure in await BENCHES[name]():
        print(figure.line(), flush=True)
    return 0


if __name__ == "__main__":
    words = sys.argv[1:]
    if unknown := set(words) - {"--here"} - BENCHES.keys():
        sys.exit(f"no bench is called {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}")
    # A shell lets what it starts in the background ignore it, and what that starts in turn.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(asyncio.run(here(words[1]) if words[:1] == ["--here"] else main(words or list(BENCHES))))
