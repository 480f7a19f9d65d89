"""Routes of the evening's orders and the night itself: session, asks, entries."""

from fastapi import APIRouter
from pydantic import Field

from midwatch.errors import Refused, Unknown
from midwatch.evening import sign_orders
from midwatch.evening.orders_file import read_orders
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.surfaces.api.access import Answers, Operates, Person, TheCaller, TheHouse
from midwatch.surfaces.queries.nights import DraftShown, draft_shown
from midwatch.surfaces.queries.reads import fields
from midwatch.terms.projects import SessionState
from midwatch.terms.records import (
    AskRow,
    SessionRow,
)
from midwatch.terms.term import Term

router = APIRouter()


class OrdersText(Term):
    """Orders in the form of the file."""

    toml: str
    name: str = "orders.toml"


@router.put("/orders", dependencies=[Operates])
async def draft(house: TheHouse, person: Person, given: OrdersText) -> DraftShown:
    """Save orders as the draft for tonight."""
    read = read_orders(given.toml, name=given.name)
    return await draft_shown(house, await sign_orders.draft(house.evening, read, by=person, source=given.name))


class Signature(Term):
    """Which sheet a person signs."""

    shown_hash: str = Field(min_length=1)
    """The `shown_hash` of the draft that the person was shown."""


@router.post("/sessions/start", dependencies=[Operates])
async def start(house: TheHouse, caller: TheCaller, signed: Signature) -> SessionRow:
    """Sign the draft that was shown and start the night."""
    return await sign_orders.start(house.evening, by=caller.name, shown=signed.shown_hash, capped=caller.capped)


class Why(Term):
    """A reason or a message."""

    text: str = ""


async def _current(house: TheHouse) -> SessionRow:
    under_way = await house.records.find(SessionRow, state=SessionState.AUTONOMOUS, ad_hoc=False)
    if not under_way:
        raise Refused("No night is under way.", hint="Begin one: midwatch start")
    return under_way[-1]


class SessionHeard(SessionRow):
    """The session, and what the brain answers."""

    answer: str


@router.post("/sessions/current/say", dependencies=[Answers])
async def say(house: TheHouse, person: Person, why: Why) -> SessionHeard:
    """Send the night a message; it answers, and pauses until it is resumed."""
    session = await _current(house)
    answer = await steering.say(house.books, house.night.brain, session, why.text, by=person)
    return SessionHeard(**fields(await house.records.get(SessionRow, session.id)), answer=answer)


@router.post("/sessions/current/{verb}", dependencies=[Operates])
async def steer(house: TheHouse, person: Person, verb: str, why: Why) -> SessionRow:
    """Pause, resume, stop or think."""
    session = await _current(house)
    match verb:
        case "pause":
            await steering.pause(house.journal, session, by=person, why=why.text or f"paused by {person}")
        case "resume":
            await steering.resume(house.journal, house.records, session, by=person)
        case "stop":
            await settlement.debrief(house.books, session.id, why.text or f"stopped by {person}", actor=person)
        case "think":
            await steering.think(house.journal, house.records, session, by=person)
        case _:
            raise Unknown(f"A night cannot {verb}.", hint="pause, resume, stop, think, say")
    return await house.records.get(SessionRow, session.id)


class AnswerGiven(Term):
    """A person's answer."""

    answer: str
    text: str = ""
    shown_hash: str = Field(min_length=1)
    """The `shown_hash` of the ask as the person was shown it."""


@router.post("/asks/{name}/answer", dependencies=[Answers])
async def answer(house: TheHouse, caller: TheCaller, name: str, given: AnswerGiven) -> AskRow:
    """Answer an ask; the first answer wins."""
    return await settlement.answer(
        house.books,
        name,
        given.answer,
        by=caller.name,
        text=given.text,
        shown=given.shown_hash,
        capped=caller.capped,
    )
