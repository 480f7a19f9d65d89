"""`midwatch status` beside the bare imports it cannot do without, interleaved: with a server, and without one."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figure import Figure, median
from bench.server import running_server

TIMES = 15
ONLINE, OFFLINE = "import typer", "import typer, sqlalchemy, pydantic; pydantic.BaseModel"
WITH_SERVER, WITHOUT_SERVER = 2, 3


async def run() -> list[Figure]:
    """Measure the same verb twice; without a server it reads the database itself."""
    with TemporaryDirectory(dir="/tmp") as folder:
        environment = os.environ | {"MIDWATCH_HOME": folder}
        with running_server(Path(folder)):
            online = _beside("midwatch status", ONLINE, WITH_SERVER, environment)
        return [online, _beside("midwatch status, no server", OFFLINE, WITHOUT_SERVER, environment)]


def _beside(name: str, bare: str, most: int, environment: dict[str, str]) -> Figure:
    ours, theirs = [], []
    for _ in range(TIMES):
        ours.append(_timed([sys.executable, "-m", "midwatch", "status"], environment))
        theirs.append(_timed([sys.executable, "-c", bare], environment))
    wall, processor = (median([one[at] for one in ours]) for at in (0, 1))
    bare_wall, bare_processor = (median([one[at] for one in theirs]) for at in (0, 1))
    ratio = wall / bare_wall if bare is ONLINE else processor / bare_processor
    return Figure(
        name,
        f"{wall * 1e3:.0f} ms, CPU {processor * 1e3:.0f} ms = {ratio:.2f} times",
        f"{bare_wall * 1e3:.0f} ms, CPU {bare_processor * 1e3:.0f} ms for {bare.partition(';')[0]}",
        f"< {most} times",
        ratio < most,
    )


def _timed(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Measure by the clock and by the processor; a server's work is in the first only."""
    began, spent = time.perf_counter(), _processor()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - began, _processor() - spent


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
