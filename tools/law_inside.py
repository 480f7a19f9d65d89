"""Runs commands one by one in a throw-away tree inside the sandbox of `tools/law_fuzz.py`, and says what changed.

usage: python -I -S law_inside.py FOLDER

FOLDER holds `commands.json`; `changes.json` is written beside it. Standard library only. What was started is in the
trace of strace: each command's bash has its number for a name.
"""

import contextlib
import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WATCHED = ("/ws", "/home", "/tmp", "/etc", "/var")  # noqa: S108 - the sandbox's own
FAR = ("/etc/canary", "/home/agent/.ssh/id", "/var/canary")
SECONDS = 3
_SUBREAPER = 36
_FILE_BYTES = 1_000_000

Snapshot = dict[str, tuple[int, int, int]]


def snapshot() -> Snapshot:
    """Every file with what changes when it is written."""
    return {path: value for top in WATCHED for path, value in _walk(top)}


def _walk(top: str) -> Iterator[tuple[str, tuple[int, int, int]]]:
    with os.scandir(top) as found:
        for one in found:
            seen = one.stat(follow_symlinks=False)
            if one.is_dir(follow_symlinks=False):
                yield one.path, (seen.st_mode, 0, 0)
                yield from _walk(one.path)
            else:
                yield one.path, (seen.st_mode, seen.st_size, seen.st_mtime_ns)


def rebuild(plan: dict[str, Any]) -> None:
    """Make the tree, the home and the far files as they are before every command."""
    for top in WATCHED:
        for one in Path(top).iterdir():
            if one.is_dir() and not one.is_symlink():
                shutil.rmtree(one)
            else:
                one.unlink()
    if Path("/first/ws").exists():
        shutil.copytree("/first/ws", "/ws", dirs_exist_ok=True, symlinks=True)
    for name, text in plan["files"].items():
        path = Path("/ws", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in FAR:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("far away\n")
    unread()


def unread() -> None:
    """Set the far files' times so that the next reading of one changes its time of access."""
    for name in FAR:
        os.utime(name, ns=(10**18, 2 * 10**18))


def repository() -> None:
    """A repository with two commits, kept to be copied from."""
    if not shutil.which("git", path="/usr/bin"):
        return
    for words in (
        ["init", "-q", "-b", "main", "--template="],
        ["add", "-A"],
        ["commit", "-qm", "one"],
        ["commit", "-q", "--allow-empty", "-m", "two"],
        ["branch", "side"],
    ):
        subprocess.run(["/usr/bin/git", *words], cwd="/ws", check=True, env=environment("/usr/bin"))
    shutil.copytree("/ws", "/first/ws", symlinks=True)


def environment(path: str) -> dict[str, str]:
    return {
        "PATH": path,
        "HOME": "/home/agent",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "GIT_EDITOR": ":",
        "GIT_OPTIONAL_LOCKS": "0",
        **{f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }


def run(number: int, command: str, path: str) -> None:
    """Run one command, and end everything that it leaves behind."""
    started = subprocess.Popen(
        [f"#{number}", "--norc", "--noprofile", "-c", command],
        executable="/usr/bin/bash",
        cwd="/ws",
        env=environment(path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        started.wait(SECONDS)
    _end_all(started.pid)


def _end_all(group: int) -> None:
    """Wait for what runs on in the background for a moment, then kill it."""
    until = time.monotonic() + 0.5
    while True:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if ended == 0:
            if time.monotonic() > until:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)
                    until += 0.5
                    continue
                for entry in Path("/proc").iterdir():
                    if entry.name.isdecimal() and int(entry.name) not in {1, os.getpid(), os.getppid()}:
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(int(entry.name), signal.SIGKILL)
            time.sleep(0.002)


def main() -> None:
    """Run every command of the plan in order."""
    folder = Path(sys.argv[1])
    plan = json.loads((folder / "commands.json").read_text())
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
    rebuild(plan)
    repository()
    before = snapshot()
    changes: list[dict[str, list[str]]] = []
    for number, trial in enumerate(plan["trials"]):
        for name, text in trial["names"].items():
            path = Path("/ws", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        start = snapshot() if trial["names"] else before
        run(number, trial["command"], plan["path"])
        after = snapshot()
        written = sorted(path for path in start.keys() | after.keys() if start.get(path) != after.get(path))
        read = [name for name in FAR if Path(name).exists() and Path(name).stat().st_atime_ns != 10**18]
        changes.append({"written": written, "read": read})
        if written or trial["names"]:
            rebuild(plan)
            before = snapshot()
        elif read:
            unread()
    (folder / "changes.json").write_text(json.dumps(changes))


main()
