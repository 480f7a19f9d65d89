"""Reads commits and changed files out of a repository we own, as git paths and counted as text."""

from dataclasses import dataclass
from pathlib import Path

from midwatch.errors import Corrupt
from midwatch.terms.jobs import Commit, FileChange
from midwatch.workshop.folders import sha
from midwatch.workshop.git import Git

AS_TEXT = ("--text", "--no-textconv", "--no-ext-diff", "--no-color")
"""An attribute such as `-diff` hides lines from a patch, and a textconv runs programs."""


def read_everything_as_text(repository: Path) -> None:
    """Make a bare repository of ours count lines in every file: `--numstat` heeds no `--text`, only attributes.

    The repository's own list wins over any `.gitattributes`, and beats the zero byte that makes git guess "binary".
    """
    (repository / "info").mkdir(exist_ok=True)
    (repository / "info" / "attributes").write_text("* diff\n")


@dataclass(frozen=True)
class Entry:
    """One raw line of a tree diff, the path as git stores it."""

    path: bytes
    status: str
    mode: str
    blob: str
    insertions: int = 0
    deletions: int = 0


async def entries_between(git: Git, repository: Path, old: str, new: str) -> tuple[Entry, ...]:
    """Compare two trees by git paths, renames taken apart, lines counted."""
    arguments = ("diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", "--no-renames", *AS_TEXT)
    return parse_entries(await git.run(repository, *arguments, sha(old), sha(new)))


def parse_entries(output: bytes) -> tuple[Entry, ...]:
    """Join the raw and the numstat records of one `diff-tree -z`."""
    counted: dict[bytes, tuple[int, int]] = {}
    raw: list[tuple[bytes, list[str]]] = []
    tokens = iter(output.split(b"\0"))
    for token in tokens:
        if token.startswith(b":"):
            raw.append((next(tokens), token[1:].decode().split()))
        elif token:
            added, removed, path = token.split(b"\t", 2)
            counted[path] = (_number(added), _number(removed))
    return tuple(
        Entry(path, status[0], mode, blob, *counted.get(path, (0, 0))) for path, (_, mode, _, blob, status) in raw
    )


def _number(field: bytes | str) -> int:
    if not field.isdigit():
        raise Corrupt("git left a file's lines uncounted.", hint="The repository lacks info/attributes; make it anew.")
    return int(field)


async def file_changes(git: Git, repository: Path, old: str, new: str) -> tuple[FileChange, ...]:
    """List what differs between two commits."""
    return tuple(
        FileChange(
            path=entry.path.decode(errors="replace"),
            status=entry.status,
            insertions=entry.insertions,
            deletions=entry.deletions,
        )
        for entry in await entries_between(git, repository, old, new)
    )


async def commits_between(git: Git, repository: Path, old: str, new: str) -> tuple[Commit, ...]:
    """List the commits that `new` has and `old` has not, oldest first."""
    shape = ("--reverse", "--topo-order", "--no-renames", "--diff-merges=first-parent", "--numstat", *AS_TEXT)
    output = await git.text(
        repository, "log", *shape, "--format=%x01%H%x02%s", "--no-decorate", f"{sha(old)}..{sha(new)}"
    )
    return tuple(_commit(piece) for piece in output.split("\x01")[1:])


def _commit(piece: str) -> Commit:
    header, *rest = piece.split("\n")
    name, subject = header.split("\x02", 1)
    counts = [line.split("\t") for line in rest if line]
    return Commit(
        sha=name,
        subject=subject,
        files=len(counts),
        insertions=sum(_number(added) for added, *_ in counts),
        deletions=sum(_number(removed) for _, removed, _ in counts),
    )
