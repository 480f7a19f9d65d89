"""Private clones for agents, throw-away checkouts for checks, and bundles of what agents committed."""

import asyncio
import json
import re
import zlib
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

from midwatch.errors import Misuse, Refused, Unknown
from midwatch.rules.paths import top_folder
from midwatch.terms.agents import IN_CHECKOUT
from midwatch.terms.projects import commit_id
from midwatch.workshop.git.git import IDENTITY, Git
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.git.sandboxed_git import SandboxedGit, commit_leftovers, difference, git_sandbox, pack
from midwatch.workshop.sandbox import safe_files
from midwatch.workshop.sandbox.deep_folders import remove, remove_if_possible
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.upkeep import garbage, kept_checkouts
from midwatch.workshop.upkeep.folders import locked, part
from midwatch.workshop.upkeep.garbage import Collected
from midwatch.workshop.upkeep.kept_checkouts import Kept

BUNDLE_WALL = timedelta(minutes=5)
LOOK_WALL = timedelta(minutes=1)
LONGEST_LOOK = 1_000_000
"""Bytes of a diff while the agent works; the whole diff is shown at the end."""
MOST_PACKED_REFS = 16 * 1024**2
CLONE_CONFIG = f"""[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
[user]
	name = Midwatch agent
	email = {IDENTITY[1]}
[gc]
	auto = 0
[commit]
	gpgSign = false
"""


class Checkouts:
    """The checkouts under one data folder: `<job>/<epoch>/tree` belongs to the agent, the rest to Midwatch."""

    def __init__(self, home: Path, mirrors: GitMirrors, *, enclosure: Enclosure | None = None) -> None:
        self._home = home
        self._folder = home / "checkouts"
        self.enclosure = enclosure or Enclosure()
        self.mirrors = mirrors

    def tree(self, job: str, epoch: int) -> Path:
        """Return the path of an attempt's clone, whether or not it exists."""
        return self._place(job, epoch) / "tree"

    async def private_clone(
        self, project: str, job: str, epoch: int, commit: str, *, paths: tuple[str, ...] = ()
    ) -> Path:
        """Make the clone an agent owns, on branch `agent/<job>`; the same attempt gets the same clone again.

        Where `paths` name nothing but folders, only those and the files above them are on disk.
        """
        tree = self.tree(job, epoch)
        async with self._locked(job) as git:
            if not await asyncio.to_thread(tree.exists):
                making = tree.parent.with_name(f"{epoch}.making")
                await asyncio.to_thread(_clear, making)
                folders = folders_named(paths)
                await self._clone(
                    git, project, making / "tree", commit_id(commit), branch=f"agent/{job}", folders=folders
                )
                await asyncio.to_thread((making / "project").write_text, json.dumps(project))
                await asyncio.to_thread(making.rename, tree.parent)
        return tree

    async def fresh(self, project: str, job: str, commit: str, label: str, *, paths: tuple[str, ...] = ()) -> Path:
        """Make a throw-away checkout in which nothing has run; an earlier one with that label is removed first."""
        place = self._folder / part(job) / f"fresh-{part(label)}"
        async with self._locked(job) as git:
            await asyncio.to_thread(_clear, place)
            await self._clone(git, project, place / "tree", commit_id(commit), folders=folders_named(paths))
        return place / "tree"

    @asynccontextmanager
    async def passing(
        self, project: str, job: str, commit: str, label: str, *, paths: tuple[str, ...] = ()
    ) -> AsyncIterator[Path]:
        """Provide a fresh checkout for the length of a block."""
        tree = await self.fresh(project, job, commit, label, paths=paths)
        try:
            yield tree
        finally:
            await asyncio.to_thread(remove_if_possible, tree.parent)

    async def standing(self, job: str) -> tuple[Kept, ...]:
        """List a job's clones, and whether each holds work that exists only there."""
        async with self._locked(job):
            return tuple([await self._judged(job, epoch) for epoch in await self._epochs(job)])

    async def collect(
        self, keep: Collection[str], older_than: timedelta | None, most_bytes: int | None, now: datetime
    ) -> tuple[Collected, ...]:
        """Remove clones of other jobs by age and size, oldest first, and leftovers of attempts; never unique work."""
        limits = garbage.GarbageLimits(older_than=older_than, most_bytes=most_bytes, now=now)
        return await garbage.collect(self._home, frozenset(keep), limits, self._judged)

    async def discard(self, job: str, *, force: bool = False) -> None:
        """Remove every checkout of a job; refuse where work would be lost, unless forced."""
        async with self._locked(job):
            if not force:
                for epoch in await self._epochs(job):
                    kept = await self._judged(job, epoch)
                    if kept.unique:
                        raise Refused(
                            f"Attempt {epoch} of this job holds work that is nowhere else: {kept.unique[0]}.",
                            hint=f"Look into {kept.path}, or discard it by force.",
                            because=kept.unique,
                        )
            await asyncio.to_thread(remove, self._folder / part(job))

    async def hand_on(self, job: str, epoch: int, *, to: str, at: int) -> None:
        """Move the clone of a finished job to the job that continues it; repeating this changes nothing."""
        old, new = self._place(job, epoch), self._place(to, at)
        async with self._locked(job):
            # The home holds the agent's memory of its conversation. Each moves on its own, so this can be repeated.
            for left, taken in ((old.with_name("home"), new.with_name("home")), (old, new)):
                if await asyncio.to_thread(left.is_dir) and not await asyncio.to_thread(taken.exists):
                    await asyncio.to_thread(taken.parent.mkdir, parents=True, exist_ok=True)
                    await asyncio.to_thread(left.rename, taken)

    async def head(self, job: str, epoch: int) -> str:
        """Return the commit of an agent's clone, by reading files: git is never run where an agent may set traps."""
        return await asyncio.to_thread(read_head, self.tree(job, epoch))

    def bundle_of(self, job: str, epoch: int) -> Path:
        """Return the path of the bundle with an agent's commits."""
        return self._place(job, epoch) / "delivery.bundle"

    async def bundle(self, job: str, epoch: int, base: str, head: str) -> Path:
        """Pack the commits from base to head into a file for the quarantine, inside the walls.

        A repository with our own settings borrows the clone's objects, so that nothing the agent wrote into its
        git folder (hooks, filters, aliases) is read.
        """
        if commit_id(base) == commit_id(head):
            raise Refused("The agent committed nothing.", hint="Look at the job's log for what it did instead.")
        bundle = self.bundle_of(job, epoch)
        async with self._locked(job), self._git_sandbox(job, epoch) as inside:
            await pack(inside, bundle, base=base, head=head, wall=BUNDLE_WALL)
        return bundle

    async def commit_leftovers(self, job: str, epoch: int, message: str) -> bool:
        """Commit what an ended agent left uncommitted; return whether there was anything."""
        async with self._locked(job), self._git_sandbox(job, epoch) as inside:
            return await commit_leftovers(inside, message)

    async def diff_so_far(self, job: str, epoch: int, base: str) -> str:
        """Show what a running agent has committed so far; like the bundle, made inside the walls."""
        head = await self.head(job, epoch)
        if commit_id(base) == head:
            return ""
        async with self._locked(job), self._git_sandbox(job, epoch) as inside:
            return await difference(inside, base=base, head=head, most=LONGEST_LOOK, wall=LOOK_WALL)

    def _place(self, job: str, epoch: int) -> Path:
        return self._folder / part(job) / str(epoch)

    @asynccontextmanager
    async def _locked(self, job: str) -> AsyncIterator[Git]:
        async with locked(self._folder / f"{part(job)}.lock") as descriptor:
            yield self.mirrors.git.holding(descriptor)

    @asynccontextmanager
    async def _git_sandbox(self, job: str, epoch: int) -> AsyncIterator[SandboxedGit]:
        place = self._place(job, epoch)
        objects = self.mirrors.path(await asyncio.to_thread(_project, place)) / "objects"
        async with git_sandbox(self.enclosure, place, objects) as inside:
            yield inside

    async def _epochs(self, job: str) -> list[int]:
        return await asyncio.to_thread(kept_checkouts.epochs, self._folder / part(job))

    async def _judged(self, job: str, epoch: int) -> Kept:
        """Inspect one clone, inside the walls; the caller holds the job's lock."""
        place = self._place(job, epoch)
        try:
            project = await asyncio.to_thread(_project, place)
            head = await self.head(job, epoch)
        except (Unknown, Refused):
            return await asyncio.to_thread(kept_checkouts.unjudged, place, job, epoch)
        mirror = self.mirrors.path(project)
        async with git_sandbox(self.enclosure, place, mirror / "objects") as inside:
            unique = await kept_checkouts.unique_work(inside, self.mirrors.git, mirror, head)
        return await asyncio.to_thread(kept_checkouts.measured, place, (job, epoch, head), unique)

    async def _clone(
        self, git: Git, project: str, tree: Path, commit: str, *, branch: str = "", folders: tuple[str, ...] = ()
    ) -> None:
        mirror = self.mirrors.path(project)
        main = await asyncio.to_thread(_main_branch, mirror)
        # One call here and one for the checkout: each further call of git delays every agent.
        named = await git.run(mirror, "for-each-ref", "--format=%(objectname) %(refname)", main, "refs/tags")
        await asyncio.to_thread(_borrow, mirror, tree, named)
        if folders:
            await narrow(git, tree, folders)
        on_branch = ("-B", branch) if branch else ("--detach",)
        await git.run(tree, "checkout", "--quiet", "--force", *on_branch, commit)
        await asyncio.to_thread(_leave_out, tree)


def _main_branch(mirror: Path) -> str:
    """Read which branch the mirror's HEAD names, whether or not it has a commit."""
    return (mirror / "HEAD").read_text().removeprefix("ref: ").strip()


def _borrow(mirror: Path, tree: Path, refs: bytes) -> None:
    """Write what `git clone --shared` writes, without a remote: a repository that borrows the mirror's objects."""
    folder = tree / ".git"
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(CLONE_CONFIG)
    (folder / "objects" / "info" / "alternates").write_text(f"{mirror / 'objects'}\n")
    (folder / "packed-refs").write_bytes(refs)


def _leave_out(tree: Path) -> None:
    """Keep the agent's signal files out of its commits, in every folder."""
    excluded = tree / ".git" / "info" / "exclude"
    excluded.parent.mkdir(exist_ok=True)
    excluded.write_text("".join(f"/{folder}/\n" for folder in IN_CHECKOUT))


def _clear(place: Path) -> None:
    remove(place)
    place.mkdir(parents=True)


def _project(place: Path) -> str:
    """Return the project of an attempt, from our record beside its tree."""
    try:
        return part(json.loads(safe_files.text(place, "project")))
    except (ValueError, TypeError):
        raise Unknown(f"There is no checkout at {place}.", hint="List the job's checkouts.") from None


def read_head(tree: Path) -> str:
    """Resolve a clone's HEAD by reading loose and packed refs."""
    name = safe_files.text(tree, ".git/HEAD")
    if name.startswith("ref: refs/heads/"):
        ref = name.removeprefix("ref: ")
        if ".." in ref:
            raise Refused("The clone's HEAD points outside its git folder.", hint="Look at the job's log.")
        name = safe_files.text(tree, f".git/{ref}") or _packed(tree, ref)
    try:
        return commit_id(name)
    except Misuse:
        raise Unknown("The agent's clone is at no commit.", hint="Look at the job's log for what it did.") from None


def _packed(tree: Path, ref: str) -> str:
    lines = safe_files.text(tree, ".git/packed-refs", most=MOST_PACKED_REFS).splitlines()
    return next((line.split(" ")[0] for line in lines if line.endswith(f" {ref}")), "")


LARGEST_OBJECT = 64 * 1024
MOST = 50
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def subjects_since(tree: Path, head: str, base: str) -> tuple[str, ...]:
    """Return the subjects of the commits from base to head, oldest first; as many as can be read.

    Only first parents are followed. A commit that is packed or too large to read ends the walk.
    """
    found: list[str] = []
    at = head
    while at != base and len(found) < MOST:
        read = _commit(tree, at)
        if read is None:
            break
        at, subject = read
        found.append(subject)
    return tuple(reversed(found))


def _commit(tree: Path, sha: str) -> tuple[str, str] | None:
    """Read one commit: its first parent and its subject."""
    if not _SHA.fullmatch(sha):
        return None
    packed = safe_files.read(tree, f".git/objects/{sha[:2]}/{sha[2:]}", most=LARGEST_OBJECT)
    if packed is None:
        return None
    try:
        content = zlib.decompressobj().decompress(packed, LARGEST_OBJECT)
    except zlib.error:
        return None
    kind, _, body = content.partition(b"\0")
    if not kind.startswith(b"commit "):
        return None
    headers, _, message = body.decode(errors="replace").partition("\n\n")
    parents = [line.removeprefix("parent ") for line in headers.splitlines() if line.startswith("parent ")]
    return (parents or [""])[0], (message.strip().splitlines() or [""])[0][:200]


def folders_named(patterns: Iterable[str]) -> tuple[str, ...]:
    """List the folders if the patterns name only whole folders from the top; otherwise nothing, which means all.

    `api/` is such a folder; `api` may be a file.
    """
    found = [top_folder(pattern) for pattern in patterns]
    return tuple(dict.fromkeys(found)) if all(found) else ()


async def narrow(git: Git, tree: Path, folders: tuple[str, ...]) -> None:
    """Let a clone that is not checked out yet hold only these folders and the files above them."""
    names = "".join(f"{folder}\n" for folder in folders).encode()
    await git.run(tree, "sparse-checkout", "set", "--cone", "--no-sparse-index", "--stdin", stdin=names)
