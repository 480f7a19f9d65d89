"""All of Midwatch in one object: every part, and which implementation each port gets."""

import asyncio
import contextlib
import logging
import os
import socket
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from midwatch.brains.rules_brain import RulesBrain
from midwatch.channels.by_apprise import AppriseOutlet
from midwatch.channels.log import LogChannel
from midwatch.compose.crew import Crew, house_key, owners_of
from midwatch.compose.forges import Comments, ConfiguredForges, Keyring
from midwatch.compose.preflight import Preflights
from midwatch.compose.read_side import ReadSide
from midwatch.engine.clocks import SystemClock
from midwatch.engine.inline import InlineEngine
from midwatch.errors import MidwatchError
from midwatch.evening.accounts import Entrance
from midwatch.evening.context import Evening
from midwatch.gateway.door import TracedDoor
from midwatch.gateway.metering import PriceList, Upstream
from midwatch.gateway.model_access import ModelProxies
from midwatch.gateway.redaction.journal_entries import EntryRedactor
from midwatch.gateway.redaction.redactor import Redactor
from midwatch.gateway.registries import RegistryAccess, RegistryBook
from midwatch.gateway.room_network import RoomNetworks, route_of
from midwatch.gateway.vault import Vault
from midwatch.journal.entry import Entry
from midwatch.journal.events.jobs import JobBoxed, JobStopRequested, JobWarned
from midwatch.journal.events.projects import SettingsApplied
from midwatch.journal.events.session import AskAnswered, AskExpired, AskWithdrawn
from midwatch.morning import brief, build_stack, job_records
from midwatch.morning.context import Morning
from midwatch.night.context import Night, Outside, Roster, Workspace
from midwatch.night.delivery.forge_watch import ForgeWatch
from midwatch.night.dispatcher import Performer
from midwatch.night.jobs.time_box_warning import wake_up_key
from midwatch.night.recovery.duties import Duties
from midwatch.night.recovery.overdue import Patrol
from midwatch.night.timers import TimerLoop
from midwatch.ports.agent import Agent
from midwatch.ports.books import Books
from midwatch.ports.brain import Brain
from midwatch.ports.channel import Outlet
from midwatch.ports.clock import Clock, Ids
from midwatch.ports.machine import Machine
from midwatch.rules.budget.egress import rules_of
from midwatch.settings import Settings, model_prices, secret_references
from midwatch.settings.derived import channel_secret, secret_files
from midwatch.store.blobs import FolderBlobs
from midwatch.store.ids import Ulids
from midwatch.store.journal import SqlJournal
from midwatch.store.rebuild import Audit, audit
from midwatch.store.side.credentials import SqlKeys
from midwatch.store.side.idempotency import SqlAnswers
from midwatch.store.side.ledger import SqlLedger
from midwatch.store.writer import DatabaseWriter
from midwatch.terms.agents import ModelAccess
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.isolation import enclosure, stand
from midwatch.workshop.sandbox.walls.probe import IsolationFound
from midwatch.workshop.sandbox.walls.spec import SandboxLimits
from midwatch.workshop.upkeep.machine import ThisMachine
from midwatch.workshop.workshop import Workshop

if TYPE_CHECKING:  # a reader needs no engine
    from midwatch.engine.work_engine import WorkEngine

log = logging.getLogger(__name__)
GATHER_SECONDS = 0.1
"""How late a worker may see another's entry: reading each one by itself would halve what a worker can record."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a test or the demo may replace."""

    clock: Clock = field(default_factory=SystemClock)
    ids: Ids | None = None
    engine: "WorkEngine | InlineEngine | None" = None
    brain: Brain = field(default_factory=RulesBrain)
    agents: dict[str, Agent] | None = None
    models: dict[str, ModelAccess] = field(default_factory=dict)
    """The model of each model-driven agent."""
    machine: Machine | None = None
    outlet: Outlet | None = None
    standing: IsolationFound | None = None
    """Which sandbox to build; without it, Midwatch tries which one works."""


class House(ReadSide):
    """Every part of one running Midwatch."""

    journal: SqlJournal

    def __init__(self, home: Path, *, flags: dict[str, JsonValue] | None = None, parts: Parts | None = None) -> None:
        self.parts = parts = parts or Parts()
        super().__init__(home, flags=flags, clock=parts.clock)
        self.ids = parts.ids or Ulids(parts.clock)
        self.worker = f"{socket.gethostname()}-{os.getpid()}-{self.ids.new('w')[-6:]}"
        self.redactor = Redactor()
        self.vault = Vault({}, on_read=self.redactor.know)
        self._open_for_writing()
        self.standing = parts.standing or stand(self.loaded.settings.sandbox.isolation)
        self.crew = Crew(dict(parts.agents), parts.models, fixed=True) if parts.agents else Crew()
        keys = Keyring(self.vault, lambda: self.loaded.settings)
        self.workshop = Workshop(home, self._enclosure(), reveals=self.redactor.reveals, keys=keys)
        self.forges = ConfiguredForges(self.workshop.mirrors, self.vault, self.clock, lambda: self.loaded.settings)
        self.doors = self._model_doors()
        self._apprise = AppriseOutlet(self._address, lambda: self.loaded.settings)
        self.books = self._books()
        self.evening = self._evening()
        self.night = self._night()
        self.morning = self._morning()
        self.entrance = self._entrance()
        self._heard_upto = 0
        self.duties = Duties(self.books, self.redactor.redact)
        self.timers = TimerLoop(self.books, self.duties)
        self.forge_watch = ForgeWatch(self.books, self.forges, self.forges.local)
        self.performer = self._performer()

    def _open_for_writing(self) -> None:
        """Open what reading does not need: the writer, the journal that records, and blobs without secrets."""
        self.writer = DatabaseWriter(self.url)
        scrub = EntryRedactor(self.redactor)
        self.journal = SqlJournal(self.writer, self.reader, url=self.url, clock=self.clock, ids=self.ids, scrub=scrub)
        self.blobs = FolderBlobs(self.home / "blobs", scrub=self.redactor.redact_bytes)
        self.answers = SqlAnswers(self.writer, self.reader)

    def _model_doors(self) -> ModelProxies:
        """They share one ledger, one price list and one HTTP client."""
        owners = owners_of(lambda: self.loaded.settings, self.clock)
        return ModelProxies(
            journal=self.journal,
            vault=self.vault,
            ledger=SqlLedger(self.writer, self.ids, owners, worker=self.worker),
            prices=PriceList(),
            upstream=Upstream(),
            clock=self.clock,
            key=house_key(self.home),
        )

    def _books(self) -> Books:
        return Books(
            journal=self.journal,
            records=self.records,
            blobs=self.blobs,
            clock=self.clock,
            ids=self.ids,
            settings=lambda: self.loaded.settings,
            machine=self.parts.machine or ThisMachine(self.home, lambda: self.workshop.rooms.isolation),
            worker=self.worker,
        )

    def patrol(self) -> Patrol:
        """Make what looks for lost work once a minute."""
        night = self.night
        return Patrol(self.books, night.workspace, night.outside, self.performer.perform, self.duties)

    def _evening(self) -> Evening:
        return Evening(books=self.books, inspector=self.workshop.mirrors, agents=self.crew.agents.keys())

    def _night(self) -> Night:
        return Night(
            books=self.books,
            brain=self.parts.brain,
            roster=Roster(agents=self.crew.agents, models=self.crew.models),
            workspace=Workspace(
                mirrors=self.workshop.mirrors,
                rooms=self.workshop.rooms,
                networks=RoomNetworks(self.journal, self.vault, self.doors, self._registries()),
                quarantine=self.workshop.quarantine,
                proofs=self.workshop.proofs,
                upkeep=self.workshop.upkeep,
            ),
            outside=Outside(
                door=TracedDoor(self.journal),
                forges=self.forges,
                channel=LogChannel(self.home / "notices.log"),
                outlet=self.parts.outlet or self._apprise,
            ),
        )

    def _registries(self) -> RegistryAccess:
        return RegistryAccess(RegistryBook(self.redactor.know), house_key(self.home), self.home, self.clock)

    def _morning(self) -> Morning:
        return Morning(
            books=self.books,
            mirrors=self.workshop.mirrors,
            merges=self.workshop.merger,
            proofs=self.workshop.proofs,
            upkeep=self.workshop.upkeep,
            forge=self.forges.local,
            door=TracedDoor(self.journal),
            comments=Comments(self.forges, self.records),
        )

    def _performer(self) -> Performer:
        return Performer(
            self.night,
            close_job=lambda books, job: job_records.close_job(books, self.workshop.mirrors, job),
            debrief=self._debrief,
            evening=Preflights(self),
            stack=lambda books, stack: build_stack.make(replace(self.morning, books=books), stack),
        )

    async def _debrief(self, books: Books, session: str) -> None:
        await self.look_here()  # a brief that recommends what a person has merged already would be wrong
        await brief.debrief(books, session)

    async def _address(self, channel: str) -> str:
        return (await self.vault.secret(channel_secret(channel))).reveal()

    def _enclosure(self) -> Enclosure:
        return self._enclosure_for(self.loaded.settings, self.standing, self.crew.lent)

    def _enclosure_for(self, settings: Settings, standing: IsolationFound, lent: tuple[str, ...]) -> Enclosure:
        sandbox = settings.sandbox
        return enclosure(
            standing.isolation,
            self.home,
            (*sandbox.toolchains, *lent),
            limits=SandboxLimits.of(sandbox),
            copies_setup=sandbox.copy_setup,
            scrub=self.redactor.stream,
            kept=secret_files(settings),
        )

    async def rehearse(self, settings: Settings) -> None:
        """Raise where a start with these settings would fail, or a job could not be given what they name."""
        standing = self.parts.standing or stand(settings.sandbox.isolation)
        for text in settings.sandbox.registries:
            route_of(text, self.vault)
        for hosts in (settings.sandbox.domains, settings.sandbox.setup_domains, settings.ceilings.domains):
            rules_of(hosts)
        model_prices(settings)
        crew = Crew(fixed=self.crew.fixed)
        await asyncio.to_thread(crew.call, settings, self.home)
        await asyncio.to_thread(self._enclosure_for, settings, standing, crew.lent)

    def _entrance(self) -> Entrance:
        return Entrance(
            journal=self.journal,
            records=self.records,
            keys=SqlKeys(self.writer, self.reader),
            clock=self.clock,
            ids=self.ids,
            idle=lambda: timedelta(hours=self.loaded.settings.server.login_idle_hours),
            longest=lambda: timedelta(days=self.loaded.settings.server.login_days),
        )

    async def reload_settings(self) -> None:
        """Load the settings with their stored versions, and apply them to every part."""
        await super().reload_settings()
        self.standing = self.parts.standing or stand(self.loaded.settings.sandbox.isolation)
        await asyncio.to_thread(self.crew.call, self.loaded.settings, self.home)
        self.workshop.refit(await asyncio.to_thread(self._enclosure))
        self.doors.prices.override(model_prices(self.loaded.settings))
        if self.vault.refer(secret_references(self.loaded.settings)):
            for error in (await self.vault.unlock()).values():
                log.warning("%s %s", error.message, error.hint)

    def heard(self, entries: tuple[Entry, ...]) -> None:
        """Wake what waits for entries recorded in this process."""
        self.timers.wake_now()
        for entry in entries:
            if isinstance(entry.event, JobStopRequested | JobBoxed):
                self.night.workspace.wake_ups.wake_now(entry.event.job)
            elif isinstance(entry.event, JobWarned):
                self.night.workspace.wake_ups.wake_now(wake_up_key(entry.event.job, entry.event.epoch))
            elif isinstance(entry.event, AskAnswered | AskExpired | AskWithdrawn):
                self.night.workspace.wake_ups.wake_now(entry.event.ask)

    async def listen(self, after: int) -> None:
        """Follow the journal, and wake what waits here for entries recorded by any process."""
        self._heard_upto = max(self._heard_upto, after)
        async for entry in self.journal.tail(after=self._heard_upto, gather=GATHER_SECONDS):
            self._heard_upto = entry.seq
            self.heard((entry,))
            if isinstance(entry.event, SettingsApplied):
                with contextlib.suppress(MidwatchError):  # the file is broken: the settings in force stay
                    await self.reload_settings()

    def troubles(self) -> tuple[str, ...]:
        return self.duties.troubles()

    async def look_here(self) -> None:
        await self.forge_watch.look_here()

    def audit(self) -> Audit:
        """Verify the hash chain, and compare the records with a rebuild; blocking."""
        return audit(self.url)

    async def dispose(self) -> None:
        """Close the connections to models and forges, and the database."""
        await asyncio.to_thread(self.workshop.nursery.close)
        await self.doors.close()
        await self.forges.close()
        self._apprise.close()
        await self.writer.close()
        await super().dispose()
