"""The quarantine: what an agent made is unpacked apart, looked at by us, and only then let into the mirror."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from midwatch.errors import Refused
from midwatch.terms.contract import ToolScope
from midwatch.terms.jobs import Change
from midwatch.workshop import history, paths
from midwatch.workshop.folders import locked, part, remove, sha
from midwatch.workshop.git import Git
from midwatch.workshop.mirrors import Mirrors

MOST_COMMITS = 200
MOST_BYTES = 128 * 1024**2
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
SYMLINK, SUBMODULE = "120000", "160000"
TIP = "refs/heads/tip"


@dataclass(frozen=True)
class Delivery:
    """What an agent hands over: commits from base to head in a bundle, for one attempt at one job."""

    project: str
    job: str
    epoch: int
    base: str
    head: str
    bundle: Path


async def admit(
    home: Path, mirrors: Mirrors, delivery: Delivery, *, scope: ToolScope, do_not_touch: tuple[str, ...]
) -> Change:
    """Check a delivery by its objects and let it into the mirror as `refs/midwatch/jobs/<job>/<epoch>`, or refuse."""
    place = home / "quarantine" / f"{part(delivery.job)}-{delivery.epoch}.git"
    async with locked(place.with_suffix(".lock")) as descriptor:
        git = mirrors.git.holding(descriptor)
        try:
            await _unpack(git, mirrors.path(delivery.project), delivery, place)
            change, violations = await _look(git, place, delivery, scope, do_not_touch)
            if violations:
                raise _refusal(violations)
            await _let_in(mirrors, delivery, place)
        finally:
            await asyncio.to_thread(remove, place)
    return change


def _refusal(violations: list[str]) -> Refused:
    more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
    return Refused(
        f"The work was refused: {violations[0]}{more}.",
        hint="Widen the orders' paths or limits if this was meant, then run the job again.",
        because=tuple(violations),
    )


async def _unpack(git: Git, mirror: Path, delivery: Delivery, place: Path) -> None:
    """Index the bundle's pack with fsck's strict checker.

    A fetch from a bundle skips that checker, and `git fsck` would also judge every object the person ever committed.
    """
    pack = await asyncio.to_thread(_read_pack, delivery)
    await asyncio.to_thread(remove, place)
    await git.run(Path("/"), "init", "--quiet", "--bare", "--template=", str(place))
    await asyncio.to_thread(_borrow, place, mirror)
    code, _, complaint = await git.attempt(place, "index-pack", "--stdin", "--fix-thin", "--strict", stdin=pack)
    if code:
        raise _unreadable(complaint)
    code, _, complaint = await git.attempt(place, "update-ref", TIP, f"{delivery.head}^{{commit}}")
    if code:
        raise _unreadable(complaint)
    code, _, _ = await git.attempt(place, "merge-base", "--is-ancestor", delivery.base, delivery.head)
    if code:
        raise Refused(
            "The work does not descend from the commit it was to start from.",
            hint="Start the job again; the agent must build on the commit it was given.",
        )


def _read_pack(delivery: Delivery) -> bytes:
    """Take the pack out of a version 2 bundle that holds exactly the promised commit."""
    if delivery.bundle.stat().st_size > MOST_BYTES:
        raise Refused(f"The work is larger than {MOST_BYTES // 1024**2} MiB.", hint="Keep large files out of commits.")
    header, gap, pack = delivery.bundle.read_bytes().partition(b"\n\n")
    first, *lines = header.split(b"\n")
    heads = [line.split(b" ")[0].decode(errors="replace") for line in lines if not line.startswith(b"-")]
    if first != b"# v2 git bundle" or not gap:
        raise _unreadable("it is not a git bundle")
    if heads != [sha(delivery.head)] or not sha(delivery.base):
        raise _unreadable("it holds another commit than the one promised")
    return pack


def _borrow(place: Path, mirror: Path) -> None:
    (place / "objects" / "info").mkdir(exist_ok=True)
    (place / "objects" / "info" / "alternates").write_text(f"{mirror / 'objects'}\n")
    history.read_everything_as_text(place)


def _unreadable(why: str) -> Refused:
    return Refused(f"The work cannot be accepted: {why}.", hint="Start the job again.", because=(why,))


async def _look(
    git: Git, place: Path, delivery: Delivery, scope: ToolScope, do_not_touch: tuple[str, ...]
) -> tuple[Change, list[str]]:
    base, head = delivery.base, delivery.head
    lines = (await git.text(place, "rev-list", "--parents", "--topo-order", f"{base}..{head}")).splitlines()
    if len(lines) > MOST_COMMITS:
        raise Refused(f"The work has {len(lines)} commits, more than {MOST_COMMITS}.", hint="Ask for smaller steps.")
    violations: dict[str, None] = {}
    # Every commit against every parent: a forbidden file that comes and goes would still be in the history.
    for commit, *parents in (line.split() for line in lines):
        for parent in parents or [EMPTY_TREE]:
            for entry in await history.entries_between(git, place, parent, commit):
                violations |= dict.fromkeys(await _objections(git, place, entry, scope, do_not_touch))
    files = await history.file_changes(git, place, base, head)
    change = Change(
        base=base,
        head=head,
        commits=await history.commits_between(git, place, base, head),
        files=files,
        flagged=tuple(file.path for file in files if paths.matches(file.path, paths.SENSITIVE, any_case=True)),
    )
    return change, [*violations, *_too_much(change, scope)]


async def _objections(
    git: Git, place: Path, entry: history.Entry, scope: ToolScope, do_not_touch: tuple[str, ...]
) -> list[str]:
    path = entry.path.decode(errors="backslashreplace")
    found = []
    if why := paths.flaw(entry.path):
        found.append(f"{path!r} is not acceptable, because {why}")
    if not paths.matches(path, scope.allowed_paths):
        found.append(f"{path} is outside the allowed paths ({', '.join(scope.allowed_paths) or 'none'})")
    if named := [glob for glob in do_not_touch if paths.matches(path, (glob,), any_case=True)]:
        found.append(f"{path} is not to be touched ({named[0]})")
    if entry.mode == SUBMODULE:
        found.append(f"{path} is a submodule")
    if entry.mode == SYMLINK:
        target = (await git.run(place, "cat-file", "blob", entry.blob)).decode(errors="replace")
        if paths.points_outside(path, target):
            found.append(f"{path} is a link that leaves the tree ({target})")
    return found


def _too_much(change: Change, scope: ToolScope) -> list[str]:
    found = []
    files, lines = len(change.files), change.insertions + change.deletions
    if scope.max_files_changed is not None and files > scope.max_files_changed:
        found.append(f"{files} files are changed, more than the {scope.max_files_changed} allowed")
    if scope.max_diff_lines is not None and lines > scope.max_diff_lines:
        largest = max(change.files, key=lambda file: file.insertions + file.deletions).path
        found.append(f"{lines} lines are changed, more than the {scope.max_diff_lines} allowed (most in {largest})")
    return found


async def _let_in(mirrors: Mirrors, delivery: Delivery, place: Path) -> None:
    ref = f"refs/midwatch/jobs/{delivery.job}/{delivery.epoch}"
    async with mirrors.held(delivery.project) as (mirror, git):
        upload = f"--upload-pack={git.far_side('upload-pack')}"
        fetch = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", upload)
        await git.run(mirror, *fetch, str(place), f"+{TIP}:{ref}")
