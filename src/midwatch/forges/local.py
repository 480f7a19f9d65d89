"""The local forge: work arrives in the person's repository as `agent/<job>` and is merged only when they ask.

The pull request itself is a record in the store; this module only uses git.
"""

from collections.abc import Sequence
from pathlib import Path

from midwatch.errors import Refused, Stale, Unknown
from midwatch.forges.pushing import Pusher, agent_branch, quoted, resolve, tip
from midwatch.ports.forge import BranchAdvance, GitRunner, MirrorKeeper
from midwatch.terms.forges import (
    LOCAL,
    OURSELVES,
    BranchSeen,
    Merged,
    PullRequestDraft,
    PullRequestPlace,
    PullRequestSeen,
    Rehearsed,
    bearer_of,
)
from midwatch.terms.projects import commit_id, is_url


class LocalForge:
    """Delivers to and merges in a repository on this machine; to a URL without a forge of its own it only delivers."""

    name = LOCAL

    def __init__(self, git: GitRunner, mirrors: MirrorKeeper) -> None:
        self._git = git
        self._mirrors = mirrors
        self._pusher = Pusher(mirrors)

    async def deliver(self, source: Path | str, project: str, job: str, head: str) -> str:
        """Push one commit from our mirror as `agent/<job>` and nothing else; a second time changes nothing."""
        return await self._pusher.deliver(source, project, job, head)

    async def pushed(self, source: Path | str, project: str, job: str, head: str) -> BranchSeen:
        """Return the commit of a job's branch, and whether newer work can be pushed there."""
        return await self._pusher.pushed(source, project, job, head)

    async def open(self, draft: PullRequestDraft) -> PullRequestSeen:
        """Do nothing: a local pull request is only our own record of the delivered branch."""
        return PullRequestSeen(draft=draft.draft)

    async def look(self, place: PullRequestPlace) -> PullRequestSeen:
        """Return it as merged if its target branch contains the work, however it got there; else as open."""
        source = place.source if is_url(place.source) else Path(place.source)
        into, head = await tip(self._git, source, f"refs/heads/{place.into}"), commit_id(place.head)
        if not into:
            raise Unknown(f"{place.source} has no branch {place.into!r} any more.", hint="Merge it yourself.")
        async with self._mirrors.held(place.project) as (mirror, git):
            near = source if isinstance(source, Path) else mirror
            if not await _holds(git, near, head, into):
                return PullRequestSeen()
            sha = await _arrival(git, near, head, into)
            ours = await resolve(git, mirror, _merge_ref(bearer_of(place.branch)))
        return PullRequestSeen(state="merged", merged_sha=sha, by=OURSELVES if sha == ours else "")

    async def lacking(self, source: Path, into: str, commits: Sequence[str]) -> frozenset[str]:
        """Return which of these commits a branch does not have, by one command for all."""
        asked = frozenset(map(commit_id, commits))
        branch = f"refs/heads/{into}"
        code, out, _ = await self._git.attempt(source, "rev-list", *sorted(asked), "--not", branch, "--")
        return asked if code else asked & frozenset(out.decode().split())

    async def comment(self, place: PullRequestPlace, text: str) -> None:
        """Do nothing: a local pull request has no comments."""

    async def close(self, place: PullRequestPlace) -> None:
        """Do nothing: closing is only our own record, and the branch stays until the person deletes it."""

    async def rehearse(self, source: Path | str, project: str) -> tuple[Rehearsed, ...]:
        """Try a push with --dry-run, and return the result."""
        refused = await self._pusher.rehearse(source, project)
        if refused is not None:
            return (Rehearsed(good=False, text=refused.message, fix=refused.hint),)
        return (Rehearsed(good=True, text=f"{source} accepts branches under agent/."),)

    async def merge(self, project: str, source: Path | str, job: str, head: str, into: str, title: str) -> Merged:
        """Merge the work into the branch the person named; the merge commit is made in our mirror."""
        if is_url(str(source)):
            raise Refused(
                f"{source} is remote, so Midwatch cannot merge it.",
                hint=f"Open {agent_branch(job)} there and merge it into {into}.",
            )
        source = Path(source)
        await self._mirrors.refresh(project, source)
        old = await resolve(self._git, source, f"refs/heads/{into}")
        if not old:
            raise Unknown(f"{source} has no branch {into!r}.", hint="Name the branch to merge into.")
        checkout = await self._checkout_of(source, into)
        if done := await self._already(project, old, head):
            return Merged(sha=old, undo=_undo(source, checkout, into, old=done, new=old) if done != old else ())
        if checkout:
            by_hand = f"git -C {quoted(checkout)} merge --no-ff {agent_branch(job)}"
            await self._refuse_dirty(checkout, into, by_hand)
        new = await self._commit(project, job, (old, head), title)
        await self._bring(project, source, _merge_ref(job))
        if checkout:
            await self._fast_forward(checkout, into, old=old, new=new)
        else:
            await self._swap(source, into, old=old, new=new)
        return Merged(sha=new, undo=_undo(source, checkout, into, old=old, new=new))

    async def unmerge(self, place: PullRequestPlace, sha: str) -> str:
        """Move the branch back to where it was before a merge, if that is still its newest commit."""
        source, new = Path(place.source), commit_id(sha)
        parents = (await self._git.text(source, "show", "--no-patch", "--format=%P", new)).split()
        if len(parents) != 2 or parents[1] != place.head:
            raise Refused(f"{sha[:12]} is not the merge of {place.branch}.", hint="Take it back with git yourself.")
        old = parents[0]
        await self.take_back(
            BranchAdvance(project=place.project, source=place.source, into=place.into, stack="", old=old, new=new)
        )
        return old

    async def advance(self, asked: BranchAdvance) -> Merged:
        """Fast-forward a branch to a stack's last commit, all of it or nothing; a second time changes nothing."""
        source, into, old, new = _local(asked), asked.into, commit_id(asked.old), commit_id(asked.new)
        now = await resolve(self._git, source, f"refs/heads/{into}")
        if not now:
            raise Unknown(f"{source} has no branch {into!r}.", hint="Name the branch to merge into.")
        checkout = await self._checkout_of(source, into)
        undo = _undo(source, checkout, into, old=old, new=new)
        if now == new or await _holds(self._git, source, new, now):
            return Merged(sha=new, undo=undo if now == new else ())
        if now != old:
            raise _moved_since(into)
        await self._bring(asked.project, source, f"refs/midwatch/stacks/{asked.stack}")
        if checkout:
            forward = f"git -C {quoted(checkout)} merge --ff-only {new}"
            await self._refuse_dirty(checkout, into, forward)
            await self._fast_forward(checkout, into, old=old, new=new)
        else:
            await self._swap(source, into, old=old, new=new)
        return Merged(sha=new, undo=undo)

    async def take_back(self, asked: BranchAdvance) -> None:
        """Move a branch back to where it was before a merge, if nothing was added since; uncommitted work stays."""
        source, into, old, new = _local(asked), asked.into, commit_id(asked.old), commit_id(asked.new)
        now = await resolve(self._git, source, f"refs/heads/{into}")
        if now == old:
            return
        if now != new:
            raise Stale(
                f"{into} has moved on since the merge.",
                hint=f"Take single merges back with `git -C {quoted(source)} revert -m 1 COMMIT`.",
            )
        checkout = await self._checkout_of(source, into)
        if checkout is None:
            await self._swap(source, into, old=new, new=old)
            return
        await self._refuse_filtered(checkout, new, old, f"git -C {quoted(checkout)} reset --keep {old}")
        code, _, complaint = await self._git.attempt(checkout, "reset", "--quiet", "--keep", old)
        if code:
            raise Refused(
                f"{checkout} could not be moved back: {complaint}.", hint="Commit or stash what is in the way."
            )

    async def _already(self, project: str, old: str, head: str) -> str:
        """Return empty if the branch lacks the work, the commit before our merge if that is its tip, else the tip."""
        async with self._mirrors.held(project) as (mirror, git):
            if (await git.attempt(mirror, "merge-base", "--is-ancestor", commit_id(head), old))[0]:
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
                    hint=f"Merge {agent_branch(job)} yourself, or let the job start again from the newest commit.",
                    because=names,
                )
            if code:
                raise Refused(f"The work cannot be merged: {complaint}.", hint="Refresh the project and try again.")
            words = title.strip() or f"Merge {agent_branch(job)}"
            sides = [part for parent in parents for part in ("-p", parent)]
            commit = await git.text(mirror, "commit-tree", tree, *sides, stdin=words.encode())
            await git.run(mirror, "update-ref", _merge_ref(job), commit)
            return commit

    async def _bring(self, project: str, source: Path, ref: str) -> None:
        """Fetch the merge's objects into the person's repository; no ref moves yet."""
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
        status = await self._git.text(
            checkout, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"
        )
        if status:
            raise Refused(
                f"{into} is checked out in {checkout} with uncommitted changes.",
                hint=f"Commit or stash them and merge again, or run `{by_hand}` yourself.",
                because=tuple(line[3:] for line in status.splitlines()),
            )

    async def _refuse_filtered(self, checkout: Path, old: str, new: str, by_hand: str) -> None:
        """Refuse to write files that pass through a program of the repository's own: Midwatch does not run it."""
        changed = await self._git.run(checkout, "diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
        said = await self._git.text(checkout, "check-attr", "-z", "--stdin", "filter", stdin=changed)
        fields = said.split("\0")
        for path, name in zip(fields[0::3], fields[2::3], strict=False):
            for kind in ("smudge", "process"):
                if (await self._git.attempt(checkout, "config", "--get", f"filter.{name}.{kind}"))[0] == 0:
                    raise Refused(
                        f"{path} passes through the filter {name!r} of {checkout}, and Midwatch does not run it.",
                        hint=f"Run it yourself: {by_hand}",
                    )

    async def _fast_forward(self, checkout: Path, into: str, *, old: str, new: str) -> None:
        on = await self._git.text(checkout, "symbolic-ref", "--quiet", "HEAD")
        if on != f"refs/heads/{into}" or await resolve(self._git, checkout, "HEAD") != old:
            raise _moved(into)
        await self._refuse_filtered(checkout, old, new, f"git -C {quoted(checkout)} merge --ff-only {new}")
        merge = ("merge", "--quiet", "--ff-only", "--no-autostash", "--no-stat")
        code, _, complaint = await self._git.attempt(checkout, *merge, new)
        if code:
            raise Refused(
                f"{checkout} could not be moved forward: {complaint}.",
                hint=f"Move what is in the way aside, then run `git -C {quoted(checkout)} merge --ff-only {new}`.",
            )

    async def _swap(self, source: Path, into: str, *, old: str, new: str) -> None:
        swap = ("update-ref", "-m", "midwatch: merge", f"refs/heads/{into}", new, old)
        if (await self._git.attempt(source, *swap))[0]:
            raise _moved(into)


async def _holds(git: GitRunner, repository: Path, commit: str, within: str) -> bool:
    return (await git.attempt(repository, "merge-base", "--is-ancestor", commit, within))[0] == 0


async def _arrival(git: GitRunner, repository: Path, head: str, into: str) -> str:
    """Return the commit by which a branch got the work: its merge, or the work itself after a fast-forward."""
    way = ("rev-list", "--first-parent", "--ancestry-path", "--parents", f"{head}..{into}")
    first = (await git.text(repository, *way)).splitlines()[-1:]
    commit, *parents = first[0].split() if first else [head]
    return head if head in parents[:1] else commit


def _moved(into: str) -> Stale:
    return Stale(f"{into} moved during the merge.", hint="Merge again; it starts from the newest commit.")


def _moved_since(into: str) -> Stale:
    return Stale(f"{into} moved since the stack was verified.", hint="Check it again: midwatch stack check")


def _local(asked: BranchAdvance) -> Path:
    if is_url(asked.source):
        raise Refused(f"{asked.source} is remote, so Midwatch cannot merge it.", hint="Merge the order there.")
    return Path(asked.source)


def _undo(source: Path, checkout: Path | None, into: str, *, old: str, new: str) -> tuple[str, ...]:
    if checkout:
        return (f"git -C {quoted(checkout)} reset --keep {old}",)
    return (f"git -C {quoted(source)} update-ref {quoted(f'refs/heads/{into}')} {old} {new}",)


def _merge_ref(job: str) -> str:
    return f"refs/midwatch/merges/{job}"
