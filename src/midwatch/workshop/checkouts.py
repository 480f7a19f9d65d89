"""Private clones for agents, throw-away checkouts for checks, and bundles of what agents committed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from midwatch.errors import Broken, Misuse, Refused, Unknown
from midwatch.workshop.errand import run_leashed
from midwatch.workshop.folders import locked, part, remove, sha
from midwatch.workshop.git import IDENTITY, Git, environment, hardened
from midwatch.workshop.history import AS_TEXT
from midwatch.workshop.mirrors import Mirrors

DELIVERY_REF = "refs/heads/delivery"
BUNDLE_WALL = timedelta(minutes=5)
LONGEST_LOOK = 1_000_000
"""Of a diff so far; whoever wants more waits for the whole."""


class Checkouts:
    """The checkouts under one data folder: `<job>/<epoch>/tree` belongs to the agent, the rest to us."""

    def __init__(self, home: Path, mirrors: Mirrors) -> None:
        self._folder = home / "checkouts"
        self.mirrors = mirrors

    def tree(self, job: str, epoch: int) -> Path:
        """Tell where an attempt's clone is, whether or not it exists."""
        return self._folder / part(job) / str(epoch) / "tree"

    async def private_clone(self, project: str, job: str, epoch: int, commit: str) -> Path:
        """Make the clone an agent owns, on branch `agent/<job>`; the same attempt gets the same clone again."""
        tree = self.tree(job, epoch)
        async with locked(self._folder / f"{part(job)}.lock") as descriptor:
            if not await asyncio.to_thread(tree.exists):
                making = tree.parent.with_name(f"{epoch}.making")
                await asyncio.to_thread(_clear, making)
                git = self.mirrors.git.holding(descriptor)
                await self._clone(git, project, making / "tree", sha(commit), branch=f"agent/{job}")
                await asyncio.to_thread(making.rename, tree.parent)
        return tree

    async def fresh(self, project: str, job: str, commit: str, label: str) -> Path:
        """Make a throw-away checkout that nobody has worked in; an earlier one of that label goes first."""
        place = self._folder / part(job) / f"fresh-{part(label)}"
        async with locked(self._folder / f"{part(job)}.lock") as descriptor:
            await asyncio.to_thread(_clear, place)
            await self._clone(self.mirrors.git.holding(descriptor), project, place / "tree", sha(commit))
        return place / "tree"

    @asynccontextmanager
    async def passing(self, project: str, job: str, commit: str, label: str) -> AsyncIterator[Path]:
        """Have a fresh checkout for a while."""
        tree = await self.fresh(project, job, commit, label)
        try:
            yield tree
        finally:
            await asyncio.to_thread(remove, tree.parent)

    async def discard(self, job: str) -> None:
        """Remove every checkout of a job."""
        async with locked(self._folder / f"{part(job)}.lock"):
            await asyncio.to_thread(remove, self._folder / part(job))

    async def head(self, job: str, epoch: int) -> str:
        """Tell the commit an agent's clone is at, by reading files: git is never run where an agent may set traps."""
        return await asyncio.to_thread(_read_head, self.tree(job, epoch) / ".git")

    async def bundle(self, job: str, epoch: int, base: str, head: str) -> Path:
        """Pack the commits from base to head into a file for the quarantine.

        Our own repository with our own settings borrows the clone's objects, so that nothing the agent wrote into its
        git folder (hooks, filters, aliases) is read. The sandbox title moves this inside.
        """
        if sha(base) == sha(head):
            raise Refused("The agent committed nothing.", hint="Look at the job's log for what it did instead.")
        place = self._folder / part(job) / str(epoch)
        async with locked(self._folder / f"{part(job)}.lock") as descriptor:
            git = self.mirrors.git.holding(descriptor)
            borrower = await self._borrower(git, place, head)
            bundle = place / "delivery.bundle"
            await self._pack(borrower, bundle, base, log=place / "bundle.log")
            await asyncio.to_thread(remove, borrower)
        return bundle

    async def diff_so_far(self, job: str, epoch: int, base: str) -> str:
        """Show what an agent at work has committed until now; like the bundle, never by git in its own folder."""
        head = await self.head(job, epoch)
        place = self._folder / part(job) / str(epoch)
        if sha(base) == head:
            return ""
        async with locked(self._folder / f"{part(job)}.lock") as descriptor:
            git = self.mirrors.git.holding(descriptor)
            borrower = await self._borrower(git, place, head)
            asked = ("diff", "--patch", *AS_TEXT, sha(base), head, "--")
            code, shown, _ = await git.attempt(borrower, *asked)
            await asyncio.to_thread(remove, borrower)
        return "" if code else shown[:LONGEST_LOOK].decode(errors="replace")

    async def _pack(self, borrower: Path, bundle: Path, base: str, *, log: Path) -> None:
        making = bundle.with_suffix(".making")
        command = ["bundle", "create", "--quiet", "--version=2", str(making), f"^{base}", DELIVERY_REF]
        ended = await run_leashed(
            [*hardened(), "-C", str(borrower), *command],
            cwd=borrower,
            env=environment(),
            log=log,
            wall=BUNDLE_WALL,
            idle=BUNDLE_WALL,
        )
        if ended.exit_code:
            raise Broken(f"The work could not be packed: {ended.tail.strip()[-200:]}", hint=f"See {log}.")
        await asyncio.to_thread(making.rename, bundle)

    async def _borrower(self, git: Git, place: Path, head: str) -> Path:
        borrower = place / "borrower.git"
        await asyncio.to_thread(remove, borrower)
        await git.run(Path("/"), "init", "--quiet", "--bare", "--template=", str(borrower))
        await asyncio.to_thread(_borrow, borrower, place / "tree" / ".git" / "objects")
        code, _, complaint = await git.attempt(borrower, "update-ref", DELIVERY_REF, sha(head))
        if code:
            raise Refused(
                f"The agent's clone has no commit {head[:12]} ({complaint}).",
                hint="The agent named a commit it never made; look at the job's log.",
            )
        return borrower

    async def _clone(self, git: Git, project: str, tree: Path, commit: str, *, branch: str = "") -> None:
        clone = ("clone", "--quiet", "--shared", "--no-checkout", "--template=")
        upload = f"--upload-pack={git.far_side('upload-pack')}"
        await git.run(Path("/"), *clone, upload, str(self.mirrors.path(project)), str(tree))
        await git.run(tree, "remote", "remove", "origin")
        settings = {"user.name": "Midwatch agent", "user.email": IDENTITY[1], "gc.auto": "0", "commit.gpgSign": "false"}
        for key, value in settings.items():
            await git.run(tree, "config", key, value)
        on_branch = ("-B", branch) if branch else ("--detach",)
        await git.run(tree, "checkout", "--quiet", "--force", *on_branch, commit)


def _clear(place: Path) -> None:
    remove(place)
    place.mkdir(parents=True)


def _borrow(borrower: Path, objects: Path) -> None:
    # The clone's own list of alternates is the agent's to write, and git follows it; the quarantine is not fooled by
    # more objects, only by a commit whose history it then checks in full.
    (borrower / "objects" / "info").mkdir(exist_ok=True)
    (borrower / "objects" / "info" / "alternates").write_text(f"{objects}\n")


def _read_head(folder: Path) -> str:
    """Follow HEAD by hand, through loose and packed refs."""
    name = _read(folder / "HEAD")
    if name.startswith("ref: refs/heads/"):
        ref = name.removeprefix("ref: ")
        if ".." in ref:
            raise Refused("The clone's HEAD points outside its git folder.", hint="Look at the job's log.")
        name = _read(folder / ref) or _packed(folder, ref)
    try:
        return sha(name)
    except Misuse:
        raise Unknown("The agent's clone is at no commit.", hint="Look at the job's log for what it did.") from None


def _read(file: Path) -> str:
    try:
        return "" if file.is_symlink() else file.read_text(errors="replace").strip()
    except OSError:
        return ""


def _packed(folder: Path, ref: str) -> str:
    lines = _read(folder / "packed-refs").splitlines()
    return next((line.split(" ")[0] for line in lines if line.endswith(f" {ref}")), "")
