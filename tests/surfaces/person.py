"""A person at a terminal: only the command line, in processes of their own, on a data folder with a short path."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.databases import place_for_home
from tests.nights.house import CHECK, sample_repository
from tests.patience import PATIENCE
from tests.surfaces.forked import served, typed

SETTINGS = """\
[server]
queue_poll_seconds = 0.05
[jobs]
min_free_memory_mib = 64
min_free_disk_mib = 64
"""
ORDERS = """\
level = "{level}"
goals = ["Keep it tidy"]
limits.minutes = 600
permissions.silence_approves = true
[[work]]
project = "repo"
title = "{title}"
"""


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The answer as a script reads it."""
        return json.loads(self.out)

    @property
    def sentences(self) -> list[str]:
        """Everything it said, line by line."""
        return [line for line in (self.out + self.err).splitlines() if line.strip()]


class Person:
    """Types commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "h"
        self.repo = folder / "repo"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MIDWATCH_", "COLUMNS"))}
        self.environment = kept | {"HOME": str(folder), "MIDWATCH_HOME": str(self.home), "NO_COLOR": "1"}

    def types(self, *words: str, text: str | None = None, expect: int | None = 0, **more: str) -> Said:
        """Run one command; `more` is set in its environment."""
        environment = self.environment | more
        said = Said(*typed(words, text=text or "", folder=self.folder, environment=environment, patience=PATIENCE))
        assert expect is None or said.code == expect, f"{words} gave {said.code}\n{said.out}\n{said.err}"
        assert "Traceback" not in said.err, said.err
        return said

    def ups(self, **more: str) -> str:
        """Start the server and leave it running; gives what it printed. `types("up", "--detach")` costs seconds."""
        return served(self.home, folder=self.folder, environment=self.environment | more)

    def settles(self, text: str = SETTINGS) -> None:
        """Write midwatch.toml."""
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "midwatch.toml").write_text(text)

    def adds_repo(self) -> None:
        """Put a repository with real faults on the books."""
        sample_repository(self.repo)
        self.types("project", "add", "repo", "--check", CHECK)

    def orders(self, title: str = "Tidy up", level: str = "cautious", more: str = "") -> Said:
        """Put tonight's orders down."""
        (self.folder / "orders.toml").write_text(ORDERS.format(title=title, level=level) + more)
        return self.types("brief", "--file", "orders.toml")

    def head(self) -> int:
        """The newest entry; the chain must hold, whoever asks."""
        found = self.types("doctor", "--verify", "--json").json
        assert found["ok"], found
        return int(self.types("status", "--json").json["seq"])

    @contextmanager
    def watching(self, after: int = 0) -> Iterator["Watch"]:
        """Follow the night on a second terminal."""
        with subprocess.Popen(
            command(("watch", "--all", "--after", str(after))),
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment | {"PYTHONUNBUFFERED": "1"},
        ) as process:
            try:
                yield Watch(process)
            finally:
                process.kill()


class Watch:
    """What `midwatch watch` prints, as it prints it."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.lines: list[str] = []

    def until(self, words: str) -> str:
        """Wait for a line; the test's own time limit is the end of patience."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))
            if words in line:
                return line
        raise AssertionError(f"{words!r} never came:\n" + "\n".join(self.lines))

    def ends(self) -> int:
        """Wait until it leaves by itself; gives its exit code."""
        return self._process.wait()


def command(words: Sequence[str]) -> list[str]:
    """The command line as a process."""
    return [sys.executable, "-m", "midwatch", *words]


@contextmanager
def a_person(*, up: bool = True) -> Iterator[Person]:
    """Somebody with a machine of their own; pytest's folders are too long for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="mw", dir="/tmp"))
    person = Person(folder)
    try:
        person.settles()
        if up:
            place_for_home(person.home)
            person.ups()
        yield person
    finally:
        person.types("down", expect=None)
        shutil.rmtree(folder, ignore_errors=True)
