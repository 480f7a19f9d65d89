"""What the night needs from outside, as ports; compose chooses the implementations."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from midwatch.ports.agent import Agent
from midwatch.ports.brain import Brain
from midwatch.ports.channel import NoticeLog, Outlet
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
class Night:
    """Everything the night works with."""

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
    channel: NoticeLog
    outlet: Outlet
    machine: Machine
    door: Door
    networks: Networks
    models: Mapping[str, ModelAccess]
    """The model of each model-driven agent."""
    worker: str
    wake_ups: WakeUps = field(default_factory=WakeUps)
