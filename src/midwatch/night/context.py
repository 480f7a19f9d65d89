"""What the night works with, in five parts of ports; compose chooses the implementations."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from midwatch.ports.agent import Agent
from midwatch.ports.books import Books
from midwatch.ports.brain import Brain
from midwatch.ports.channel import NoticeLog, Outlet
from midwatch.ports.door import Door
from midwatch.ports.forge import Forges
from midwatch.ports.network import Networks
from midwatch.ports.workspace import Mirrors, Proofs, Quarantine, Rooms, Upkeep
from midwatch.terms.agents import ModelAccess


class WakeUps:
    """Wakes the task in this process that works on a job, when the job must stop."""

    def __init__(self) -> None:
        self._wake_ups: dict[str, asyncio.Event] = {}

    def of(self, job: str) -> asyncio.Event:
        return self._wake_ups.setdefault(job, asyncio.Event())

    def wake_now(self, job: str) -> None:
        """Wake the task that waits for this job."""
        if job in self._wake_ups:
            self._wake_ups[job].set()

    def hangs(self, job: str) -> bool:
        """Whether a task in this process works on a job."""
        return job in self._wake_ups

    def put_away(self, job: str, wake_up: asyncio.Event) -> None:
        """Remove the event of an attempt that is over; the event of another attempt stays."""
        if self._wake_ups.get(job) is wake_up:
            self._wake_ups.pop(job)


@dataclass(frozen=True, slots=True)
class Roster:
    """Who can be given work."""

    agents: Mapping[str, Agent]
    models: Mapping[str, ModelAccess]
    """The model of each model-driven agent."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where jobs work on this machine, and what stops them."""

    mirrors: Mirrors
    rooms: Rooms
    networks: Networks
    quarantine: Quarantine
    proofs: Proofs
    upkeep: Upkeep
    wake_ups: WakeUps = field(default_factory=WakeUps)


@dataclass(frozen=True, slots=True)
class Outside:
    """Where work and messages go, and the door that work passes."""

    door: Door
    forges: Forges
    channel: NoticeLog
    outlet: Outlet


@dataclass(frozen=True, slots=True)
class Night:
    """Everything the night works with; only what hands out all kinds of work takes it whole."""

    books: Books
    brain: Brain
    roster: Roster
    workspace: Workspace
    outside: Outside
