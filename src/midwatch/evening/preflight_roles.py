"""What a preflight needs from the world, as roles; compose decides who plays them."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from midwatch.evening.roles import Evening
from midwatch.rules.people.preflight import Tried
from midwatch.terms.jobs import CheckResult, RepositoryFacts
from midwatch.terms.preflight import AgentSeen, ProjectTried, SleepSeen
from midwatch.terms.trust import Isolation


class Yard(Protocol):
    """Does with a project what a job will do with it, in the same walls and with the same cache."""

    async def clone(self, project: ProjectTried) -> RepositoryFacts:
        """Bring our mirror up to date; tell where work would begin and what is uncommitted."""
        ...

    async def set_up(self, preflight: str, project: ProjectTried, commit: str, wall: timedelta) -> tuple[str, bool]:
        """Have the project's setup ready; tell its fingerprint, and whether it was there already."""
        ...

    async def check(
        self, preflight: str, project: ProjectTried, commit: str, setup_key: str, wall: timedelta
    ) -> tuple[CheckResult, ...]:
        """Run the checks on a fresh checkout of the commit."""
        ...

    async def rehearse(self, project: ProjectTried) -> tuple[Tried, ...]:
        """Try what a delivery will need, without leaving a trace."""
        ...

    async def clear_up(self, preflight: str) -> None:
        """Leave nothing lying about."""
        ...


class Reach(Protocol):
    """Reaches those the night will need: agents' models, and the person."""

    async def greet(self, agent: str) -> AgentSeen:
        """Say hello to an agent's model with its own credential."""
        ...

    async def ping(self, channel: str) -> None:
        """Send one quiet line, or raise what kept it from going."""
        ...


class Machine(Protocol):
    """The computer we stand on."""

    def free_memory(self) -> int:
        """Bytes."""
        ...

    def free_disk(self) -> int:
        """Bytes where the data folder is."""
        ...

    def isolation(self) -> Isolation:
        """How strongly jobs can be kept apart here."""
        ...

    def walls(self) -> tuple[str, str]:
        """Why they are no stronger, and how to have stronger ones."""
        ...

    def sleep(self) -> SleepSeen:
        """Whether it will sleep tonight."""
        ...


@dataclass(frozen=True, slots=True)
class Lookout:
    """Everyone a preflight needs."""

    evening: Evening
    yard: Yard
    reach: Reach
    machine: Machine
