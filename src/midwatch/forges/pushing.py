"""Pushing `agent/<job>` and nothing else, never by force: what every forge does with git."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from midwatch.errors import MidwatchError, Misuse, Refused
from midwatch.forges.refusals import push_refused, unread
from midwatch.ports.forge import GitRunner, MirrorKeeper
from midwatch.terms.forges import AGENT, BranchSeen
from midwatch.terms.projects import commit_id, is_url

PUSH = ("push", "--quiet", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


def agent_branch(job: str) -> str:
    if not _NAME.fullmatch(job):
        raise Misuse(f"{job!r} cannot name a branch.", hint="Give the job's id.")
    return f"{AGENT}{job}"


def quoted(thing: Path | str) -> str:
    """Quote it as one word of a command line."""
    return shlex.quote(str(thing))


async def resolve(git: GitRunner, repository: Path, ref: str) -> str:
    """Return the commit of a ref; empty if there is none."""
    verify = ("rev-parse", "--verify", "--quiet", "--end-of-options")
    code, out, _ = await git.attempt(repository, *verify, f"{ref}^{{commit}}")
    return "" if code else out.decode().strip()


@dataclass(frozen=True, slots=True)
class Pusher:
    """Pushes commits from our mirrors to the person's repository or remote."""

    mirrors: MirrorKeeper

    async def deliver(self, source: Path | str, project: str, job: str, head: str) -> str:
        """Push one commit from our mirror as `agent/<job>` and nothing else; a second time changes nothing.

        The source is the person's repository or, as a URL, the remote they share; the mirror gets the branch too, and
        first, so that no refusal loses work.
        """
        source = source if is_url(str(source)) else Path(source)
        branch = agent_branch(job)
        ref = f"refs/heads/{branch}"
        async with self.mirrors.held(project) as (mirror, git):
            there = await tip(git, source, ref)
            if there != commit_id(head):
                await _refuse_other_work(git, mirror, source, branch, (there, head))
                await git.run(mirror, "update-ref", ref, head)
                await _push(git, mirror, source, branch, head)
            await git.run(mirror, "update-ref", ref, head)
        return branch

    async def pushed(self, source: Path | str, project: str, job: str, head: str) -> BranchSeen:
        """Return the commit of a job's branch, and whether this one can be pushed there without force."""
        source = source if is_url(str(source)) else Path(source)
        async with self.mirrors.held(project) as (mirror, git):
            there = await tip(git, source, f"refs/heads/{agent_branch(job)}")
            follows = not there or await _follows(git, mirror, there, commit_id(head))
        return BranchSeen(head=there, in_the_way="" if follows else "has work that this does not follow from")

    async def rehearse(self, source: Path | str, project: str) -> MidwatchError | None:
        """Try a push with --dry-run; return the error it would meet."""
        source = source if is_url(str(source)) else Path(source)
        branch = agent_branch("midwatch-rehearsal")
        async with self.mirrors.held(project) as (mirror, git):
            heads = await git.text(mirror, "for-each-ref", "--count=1", "--format=%(objectname)", "refs/heads")
            if not heads:
                return Refused("There is no commit yet that could be pushed.", hint="Commit something first.")
            try:
                await _push(git, mirror, source, branch, heads, "--dry-run")
            except MidwatchError as error:
                return error
        return None


async def tip(git: GitRunner, source: Path | str, ref: str) -> str:
    """Return the commit of a ref in a folder or at a URL; empty if there is none."""
    if isinstance(source, Path):
        return await resolve(git, source, ref)
    code, out, complaints = await git.toward(source).converse(Path("/"), "ls-remote", "--quiet", source, ref)
    if code:
        raise unread(source, complaints)
    return out.decode(errors="replace").partition("\t")[0]


async def _follows(git: GitRunner, mirror: Path, there: str, head: str) -> bool:
    """Return whether one commit fast-forwards to the other; from a commit we never saw it does not."""
    return (await git.attempt(mirror, "merge-base", "--is-ancestor", there, head))[0] == 0


async def _refuse_other_work(
    git: GitRunner, mirror: Path, source: Path | str, branch: str, commits: tuple[str, str]
) -> None:
    there, head = commits
    if not there or await _follows(git, mirror, there, head):
        return
    remove = f"git -C {quoted(source)} branch -D {branch}"
    if not isinstance(source, Path):
        remove = f"git push {quoted(source)} --delete {branch}"
    raise Refused(
        f"{branch} already exists in {source} with other work ({there[:12]}).",
        hint=f"Look at it, then remove it with `{remove}`.",
    )


async def _push(git: GitRunner, mirror: Path, source: Path | str, branch: str, head: str, *more: str) -> None:
    # A remote host runs its own hooks itself; those of a folder on this machine would run as us.
    here = (f"--receive-pack={git.far_side('receive-pack', source)}",) if isinstance(source, Path) else ()
    target = f"{head}:refs/heads/{branch}"
    words = (*PUSH, *more, *here, str(source), target)
    if not isinstance(source, Path):
        code, _, complaints = await git.toward(source).converse(mirror, *words)
        if code:
            raise push_refused(source, branch, complaints)
        return
    code, _, complaint = await git.attempt(mirror, *words)
    if code:
        raise Refused(
            f"{source} rejected {branch}: {complaint or 'no reason given'}.",
            hint=f"If it is checked out, leave it with `git -C {quoted(source)} switch -`; "
            "a branch named 'agent' would also be in the way.",
        )
