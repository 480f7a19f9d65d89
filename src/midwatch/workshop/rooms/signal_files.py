"""Signal files of an agent: moved from its folders into the job's own before they are read, and answered beside them.

An agent may write anything there: a link, a pipe, a folder, a gigabyte. An entry under one of three names is
moved, not opened; then it is out of reach, and read once, bounded. So a restart finds what was not yet handled.
"""

import contextlib
import json
import os
import stat
from pathlib import Path

from midwatch.errors import Refused
from midwatch.rules.recovery.signals import MOST_BYTES, MOST_SIGNALS
from midwatch.terms.agents import ANSWER_FILE, IN_CHECKOUT, SIGNALS, WARNING_FILE, Claimed, SignalKind
from midwatch.workshop.sandbox import safe_files
from midwatch.workshop.sandbox.deep_folders import remove

TAKEN, KEPT = ".taken", ".json"
_HOME = "home"


class Letterbox:
    """Where one attempt's agent leaves signals and finds answers."""

    def __init__(self, home: Path, tree: Path, kept: Path) -> None:
        """`kept` is the job's own folder, which the agent cannot reach, on the same disk."""
        self._roots = {_HOME: (home, SIGNALS), **{name: (tree, name) for name in IN_CHECKOUT}}
        self._kept = kept
        self._seen: dict[tuple[str, SignalKind], tuple[int, int, int]] = {}

    def open(self) -> None:
        """Make the folder in the agent's home; a link or a file in its place is removed."""
        root, folder = self._roots[_HOME]
        with contextlib.suppress(OSError, Refused):  # an agent that blocks its own folder only harms itself
            safe_files.write(root, f"{folder}/.here", b"")

    def claim(self, *, at_once: bool = False) -> tuple[Claimed, ...]:
        """Take the signals; unless at once, only those unchanged since the last look, so that they are complete."""
        self._kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        for where, (root, folder) in self._roots.items():
            for kind in SignalKind:
                facts = safe_files.standing(root, f"{folder}/{kind.file}")
                if facts is not None and (at_once or self._rests(where, kind, facts)):
                    self._take(where, kind)
        waiting = sorted(self._kept.glob(f"*{TAKEN}"))
        return tuple(_read(path) for path in waiting[:MOST_SIGNALS])

    def _rests(self, where: str, kind: SignalKind, facts: os.stat_result) -> bool:
        now = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
        return self._seen.get((where, kind)) == now or self._remember(where, kind, now)

    def _remember(self, where: str, kind: SignalKind, now: tuple[int, int, int]) -> bool:
        self._seen[where, kind] = now
        return False

    def _take(self, where: str, kind: SignalKind) -> None:
        number = 1 + max((int(path.name[:4]) for path in self._kept.iterdir()), default=0)
        if number <= MOST_SIGNALS:
            root, folder = self._roots[where]
            safe_files.take_away(root, f"{folder}/{kind.file}", self._kept / f"{number:04}.{kind.value}@{where}{TAKEN}")

    def archive(self, number: int) -> None:
        """Keep a handled signal as a new plain file: the taken one is an inode the agent may still write to."""
        for path in self._kept.glob(f"{number:04}.*{TAKEN}"):
            taken = _read(path)
            (self._kept / f"{path.name.removesuffix(TAKEN)}{KEPT}").write_bytes(taken.raw)
            _gone(path)

    def answer(self, number: int, content: dict[str, str]) -> None:
        """Write an answer beside the signal's place; one that the agent has not read yet is overwritten."""
        root, folder = self._place(number)
        with contextlib.suppress(OSError, Refused):
            safe_files.write(root, f"{folder}/{ANSWER_FILE}", json.dumps(content, indent=1).encode())

    def unread(self, number: int) -> bool:
        """Return whether the answer is still there: the agent is instructed to remove it after reading."""
        root, folder = self._place(number)
        return safe_files.standing(root, f"{folder}/{ANSWER_FILE}") is not None

    def take_back(self, number: int) -> None:
        root, folder = self._place(number)
        aside = self._kept / f"{number:04}.answered"
        if safe_files.take_away(root, f"{folder}/{ANSWER_FILE}", aside):
            _gone(aside)

    def warn(self, words: str) -> None:
        """Write a warning into the agent's home, where it is instructed to look; an entry of that name is replaced."""
        root, folder = self._roots[_HOME]
        with contextlib.suppress(OSError, Refused):
            safe_files.write(root, f"{folder}/{WARNING_FILE}", json.dumps({"warning": words}, indent=1).encode())

    def warning_unread(self) -> bool:
        root, folder = self._roots[_HOME]
        return safe_files.standing(root, f"{folder}/{WARNING_FILE}") is not None

    def take_warning_back(self) -> bool:
        root, folder = self._roots[_HOME]
        self._kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = self._kept / "0000.warning"
        there = safe_files.take_away(root, f"{folder}/{WARNING_FILE}", aside)
        if there:
            _gone(aside)
        return there

    def _place(self, number: int) -> tuple[Path, str]:
        for path in self._kept.glob(f"{number:04}.*@*"):
            where = path.name.partition("@")[2].removesuffix(TAKEN).removesuffix(KEPT)
            if where in self._roots:
                return self._roots[where]
        return self._roots[_HOME]


def _read(path: Path) -> Claimed:
    """Read what was taken; anything but a small plain file is reported as what it is."""
    number, _, rest = path.name.partition(".")
    kind = SignalKind(rest.partition("@")[0])
    facts = path.lstat()
    raw = safe_files.read(path.parent, path.name, most=MOST_BYTES)
    wrong = "" if raw is not None else _named(facts)
    return Claimed(number=int(number), kind=kind, raw=raw or b"", wrong=wrong and f"{kind.file} was refused: {wrong}.")


def _named(facts: os.stat_result) -> str:
    for test, name in ((stat.S_ISLNK, "a link"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISDIR, "a folder")):
        if test(facts.st_mode):
            return f"it is {name}, not a file"
    return f"it has more than {MOST_BYTES // 1024} KiB" if facts.st_size > MOST_BYTES else "it cannot be read"


def _gone(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove(path)
    else:
        path.unlink(missing_ok=True)
