"""What the night needs from the world, as roles; compose decides who plays them."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from midwatch.ports.agent import Agent
from midwatch.ports.brain import Brain
from midwatch.ports.channel import Channel, Outlet
from midwatch.ports.clock import Clock, Ids
from midwatch.ports.door import Door
from midwatch.ports.forge import Forges
from midwatch.ports.journal import Blobs, Journal, Records
from midwatch.ports.machine import Machine
from midwatch.ports.network import Networks
from midwatch.ports.workspace import Mirrors, Proofs, Quarantine, Rooms, Upkeep
from midwatch.settings import Settings
from midwatch.terms.agents import ModelAccess


class WakeUps:
    """Wakes the one who works on a job, in this process, when somebody wants it to stop."""

    def __init__(self) -> None:
        self._bells: dict[str, asyncio.Event] = {}

    def of(self, job: str) -> asyncio.Event:
        """The job's own bell."""
        return self._bells.setdefault(job, asyncio.Event())

    def ring(self, job: str) -> None:
        """Wake whoever waits."""
        if job in self._bells:
            self._bells[job].set()

    def hangs(self, job: str) -> bool:
        """Whether somebody in this process works on a job."""
        return job in self._bells

    def put_away(self, job: str, bell: asyncio.Event) -> None:
        """This attempt is over; another's bell stays."""
        if self._bells.get(job) is bell:
            self._bells.pop(job)


@dataclass(frozen=True, slots=True)
class Night:
    """Everyone on watch."""

    journal: Journal
    records: Records
    blobs: Blobs
    clock: Clock
    ids: Ids
    settings: Callable[[], Settings]
    brain: Brain
    agents: dict[str, Agent]
    mirrors: Mirrors
    rooms: Rooms
    quarantine: Quarantine
    proofs: Proofs
    upkeep: Upkeep
    forges: Forges
    channel: Channel
    outlet: Outlet
    machine: Machine
    door: Door
    networks: Networks
    models: Mapping[str, ModelAccess]
    """Which model each model-driven agent asks."""
    worker: str
    wake_ups: WakeUps = field(default_factory=WakeUps)
