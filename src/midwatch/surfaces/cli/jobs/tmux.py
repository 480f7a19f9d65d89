"""A tmux window for one job: its log in one pane, its state in another."""

import hashlib
import os
import shlex
import subprocess
import sys
from pathlib import Path

from midwatch.errors import Broken
from midwatch.surfaces.cli.shell import client

VARIABLE = "MIDWATCH_HOME"


def view(number: int) -> None:
    """Switch to the job's session; create it if there is none."""
    name = session(number)
    if not _has(name):
        make(number, name)
    verb = "switch-client" if os.environ.get("TMUX") else "attach-session"
    _tmux(verb, "-t", f"={name}", shown=True)


def session(number: int) -> str:
    """Return the name of the job's session; a session of that name from another installation is left alone."""
    name = f"midwatch-job-{number}"
    if not _has(name) or _home_of(name) == str(client.home()):
        return name
    return f"{name}-{hashlib.sha256(os.fsencode(client.home())).hexdigest()[:6]}"


def make(number: int, name: str) -> None:
    """Create the session without switching to it."""
    log, line = _ours("job", "log", str(number), "-f"), _ours("job", "line", str(number), "-f")
    begin = ("new-session", "-d", "-s", name, "-e", f"{VARIABLE}={client.home()}", log)
    # The last output stays readable when the job is over; the person closes the window. Given with the first command,
    # because a log that is over would otherwise end the session before the next command reaches it.
    stay = ("set-option", "-w", "-t", f"={name}:", "remain-on-exit", "on")
    below = ("split-window", "-v", "-l", "3", "-d", "-t", f"={name}:", line)
    _tmux(*begin, ";", *stay, ";", *below)


def _ours(*words: str) -> str:
    """Write a Midwatch command for a shell that may have another environment than this one."""
    house = f"{VARIABLE}={client.home()}"
    return shlex.join(["env", house, *_path(), sys.executable, "-P", "-m", "midwatch", *words])


def _path() -> list[str]:
    known = os.environ.get("PYTHONPATH")
    return [f"PYTHONPATH={known}"] if known else []


def _has(name: str) -> bool:
    return _asked("has-session", "-t", f"={name}").returncode == 0


def _home_of(name: str) -> str:
    return _asked("show-environment", "-t", f"={name}", VARIABLE).stdout.strip().partition("=")[2]


def _asked(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["tmux", *words], capture_output=True, text=True, check=False, cwd=Path.home())


def _tmux(*words: str, shown: bool = False) -> None:
    done = subprocess.run(["tmux", *words], capture_output=not shown, text=True, check=False, cwd=Path.home())
    if done.returncode:
        said = (done.stderr or "").strip() or f"exit code {done.returncode}"
        raise Broken(f"tmux failed: {said}.", hint="Follow the log here instead: midwatch job attach N --no-tmux")
