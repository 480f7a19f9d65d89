"""What a real bash starts, writes and reads for a command, seen from outside: bubblewrap, strace and a watched tree."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from midwatch.rules.tools import command_lists as lists

ROOT: Final = "/ws"
CANARY: Final = "pwn"
"""A program that no honest command has a reason to start."""
SECONDS: Final = 120
_INSIDE: Final = Path(__file__).with_name("law_inside.py")
_STUBS: Final = lists.NEVER | lists.words_of(
    f"{CANARY} tsc vitest bun bunx node npm npx yarn pnpm cargo uv pip make curl"
)
_HEX: Final = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_EXEC: Final = re.compile(r"execve(?:at)?\(([^\[]*)\[([^\]]*)\]")
FILES: Final = {
    "README.md": "one\ntwo\nthree\n",
    "src/a.py": "a = 1\nb = 2\n",
    "src/b.py": "b = 2\n",
    "src/x/c.py": "c = 3\n",
    "docs/x.md": "x\n",
    "secrets/key": "k\n",
    "aa": "1wwrote\n",
    "bb": "b\n",
    "list": "/etc/canary\0",
    "prog": "pwn\n",
}
# Bash hands every program it does not find to this function, with its words as the parser left them; PATH has none.
_HEARD: Final = r"""
exec 187>>/io/log 186<>/io/never
command_not_found_handle() { printf '%s\0' "$#" "$@" >&187; }
PATH=/nonexistent
at=0
for line in "$@"; do
  set -m
  ( set +m; cd "/ws/$at"; shift $#; ulimit -t 1; eval "$line"; wait ) & job=$!
  ( read -t 2 -u 186; kill -9 -- -$job ) & dog=$!
  set +m
  wait $job; kill -9 -- -$dog; wait $dog
  printf 'next\0' >&187
  at=$((at + 1))
done </dev/null >/dev/null 2>&1
"""


@dataclass(frozen=True, slots=True)
class Trial:
    """One command, with the files that are there for it alone."""

    command: str
    names: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Happened:
    """What came of it."""

    started: tuple[tuple[str, ...], ...]
    """The words of every program."""
    written: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    """Files far away that were read."""


def missing_programs() -> tuple[str, ...]:
    """What this machine lacks to look at commands from outside."""
    return tuple(name for name in ("bwrap", "strace", "bash") if not shutil.which(name))


def by_the_shell(commands: Sequence[str]) -> list[Happened | None]:
    """Run each command in a folder `/ws/NUMBER` where no program is found; nothing for one that does not end."""
    with tempfile.TemporaryDirectory(prefix="midwatch-law-") as name:
        folder = Path(name)
        (folder / "log").touch()
        os.mkfifo(folder / "never")
        tree = folder / "ws"
        for at in range(len(commands)):
            (tree / str(at) / "src").mkdir(parents=True)
            (tree / str(at) / ".git").mkdir()
            for file in ("aa", "src/a.py"):
                (tree / str(at) / file).write_text("x\n")
        words = ["/usr/bin/bash", "--norc", "--noprofile", "-c", _HEARD, "bash", *commands]
        try:
            ended = subprocess.run(
                [*_sandbox(folder, "--bind", str(tree), ROOT), *words],
                timeout=SECONDS,
                capture_output=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            if len(commands) == 1:
                return [None]
            half = len(commands) // 2
            return [*by_the_shell(commands[:half]), *by_the_shell(commands[half:])]
        started = _heard((folder / "log").read_bytes())
        if len(started) != len(commands):
            raise RuntimeError(f"{len(started)} of {len(commands)} commands ran: {ended.stderr!r}")
        return [Happened(tuple(words), _changed(tree / str(at))) for at, words in enumerate(started)]


def _heard(log: bytes) -> list[list[tuple[str, ...]]]:
    said = log.decode("utf-8", "surrogateescape").split("\0")[:-1]
    ran: list[list[tuple[str, ...]]] = [[]]
    at = 0
    while at < len(said):
        if said[at] == "next":
            ran.append([])
            at += 1
        else:
            size = int(said[at])
            ran[-1].append(tuple(said[at + 1 : at + 1 + size]))
            at += 1 + size
    return ran[:-1]


def _changed(folder: Path) -> frozenset[str]:
    """Files that were not there before, or hold something else now."""
    found = {
        str(path.relative_to(folder)): path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()
    }
    gone = {"aa", "src/a.py"} - found.keys()
    new = (name for name, path in found.items() if name not in {"aa", "src/a.py"} or path.read_bytes() != b"x\n")
    return frozenset(new) | gone


def by_the_machine(trials: Sequence[Trial]) -> list[Happened]:
    """Run each command in the same tree with the machine's programs, traced."""
    with tempfile.TemporaryDirectory(prefix="midwatch-law-") as name:
        folder = Path(name)
        stubs = folder / "stubs"
        stubs.mkdir()
        for one in _STUBS:
            (stubs / one).symlink_to("/usr/bin/true")
        plan = {
            "files": FILES,
            "path": "/io/stubs:/usr/bin",
            "trials": [{"command": one.command, "names": dict(one.names)} for one in trials],
        }
        (folder / "commands.json").write_text(json.dumps(plan))
        shutil.copy(_INSIDE, folder / "law_inside.py")
        words = [*_sandbox(folder, "--tmpfs", ROOT), *_TRACED]
        ended = subprocess.run(words, capture_output=True, check=False)
        if ended.returncode:
            raise RuntimeError(f"the sandbox ended with {ended.returncode}: {ended.stderr.decode(errors='replace')}")
        changes = json.loads((folder / "changes.json").read_text())
        started = _started((folder / "trace").read_text(), len(trials))
    return [
        Happened(tuple(words), frozenset(change["written"]), frozenset(change["read"]))
        for words, change in zip(started, changes, strict=True)
    ]


_TRACED: Final = (
    *("/usr/bin/strace", "-f", "--seccomp-bpf", "-qq", "-xx", "-s", "4000", "-e", "trace=execve,execveat"),
    *("-e", "signal=none", "-o", "/io/trace", str(Path(sys.executable).resolve()), "-I", "-S", "/io/law_inside.py"),
    "/io",
)


def _sandbox(folder: Path, *tree: str) -> list[str]:
    """A sandbox with nothing of the machine but its programs, without a network."""
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    words += ["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
    for name in ("bin", "lib", "lib64", "sbin"):
        words += ["--symlink", f"usr/{name}", f"/{name}"] if Path("/", name).is_symlink() else []
    for place in ("/home", "/tmp", "/etc", "/var", "/first"):  # noqa: S108 - the sandbox's own
        words += ["--tmpfs", place]
    if sys.base_prefix != "/usr":
        words += ["--ro-bind", sys.base_prefix, sys.base_prefix]
    home = ("--setenv", "HOME", "/home/agent", "--setenv", "LANG", "C.UTF-8")
    return [*words, "--bind", str(folder), "/io", *tree, *home, "--"]


def _started(trace: str, number: int) -> list[list[tuple[str, ...]]]:
    """The programs of each command: they come after its own bash, whose name is its number."""
    started: list[list[tuple[str, ...]]] = [[] for _ in range(number)]
    at = -1
    for line in trace.splitlines():
        if not (found := _EXEC.search(line)):
            continue
        path, words = _texts(found.group(1)), _texts(found.group(2))
        if words and path == ["/usr/bin/bash"] and words[0] == f"#{at + 1}":
            at += 1
        elif at >= 0:
            started[at].append(tuple(words))
    return started


def _texts(text: str) -> list[str]:
    return [bytes.fromhex(one.replace("\\x", "")).decode("utf-8", "surrogateescape") for one in _HEX.findall(text)]
