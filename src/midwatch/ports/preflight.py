"""What a preflight tries before the orders are signed."""

from datetime import timedelta
from typing import Protocol

from midwatch.ports.books import Books
from midwatch.rules.checks.setups import SetupChoice
from midwatch.terms.forges import Rehearsed
from midwatch.terms.jobs import CheckResult, RepositoryFacts
from midwatch.terms.preflight import AgentSeen, ProjectTried


class ProjectTrials(Protocol):
    """Does with a project what a job will do with it, in the same sandbox and with the same cache."""

    async def clone(self, project: ProjectTried) -> RepositoryFacts:
        """Update the mirror; return the base commit and what is uncommitted."""
        ...

    async def setup_choice(self, project: ProjectTried, commit: str) -> SetupChoice:
        """Choose the setup of a commit: what a person named, else what its lockfiles ask for."""
        ...

    async def missing_programs(
        self, preflight: str, project: ProjectTried, commit: str, programs: tuple[str, ...]
    ) -> tuple[CheckResult, ...]:
        """Say which programs a setup would not find in its sandbox, as the failures they would cause."""
        ...

    async def set_up(
        self, preflight: str, project: ProjectTried, commit: str, command: str, wall: timedelta
    ) -> tuple[str, bool]:
        """Make the project's setup available; return its fingerprint, and whether it was cached."""
        ...

    async def check(
        self, preflight: str, project: ProjectTried, commit: str, setup_key: str, wall: timedelta
    ) -> tuple[CheckResult, ...]:
        """Run the checks on a fresh checkout of the commit."""
        ...

    async def rehearse(self, project: ProjectTried) -> tuple[Rehearsed, ...]:
        """Try what a delivery will need, without leaving a trace."""
        ...

    async def clear_up(self, preflight: str) -> None:
        """Remove everything the preflight made."""
        ...


class Contacts(Protocol):
    """Contacts what the night will need: the agents' models, and the person."""

    async def greet(self, agent: str) -> AgentSeen:
        """Send a first request to an agent's model with its own credential."""
        ...

    async def ping(self, channel: str) -> None:
        """Send one quiet line, or raise the reason it could not be sent."""
        ...


class PreflightRunner(Protocol):
    """Runs preflights as queued work."""

    async def look(self, books: Books, preflight: str) -> None:
        """Run a preflight, or resume it."""
        ...

    async def sign(self, books: Books, preflight: str) -> None:
        """Give the signature that waited for this preflight, or drop it and say why."""
        ...

    async def give_up(self, books: Books, preflight: str, error: str) -> None:
        """End a preflight that cannot continue."""
        ...
