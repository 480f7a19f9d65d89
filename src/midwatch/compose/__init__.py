"""Fitting the house together: the one place that knows every room and decides who plays which role."""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from pydantic import JsonValue

from midwatch.brains.rules_brain import RulesBrain
from midwatch.channels.log import LogChannel
from midwatch.compose.crew import Keepers, model_doors
from midwatch.crew.housekeeping import Housekeeper
from midwatch.engine.clocks import SystemClock
from midwatch.engine.folder_lock import FolderLock
from midwatch.engine.inline import InlineEngine
from midwatch.engine.lease import Lease
from midwatch.engine.loops import Loop, going_on
from midwatch.engine.work_engine import SINGLE, WorkEngine
from midwatch.errors import MidwatchError
from midwatch.evening.people import Entrance
from midwatch.evening.roles import Evening
from midwatch.forges.local import LocalForge
from midwatch.gateway.door import TracedDoor
from midwatch.gateway.doorkeeping import Doorkeeper
from midwatch.gateway.model_doors import ModelDoors
from midwatch.gateway.redaction.entries import Entries
from midwatch.gateway.redaction.redactor import Redactor
from midwatch.gateway.secrets import Vault
from midwatch.journal.entry import Entry
from midwatch.journal.events.house import SettingsApplied
from midwatch.journal.events.jobs import JobStopRequested
from midwatch.morning import brief, receipts
from midwatch.morning.roles import Morning
from midwatch.night.liveness import Patrol
from midwatch.night.perform import Performer
from midwatch.night.roles import Agent, Brain, Machine, Night
from midwatch.night.timers import TimerLoop
from midwatch.settings import Loaded, load_settings, secret_references
from midwatch.settings.preparing import prepare_folder
from midwatch.store.answers import SqlAnswers
from midwatch.store.blobs import FolderBlobs
from midwatch.store.engines import is_sqlite, open_for_engine, open_lease_writer, open_reader
from midwatch.store.folds import Folds
from midwatch.store.ids import Ulids
from midwatch.store.journal import SqlJournal
from midwatch.store.keys import SqlKeys
from midwatch.store.migrate import bring_into_shape
from midwatch.store.pen import Pen
from midwatch.store.reading import SqlRecords
from midwatch.terms.agents import ModelAccess
from midwatch.terms.records import SettingsRow
from midwatch.terms.roles import Clock, Ids
from midwatch.workshop.bench import Bench
from midwatch.workshop.enclosure import Enclosure
from midwatch.workshop.machine import ThisMachine
from midwatch.workshop.standing import enclosure, stand
from midwatch.workshop.walls.probe import Standing
from midwatch.workshop.walls.spec import MIB, Limits

log = logging.getLogger(__name__)
DATABASE = "midwatch.db"
GATHER_SECONDS = 0.1
"""How late a worker may hear of another's entry: reading each one by itself would halve what a worker can record."""
REST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Parts:
    """What a test or the demo may replace."""

    clock: Clock = field(default_factory=SystemClock)
    ids: Ids | None = None
    engine: WorkEngine | InlineEngine | None = None
    brain: Brain = field(default_factory=RulesBrain)
    agents: dict[str, Agent] | None = None
    models: dict[str, ModelAccess] = field(default_factory=dict)
    """Which model each model-driven agent asks."""
    machine: Machine | None = None
    standing: Standing | None = None
    """Which walls to build; found out by trying where nobody says."""


class House:
    """Everything, fitted together."""

    def __init__(self, home: Path, *, flags: dict[str, JsonValue] | None = None, parts: Parts | None = None) -> None:
        self.home = home
        self._flags = flags
        self.parts = parts = parts or Parts()
        self.loaded: Loaded = load_settings(home, flags=flags)
        self.url = database_url(home, self.loaded)
        self.pen, self.reader = Pen(self.url), open_reader(self.url)
        self.clock = parts.clock
        self.ids = parts.ids or Ulids(parts.clock)
        self.redactor = Redactor()
        self.vault = Vault({}, told=self.redactor.know)
        scrub = Entries(self.redactor)
        self.journal = SqlJournal(self.pen, self.reader, url=self.url, clock=self.clock, ids=self.ids, scrub=scrub)
        self.records = SqlRecords(self.reader)
        self.blobs = FolderBlobs(home / "blobs", scrub=self.redactor.redact_bytes)
        self.folds = Folds(self.pen, self.reader)
        self.standing = parts.standing or stand(self.loaded.settings.sandbox.isolation)
        self.bench = Bench(home, self._enclosure(), reveals=self.redactor.reveals)
        self.forge = LocalForge(self.bench.mirrors.git, self.bench.mirrors)
        self.worker = f"{socket.gethostname()}-{os.getpid()}-{self.ids.new('w')[-6:]}"
        agents = parts.agents or {"housekeeper": Housekeeper()}
        self.night = self._night(agents)
        self.evening = Evening(
            journal=self.journal,
            records=self.records,
            clock=self.clock,
            ids=self.ids,
            loaded=lambda: self.loaded,
            inspector=self.bench,
            agents=tuple(sorted(agents)),
        )
        self.entrance = self._entrance()
        self.answers = SqlAnswers(self.pen, self.reader)
        self.morning = Morning(
            journal=self.journal,
            records=self.records,
            blobs=self.blobs,
            clock=self.clock,
            ids=self.ids,
            settings=lambda: self.loaded.settings,
        )
        self._heard_upto = 0
        self.pages = ""  # where a browser finds this house, while it is served
        self.timers = TimerLoop(self.night)
        self.performer = Performer(
            self.night,
            close_job=lambda journal, job: receipts.close_job(replace(self.morning, journal=journal), job),
            debrief=lambda journal, session: brief.debrief(replace(self.morning, journal=journal), session),
        )

    def _model_doors(self) -> ModelDoors:
        keepers = Keepers(
            journal=self.journal,
            records=self.records,
            pen=self.pen,
            ids=self.ids,
            clock=self.clock,
            vault=self.vault,
            settings=lambda: self.loaded.settings,
            worker=self.worker,
        )
        return model_doors(keepers, self.home)

    def _night(self, agents: dict[str, Agent]) -> Night:
        return Night(
            journal=self.journal,
            records=self.records,
            blobs=self.blobs,
            clock=self.clock,
            ids=self.ids,
            settings=lambda: self.loaded.settings,
            brain=self.parts.brain,
            agents=agents,
            bench=self.bench,
            forge=self.forge,
            channel=LogChannel(self.home / "notices.log"),
            machine=self.parts.machine or ThisMachine(self.home, lambda: self.bench.isolation),
            door=TracedDoor(self.journal),
            doorkeeping=Doorkeeper(self.journal, self.vault, self._model_doors() if self.parts.models else None),
            models=self.parts.models,
            worker=self.worker,
        )

    def _enclosure(self) -> Enclosure:
        sandbox = self.loaded.settings.sandbox
        limits = Limits(processes=sandbox.max_processes, memory_bytes=sandbox.memory_mib * MIB)
        return enclosure(
            self.standing.isolation,
            self.home,
            sandbox.toolchains,
            limits=limits,
            copies_setup=sandbox.copy_setup,
            scrub=self.redactor.stream,
        )

    def _entrance(self) -> Entrance:
        return Entrance(
            journal=self.journal,
            records=self.records,
            keys=SqlKeys(self.pen, self.reader),
            clock=self.clock,
            ids=self.ids,
            idle=lambda: timedelta(hours=self.loaded.settings.server.login_idle_hours),
            longest=lambda: timedelta(days=self.loaded.settings.server.login_days),
        )

    async def reload_settings(self) -> None:
        """Take stored versions into account; called at start and whenever one is applied."""
        applied = [row for row in await self.records.find(SettingsRow, state="applied") if row.version is not None]
        stored = [row.changes for row in sorted(applied, key=lambda row: row.version or 0)]
        self.loaded = load_settings(self.home, stored=stored, flags=self._flags)
        self.standing = self.parts.standing or stand(self.loaded.settings.sandbox.isolation)
        self.bench.refit(self._enclosure())
        if self.vault.refer(secret_references(self.loaded.settings)):
            for error in (await self.vault.unlock()).values():
                log.warning("%s %s", error.message, error.hint)

    def heard(self, entries: tuple[Entry, ...]) -> None:
        """Something was recorded in this process."""
        self.timers.ring()
        for entry in entries:
            if isinstance(entry.event, JobStopRequested):
                self.night.bells.ring(entry.event.job)

    async def listen(self, after: int) -> None:
        """Something was recorded somewhere: ring whoever it concerns here."""
        self._heard_upto = max(self._heard_upto, after)
        async for entry in self.journal.tail(after=self._heard_upto, gather=GATHER_SECONDS):
            self._heard_upto = entry.seq
            self.heard((entry,))
            if isinstance(entry.event, SettingsApplied):
                with contextlib.suppress(MidwatchError):  # a broken file beside it: the settings in force stay
                    await self.reload_settings()

    async def dispose(self) -> None:
        """Close the database."""
        await self.pen.put_away()
        await self.reader.dispose()


def database_url(home: Path, loaded: Loaded) -> str:
    """Tell which database the settings name; SQLite in the data folder unless they say otherwise."""
    return loaded.settings.database.url or f"sqlite:///{home / DATABASE}"


@contextlib.asynccontextmanager
async def open_house(
    home: Path, *, flags: dict[str, JsonValue] | None = None, parts: Parts | None = None, extra_worker: bool = False
) -> AsyncIterator[House]:
    """Open the house for work: lock, migrate, engine, loops; and leave it in good order.

    One server per data folder; on PostgreSQL extra workers may join it.
    """
    prepare_folder(home)
    loaded = load_settings(home, flags=flags)
    url = database_url(home, loaded)
    lock = FolderLock(home)
    if is_sqlite(url) or not extra_worker:
        lock.take()
    try:
        await asyncio.to_thread(bring_into_shape, url)
        house = House(home, flags=flags, parts=parts)
        try:
            await house.reload_settings()
            house.journal.listeners.append(house.heard)
            async with _engine(house):
                yield house
        except BaseExceptionGroup as group:
            raise _the_one(group) from group
        finally:
            await house.dispose()
    finally:
        lock.release()


def _the_one(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Find our own error among those a task group tied together: it has the sentence."""
    ours, _ = group.split(MidwatchError)
    while ours is not None:
        first = ours.exceptions[0]
        if not isinstance(first, BaseExceptionGroup):
            return first
        ours = first
    return group


@contextlib.asynccontextmanager
async def _engine(house: House) -> AsyncIterator[None]:
    """Start the engine and the loops around whatever the caller does."""
    given = house.parts.engine
    server = house.loaded.settings.server
    postgres = not is_sqlite(house.url)
    sync = None if given else open_for_engine(house.url)
    executor = house.worker if postgres else SINGLE
    engine = given or WorkEngine(sync, executor=executor, poll_seconds=server.queue_poll_seconds)  # type: ignore[arg-type]
    lease = None
    if postgres and isinstance(engine, WorkEngine):
        lease = Lease(
            open_lease_writer(house.url), executor=executor, seconds=server.lease_seconds, recover=engine.recover
        )
        await lease.take()
    house.journal.queue = engine.queue
    await engine.start(house.performer.perform)
    try:
        async with asyncio.TaskGroup() as loops:
            wanted: list[Loop] = []
            if postgres:  # on SQLite nobody else can write: this process hears its own entries at once
                head = await house.records.head()
                wanted.append(lambda: house.listen(head))
            if given is None:
                wanted += [house.timers.run, Patrol(house.night, house.performer.perform).run]
            if lease is not None:
                wanted.append(lease.keep)
            running = [loops.create_task(going_on(loop)) for loop in wanted]
            try:
                yield
            finally:
                for task in running:
                    task.cancel()
    finally:
        await house.performer.rest(REST_SECONDS)
        house.performer.leave()
        await engine.stop()
        house.performer.left()
        if lease is not None:
            await lease.give_up()
        if sync is not None:
            sync.dispose()
