"""The local forge: work arrives in the person's own repository as `agent/<job>`, and is merged only when they say so.

The pull request itself is a record kept elsewhere; here is only git.
"""

import re
import shlex
from pathlib import Path

from midwatch.errors import Misuse, Refused, Stale, Unavailable, Unknown
from midwatch.forges.roles import Advancing, GitRunner, MirrorKeeper
from midwatch.terms.sources import is_url
from midwatch.terms.term import Term

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_SHA = re.compile(r"[0-9a-f]{40}")


class Merged(Term):
    """A merge that happened: its commit, and the commands that take it back."""

    sha: str
    undo: tuple[str, ...] = ()


class LocalForge:
    """Delivers to and merges in a repository on this machine."""

    def __init__(self, git: GitRunner, mirrors: MirrorKeeper) -> None:
        self._git = git
        self._mirrors = mirrors

    async def deliver(self, source: Path | str, project: str, job: str, head: str) -> str:
        """Push one commit from our mirror as `agent/<job>` and nothing else; a second time changes nothing.

        The source is the person's repository or, as a URL, the remote they share; the mirror gets the branch too.
        """
        source = source if is_url(str(source)) else Path(source)
        branch = _agent_branch(job)
        ref = f"refs/heads/{branch}"
        async with self._mirrors.held(project) as (mirror, git):
            there = await self._tip(git, source, ref)
            if there != _commit_id(head):
                await _refuse_other_work(git, mirror, source, branch, (there, head))
                await _push(git, mirror, source, branch, head)
            await git.run(mirror, "update-ref", ref, head)
        return branch

    async def _tip(self, git: GitRunner, source: Path | str, ref: str) -> str:
        if isinstance(source, Path):
            return await self._resolve(source, ref)
        code, out, complaint = await git.toward(source).attempt(Path("/"), "ls-remote", "--quiet", source, ref)
        if code:
            raise Unavailable(f"{source} cannot be asked for its branches: {complaint}.", hint="Try again later.")
        return out.decode(errors="replace").partition("\t")[0]

    async def merge(self, project: str, source: Path | str, job: str, head: str, into: str, title: str) -> Merged:
        """Merge the work into the branch the person named; the merge commit is made in our mirror."""
        if is_url(str(source)):
            raise Refused(
                f"{source} is merged where it is kept, not by Midwatch.",
                hint=f"Open {_agent_branch(job)} there and merge it into {into}.",
            )
        source = Path(source)
        await self._mirrors.refresh(project, source)
        old = await self._resolve(source, f"refs/heads/{into}")
        if not old:
            raise Unknown(f"{source} has no branch {into!r}.", hint="Name the branch to merge into.")
        checkout = await self._checkout_of(source, into)
        if done := await self._already(project, old, head):
            return Merged(sha=old, undo=_undo(source, checkout, into, old=done, new=old) if done != old else ())
        if checkout:
            by_hand = f"git -C {_quoted(checkout)} merge --no-ff {_agent_branch(job)}"
            await self._refuse_dirty(checkout, into, by_hand)
        new = await self._commit(project, job, (old, head), title)
        await self._bring(project, source, _merge_ref(job))
        if checkout:
            await self._fast_forward(checkout, into, old=old, new=new)
        else:
            await self._swap(source, into, old=old, new=new)
        return Merged(sha=new, undo=_undo(source, checkout, into, old=old, new=new))

    async def advance(self, asked: Advancing) -> Merged:
        """Move a branch forward to a stack's last commit, all of it or nothing; done already, it changes nothing."""
        source, into, old, new = _local(asked), asked.into, _commit_id(asked.old), _commit_id(asked.new)
        now = await self._resolve(source, f"refs/heads/{into}")
        if not now:
            raise Unknown(f"{source} has no branch {into!r}.", hint="Name the branch to merge into.")
        checkout = await self._checkout_of(source, into)
        undo = _undo(source, checkout, into, old=old, new=new)
        if now == new or await self._holds(source, new, now):
            return Merged(sha=new, undo=undo if now == new else ())
        if now != old:
            raise _moved_since(into)
        await self._bring(asked.project, source, f"refs/midwatch/stacks/{asked.stack}")
        if checkout:
            forward = f"git -C {_quoted(checkout)} merge --ff-only {new}"
            await self._refuse_dirty(checkout, into, forward)
            await self._fast_forward(checkout, into, old=old, new=new)
        else:
            await self._swap(source, into, old=old, new=new)
        return Merged(sha=new, undo=undo)

    async def take_back(self, asked: Advancing) -> None:
        """Move a branch back to where it stood before a stack, only from where the stack left it."""
        source, into, old, new = _local(asked), asked.into, _commit_id(asked.old), _commit_id(asked.new)
        now = await self._resolve(source, f"refs/heads/{into}")
        if now == old:
            return
        if now != new:
            raise Stale(
                f"{into} has moved on since the stack was merged.",
                hint=f"Take single merges back with `git -C {_quoted(source)} revert -m 1 COMMIT`.",
            )
        checkout = await self._checkout_of(source, into)
        if checkout is None:
            await self._swap(source, into, old=new, new=old)
            return
        code, _, complaint = await self._git.attempt(checkout, "reset", "--quiet", "--keep", old)
        if code:
            raise Refused(
                f"{checkout} could not be moved back: {complaint}.", hint="Commit or stash what is in the way."
            )

    async def _holds(self, source: Path, commit: str, within: str) -> bool:
        return (await self._git.attempt(source, "merge-base", "--is-ancestor", commit, within))[0] == 0

    async def repository_refs(self, source: Path) -> dict[str, str]:
        """List every ref with its commit, and what HEAD points to, for whoever checks that we touched nothing else."""
        lines = (await self._git.text(source, "for-each-ref", "--format=%(refname) %(objectname)")).splitlines()
        refs = dict(line.split(" ", 1) for line in lines)
        code, out, _ = await self._git.attempt(source, "symbolic-ref", "--quiet", "HEAD")
        refs["HEAD"] = out.decode().strip() if code == 0 else await self._resolve(source, "HEAD")
        return refs

    async def _resolve(self, source: Path, ref: str) -> str:
        verify = ("rev-parse", "--verify", "--quiet", "--end-of-options")
        code, out, _ = await self._git.attempt(source, *verify, f"{ref}^{{commit}}")
        return "" if code else out.decode().strip()

    async def _already(self, project: str, old: str, head: str) -> str:
        """Tell whether the branch holds the work: the commit before our merge if that is its tip, else the tip."""
        async with self._mirrors.held(project) as (mirror, git):
            if (await git.attempt(mirror, "merge-base", "--is-ancestor", _commit_id(head), old))[0]:
                return ""
            first, *others = (await git.text(mirror, "show", "--no-patch", "--format=%P", old)).split() or [old]
            return first if others == [head] else old

    async def _commit(self, project: str, job: str, parents: tuple[str, str], title: str) -> str:
        async with self._mirrors.held(project) as (mirror, git):
            merge = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z")
            code, out, complaint = await git.attempt(mirror, *merge, *parents)
            tree, *files = [piece.decode(errors="replace") for piece in out.split(b"\0") if piece] or [""]
            if code == 1:
                names = tuple(sorted(set(files)))
                raise Refused(
                    f"The work conflicts with the branch in {', '.join(names)}.",
                    hint=f"Merge {_agent_branch(job)} by hand, or let the job start again from the newest commit.",
                    because=names,
                )
            if code:
                raise Refused(f"The work cannot be merged: {complaint}.", hint="Refresh the project and try again.")
            words = title.strip() or f"Merge {_agent_branch(job)}"
            sides = [part for parent in parents for part in ("-p", parent)]
            commit = await git.text(mirror, "commit-tree", tree, *sides, stdin=words.encode())
            await git.run(mirror, "update-ref", _merge_ref(job), commit)
            return commit

    async def _bring(self, project: str, source: Path, ref: str) -> None:
        """Bring the merge's objects into the person's repository; no ref of theirs moves yet."""
        async with self._mirrors.held(project) as (mirror, git):
            fetch = ("fetch", "--quiet", "--no-tags", "--no-prune", "--no-write-fetch-head", "--no-auto-gc")
            upload = f"--upload-pack={git.far_side('upload-pack')}"
            await git.run(source, *fetch, "--refmap=", upload, str(mirror), ref)

    async def _checkout_of(self, source: Path, branch: str) -> Path | None:
        listing = await self._git.run(source, "worktree", "list", "--porcelain", "-z")
        for block in listing.decode(errors="surrogateescape").split("\0\0"):
            lines = block.split("\0")
            if f"branch refs/heads/{branch}" in lines:
                return Path(lines[0].removeprefix("worktree "))
        return None

    async def _refuse_dirty(self, checkout: Path, into: str, by_hand: str) -> None:
        status = await self._git.text(checkout, "status", "--porcelain", "--untracked-files=no")
        if status:
            raise Refused(
                f"{into} is checked out in {checkout} with uncommitted changes.",
                hint=f"Commit or stash them and merge again, or run `{by_hand}` yourself.",
                because=tuple(line[3:] for line in status.splitlines()),
            )

    async def _fast_forward(self, checkout: Path, into: str, *, old: str, new: str) -> None:
        on = await self._git.text(checkout, "symbolic-ref", "--quiet", "HEAD")
        if on != f"refs/heads/{into}" or await self._resolve(checkout, "HEAD") != old:
            raise _moved(into)
        merge = ("merge", "--quiet", "--ff-only", "--no-autostash", "--no-stat")
        code, _, complaint = await self._git.attempt(checkout, *merge, new)
        if code:
            raise Refused(
                f"{checkout} could not be moved forward: {complaint}.",
                hint=f"Move what is in the way aside, then run `git -C {_quoted(checkout)} merge --ff-only {new}`.",
            )

    async def _swap(self, source: Path, into: str, *, old: str, new: str) -> None:
        swap = ("update-ref", "-m", "midwatch: merge", f"refs/heads/{into}", new, old)
        if (await self._git.attempt(source, *swap))[0]:
            raise _moved(into)


async def _refuse_other_work(
    git: GitRunner, mirror: Path, source: Path | str, branch: str, commits: tuple[str, str]
) -> None:
    there, _ = commits
    if not there or (await git.attempt(mirror, "merge-base", "--is-ancestor", *commits))[0] == 0:
        return
    remove = f"git -C {_quoted(source)} branch -D {branch}"
    if not isinstance(source, Path):
        remove = f"git push {_quoted(source)} --delete {branch}"
    raise Refused(
        f"{branch} already exists in {source} with other work ({there[:12]}).",
        hint=f"Look at it, then remove it with `{remove}`.",
    )


async def _push(git: GitRunner, mirror: Path, source: Path | str, branch: str, head: str) -> None:
    push = ("push", "--quiet", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no")
    # A far host's own hooks are its own business; those of a folder on this machine would run as us.
    here = (f"--receive-pack={git.far_side('receive-pack')}",) if isinstance(source, Path) else ()
    target = f"{head}:refs/heads/{branch}"
    code, _, complaint = await git.toward(source).attempt(mirror, *push, *here, str(source), target)
    if code:
        hint = (
            f"If it is checked out, leave it with `git -C {_quoted(source)} switch -`; "
            "a branch named 'agent' would also be in the way."
        )
        if not isinstance(source, Path):
            hint = f"Check that the server's user may push there: `git push --dry-run {_quoted(source)} HEAD:{branch}`."
        raise Refused(f"{source} did not take {branch}: {complaint or 'no reason given'}.", hint=hint)


def _moved(into: str) -> Stale:
    return Stale(f"{into} moved while the merge was being made.", hint="Merge again; it starts from the newest commit.")


def _moved_since(into: str) -> Stale:
    return Stale(
        f"{into} moved since the stack was verified.", hint="Check it again where it stands now: midwatch stack check"
    )


def _local(asked: Advancing) -> Path:
    if is_url(asked.source):
        raise Refused(f"{asked.source} is merged where it is kept, not by Midwatch.", hint="Merge the order there.")
    return Path(asked.source)


def _undo(source: Path, checkout: Path | None, into: str, *, old: str, new: str) -> tuple[str, ...]:
    if checkout:
        return (f"git -C {_quoted(checkout)} reset --keep {old}",)
    return (f"git -C {_quoted(source)} update-ref {_quoted(f'refs/heads/{into}')} {old} {new}",)


def _agent_branch(job: str) -> str:
    if not _NAME.fullmatch(job):
        raise Misuse(f"{job!r} cannot name a branch.", hint="Give the job's id.")
    return f"agent/{job}"


def _merge_ref(job: str) -> str:
    return f"refs/midwatch/merges/{job}"


def _commit_id(name: str) -> str:
    if not _SHA.fullmatch(name):
        raise Misuse(f"{name!r} is not a full commit id.", hint="Give all 40 hexadecimal digits.")
    return name


def _quoted(thing: Path | str) -> str:
    return shlex.quote(str(thing))
