"""`midwatch code` with a server: from the sentence to the agent's first process, and to the pull request.

The agent is a shell script: it plans at once, then works for one second. What the stages do themselves is read from the
journal, from each claim to what came of it; the rest is waiting.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figure import Figure, median
from bench.server import running_server
from tests.nights.house import CHECK, sample_repository

RUNS = 5
FIRST_SECONDS, SHARE = 0.4, 2.0
PLAN = {
    "summary": "Say good evening.",
    "approach": ["Add evening.py"],
    "files": ["sample/evening.py"],
    "risks": [],
    "checks": [],
    "estimate_files": 1,
    "estimate_lines": 1,
    "estimate_minutes": 5,
    "blast_radius": "One new file.",
    "undo": "Revert the commit.",
}
SCRIPT = f"""date +%s.%N
if echo "evening = $(date +%s%N)" 2>/dev/null > sample/evening.py
then sleep 1; echo done
else echo '{json.dumps(PLAN)}'
fi"""
"""Where it may not write, it plans."""
STARTED = re.compile(rb"^(\d{10}\.\d{9})$", re.MULTILINE)
ENDS = frozenset(
    f"job.{end}"
    for end in (
        "mirrored",
        "prepared",
        "planned",
        "executed",
        "bundled",
        "quarantined",
        "verified",
        "delivered",
        "ended",
    )
) | {"pull_request.opened"}


async def run() -> list[Figure]:
    """Say the same sentence several times; the first fills caches and is left out."""
    with TemporaryDirectory(dir="/tmp") as name:
        home = Path(name) / "home"
        home.mkdir(mode=0o700)
        words = json.dumps(["-c", SCRIPT])
        (home / "midwatch.toml").write_text(
            f'[agents.probe]\nspeaks = "command"\nprogram = "/bin/sh"\nwords = {words}\n'
        )
        repository = sample_repository(Path(name) / "sample")
        with running_server(home):
            _midwatch(home, "project", "add", str(repository), "--name", "sample", "--check", CHECK)
            times = [_sentence(home, number) for number in range(RUNS + 1)][1:]
    first = median([one[0] for one in times])
    whole, stages = median([one[1] for one in times]), median([one[2] for one in times])
    share = median([one[1] / one[2] for one in times])
    return [
        Figure(
            "midwatch code to the agent's first process",
            f"{first:.2f} s",
            f"{_bare():.2f} s for python and typer alone",
            f"≤ {FIRST_SECONDS} s",
            first <= FIRST_SECONDS,
        ),
        Figure(
            "one-second job, sentence to pull request",
            f"{whole:.1f} s = {share:.2f} times its stages",
            f"{stages:.1f} s, the sum of its stages",
            f"≤ {SHARE:.0f} times",
            share <= SHARE,
        ),
    ]


def _midwatch(home: Path, *words: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "midwatch", *words],
        env=os.environ | {"MIDWATCH_HOME": str(home)},
        check=True,
        capture_output=True,
    )


def _bare() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import typer"], check=True)
    return time.perf_counter() - began


def _sentence(home: Path, number: int) -> tuple[float, float, float]:
    """Give the seconds to the first process, to the pull request, and those that stages worked."""
    began = time.time()
    _midwatch(home, "code", f"Say good evening {number}", "-p", "sample", "-a", "probe", "--yes", "--follow", "--json")
    started = [
        float(stamp)
        for file in (home / "jobs").rglob("*")
        if file.is_file()
        for stamp in STARTED.findall(file.read_bytes())
    ]
    with closing(sqlite3.connect(home / "midwatch.db")) as database:
        rows = database.execute("select at, kind from journal where at > ? order by seq", (began * 1e6,)).fetchall()
    opened = next(at for at, kind in rows if kind == "pull_request.opened")
    worked, claimed = 0.0, 0
    for at, kind in rows:
        if kind == "job.claimed":
            claimed = at
        elif kind in ENDS and claimed and at <= opened:
            worked, claimed = worked + (at - claimed) / 1e6, 0
    return min(stamp for stamp in started if stamp > began) - began, opened / 1e6 - began, worked
