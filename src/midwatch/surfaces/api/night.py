"""Routes of the evening's orders and the night itself: session, asks, entries."""

import asyncio
import contextlib
from typing import Any

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from midwatch.errors import Refused, Unknown
from midwatch.evening import sign_orders
from midwatch.evening.orders_file import EXAMPLE, read_orders
from midwatch.journal.entry import Entry
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.rules.tools.visible import visible
from midwatch.surfaces.api.access import Answers, Operates, Person, Reads, TheHouse
from midwatch.surfaces.api.day import Shown, shown
from midwatch.surfaces.api.paging import PageSize, Place, ThePage
from midwatch.surfaces.queries.names import names_of
from midwatch.terms.asks import AskKind, AskState
from midwatch.terms.jobs import Plan
from midwatch.terms.projects import SessionState
from midwatch.terms.records import (
    ActRow,
    AskRow,
    CheckInRow,
    JobRow,
    NoticeRow,
    RunRow,
    SessionRow,
)
from midwatch.terms.term import Term
from midwatch.views.entries.describe import describe
from midwatch.views.pages.open_asks import parts_of
from midwatch.views.text.names import Names

router = APIRouter()
LONGEST_WAIT = 25.0


class SessionWhole(SessionRow):
    """A night with its acts, runs, check-ins and notices."""

    acts: tuple[ActRow, ...]
    runs: tuple[RunRow, ...]
    check_ins: tuple[CheckInRow, ...]
    notices: tuple[NoticeRow, ...]


class AskDetails(AskRow):
    """An ask, with the question and exactly what would run kept separate."""

    what: str
    exactly: str


class AskWhole(AskDetails):
    """An ask with the plan it is about."""

    plan: Plan | None


class EntryShown(Term):
    """One entry of the journal in words."""

    seq: int
    at: str
    actor: str
    because: tuple[int, ...]
    kind: str
    job: str
    text: str


class OrdersText(Term):
    """Orders in the form of the file."""

    toml: str
    name: str = "orders.toml"


@router.get("/orders/example", dependencies=[Reads], response_class=PlainTextResponse)
async def example() -> PlainTextResponse:
    """Return an example file."""
    return PlainTextResponse(EXAMPLE)


@router.get("/orders", dependencies=[Reads])
async def orders(house: TheHouse) -> SessionRow:
    """Show the draft that waits to be signed."""
    return await sign_orders.current_draft(house.evening)


@router.put("/orders", dependencies=[Operates])
async def draft(house: TheHouse, person: Person, given: OrdersText) -> SessionRow:
    """Save orders as the draft for tonight."""
    read = read_orders(given.toml, name=given.name)
    return await sign_orders.draft(house.evening, read, by=person, source=given.name)


@router.post("/sessions/start", dependencies=[Operates])
async def start(house: TheHouse, person: Person) -> SessionRow:
    """Sign the draft and start the night."""
    return await sign_orders.start(house.evening, by=person)


class Why(Term):
    """A reason or a message."""

    text: str = ""


async def _current(house: TheHouse) -> SessionRow:
    under_way = await house.records.find(SessionRow, state=SessionState.AUTONOMOUS, ad_hoc=False)
    if not under_way:
        raise Refused("No night is under way.", hint="Begin one: midwatch start")
    return under_way[-1]


@router.post("/sessions/current/say", dependencies=[Answers])
async def say(house: TheHouse, person: Person, why: Why) -> SessionRow:
    """Send the night a message; it pauses until it is resumed."""
    session = await _current(house)
    await steering.say(house.night, session, why.text, by=person)
    return await house.records.get(SessionRow, session.id)


@router.post("/sessions/current/{verb}", dependencies=[Operates])
async def steer(house: TheHouse, person: Person, verb: str, why: Why) -> SessionRow:
    """Pause, resume, stop or think."""
    session = await _current(house)
    match verb:
        case "pause":
            await steering.pause(house.night.journal, session, by=person, why=why.text or f"paused by {person}")
        case "resume":
            await steering.resume(house.night.journal, house.night.records, session, by=person)
        case "stop":
            await settlement.debrief(house.night, session.id, why.text or f"stopped by {person}", actor=person)
        case "think":
            await steering.think(house.night.journal, house.night.records, session, by=person)
        case _:
            raise Unknown(f"A night cannot {verb}.", hint="pause, resume, stop, think, say")
    return await house.records.get(SessionRow, session.id)


@router.get("/sessions", dependencies=[Reads])
async def sessions(house: TheHouse, page: ThePage) -> list[SessionRow]:
    """List the nights."""
    return list(page.of(await house.records.find(SessionRow)))


@router.get("/sessions/{name}", dependencies=[Reads], response_model=SessionWhole)
async def session(house: TheHouse, name: str) -> Shown:
    """Show one night with its acts, check-ins and notices."""
    row = await house.records.get(SessionRow, name)
    records = house.records
    return shown(row) | {
        "acts": [shown(one) for one in await records.find(ActRow, session=row.id)],
        "runs": [shown(one) for one in await records.find(RunRow, session=row.id)],
        "check_ins": [shown(one) for one in await records.find(CheckInRow, session=row.id)],
        "notices": [shown(one) for one in await records.find(NoticeRow, session=row.id)],
    }


@router.get("/runs", dependencies=[Reads])
async def runs(house: TheHouse, page: ThePage) -> list[RunRow]:
    """List the runs with their scores."""
    return list(page.of(await house.records.find(RunRow)))


class AnswerGiven(Term):
    """A person's answer."""

    answer: str
    text: str = ""
    shown_hash: str = ""


@router.get("/asks", dependencies=[Reads], response_model=list[AskDetails])
async def asks(house: TheHouse, *, all: bool = False) -> list[Shown]:  # noqa: A002  the word people type
    """List what needs a person, the most urgent first."""
    rows = await house.records.find(AskRow) if all else await house.records.find(AskRow, state=AskState.OPEN)
    return [ask_shown(row) for row in sorted(rows, key=lambda row: (-row.priority, row.number))]


def ask_shown(row: AskRow) -> Shown:
    """Return an ask with the question and exactly what would run kept separate."""
    what, exactly = parts_of(row)
    return shown(row) | {"what": what, "exactly": visible(exactly)}


@router.get("/asks/{name}", dependencies=[Reads], response_model=AskWhole)
async def ask(house: TheHouse, name: str) -> Shown:
    """Show one ask, with the plan it is about."""
    row = await house.records.get(AskRow, name)
    subject = await house.records.find(JobRow, id=row.subject)
    plan = subject[0].plan if subject else None
    return ask_shown(row) | {"plan": shown(plan) if plan and row.kind is AskKind.APPROVE_PLAN else None}


@router.post("/asks/{name}/answer", dependencies=[Answers])
async def answer(house: TheHouse, person: Person, name: str, given: AnswerGiven) -> AskRow:
    """Answer an ask; the first answer wins."""
    return await settlement.answer(house.night, name, given.answer, by=person, text=given.text, shown=given.shown_hash)


@router.get("/entries", dependencies=[Reads], response_model=list[EntryShown])
async def entries(house: TheHouse, after: Place = 0, limit: PageSize = 200, wait: float = 0) -> list[Shown]:
    """Read the journal after an entry; with `wait`, wait until there is a new one."""
    page = await house.journal.entries(after=after, limit=min(limit, 1000))
    if not page and wait > 0:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(wait, LONGEST_WAIT)):
                async for _ in house.journal.tail(after=after):
                    break
        page = await house.journal.entries(after=after, limit=min(limit, 1000))
    names = await names_of(house, page)
    return [_entry(entry, names) for entry in page]


def _entry(entry: Entry, names: Names) -> dict[str, Any]:
    return {
        "seq": entry.seq,
        "at": entry.at.isoformat(),
        "actor": entry.actor,
        "because": list(entry.because),
        "kind": entry.event.kind,
        "job": str(getattr(entry.event, "job", "")),
        "text": describe(entry.event, names),
    }
