"""Turns walls and a command into one plain command line that any process can start."""

import base64
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from midwatch.errors import Broken, Misuse
from midwatch.ports.room import TREE_INSIDE
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.walls import bubblewrap, seccomp, threshold
from midwatch.workshop.sandbox.walls.spec import HOME_INSIDE, SandboxSpec

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PEOPLE = ("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf")


def command(walls: SandboxSpec, argv: Sequence[str], *, isolation: Isolation, note: Path) -> list[str]:
    """Check the walls, write them into `note` (never inside them), and return the argv that enters them.

    It needs no descriptor, no environment and no hook of its starter: `process_limits.py` can run it, and so can a
    holder. The starter's thread must live as long as the command, because bwrap watches its parent by thread.
    """
    walls.check()
    if any(note.resolve().is_relative_to(path.resolve()) for path in _written(walls)):
        raise Misuse("The note about the walls would be inside them.", hint="Keep it in the job's own folder.")
    match isolation:
        case Isolation.BUBBLEWRAP:
            facts = _bubblewrapped(walls, argv)
        case Isolation.LANDLOCK:
            facts = _landlocked(walls, argv)
        case Isolation.NONE:
            facts = _bare(walls, argv)
        case _:
            raise Broken(f"{isolation} walls are not built yet.", hint="Run on Linux with bubblewrap.")
    _write(note, facts | {"limits": asdict(walls.limits) | {"count_host_processes": not facts["files"]}})
    return [sys.executable, "-I", "-S", threshold.__file__, str(note)]


def place_inside(walls: SandboxSpec, isolation: Isolation) -> Path:
    """Return the path of the tree as seen inside."""
    return TREE_INSIDE if isolation is Isolation.BUBBLEWRAP else walls.tree


def _bubblewrapped(walls: SandboxSpec, argv: Sequence[str]) -> dict[str, Any]:
    environment = _environment(walls, str(HOME_INSIDE), "/tmp")  # noqa: S108 - inside it is the agent's own
    plan = bubblewrap.plan(walls, argv, machine=platform.machine(), environment=environment)
    return {
        "argv": plan.argv,
        "files": {str(number): base64.b64encode(content).decode() for number, content in plan.files.items()},
        "control": str(walls.control) if walls.ports else "",
        "control_fd": bubblewrap.CONTROL_FD,
        "terminal": walls.terminal,
        # bwrap's own environment can be read inside, in /proc/1/environ.
        "environment": {},
        "cwd": "/",
        "landlock": None,
    }


def _bare(walls: SandboxSpec, argv: Sequence[str]) -> dict[str, Any]:
    if walls.home is None:
        raise Misuse("Without bubblewrap a command needs a home on disk.", hint="Give the job a folder as its home.")
    return {
        "argv": list(argv),
        "files": {},
        "control": "",
        "control_fd": -1,
        "terminal": False,
        "environment": _environment(walls, str(walls.home), str(walls.tmp or walls.home)),
        "cwd": str(walls.tree),
        "landlock": None,
    }


def _landlocked(walls: SandboxSpec, argv: Sequence[str]) -> dict[str, Any]:
    """Use the host's own paths; `ports` are then the host's own ports, because there is only one network."""
    system = (*bubblewrap.SYSTEM, *bubblewrap.LINKS, *bubblewrap.ETC, *PEOPLE)
    lent = [str(path) for path, writing in walls.lent() if not writing]
    program = seccomp.program(platform.machine(), seccomp.Net.TCP if walls.ports else seccomp.Net.NONE)
    plan = {
        "read": [*system, *lent, str(walls.tree)],
        "write": [str(path) for path in _written(walls)],
        "ports": walls.ports,
        "filter": base64.b64encode(program).decode(),
    }
    facts = _bare(walls, argv)
    # A file that exists and cannot be read is an error to git; behind bubblewrap it does not exist.
    facts["environment"] = {"GIT_CONFIG_NOSYSTEM": "1"} | facts["environment"]
    return facts | {"landlock": plan}


def _written(walls: SandboxSpec) -> list[Path]:
    trees = [] if walls.tree_read_only else [walls.tree]
    return [*trees, *walls.writable, *(folder for folder in (walls.home, walls.tmp) if folder is not None)]


def _environment(walls: SandboxSpec, home: str, tmp: str) -> dict[str, str]:
    usual = {"HOME": home, "PATH": PATH, "LANG": "C.UTF-8", "TMPDIR": tmp, "USER": "agent", "LOGNAME": "agent"}
    given = usual | dict(walls.environment)
    if any("\0" in word or "=" in key for key, value in given.items() for word in (key, value)):
        raise Misuse("The environment holds an invalid name or value.", hint="No '=' in names, no NUL.")
    return given


def _write(note: Path, facts: dict[str, Any]) -> None:
    note.parent.mkdir(parents=True, exist_ok=True)
    note.unlink(missing_ok=True)
    file = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(file, "w") as out:
        json.dump(facts, out)
