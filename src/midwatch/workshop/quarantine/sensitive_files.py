"""Which changed files a person should look at twice: not forbidden, but more than they seem."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from midwatch.rules.paths import touches
from midwatch.workshop.git.git import Git
from midwatch.workshop.git.history import Entry
from midwatch.workshop.quarantine.paths import SENSITIVE

LARGE = 1 << 20
EXECUTABLE, SYMLINK = "100755", "120000"
GONE = "000000"


async def binaries(git: Git, repository: Path, old: str, new: str) -> frozenset[bytes]:
    """List changed files that are not text, by their content; call it before lines are counted as text."""
    form = ("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-textconv", "--no-ext-diff")
    lines = (await git.run(repository, *form, old, new)).split(b"\0")
    return frozenset(line.split(b"\t", 2)[2] for line in lines if line.startswith(b"-\t-\t"))


def flagged(entries: Iterable[Entry], binary: frozenset[bytes], sizes: Mapping[str, int]) -> tuple[str, ...]:
    """List what steers other machines, is not text, is large, is a link, or becomes (or ceases to be) executable."""
    return tuple(
        entry.path.decode(errors="replace")
        for entry in entries
        if touches(entry.path.decode(errors="replace"), SENSITIVE)
        or entry.path in binary
        or sizes.get(entry.blob, 0) > LARGE
        or SYMLINK in (entry.mode, entry.old_mode)
        or _changes_execution(entry)
    )


def _changes_execution(entry: Entry) -> bool:
    if entry.mode == GONE:
        return False
    return (entry.mode == EXECUTABLE) != (entry.old_mode == EXECUTABLE)
