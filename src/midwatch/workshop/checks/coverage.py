"""Finds what coverage tools left in a tree after the checks, and counts the changed lines in it."""

import asyncio
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from midwatch.rules.checks.coverage import REPORTS, covered_of
from midwatch.terms.proof import Coverage
from midwatch.workshop.checks.checks import Checking
from midwatch.workshop.sandbox import safe_files

MOST_BYTES = 16 * 1024**2
MOST_REPORT_BYTES = 2 * 1024**2
"""A report is somebody else's text, read whole; a longer one is not read."""
WALL = timedelta(minutes=1)
_PYTHON = re.compile(r"(?:^|[\s;&|])(\S*python[\d.]*)\s")
_CONVERT = (
    "p={python}; [ -x .venv/bin/python ] && p=.venv/bin/python; $p -m coverage json -q -o .midwatch-coverage.json"
)
"""A .coverage file is a database somebody else wrote: its own tool opens it, inside the walls."""


async def measured(
    checking: Checking, changed: Mapping[str, frozenset[int]], commands: Iterable[str]
) -> Coverage | None:
    """Tell how many of the changed lines ran, where the project measures that; it never fails a job."""
    tree = checking.walls.tree
    if await asyncio.to_thread(safe_files.read, tree, ".coverage", most=MOST_BYTES):
        log = checking.log.with_name("coverage.log")
        converting = replace(checking, log=log, wall=WALL)
        named = [match[1] for command in commands if (match := _PYTHON.search(command))]
        command = _CONVERT.format(python=shlex.quote(named[0] if named else "python3"))
        await converting.enclosure.run(
            converting.walls, ["/bin/sh", "-c", command], log=log, wall=WALL, stop=checking.stop
        )
    for report in REPORTS:
        if found := await asyncio.to_thread(_covered, tree, report, changed):
            return found
    return None


def _covered(tree: Path, report: str, changed: Mapping[str, frozenset[int]]) -> Coverage | None:
    content = safe_files.read(tree, report, most=MOST_REPORT_BYTES)
    return covered_of(changed, report, content.decode(errors="replace")) if content else None
