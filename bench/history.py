"""Reading a part of the journal beside ten times as much history: `why`, the first screen of `replay`, `/entries`."""

import itertools
import re
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import sqlalchemy as sa

from bench.figure import Figure, median
from bench.server import running_server
from midwatch.journal.entry import FIRST_CHAIN, Entry, Link, canonical, digest
from midwatch.morning.review import submit
from midwatch.store.rebuild import rebuild
from midwatch.store.schema.columns import to_micros
from midwatch.store.schema.migrate import bring_into_shape
from midwatch.store.schema.tables import PROJECTED, journal
from midwatch.surfaces.cli.shell.client import SocketConnection
from midwatch.surfaces.queries.replay import every_entry
from midwatch.terms.report import Review
from tests.nights.house import a_house, orders, sample_repository

FEW, MANY = 10_000, 100_000
TIMES = 15
ID = re.compile(r"\b((?:ses|run|job|ask|pr|act|work|mis|ntc|rep|rec|evi|clm|art|asm|inv)_)[0-9A-Z]{10}([0-9A-Z]{16})")
ONCE = frozenset({"project.added", "level.changed"})


async def run() -> list[Figure]:
    """The same questions over a socket, at 10,000 and at 100,000 entries."""
    with TemporaryDirectory(dir="/tmp") as folder:
        night = await _a_night(Path(folder))
        few, many = Path(folder) / "few", Path(folder) / "many"
        _fill(few, night, FEW)
        _fill(many, night, MANY)
        with running_server(few), running_server(many) as server:
            asked = {few: _questions(night, FEW), many: _questions(night, MANY)}
            took = _measured(asked)
            before = psutil.Process(server.pid).memory_info().rss
            _read_everything(many)
            more = (psutil.Process(server.pid).memory_info().rss - before) / 2**20
    return [*_grown(took[few], took[many]), *_alone(took[many]["first screen of replay"], more)]


def _grown(before: dict[str, float], after: dict[str, float]) -> Iterator[Figure]:
    for what, took in after.items():
        growth = took / before[what]
        beside = f"{before[what] * 1e3:.0f} ms at {FEW:,}"
        yield Figure(f"{what}, {MANY:,} entries", f"{took * 1e3:.0f} ms", beside, "≤ 1.5 times", growth <= 1.5)


def _alone(screen: float, more: float) -> Iterator[Figure]:
    yield Figure("  first screen by itself", f"{screen * 1e3:.0f} ms", "a person who waits", "< 200 ms", screen < 0.2)
    yield Figure("  server after replaying all of it", f"{more:.0f} MB more", "before", "< 50 MB more", more < 50)


def _questions(night: Sequence[Entry], count: int) -> dict[str, str]:
    """Ask about the same entry of the newest night, and of one in the middle."""
    again = [one for one in night if one.event.kind not in ONCE]
    at = next(place for place, one in enumerate(again, 1) if one.event.kind == "pull_request.opened")
    copies = (count - len(night)) // len(again)
    newest, middle = (len(night) + copy * len(again) + at for copy in (copies - 1, copies // 2))
    return {
        "why, the newest night": f"/why/{newest}",
        "why, a night in the middle": f"/why/{middle}",
        "why, the first entry": "/why/1",
        "first screen of replay": "/replay?limit=200",
        "last page of replay": f"/replay?limit=200&after={count - 200}",
        "newest 200 of /entries": f"/entries?limit=200&after={count - 200}",
    }


def _measured(asked: dict[Path, dict[str, str]]) -> dict[Path, dict[str, float]]:
    """Ask in turns, and take the medians."""
    took: dict[Path, dict[str, list[float]]] = {home: {what: [] for what in them} for home, them in asked.items()}
    for _ in range(TIMES):
        for home, questions in asked.items():
            for what, path in questions.items():
                began = time.perf_counter()
                _get(home, f"/api/v1{path}")
                took[home][what].append(time.perf_counter() - began)
    return {home: {what: median(times) for what, times in them.items()} for home, them in took.items()}


def _get(home: Path, target: str) -> str:
    """Ask once; give where the list goes on."""
    connection = SocketConnection(home / "midwatch.sock", 60)
    connection.request("GET", target)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 200, body[:500]
    link = answer.headers.get("link", "")
    connection.close()
    return link[1 : link.index(">")] if link else ""


def _read_everything(home: Path) -> None:
    target = "/api/v1/replay?limit=1000"
    while target:
        target = _get(home, target)


async def _a_night(folder: Path) -> tuple[Entry, ...]:
    """Live through one real night and its review, and write down what it wrote."""
    async with a_house(folder / "home") as opened:
        await opened.project(sample_repository(folder / "sample"))
        await opened.begin(orders("Tidy up"))
        night = await opened.to_the_brief()
        await opened.settle()
        await submit(opened.house.books, Review(usefulness=4, trust=4, brevity=4), by="ann", night=night.id)
        await opened.settle()
        return await every_entry(opened.house)


def _fill(home: Path, night: Sequence[Entry], count: int) -> None:
    """Write a journal of so many entries, the same night again and again under new ids, and its records."""
    home.mkdir()
    url = f"sqlite:///{home / 'midwatch.db'}"
    bring_into_shape(url)
    engine = sa.create_engine(url)
    with engine.begin() as tx:
        tx.execute(journal.insert(), list(_rows(night, len(night))))
        rebuild(tx)
        tx.execute(journal.delete())
        tx.execute(journal.insert(), list(_rows(night, count)))
        for table in PROJECTED:
            _multiply(tx, table, count // len(night))
    engine.dispose()


def _multiply(tx: sa.Connection, table: sa.Table, copies: int) -> None:
    """Repeat a night's records under new ids and numbers."""
    plain = [dict(row._mapping) for row in tx.exec_driver_sql(f'SELECT * FROM "{table.name}"')]  # noqa: S608, SLF001
    made = []
    for copy in range(1, copies + 1):
        for row in plain:
            fresh: dict[str, Any] = {
                key: _again(value, copy) if isinstance(value, str) else value for key, value in row.items()
            }
            if fresh["id"] != row["id"]:
                made.append(fresh | ({"number": row["number"] + copy * len(plain)} if "number" in row else {}))
    if made:
        names = ", ".join(f'"{name}"' for name in made[0])
        marks = ", ".join(f":{name}" for name in made[0])
        tx.execute(sa.text(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})'), made)  # noqa: S608  our own names


def _again(text: str, copy: int) -> str:
    return ID.sub(rf"\g<1>{copy:010d}\g<2>", text)


def _rows(night: Sequence[Entry], count: int) -> Iterator[dict[str, object]]:
    chain, begun = FIRST_CHAIN, 0
    for copy in itertools.count():
        again = [one for one in night if not copy or one.event.kind not in ONCE]
        places = {one.seq: begun + at for at, one in enumerate(again, 1)}
        for entry in again:
            if places[entry.seq] > count:
                return
            payload = _again(canonical(entry.event.model_dump(mode="json", exclude={"kind"})), copy)
            link = Link(
                seq=places[entry.seq],
                at_us=to_micros(entry.at + timedelta(days=copy)),
                actor=entry.actor,
                key=f"{entry.key}-{copy}",
                because=canonical([places[one] for one in entry.because if one in places]),
                kind=entry.event.kind,
                payload_hash=digest(payload),
            )
            chain = link.chained_to(chain)
            row = {name: getattr(link, name) for name in ("seq", "actor", "key", "because", "kind", "payload_hash")}
            yield row | {"at": link.at_us, "payload": payload, "chain": chain}
        begun += len(again)
