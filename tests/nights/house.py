"""A whole house in one process: real database, real git, real housekeeper; the clock moves when we say so."""

import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from midwatch.compose.house import House, Parts
from midwatch.compose.opening import open_house
from midwatch.engine.inline import InlineEngine
from midwatch.evening import projects as by_day
from midwatch.evening import sign_orders
from midwatch.night.notify import outbox
from midwatch.terms.orders import Limits, OrderedWork, Orders, Permissions
from midwatch.terms.projects import SessionState
from midwatch.terms.records import NoticeRow, ProjectRow, SessionRow, TimerRow
from midwatch.terms.trust import Level
from tests.databases import place_for_home
from tests.stepped_clock import SteppedClock

EVENING = datetime(2026, 3, 1, 21, 0, tzinfo=UTC)
FAULTS = {
    "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n',
    "sample/__init__.py": "",
    "sample/greet.py": 'import os\nimport sys\n\n\ndef greet(name):\n    return f"Hello " + name   \n',
    "sample/broken.py": "def total(items):\n    return summ(items)\n",
    "check.py": 'from sample.greet import greet\nassert greet("Ann") == "Hello Ann"\n',
    "README.md": "# Sample\n\nSee [the guide](docs/guide.md).\n",
}
CHECK = "python3 check.py"
ONE_TRY: dict[str, Any] = {"jobs.max_retries": 1}
"""Settings of a night in which failed work is not begun again: test_recovery is about that."""


def git(folder: Path, *arguments: str) -> str:
    """Run git as the person would."""
    command = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.com", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def sample_repository(folder: Path, files: dict[str, str] | None = None) -> Path:
    """Make a repository with real faults."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for name, content in (files or FAULTS).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Begin")
    return folder


class TestHouse:
    """A house with a stepped clock and work on demand."""

    __test__ = False

    def __init__(self, house: House, engine: InlineEngine, clock: SteppedClock) -> None:
        self.house = house
        self.engine = engine
        self.clock = clock

    async def project(self, path: Path, *, name: str = "sample", checks: tuple[str, ...] = (CHECK,)) -> ProjectRow:
        return await by_day.add_project(self.house.evening, path, by="ann", name=name, checks=checks)

    async def begin(self, orders: Orders) -> SessionRow:
        await sign_orders.draft(self.house.evening, orders, by="ann")
        return await sign_orders.start(self.house.evening, by="ann")

    async def settle(self) -> None:
        """Carry out all that is ready, without letting time pass."""
        while True:
            await self.house.timers.serve_due()
            if not await self.engine.run_ready():
                return

    async def tell(self) -> None:
        """Have every notice stand in the log: silence counts only from when somebody was told."""
        for notice in await self.house.records.find(NoticeRow, sent_by=""):
            await outbox.tell(self.house.books, self.house.night.outside.channel, notice.id)

    async def pass_time(self, **span: float) -> None:
        """Let time pass from one due moment to the next."""
        until = self.clock.now() + timedelta(**span)
        await self.settle()
        while True:
            due = [row.due_at for row in await self.house.records.find(TimerRow) if row.due_at <= until]
            if not due:
                break
            self.clock.jump_to(min(due))
            await self.settle()
        self.clock.jump_to(until)
        await self.settle()

    async def to_the_brief(self) -> SessionRow:
        """Let the night run to its end."""
        for _ in range(200):
            await self.settle()
            session = (await self.house.records.find(SessionRow))[-1]
            if session.state is not SessionState.AUTONOMOUS:
                return session
            timers = await self.house.records.find(TimerRow)
            self.clock.jump_to(min(row.due_at for row in timers))
        raise AssertionError("the night never ended")


@asynccontextmanager
async def a_house(
    home: Path, url: str = "", *, begins: datetime = EVENING, flags: dict[str, Any] | None = None, **parts: Any
) -> AsyncIterator[TestHouse]:
    """Open a house on a folder of its own; `flags` are settings by their dotted names."""
    engine, clock = InlineEngine(), SteppedClock(begins)
    given = (flags or {}) | ({"database.url": url} if url else {})
    place_for_home(home, url)
    async with open_house(home, flags=given, parts=Parts(clock=clock, engine=engine, **parts)) as house:
        yield TestHouse(house, engine, clock)


def orders(*titles: str, level: Level = Level.CAUTIOUS, project: str = "sample", **more: Any) -> Orders:
    """Orders as a person would write them."""
    work = tuple(OrderedWork(project=project, title=title) for title in titles or ("Tidy up",))
    told: dict[str, Any] = {"level": level, "goals": ("Keep it tidy",), "work": work, "limits": Limits()}
    told["permissions"] = Permissions(silence_approves=True)
    return Orders.model_validate({**told, **more})
