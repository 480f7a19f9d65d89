"""What the night needs from forges, as roles."""

from pathlib import Path
from typing import Protocol

from midwatch.terms.forges import BranchSeen, Merged, PullRequestDraft, PullRequestPlace, PullRequestSeen, Rehearsed
from midwatch.terms.records import ProjectRow


class Forge(Protocol):
    """Where work is delivered, and a pull request kept."""

    @property
    def name(self) -> str:
        """What the settings call it."""
        ...

    async def deliver(self, source: Path | str, project: str, job: str, head: str) -> str:
        """Write the agent's branch and tell its name; the same again changes nothing."""
        ...

    async def pushed(self, source: Path | str, project: str, job: str, head: str) -> BranchSeen:
        """Tell where a job's branch lies, and what keeps this commit from following on it."""
        ...

    async def open(self, draft: PullRequestDraft) -> PullRequestSeen:
        """Open a pull request for a delivered branch, or find the one it has; a closed one is refused."""
        ...

    async def look(self, place: PullRequestPlace) -> PullRequestSeen:
        """Tell how a pull request stands there now."""
        ...

    async def comment(self, place: PullRequestPlace, text: str) -> None:
        """Say something under a pull request, where somebody may read it."""
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
    """Knows which forge a project has; nobody else decides that."""

    def of(self, project: ProjectRow) -> Forge:
        """Choose a project's forge."""
        ...

    def named(self, name: str) -> Forge:
        """Give a forge by its name; refused where none has it any more."""
        ...
