"""Which committed files a check rewrote in its own tree: its first step could write what its second step reads."""

import asyncio
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from midwatch.workshop.git.git import Git
from midwatch.workshop.sandbox import safe_files

MOST_NAMED = 200
"""Files named of one check; if a check rewrites more, the first ones are named."""
MOST_BYTES = 16 * 1024**2
"""A larger file counts as rewritten as soon as it was written to."""
_LINK, _REPOSITORY = "120000", "160000"


@dataclass(frozen=True, slots=True)
class RewrittenFiles:
    """Paths of a tree's committed files, in order, at most `MOST_NAMED` of each."""

    rewrote: tuple[str, ...] = ()
    """Files that hold something else afterwards, or are gone."""
    touched: tuple[str, ...] = ()
    """Files that were written to or moved, and hold the same afterwards."""


@dataclass(frozen=True, slots=True)
class TrackedFiles:
    """The committed files of a tree in which nothing has run yet.

    Git is not asked afterwards: a check may write its tree's index and settings. The kernel notes each change of a
    file, and a program inside the walls cannot set that time back.
    """

    tree: Path
    known: dict[str, tuple[str, tuple[int, ...]]]
    """By path: the mode and object that git has for it, and what the kernel says of the file."""

    @classmethod
    async def of(cls, git: Git, tree: Path) -> "TrackedFiles":
        """List what git put into a tree."""
        listed = await git.run(tree, "ls-files", "--stage", "-z")
        return await asyncio.to_thread(cls._noted, tree, listed)

    @classmethod
    def _noted(cls, tree: Path, listed: bytes) -> "TrackedFiles":
        known = {}
        for line in listed.split(b"\0"):
            about, _, path = line.partition(b"\t")
            mode, blob = (*about.decode().split(), "", "")[:2]
            name = os.fsdecode(path)
            if name and mode != _REPOSITORY and (facts := _facts(tree / name)):
                known[name] = (f"{mode} {blob}", facts)
        return cls(tree, known)

    def rewritten(self) -> RewrittenFiles:
        """Compare the tree with what git put into it."""
        rewrote: list[str] = []
        touched: list[str] = []
        for name, (entry, facts) in sorted(self.known.items()):
            if _facts(self.tree / name) != facts:
                (touched if self._holds(name, entry) else rewrote).append(name)
        return RewrittenFiles(tuple(rewrote[:MOST_NAMED]), tuple(touched[:MOST_NAMED]))

    def _holds(self, name: str, entry: str) -> bool:
        """Whether a file still holds its object; one that git wrote in another form counts as rewritten."""
        mode, blob = entry.split(" ")
        facts = safe_files.standing(self.tree, name)
        if mode == _LINK or facts is None or bool(facts.st_mode & stat.S_IXUSR) != (mode == "100755"):
            return False
        content = safe_files.read(self.tree, name, most=MOST_BYTES)
        return content is not None and _blob(content) == blob


def _blob(content: bytes) -> str:
    """Name content as git does; where a collision were made on purpose, the file would have to be committed first."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _facts(file: Path) -> tuple[int, ...]:
    try:
        one = os.lstat(file)
    except OSError:
        return ()
    return one.st_dev, one.st_ino, one.st_mode, one.st_size, one.st_mtime_ns, one.st_ctime_ns
