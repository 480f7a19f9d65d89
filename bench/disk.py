"""Disk per job: what a private clone takes beyond its checkout, beside what a full clone would take.

MIDWATCH_BENCH_DISK_MB=1024 measures a repository of a gigabyte; 64 MB show the same share in seconds.
"""

import os
import random
import subprocess
import tempfile
from pathlib import Path

from bench.figure import Figure
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.mirrors import GitMirrors

FILE_BYTES = 256 * 1024
BAR = 5.0
_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    **{f"GIT_{who}_{what}": "bench@localhost.invalid" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


async def run() -> list[Figure]:
    """Clone one repository for three jobs, one of them sparse, and once in full."""
    megabytes = int(os.environ.get("MIDWATCH_BENCH_DISK_MB", "64"))
    with tempfile.TemporaryDirectory(prefix="midwatch-disk-") as folder:
        home, person = Path(folder) / "home", Path(folder) / "person"
        head = _repository(person, megabytes)
        mirrors = GitMirrors(home)
        checkouts = Checkouts(home, mirrors)
        await mirrors.refresh("bench", person)
        trees = [await checkouts.private_clone("bench", f"job_{number}", 1, head) for number in (1, 2)]
        sparse = await checkouts.private_clone("bench", "job_3", 1, head, paths=("part/f0/**",))
        _git(Path(folder), "clone", "--quiet", "--no-local", str(person), "full")
        own = sum(_weight(tree / ".git") for tree in trees) / len(trees)
        checkout = _weight(trees[0]) - _weight(trees[0] / ".git")
        share = 100 * own / checkout
        full = 100 * _weight(Path(folder) / "full" / ".git") / checkout
        partly = 100 * _weight(sparse) / checkout
    return [
        Figure(
            f"disk of a job beyond its checkout, {megabytes} MB",
            f"{share:.2f} %",
            f"{full:.0f} % for a full clone",
            f"< {BAR:.0f} %",
            share < BAR,
        ),
        Figure(
            "disk of a sparse job, one folder of sixteen",
            f"{partly:.1f} % of a checkout",
            "6.2 % is that folder",
            "< 12 %",
            partly < 12,
        ),
    ]


def _repository(place: Path, megabytes: int) -> str:
    source = random.Random(megabytes)  # noqa: S311 - bytes to measure with, not a key
    _git(Path("/"), "init", "--quiet", "--initial-branch=main", str(place))
    for number in range(megabytes * 1024 * 1024 // FILE_BYTES):
        file = place / "part" / f"f{number % 16:x}" / f"{number}.bin"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(source.randbytes(FILE_BYTES))
    _git(place, "add", "--all")
    _git(place, "commit", "--quiet", "--message", "Begin")
    return _git(place, "rev-parse", "HEAD")


def _git(place: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=place, env=_ENVIRONMENT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _weight(place: Path) -> int:
    return sum(file.lstat().st_blocks * 512 for file in place.rglob("*") if not file.is_dir())
