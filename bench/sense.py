"""Sense and gate over many projects, ten of them in tonight's orders: time, and how it grows."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figure import Figure, median
from midwatch.compose.house import House, Parts
from midwatch.compose.opening import open_house
from midwatch.engine.clocks import SystemClock
from midwatch.engine.inline import InlineEngine
from midwatch.evening.shown_sheet import orders_hash
from midwatch.journal.events.projects import LevelChanged, ProjectAdded
from midwatch.journal.events.session import OrderedItem, OrdersSigned, SessionOpened, SessionStarted
from midwatch.night.rounds.world import look
from midwatch.rules.gate import council
from midwatch.rules.gate.gate import judge
from midwatch.terms.orders import OrderedWork, Orders
from midwatch.terms.projects import Project
from midwatch.terms.records import SessionRow
from midwatch.terms.trust import Level

ROUNDS = 15
ORDERED = 10


async def run() -> list[Figure]:
    """A hundred projects beside a thousand, in one run."""
    with TemporaryDirectory() as folder:
        few = await _measure(Path(folder) / "few", 100)
        many = await _measure(Path(folder) / "many", 1000)
    growth = many / few
    return [
        Figure(
            "sense + gate, 1,000 projects, 10 ordered", f"{many * 1e3:.0f} ms", "no git process", "< 100 ms", many < 0.1
        ),
        Figure(
            "  growth from 100 to 1,000 projects",
            f"{growth:.2f} times",
            f"{few * 1e3:.0f} ms at 100",
            "≤ 2 times",
            growth <= 2,
        ),
    ]


async def _measure(home: Path, projects: int) -> float:
    parts = Parts(clock=SystemClock(), engine=InlineEngine())
    async with open_house(home, parts=parts) as house:
        session = await _prepare(house, projects)
        took = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            world = await look(house.books, session)
            answer = await house.night.brain.propose(world.sense())
            for proposal in answer.proposals:
                facts = world.facts_for(proposal)
                tally = council.tally(council.deliberate(proposal, facts))
                judge(proposal, facts.model_copy(update={"council": tally}))
            took.append(time.perf_counter() - began)
    return median(took)


async def _prepare(house: House, count: int) -> SessionRow:
    added = [
        ProjectAdded(project=Project(id=f"prj_{n}", name=f"project-{n}", path=f"/nowhere/{n}", branch="main"))
        for n in range(count)
    ]
    for at in range(0, count, 100):
        await house.journal.record(*added[at : at + 100])
    work = tuple(OrderedWork(project=f"project-{n}", title=f"Work {n}") for n in range(ORDERED))
    orders = Orders(level=Level.MODERATE, goals=("fast",), work=work)
    items = tuple(OrderedItem(work_item=f"work_{n}", project=f"prj_{n}", title=f"Work {n}") for n in range(ORDERED))
    now = house.clock.now()
    await house.journal.record(
        SessionOpened(session="ses_1", orders=orders),
        OrdersSigned(session="ses_1", orders_hash=orders_hash(orders), by="bench"),
        LevelChanged(level=Level.MODERATE, previous=Level.OBSERVE),
        SessionStarted(session="ses_1", level=Level.MODERATE, ends_at=now, items=items, repositories=()),
    )
    return await house.records.get(SessionRow, "ses_1")
