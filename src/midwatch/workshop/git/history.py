"""Reads commits and changed files from a repository that Midwatch owns, as git paths and counted as text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from midwatch.errors import Corrupt
from midwatch.terms.jobs import Commit, FileChange
from midwatch.terms.projects import commit_id
from midwatch.views.text.markdown_safe import closes
from midwatch.workshop.git.git import Git

AS_TEXT = ("--text", "--no-textconv", "--no-ext-diff", "--no-color")
"""An attribute such as `-diff` hides lines from a patch, and a textconv runs programs."""


LONGEST_SUBJECT = 300
LONGEST_MESSAGE = 100_000


def read_everything_as_text(repository: Path) -> None:
    """Make a bare repository count lines in every file: `--numstat` ignores `--text` and obeys only attributes.

    The repository's own list overrides any `.gitattributes`, and the zero byte that makes git guess "binary".
    """
    (repository / "info").mkdir(exist_ok=True)
    (repository / "info" / "attributes").write_text("* diff\n")


@dataclass(frozen=True)
class TreeEntry:
    """One raw line of a tree diff, with the path as git stores it."""

    path: bytes
    status: str
    mode: str
    blob: str
    insertions: int = 0
    deletions: int = 0
    old_mode: str = ""


async def entries_between(git: Git, repository: Path, old: str, new: str) -> tuple[TreeEntry, ...]:
    """Compare two trees by git paths; renames are split, and lines are counted."""
    arguments = ("diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", "--no-renames", *AS_TEXT)
    return parse_entries(await git.run(repository, *arguments, commit_id(old), commit_id(new)))


async def entries_of_steps(git: Git, repository: Path, steps: Sequence[tuple[str, str]]) -> tuple[TreeEntry, ...]:
    """List what each commit changed against the parent given with it, without counted lines."""
    return parse_entries(await _of_steps(git, repository, steps, "-z", "--raw", "--no-abbrev"))


async def patches_of_steps(git: Git, repository: Path, steps: Sequence[tuple[str, str]]) -> bytes:
    """Return the patch of each commit against the parent given with it."""
    return await _of_steps(git, repository, steps, "--patch")


async def _of_steps(git: Git, repository: Path, steps: Sequence[tuple[str, str]], *form: str) -> bytes:
    """Compare pairs of parent and commit in one process; a commit without a parent is compared with nothing."""
    asked = "".join(
        f"{commit_id(commit)} {commit_id(parent)}\n" if parent else f"{commit_id(commit)}\n" for parent, commit in steps
    )
    arguments = ("diff-tree", "--stdin", "--root", "--no-commit-id", "-r", "--no-renames", *form, *AS_TEXT)
    return await git.run(repository, *arguments, stdin=asked.encode())


def parse_entries(output: bytes) -> tuple[TreeEntry, ...]:
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
        TreeEntry(path, status[0], mode, blob, *counted.get(path, (0, 0)), old_mode=old_mode)
        for path, (old_mode, mode, _, blob, status) in raw
    )


def _number(field: bytes | str) -> int:
    if not field.isdigit():
        raise Corrupt("git left a file's lines uncounted.", hint="The repository lacks info/attributes; restore it.")
    return int(field)


async def file_changes(git: Git, repository: Path, old: str, new: str) -> tuple[FileChange, ...]:
    """List what differs between two commits."""
    return listed(await entries_between(git, repository, old, new))


def listed(entries: Iterable[TreeEntry]) -> tuple[FileChange, ...]:
    """Turn tree differences into changed files."""
    return tuple(
        FileChange(
            path=entry.path.decode(errors="replace"),
            status=entry.status,
            insertions=entry.insertions,
            deletions=entry.deletions,
        )
        for entry in entries
    )


async def commits_between(git: Git, repository: Path, old: str, new: str) -> tuple[Commit, ...]:
    """List the commits that `new` has and `old` lacks, oldest first."""
    shape = ("--reverse", "--topo-order", "--no-renames", "--diff-merges=first-parent", "--numstat", *AS_TEXT)
    # Separated by zero bytes, because a subject may hold any other byte; paths are quoted, so they hold none.
    output = await git.text(
        repository,
        "log",
        *shape,
        "--format=%x00%H%x00%s%x00%B%x00",
        "--no-decorate",
        f"{commit_id(old)}..{commit_id(new)}",
    )
    pieces = iter(output.split("\0")[1:])
    grouped = zip(pieces, pieces, pieces, pieces, strict=True)
    return tuple(_commit(name, subject, message, counts) for name, subject, message, counts in grouped)


def _commit(name: str, subject: str, message: str, counts: str) -> Commit:
    lines = [line.split("\t", 2) for line in counts.split("\n") if line]
    return Commit(
        sha=name,
        subject=legible(subject),
        files=len(lines),
        insertions=sum(_number(added) for added, *_ in lines),
        deletions=sum(_number(removed) for _, removed, _ in lines),
        closes=tuple(map(legible, closes(message[:LONGEST_MESSAGE]))),
    )


def legible(text: str) -> str:
    """Make an untrusted line safe to show: without characters that move the cursor or turn the reading direction."""
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return shown if len(shown) <= LONGEST_SUBJECT else shown[: LONGEST_SUBJECT - 1] + "…"
