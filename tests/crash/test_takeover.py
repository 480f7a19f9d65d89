"""Three workers, one PostgreSQL, one data folder: one is killed, one frozen in mid-stage, the last delivers, once."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from midwatch.compose.house import House
from midwatch.engine.lease import LOST_LEASE
from midwatch.engine.work_engine import DurableQueue
from midwatch.evening import projects as by_day
from midwatch.evening import sign_orders
from midwatch.journal.events.jobs import JobClaimed
from midwatch.store.schema.engines import open_for_engine
from midwatch.surfaces.queries.audit import violations
from midwatch.surfaces.queries.replay import every_entry
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.records import JobRow, PullRequestRow, ReportRow
from tests.crash.doomed import FLAGS
from tests.nights.house import git, orders, sample_repository
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
BLOWS = (signal.SIGKILL, signal.SIGSTOP)
SLOW_CHECK = "sleep 2 && python3 check.py"


@contextmanager
def worker(home: Path, url: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.crash.worker", str(home), url]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()
        process.stdout.close()


async def until_claimed(house: House, stage: Stage) -> JobClaimed:
    async for entry in house.journal.tail(after=0):
        if isinstance(entry.event, JobClaimed) and entry.event.stage is stage:
            return entry.event
    raise AssertionError


async def until_reported(house: House) -> None:
    async for entry in house.journal.tail(after=0):
        if entry.event.kind == "report.written":
            return


async def taken_over(house: House, workers: list[subprocess.Popen[str]], before: JobClaimed) -> JobClaimed:
    """Wait until one of these workers has claimed the job anew."""
    async for entry in house.journal.tail(after=0):
        event = entry.event
        if isinstance(event, JobClaimed) and event.epoch > before.epoch and of(event, workers):
            return event
    raise AssertionError


def of(claimed: JobClaimed, workers: list[subprocess.Popen[str]]) -> subprocess.Popen[str] | None:
    """The worker that claimed it, if it is one of these."""
    return next((one for one in workers if f"-{one.pid}-" in claimed.worker), None)


async def night(house: House, source: Path, workers: list[subprocess.Popen[str]]) -> list[float]:
    """Hit whichever worker has the job, twice; give the seconds until another one had it."""
    await by_day.add_project(house.evening, source, by="ann", name="sample", checks=(SLOW_CHECK,))
    await sign_orders.draft(house.evening, orders("Tidy up"), by="ann")
    await sign_orders.start(house.evening, by="ann")
    claimed, left, took, victim = await until_claimed(house, Stage.VERIFY), [*workers], [], None
    for blow in BLOWS:
        victim = of(claimed, left)
        assert victim is not None
        left.remove(victim)
        os.kill(victim.pid, blow)
        hit = time.monotonic()
        claimed = await taken_over(house, left, claimed)
        took.append(time.monotonic() - hit)
    await until_reported(house)
    assert victim is not None
    os.kill(victim.pid, signal.SIGCONT)
    assert await asyncio.to_thread(victim.wait, PATIENCE) == LOST_LEASE
    return took


@pytest.mark.crash
@pytest.mark.postgres
async def test_another_worker_takes_over_and_delivers_once(
    tmp_path: Path, postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first is killed, the second that has the job is frozen, and the third delivers."""
    source = sample_repository(tmp_path / "sample")
    home = tmp_path / "home"
    home.mkdir()
    with ExitStack() as running:
        workers = [running.enter_context(worker(home, postgres_url)) for _ in range(3)]
        house = House(home, flags=FLAGS | {"database.url": postgres_url})
        house.journal.queue = DurableQueue(open_for_engine(house.url))
        async with asyncio.timeout(PATIENCE):
            took = await night(house, source, workers)
        with capsys.disabled():
            for blow, seconds in zip(BLOWS, took, strict=True):
                sys.stdout.write(f"\ntaken over {seconds:.1f} s after {blow.name}\n")
        (job,) = await house.records.find(JobRow)
        assert job.state is JobState.DONE
        assert len(await house.records.find(PullRequestRow)) == 1
        assert len(await house.records.find(ReportRow)) == 1
        assert await violations(house) == ()
        epochs = [e.event.epoch for e in await every_entry(house) if isinstance(e.event, JobClaimed)]
        assert epochs == sorted(set(epochs))
        assert git(source, "for-each-ref", "--format=%(refname)", "refs/heads/agent").count("\n") == 0
        await house.dispose()
