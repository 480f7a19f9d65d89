"""`midwatch status` beside a bare `python -c "import typer"`, interleaved, with a server running."""

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figure import Figure, median
from bench.server import running_server

TIMES = 15


async def run() -> list[Figure]:
    """Interleave both, and take the medians."""
    with TemporaryDirectory(dir="/tmp") as folder, running_server(Path(folder)):
        environment = os.environ | {"MIDWATCH_HOME": folder}
        ours, bare = [], []
        for _ in range(TIMES):
            ours.append(_timed([sys.executable, "-m", "midwatch", "status"], environment))
            bare.append(_timed([sys.executable, "-c", "import typer"], environment))
    ratio = median(ours) / median(bare)
    return [
        Figure(
            "midwatch status",
            f"{median(ours) * 1e3:.0f} ms = {ratio:.2f} times",
            f"{median(bare) * 1e3:.0f} ms for import typer",
            "< 2 times",
            ratio < 2,
        )
    ]


def _timed(command: list[str], environment: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - began
