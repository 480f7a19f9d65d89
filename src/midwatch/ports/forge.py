"""Forges: where work is delivered and pull requests are kept; and the git they use to get it there."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from midwatch.terms.forges import BranchSeen, Merged, PullRequestDraft, PullRequestPlace, PullRequestSeen, Rehearsed
from midwatch.terms.records import ProjectRow, PullRequestRow


class Forge(Protocol):
    """Where work is delivered, and a pull request kept."""

    @property
    def name(self) -> str:
        """Its name in the settings."""
        ...

    async def deliver(self, source: Path | str, project: str, job: str, head: str) -> str:
        """Write the agent's branch and return its name; repeating it changes nothing."""
        ...

    async def pushed(self, source: Path | str, project: str, job: str, head: str) -> BranchSeen:
        """Return where a job's branch is, and what keeps this commit from following on it."""
        ...

    async def open(self, draft: PullRequestDraft) -> PullRequestSeen:
        """Open a pull request for a delivered branch, or find the one it has; a closed one is refused."""
        ...

    async def look(self, place: PullRequestPlace) -> PullRequestSeen:
        """Return the state of a pull request there."""
        ...

    async def comment(self, place: PullRequestPlace, text: str) -> None:
        """Comment on a pull request, where the forge has comments."""
        ...

    async def close(self, place: PullRequestPlace) -> None:
        """Close a pull request without merging, on a person's word; its branch stays."""
        ...

    async def merge(self, project: str, source: Path | str, job: str, head: str, into: str, title: str) -> Merged:
        """Merge on a person's word."""
        ...

    async def rehearse(self, source: Path | str, project: str) -> tuple[Rehearsed, ...]:
        """Try what a delivery will need, without leaving a trace: a line each, with its fix."""
        ...


class Forges(Protocol):
    """Knows which forge a project has; nothing else decides that."""

    def of(self, project: ProjectRow) -> Forge:
        """Choose a project's forge."""
        ...

    def named(self, name: str) -> Forge:
        """Give a forge by its name; refused where the settings have none of that name."""
        ...


@dataclass(frozen=True, slots=True)
class BranchAdvance:
    """A person's branch that is to move from one commit to another, in one piece or not at all."""

    project: str
    source: str
    into: str
    stack: str
    old: str
    new: str


class BranchMover(Protocol):
    """The forge on this machine, where a branch moves on a person's word."""

    async def advance(self, asked: BranchAdvance) -> Merged:
        """Move a branch forward to a stack's last commit; done already, it changes nothing."""
        ...

    async def take_back(self, asked: BranchAdvance) -> None:
        """Move a branch back, if it is still where the stack left it."""
        ...


class Commenter(Protocol):
    """A forge elsewhere, where pull requests have comments."""

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
        """Run git and return exit code, output and complaint."""
        ...

    async def converse(self, repository: Path, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
        """Run git and return exit code, output and all of its complaint."""
        ...

    def far_side(self, program: str) -> str:
        """Name the program at the other end of a fetch or push, hardened as well."""
        ...


class MirrorKeeper(Protocol):
    """Keeps our own copy of each project."""

    async def refresh(self, project: str, source: Path | str) -> None:
        """Bring the mirror up to date with the person's repository."""
        ...

    def held(self, project: str) -> AbstractAsyncContextManager[tuple[Path, GitRunner]]:
        """Hold the mirror for writing."""
        ...
