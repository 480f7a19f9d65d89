"""What a server's restart costs: fifty chatty jobs found again and read, beside bare reads of their records."""

import asyncio
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figure import Figure, median
from midwatch.workshop.holding import records
from midwatch.workshop.holding.adoption import adopt, launch
from midwatch.workshop.holding.held import HeldProgram
from midwatch.workshop.holding.spec import HolderLimits, Spec

JOBS = 50
ROUNDS = 5
BAR = 5.0
CHATTY = """
import time
for number in range(1000000):
    print("line", number, flush=True)
    time.sleep(0.05)
"""


async def run() -> list[Figure]:
    """Adopt them all, and read their records bare, in turns."""
    with TemporaryDirectory(prefix="midwatch-bench-") as name:
        folders = [Path(name) / str(number) for number in range(JOBS)]
        launched: list[HeldProgram] = []
        try:
            for folder in folders:
                launched.append(await _launch(folder))  # noqa: PERF401 - those launched before a failure are stopped
            ours, bare, lost = [], [], 0
            for epoch in range(2, 2 + ROUNDS):
                seconds, adopted = await _adopted(folders, epoch)
                ours.append(seconds)
                bare.append(_read_bare(folders))
                lost += JOBS - adopted
        finally:
            await asyncio.gather(*[held.stop(0.1, epoch=2 + ROUNDS) for held in launched])
    ratio = median(ours) / median(bare)
    return [
        Figure(
            f"{JOBS} chatty jobs adopted, greeted and read" + (f", {lost} LOST" if lost else ""),
            f"{median(ours):.2f} s",
            f"{median(bare) * 1000:.1f} ms for {JOBS} bare reads ({ratio:.0f}x)",
            f"< {BAR:.0f} s, none lost",
            max(ours) < BAR and not lost,
        )
    ]


async def _launch(folder: Path) -> HeldProgram:
    argv = (sys.executable, "-I", "-S", "-c", CHATTY)
    return await launch(Spec(folder, 1, argv, cwd=Path("/"), limits=HolderLimits(wall=600.0)))


async def _adopted(folders: list[Path], epoch: int) -> tuple[float, int]:
    began = time.perf_counter()
    heard = await asyncio.gather(*[_hear(folder, epoch) for folder in folders])
    return time.perf_counter() - began, sum(heard)


async def _hear(folder: Path, epoch: int) -> bool:
    """Adopt one job as a newer server, and read its output from the beginning."""
    held = await adopt(folder, epoch=epoch)
    if isinstance(held, HeldProgram):
        async for piece in held.follow():
            return piece.data.startswith(b"line 0\n")
    return False


def _read_bare(folders: list[Path]) -> float:
    began = time.perf_counter()
    for folder in folders:
        (records.epoch_folder(folder, 1) / records.STATE).read_bytes()
    return time.perf_counter() - began
