"""One bare mirror per project: the person's repository is read once, and later work does not depend on it."""

import asyncio
import contextlib
import os
import shlex
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from midwatch.errors import Broken, Refused, Unknown
from midwatch.settings.secret_places import refuse_inside_secret_place
from midwatch.terms.jobs import Commit, FileChange, RepositoryFacts
from midwatch.terms.projects import commit_id
from midwatch.workshop.git import history, unshallow
from midwatch.workshop.git.git import Git, telling_line
from midwatch.workshop.git.inspection import inspect, inspect_url
from midwatch.workshop.git.remotes import checked, failure, is_url
from midwatch.workshop.sandbox.deep_folders import everything_below, remove
from midwatch.workshop.upkeep.folders import locked, part


class GitMirrors:
    """The mirrors under one data folder. A writer holds the mirror's lock."""

    def __init__(self, home: Path, git: Git | None = None) -> None:
        self._home = home
        self._folder = home / "mirrors"
        self.git = git or Git()

    def path(self, project: str) -> Path:
        """Return the path of a project's mirror, whether or not it exists yet."""
        return self._folder / f"{part(project)}.git"

    async def inspect(self, source: Path | str) -> RepositoryFacts:
        """Inspect a person's repository, a folder or a URL, without changing anything in it."""
        if not is_url(source):
            await asyncio.to_thread(refuse_inside_secret_place, Path(source), "The repository", home=self._home)
            return await inspect(self.git, Path(source))
        await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True)
        look = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="look-", suffix=".making", dir=self._folder))
        try:
            return await inspect_url(self.git, str(source), look)
        finally:
            await asyncio.to_thread(remove, look)

    @asynccontextmanager
    async def held(self, project: str) -> AsyncIterator[tuple[Path, Git]]:
        """Lock a mirror for writing; git processes share the lock, so one that outlives the server still holds it."""
        mirror = self.path(project)
        async with locked(self._folder / f"{part(project)}.lock") as descriptor:
            git = self.git.holding(descriptor)
            if not await asyncio.to_thread(_is_complete, mirror):
                await self._create(git, mirror)
            await asyncio.to_thread(_clear_stale_locks, mirror)
            yield mirror, git

    async def refresh(self, project: str, source: Path | str) -> None:
        """Fetch all heads and tags of the person's repository into the mirror, and drop those that were deleted.

        What a shallow or partial clone lacks is fetched from its origin; nothing is written to the clone.
        """
        async with self.held(project) as (mirror, git):
            await self._refresh(git, mirror, source)

    async def _refresh(self, git: Git, mirror: Path, source: Path | str) -> None:
        origin = "" if is_url(source) else await unshallow.origin_of(git, Path(source))
        if origin:
            await unshallow.bring_missing(git, mirror, Path(source), origin)
        await self._fetch(git, mirror, source)
        if origin:
            await unshallow.refuse_gaps(git, mirror, Path(source))

    async def update(self, project: str, source: Path | str, branch: str, *, job: str = "") -> str:
        async with self.held(project) as (mirror, git):
            await self._refresh(git, mirror, source)
            head = await self.head_of(project, branch)
            if job:
                await git.run(mirror, "update-ref", f"refs/midwatch/keep/{part(job)}", commit_id(head))
        return head

    async def last_subjects(self, project: str, commit: str, most: int) -> tuple[str, ...]:
        said = await self.git.run(self.path(project), "log", f"--max-count={most}", "--format=%s", commit_id(commit))
        return tuple(line[:200] for line in said.decode(errors="replace").splitlines() if line)

    async def _fetch(self, git: Git, mirror: Path, source: Path | str) -> None:
        fetch = ("fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head")
        upload = () if is_url(source) else (f"--upload-pack={git.far_side('upload-pack')}",)
        wanted = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        code, _, complaints = await git.toward(source).converse(mirror, *fetch, *upload, checked(source), *wanted)
        if code and is_url(source):
            raise failure(source, complaints)
        if code and ("shallow" in complaints or "not send all necessary" in complaints or "promis" in complaints):
            raise unshallow.incomplete(Path(source), telling_line(complaints))
        if code:
            raise Broken(
                f"git fetch failed in {mirror}: {telling_line(complaints) or f'exit code {code}'}",
                hint=f"Run `git -C {shlex.quote(str(source))} status` to see what git reports about that folder.",
            )

    async def head_of(self, project: str, branch: str) -> str:
        """Return the newest commit of a branch in the mirror."""
        name = f"refs/heads/{branch}"
        code, out, _ = await self.git.attempt(
            self._existing(project), "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        )
        if code:
            raise Unknown(f"The project has no branch {branch!r}.", hint="Name a branch that exists, or refresh first.")
        return out.decode().strip()

    async def diff(self, project: str, base: str, head: str) -> str:
        """Show what changed between two commits, every file as text."""
        asked = ("diff", "--patch", *history.AS_TEXT, commit_id(base), commit_id(head), "--")
        # Byte for byte: a patch that lost its last line end, or blank context, does not apply.
        return (await self.git.run(self._existing(project), *asked)).decode(errors="replace")

    async def changes(self, project: str, base: str, head: str) -> tuple[FileChange, ...]:
        """List the files that differ between two commits."""
        return await history.file_changes(self.git, self._existing(project), base, head)

    async def log(self, project: str, base: str, head: str) -> tuple[Commit, ...]:
        """List the commits from base (excluded) to head, oldest first."""
        return await history.commits_between(self.git, self._existing(project), base, head)

    async def show_file(self, project: str, commit: str, path: str) -> bytes:
        """Read one file as it was in a commit."""
        code, out, _ = await self.git.attempt(
            self._existing(project), "cat-file", "blob", f"{commit_id(commit)}:{path}"
        )
        if code:
            raise Unknown(f"{commit[:12]} has no file {path!r}.", hint="Check the path; it counts from the top folder.")
        return out

    def _existing(self, project: str) -> Path:
        mirror = self.path(project)
        if not _is_complete(mirror):
            raise Unknown("The project has no mirror yet.", hint="Refresh the project first.")
        return mirror

    async def _create(self, git: Git, mirror: Path) -> None:
        making = mirror.with_suffix(".making")
        await asyncio.to_thread(remove, making)
        await asyncio.to_thread(remove, mirror)
        await git.run(Path("/"), "init", "--quiet", "--bare", "--template=", "--object-format=sha1", str(making))
        await asyncio.to_thread(_leave_alone, making)
        await asyncio.to_thread(history.read_everything_as_text, making)
        try:
            await asyncio.to_thread(making.rename, mirror)
        except OSError as error:
            raise Broken(f"The mirror {mirror} cannot be created: {error.strerror}.", hint="Check the disk.") from error


def _leave_alone(mirror: Path) -> None:
    """Let git tidy nothing by itself: the upkeep does it, under our lock."""
    with (mirror / "config").open("a") as config:
        config.write("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[core]\n\tlogAllRefUpdates = false\n")


def _is_complete(mirror: Path) -> bool:
    """A mirror gets its name only when it is complete; an incomplete one was broken from outside."""
    return (mirror / "HEAD").is_file() and (mirror / "config").is_file() and (mirror / "objects").is_dir()


def _clear_stale_locks(mirror: Path) -> None:
    """Remove lock files of a killed git; safe only under our lock, which every living writer shares."""
    leftovers = [*mirror.glob("*.lock"), *mirror.glob("objects/pack/tmp_*"), *mirror.glob("objects/pack/*.lock")]
    for leftover in leftovers:
        with contextlib.suppress(FileNotFoundError):
            leftover.unlink()
    for at, name, _ in everything_below(mirror / "refs"):  # a branch of a stranger may have a thousand slashes
        if name.endswith(".lock"):
            with contextlib.suppress(FileNotFoundError, IsADirectoryError):
                os.unlink(name, dir_fd=at.here)
    for folder in [*mirror.glob("objects/incoming-*"), *mirror.glob("objects/tmp_objdir-*")]:
        remove(folder)


UNRELATED = "(the two have no history in common)"


class MirrorMerger:
    """Merges commits of one mirror; the result is kept only when a stack asks for it."""

    def __init__(self, mirrors: GitMirrors) -> None:
        self._mirrors = mirrors

    async def join(self, project: str, onto: str, head: str, message: str) -> tuple[str, tuple[str, ...]]:
        async with self._mirrors.held(project) as (mirror, git):
            tree, files = await _merged(git.bounded(), mirror, commit_id(onto), commit_id(head))
            if not tree:
                return "", files
            sides = ("-p", commit_id(onto), "-p", commit_id(head))
            return await git.text(mirror, "commit-tree", tree, *sides, stdin=message.encode()), ()

    async def holds(self, project: str, commit: str, within: str) -> bool:
        mirror = self._mirrors.path(project)
        code, _, _ = await self._mirrors.git.attempt(
            mirror, "merge-base", "--is-ancestor", commit_id(commit), commit_id(within)
        )
        return code == 0

    async def keep(self, project: str, stack: str, commit: str) -> None:
        async with self._mirrors.held(project) as (mirror, git):
            await git.run(mirror, "update-ref", f"refs/midwatch/stacks/{part(stack)}", commit_id(commit))


async def _merged(git: Git, mirror: Path, onto: str, head: str) -> tuple[str, tuple[str, ...]]:
    merge = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z")
    code, out, complaint = await git.attempt(mirror, *merge, onto, head)
    tree, *files = [piece.decode(errors="replace") for piece in out.split(b"\0") if piece] or [""]
    if code == 0:
        return tree, ()
    if code == 1:
        return "", tuple(sorted(set(files)))
    if "unrelated histories" in complaint:
        return "", (UNRELATED,)
    raise Refused(f"{head[:12]} cannot be merged: {complaint}.", hint="Refresh the project and try again.")
