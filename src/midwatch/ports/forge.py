"""Forges, which receive work and hold pull requests; and the git they use for it."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from midwatch.terms.forges import BranchSeen, Merged, PullRequestDraft, PullRequestPlace, PullRequestSeen, Rehearsed
from midwatch.terms.records import ProjectRow, PullRequestRow


class Forge(Protocol):
    """Receives work and holds pull requests."""

    @property
    def name(self) -> str:
        """Its name in the settings."""
        ...

    async def deliver(self, source: Path | str, project: str, job: str, head: str) -> str:
        """Write the agent's branch and return its name; repeating it changes nothing."""
        ...

    async def pushed(self, source: Path | str, project: str, job: str, head: str) -> BranchSeen:
        """Return where a job's branch is, and why this commit cannot follow it, if so."""
        ...

    async def open(self, draft: PullRequestDraft) -> PullRequestSeen:
        """Open a pull request for a delivered branch, or find its existing one; a closed one is refused."""
        ...

    async def look(self, place: PullRequestPlace) -> PullRequestSeen:
        """Return the state of a pull request on the forge."""
        ...

    async def comment(self, place: PullRequestPlace, text: str) -> None:
        """Comment on a pull request, if the forge has comments."""
        ...

    async def close(self, place: PullRequestPlace) -> None:
        """Close a pull request without merging, when a person asks for it; its branch stays."""
        ...

    async def merge(self, project: str, source: Path | str, job: str, head: str, into: str, title: str) -> Merged:
        """Merge, when a person asks for it."""
        ...

    async def unmerge(self, place: PullRequestPlace, sha: str) -> str:
        """Take a merge made here back, if nothing was added since; return where the branch is again."""
        ...

    async def rehearse(self, source: Path | str, project: str) -> tuple[Rehearsed, ...]:
        """Try what a delivery will need, without leaving a trace; return one line for each, with its fix."""
        ...


class Forges(Protocol):
    """Decides which forge a project uses."""

    def of(self, project: ProjectRow) -> Forge:
        """Choose a project's forge."""
        ...

    def named(self, name: str) -> Forge:
        """Return a forge by its name; refused if the settings have none of that name."""
        ...


@dataclass(frozen=True, slots=True)
class BranchAdvance:
    """A person's branch that moves from one commit to another, completely or not at all."""

    project: str
    source: str
    into: str
    stack: str
    old: str
    new: str


class BranchMover(Protocol):
    """The forge on this machine, which moves a branch when a person asks for it."""

    async def advance(self, asked: BranchAdvance) -> Merged:
        """Move a branch forward to a stack's last commit; repeating it changes nothing."""
        ...

    async def take_back(self, asked: BranchAdvance) -> None:
        """Move a branch back, if it is still where the stack left it."""
        ...

    async def lacking(self, source: Path, into: str, commits: Sequence[str]) -> frozenset[str]:
        """Return which of these commits a branch does not have; all of them if it cannot be found out."""
        ...


class Commenter(Protocol):
    """A remote forge, whose pull requests have comments."""

    async def comment(self, pull_request: PullRequestRow, text: str) -> None:
        """Post a comment."""
        ...


class GitRunner(Protocol):
    """Runs git with a clean environment and no hooks."""

    def toward(self, source: Path | str) -> "GitRunner":
        """Make a runner that can reach this one source, a folder or a URL, by its own transport."""
        ...

    async def run(self, repository: Path, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run git and return what it printed; raise Broken when it fails."""
        ...

    async def text(self, repository: Path, *arguments: str, stdin: bytes = b"") -> str:
        """Run git and return what it printed as text without the line end."""
        ...

    async def attempt(self, repository: Path, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
        """Run git and return exit code, output and the line of its error output that gives the reason."""
        ...

    async def converse(self, repository: Path, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
        """Run git and return exit code, output and all of its error output."""
        ...

    def far_side(self, program: str, at: Path | None = None) -> str:
        """Name the program at the other end of a fetch or push, with the same restrictions; `at` is where it writes."""
        ...


class MirrorKeeper(Protocol):
    """Maintains Midwatch's own copy of each project."""

    async def refresh(self, project: str, source: Path | str) -> None:
        """Update the mirror from the person's repository."""
        ...

    def held(self, project: str) -> AbstractAsyncContextManager[tuple[Path, GitRunner]]:
        """Lock the mirror for writing."""
        ...
