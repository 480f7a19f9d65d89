"""The quarantine: an agent's work is unpacked separately, inspected, and only then admitted into the mirror."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from midwatch.errors import Refused, Unsafe
from midwatch.rules.paths import inside, spelled_alike, touches
from midwatch.terms.agents import FILES, IN_CHECKOUT
from midwatch.terms.contract import ToolScope
from midwatch.terms.jobs import Change
from midwatch.workshop.git import history
from midwatch.workshop.git.git import Git
from midwatch.workshop.git.history import TreeEntry
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.quarantine import paths
from midwatch.workshop.quarantine.paths import SENSITIVE
from midwatch.workshop.quarantine.unpacking import TIP, Contents, PackedWork, odd_modes, unpack
from midwatch.workshop.sandbox.deep_folders import remove
from midwatch.workshop.upkeep.folders import locked, part

__all__ = ["PackedWork", "admit"]

MOST_COMMITS = 200
MOST_PATHS = 100_000
"""Of all commits together; a few nested folders can name a file ten billion times."""
MOST_LINKS = 1_000
TOGETHER = 20
"""Commits searched for secrets in one process, so that its limits still fit 200 large commits."""
SYMLINK, SUBMODULE = "120000", "160000"

Reveals = Callable[[bytes], tuple[str, ...]]


def reveals_nothing(_: bytes) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class _Inspection:
    """One delivery in its own repository, and the rules that apply to it."""

    git: Git
    place: Path
    delivery: PackedWork
    contents: Contents
    scope: ToolScope
    do_not_touch: tuple[str, ...]


async def admit(
    home: Path,
    mirrors: GitMirrors,
    delivery: PackedWork,
    *,
    scope: ToolScope,
    do_not_touch: tuple[str, ...],
    reveals: Reveals = reveals_nothing,
) -> Change:
    """Check a delivery by its objects and admit it into the mirror as `refs/midwatch/jobs/<job>/<epoch>`, or refuse.

    `reveals` gets each commit and its patch, and returns the names of the secrets it finds there.
    """
    place = home / "quarantine" / f"{part(delivery.job)}-{delivery.epoch}.git"
    async with locked(place.with_suffix(".lock")) as descriptor:
        git = mirrors.git.holding(descriptor).bounded()
        try:
            contents = await unpack(git, mirrors, delivery, place)
            change, violations = await _look(_Inspection(git, place, delivery, contents, scope, do_not_touch), reveals)
            if violations:
                raise _refusal(violations)
            await _let_in(mirrors, delivery, place)
        finally:
            await asyncio.to_thread(remove, place)
    return change


class Harm(str):
    """A violation that would harm the machine that takes the work in; others only leave the orders."""

    __slots__ = ()


def _refusal(violations: list[str]) -> Refused:
    more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
    kind = Unsafe if any(isinstance(one, Harm) for one in violations) else Refused
    return kind(
        f"The work was refused: {violations[0]}{more}.",
        hint="Widen the orders' paths or limits if this was meant, then run the job again.",
        because=tuple(violations),
    )


async def _look(seen: _Inspection, reveals: Reveals) -> tuple[Change, list[str]]:
    git, place, base, head = seen.git, seen.place, seen.delivery.base, seen.delivery.head
    steps = await _steps(git, place, base, head)
    violations = dict.fromkeys(await odd_modes(git, place, seen.contents))
    # Every commit against every parent: a forbidden file that is added and removed would still be in the history.
    entries = await history.entries_of_steps(git, place, steps)
    _refuse_many(len(entries), sum(entry.mode == SYMLINK for entry in entries))
    for entry in entries:
        violations |= dict.fromkeys(await _objections(seen, entry))
    if violations:  # nothing of it is worth counting, and counting is the expensive part
        return Change(base=base, head=head), list(violations)
    binary = await binaries(git, place, base, head)
    await asyncio.to_thread(history.read_everything_as_text, place)
    violations |= dict.fromkeys(await _revealed(git, place, steps, reveals))
    entries = await history.entries_between(git, place, base, head)
    violations |= dict.fromkeys(await _doubles(git, place, head, entries))
    change = Change(
        base=base,
        head=head,
        commits=await history.commits_between(git, place, base, head),
        files=history.listed(entries),
        flagged=flagged(entries, binary, seen.contents.sizes),
    )
    return change, [*violations, *_too_much(change, seen.scope)]


def _refuse_many(met: int, links: int) -> None:
    for count, most, what in ((met, MOST_PATHS, "paths"), (links, MOST_LINKS, "links")):
        if count > most:
            raise Refused(f"The work touches more than {most} {what}.", hint="Ask for smaller steps.")


async def _steps(git: Git, place: Path, base: str, head: str) -> list[tuple[str, str]]:
    """List each new commit with each of its parents, a commit that has none with an empty name."""
    lines = (await git.text(place, "rev-list", "--parents", "--topo-order", f"{base}..{head}")).splitlines()
    if len(lines) > MOST_COMMITS:
        raise Refused(f"The work has {len(lines)} commits, more than {MOST_COMMITS}.", hint="Ask for smaller steps.")
    families = [line.split() for line in lines]
    return [(parent, commit) for commit, *parents in families for parent in parents or [""]]


async def _objections(seen: _Inspection, entry: history.TreeEntry) -> list[str]:
    path = entry.path.decode(errors="backslashreplace")
    shown = history.legible(path)
    found: list[str] = []
    if why := paths.flaw(entry.path):
        found.append(Harm(f"{shown!r} is not acceptable, because {why}"))
    if path not in seen.scope.also and not inside(path, seen.scope.allowed_paths):
        found.append(f"{shown} is outside the allowed paths ({', '.join(seen.scope.allowed_paths) or 'none'})")
    if named := [glob for glob in seen.do_not_touch if touches(path, (glob,))]:
        found.append(f"{shown} is not to be touched ({named[0]})")
    if _is_signal(path) and entry.status != "D":
        found.append(f"{shown} is a signal to Midwatch and not part of the work")
    if entry.mode == SUBMODULE:
        found.append(f"{shown} is a submodule")
    if entry.mode == SYMLINK:
        target = await _target(seen, entry)
        if paths.points_outside(path, target):
            found.append(Harm(f"{shown} is a link that leaves the tree ({history.legible(target)})"))
    return found


def _is_signal(path: str) -> bool:
    folder, _, name = path.partition("/")
    return folder in IN_CHECKOUT and name in FILES


async def _target(seen: _Inspection, entry: history.TreeEntry) -> str:
    if seen.contents.sizes.get(entry.blob, 0) > paths.MOST_PATH_BYTES:
        return ""  # no file system accepts such a link, and an empty target counts as leaving
    return (await seen.git.run(seen.place, "cat-file", "blob", entry.blob)).decode(errors="replace")


async def _revealed(git: Git, place: Path, steps: list[tuple[str, str]], reveals: Reveals) -> list[str]:
    """Pass each commit, its author and its patch to the secret search."""
    if reveals is reveals_nothing:
        return []
    found: dict[str, None] = {}
    for first in range(0, len(steps), TOGETHER):
        some = steps[first : first + TOGETHER]
        words = await git.run(place, "cat-file", "--batch", stdin="".join(f"{one}\n" for _, one in some).encode())
        patches = await history.patches_of_steps(git, place, some)
        found |= dict.fromkeys(await asyncio.to_thread(reveals, words + b"\n" + patches))
    return [Harm(f"the work contains the value of the secret {name}") for name in found]


async def _doubles(git: Git, place: Path, head: str, entries: Iterable[history.TreeEntry]) -> list[str]:
    """Name new paths that are the same file as another where case does not count."""
    added = [entry.path.decode(errors="replace") for entry in entries if entry.status == "A"]
    if not added:
        return []
    listing = (await git.run(place, "ls-tree", "-r", "-z", "--name-only", head)).decode(errors="replace")
    return await asyncio.to_thread(_collisions, listing.split("\0"), added)


def _collisions(listing: Iterable[str], added: Iterable[str]) -> list[str]:
    spellings: dict[str, set[str]] = {}
    for path in filter(None, listing):
        for name in _upward(path):
            spellings.setdefault(spelled_alike(name), set()).add(name)
    return [
        f"{history.legible(path)} differs from another path only in its spelling"
        for path in added
        if any(len(spellings.get(spelled_alike(name), ())) > 1 for name in _upward(path))
    ]


def _upward(path: str) -> list[str]:
    pieces = path.split("/")
    return ["/".join(pieces[:count]) for count in range(1, len(pieces) + 1)]


def _too_much(change: Change, scope: ToolScope) -> list[str]:
    found = []
    files, lines = len(change.files), change.insertions + change.deletions
    if scope.max_files_changed is not None and files > scope.max_files_changed:
        found.append(f"{files} files are changed, more than the {scope.max_files_changed} allowed")
    if scope.max_diff_lines is not None and lines > scope.max_diff_lines:
        largest = max(change.files, key=lambda file: file.insertions + file.deletions).path
        found.append(f"{lines} lines are changed, more than the {scope.max_diff_lines} allowed (most in {largest})")
    return found


async def _let_in(mirrors: GitMirrors, delivery: PackedWork, place: Path) -> None:
    ref = f"refs/midwatch/jobs/{delivery.job}/{delivery.epoch}"
    async with mirrors.held(delivery.project) as (mirror, git):
        # The quarantine belongs to Midwatch, so its objects may be read as any local repository's.
        upload = f"--upload-pack={git.far_side('upload-pack')}"
        fetch = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", upload)
        await git.run(mirror, *fetch, str(place), f"+{TIP}:{ref}")


LARGE = 1 << 20
EXECUTABLE, SYMLINK = "100755", "120000"
GONE = "000000"


async def binaries(git: Git, repository: Path, old: str, new: str) -> frozenset[bytes]:
    """List changed files that are not text, by their content; call this before lines are counted as text."""
    form = ("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-textconv", "--no-ext-diff")
    lines = (await git.run(repository, *form, old, new)).split(b"\0")
    return frozenset(line.split(b"\t", 2)[2] for line in lines if line.startswith(b"-\t-\t"))


def flagged(entries: Iterable[TreeEntry], binary: frozenset[bytes], sizes: Mapping[str, int]) -> tuple[str, ...]:
    """List what controls other machines, is not text, is large, is a link, or becomes (or ceases to be) executable."""
    return tuple(
        entry.path.decode(errors="replace")
        for entry in entries
        if touches(entry.path.decode(errors="replace"), SENSITIVE)
        or entry.path in binary
        or sizes.get(entry.blob, 0) > LARGE
        or SYMLINK in (entry.mode, entry.old_mode)
        or _changes_execution(entry)
    )


def _changes_execution(entry: TreeEntry) -> bool:
    if entry.mode == GONE:
        return False
    return (entry.mode == EXECUTABLE) != (entry.old_mode == EXECUTABLE)
