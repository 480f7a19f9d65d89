"""A night with jobs that spend: real records, the real ledger, a real proxy for each job, and a scripted model."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx

from midwatch.compose.crew import owners_of
from midwatch.evening.shown_sheet import orders_hash
from midwatch.gateway.metering import PriceList, Upstream
from midwatch.gateway.model_access import ModelProxies
from midwatch.gateway.vault import Vault
from midwatch.journal.events import Event, session
from midwatch.journal.events.jobs import RunStarted
from midwatch.rules.budget.reservation import Held
from midwatch.rules.invariants.records_seen import RecordsSeen
from midwatch.rules.invariants.spending import within_ceilings
from midwatch.settings import Settings
from midwatch.store.ids import Ulids
from midwatch.store.schema.engines import is_sqlite
from midwatch.store.schema.migrate import migrate
from midwatch.store.schema.tables import leases
from midwatch.store.side.ledger import Owners, Payers, SqlLedger
from midwatch.store.writer import DatabaseWriter
from midwatch.terms.agents import ModelAccess
from midwatch.terms.orders import Limits, Orders
from midwatch.terms.records import JobRow, RunRow, SessionRow
from midwatch.terms.secrets import SecretReference
from tests.agents.model import Model, scripted_model
from tests.journal.samples import sample
from tests.patience import PATIENCE
from tests.store import scenes
from tests.store.opened import Store, opened

JOBS = tuple(f"job_{number}" for number in range(1, 9))
PATIENT = 60.0


def history(limits: Limits) -> tuple[Event, ...]:
    """A night with these limits under way, and eight jobs in it, each with a project and a run of its own."""
    orders = Orders(limits=limits)
    opened_night = session.SessionOpened(session=scenes.NIGHT, orders=orders)
    signed = session.OrdersSigned(session=scenes.NIGHT, orders_hash=orders_hash(orders), by="ann")
    work: list[Event] = []
    for number, job in enumerate(JOBS, 1):
        contract = {"max_usd_micros": 10**9, "max_tokens": 10**9}
        project = scenes.project(f"project-{number}", f"prj_{number}")
        run = sample(RunStarted, run=f"run_{number}", session=scenes.NIGHT, project=project.project.id)
        assert isinstance(run, RunStarted)
        bounds = run.contract.constraints.model_copy(update=contract)
        run = run.model_copy(update={"contract": run.contract.model_copy(update={"constraints": bounds})})
        work += [project, run, scenes.job(job, project.project.id).model_copy(update={"run": run.run})]
    return (opened_night, signed, scenes.begin(), *work)


@dataclass(frozen=True)
class Elsewhere:
    """A scripted model that another process serves."""

    port: int
    provider: str = "anthropic"
    model: str = "claude-sonnet-4-5"


@dataclass
class SpendingNight:
    """Eight jobs at their doors."""

    store: Store
    model: Model
    doors: dict[str, tuple[str, str]]
    """For each job where its door is, and what to present there."""
    held: Callable[[], Awaitable[tuple[Held, ...]]]
    """What is set aside just now."""

    async def ask(self, job: str, body: dict[str, object]) -> httpx.Response:
        """Ask as an agent would, and hear the answer to its end."""
        url, key = self.doors[job]
        async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
            return await client.post(f"{url}/v1/messages", json=body, headers={"x-api-key": key})

    async def broken(self) -> list[str]:
        """Hold the invariant of spending against what is written."""
        find = self.store.records.find
        seen = RecordsSeen(
            sessions=await find(SessionRow), runs=await find(RunRow), jobs=await find(JobRow), held=await self.held()
        )
        return [text for text, _ in within_ceilings(await self.store.journal.entries(limit=10_000), seen)]

    async def is_booked(self) -> None:
        """Wait until nothing is set aside: an answer that was left is booked after its job has gone on."""
        async with asyncio.timeout(PATIENCE):
            while await self.held():  # noqa: ASYNC110 - another process may book it too
                await asyncio.sleep(0.01)

    async def jobs(self) -> list[JobRow]:
        """Read what each job has spent."""
        return list(await self.store.records.find(JobRow))


@asynccontextmanager
async def spending_night(
    url: str, folder: Path, limits: Limits, *, workers: int = 1, blind: bool = False, at: Elsewhere | None = None
) -> AsyncIterator[SpendingNight]:
    """Open the night; on PostgreSQL several workers share the eight jobs, each with a line of its own.

    A blind ledger knows of no ceilings. A model that is elsewhere is not served here, nor can its scripts be laid down.
    """
    file = folder / "secret"
    file.touch(0o600)
    file.write_text("sk-ant-api03-a-real-secret-of-the-house")
    vault = Vault({"model": SecretReference.read(f"file:{file}")})
    migrate(url)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(opened(url))
        model = Model(at.port) if at else await stack.enter_async_context(scripted_model())
        await store.journal.record(*history(limits))
        shared = [
            await stack.enter_async_context(_worker(store, vault, f"w{number}", blind=blind))
            for number in range(workers)
        ]
        group = await stack.enter_async_context(_serving())
        night = SpendingNight(store, model, {}, shared[0].ledger.held)
        for number, job in enumerate(JOBS):
            doors = shared[number % workers]
            named, where = at or Elsewhere(0), model.address(job)
            access = ModelAccess(provider=named.provider, model=named.model, secret="model", base_url=where)
            grant = doors.grant(job, 1, "execute", access)
            listener = socket.create_server(("127.0.0.1", 0), backlog=100)
            night.doors[job] = f"http://127.0.0.1:{listener.getsockname()[1]}", grant.placeholder
            group.append(asyncio.create_task(doors.proxy_for(grant).serve([listener])))
        yield night


@asynccontextmanager
async def _serving() -> AsyncIterator[list[asyncio.Task[None]]]:
    tasks: list[asyncio.Task[None]] = []
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def _worker(store: Store, vault: Vault, name: str, *, blind: bool) -> AsyncIterator[ModelProxies]:
    writer, upstream = DatabaseWriter(store.url), Upstream()
    owners = _unlimited if blind else owners_of(Settings, store.clock)
    if not is_sqlite(store.url):
        with store.behind() as tx:
            tx.execute(leases.insert().values(executor=name, beat=store.clock.now() + timedelta(days=1)))
    ledger = SqlLedger(writer, Ulids(store.clock), owners, worker=name, patience=PATIENT)
    try:
        yield ModelProxies(
            journal=store.journal,
            vault=vault,
            ledger=ledger,
            prices=PriceList(),
            upstream=upstream,
            clock=store.clock,
            key=os.urandom(32),
        )
    finally:
        await upstream.close()
        await writer.close()


def _unlimited(payers: Payers) -> Owners:
    return Owners(payers.job.id, payers.run.id, payers.session.id, {})
