"""Asks a program one word, such as its version, where it can do no harm: inside walls, in an empty folder."""

import functools
import os
import subprocess
import tempfile
import time
from pathlib import Path

from midwatch.errors import MidwatchError
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.isolation import found
from midwatch.workshop.sandbox.walls.entry import command
from midwatch.workshop.sandbox.walls.spec import SandboxSpec

ASK_SECONDS = 60.0
"""A version takes milliseconds, and most of a minute on a machine that has much else to do."""
LATE_SECONDS = 600.0
"""For so long one that did not answer in time is not asked again."""

_late: dict[tuple[str, int], float] = {}
"""When each program, as it was then, did not answer in time."""


def ask_program(program: Path, word: str, *, lent: Path | None, named: bool) -> str:
    """Return what it prints; empty if it fails, or if a person named it and this machine can build no walls."""
    isolation = found().isolation
    return "" if named and isolation is Isolation.NONE else answer_within(isolation, program, word, lent)


def answer_within(isolation: Isolation, program: Path, word: str, lent: Path | None) -> str:
    """Ask behind these walls, once per version of the file: lists ask often, and some programs start slowly."""
    try:
        facts = program.stat()
    except OSError:
        return ""
    this = f"{program} {word}", facts.st_mtime_ns
    if time.monotonic() - _late.get(this, -LATE_SECONDS) < LATE_SECONDS:
        return ""
    try:
        return _answer(isolation, program, word, lent, facts.st_mtime_ns, facts.st_size)
    except subprocess.TimeoutExpired:  # not remembered as its answer: it may have more time later
        _late[this] = time.monotonic()
        return ""


@functools.lru_cache(maxsize=64)
def _answer(isolation: Isolation, program: Path, word: str, lent: Path | None, _changed: int, _size: int) -> str:
    with tempfile.TemporaryDirectory(prefix="midwatch-ask-") as name:
        place = Path(name)
        tree, home = place / "tree", place / "home"
        tree.mkdir()
        home.mkdir()
        walls = SandboxSpec(tree=tree, home=home, read_only=(lent,) if lent else (), environment=_path(isolation))
        try:
            argv = command(walls, [str(program), word], isolation=isolation, note=place / "note.json")
        except MidwatchError:
            return ""
        return _output(argv)


def _path(isolation: Isolation) -> dict[str, str]:
    """Without walls a program may need what is beside it on the PATH; inside, only the system's folders exist."""
    return {"PATH": os.pathsep.join(os.get_exec_path())} if isolation is Isolation.NONE else {}


def _output(argv: list[str]) -> str:
    try:
        done = subprocess.run(
            argv,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=ASK_SECONDS,
            env={},
            cwd="/",
        )
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""
