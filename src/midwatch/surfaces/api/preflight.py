"""Routes about preflights: check everything the night will need, and read the results."""

from typing import Annotated

from fastapi import APIRouter, Query

from midwatch.errors import Unknown
from midwatch.evening import preflight as looks
from midwatch.surfaces.api.access import Operates, Person, Reads, TheHouse
from midwatch.surfaces.api.day import Shown
from midwatch.surfaces.queries import preflights
from midwatch.terms.preflight import PreflightState, SettingWanted
from midwatch.terms.term import Term
from midwatch.views.pages.preflight import PreflightShown

router = APIRouter()
Count = Annotated[int, Query(ge=0, le=100_000)]
Seconds = Annotated[float, Query(ge=0, le=60)]


class PreflightAnswer(PreflightShown):
    """A preflight with its lines, and whether the orders may be signed on it."""

    state: PreflightState
    ended_at: str | None
    fresh: bool
    error: str
    settings: tuple[SettingWanted, ...]
    """The settings that its lines name and that are not in force."""


class NewPreflight(Term):
    """What to check: tonight's draft, or one project by itself."""

    project: str = ""
    to_sign: bool = False
    """Accept an earlier preflight that found nothing bad and is still fresh."""
    anyway: bool = False
    """Accept a fresh one regardless of its result."""


@router.post("/preflight", dependencies=[Operates], response_model=PreflightAnswer)
async def begin(house: TheHouse, person: Person, new: NewPreflight) -> Shown:
    """Check whether everything is ready; lines follow while it runs."""
    await house.reload_settings()
    if new.project:
        row = await looks.begin_alone(house.evening, new.project, by=person)
    else:
        row = await looks.begin(house.evening, by=person, to_sign=new.to_sign, anyway=new.anyway)
    return await preflights.preflight_answer(house, row)


@router.get("/preflight", dependencies=[Reads], response_model=PreflightAnswer)
async def last(house: TheHouse) -> Shown:
    """Show the last preflight of the current orders."""
    row, _ = await looks.standing(house.books)
    if row is None:
        raise Unknown("No preflight for these orders yet.", hint="Run one: midwatch preflight")
    return await preflights.preflight_answer(house, row)


@router.get("/preflight/{name}", dependencies=[Reads], response_model=PreflightAnswer)
async def one(house: TheHouse, name: str, seen: Count = 0, wait: Seconds = 0) -> Shown:
    """Show one preflight; with `wait`, as soon as it has new lines or is over."""
    return await preflights.after(house, name, seen, wait)
