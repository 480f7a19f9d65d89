"""The Live page, what a person can do on it, and `why?`."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from midwatch.errors import Misuse, Refused, Unknown
from midwatch.journal.events import Event
from midwatch.journal.events.crew import ToolCallDecided
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.surfaces.api.access import Answers, Operates, Person, Reads, TheCaller, TheHouse
from midwatch.surfaces.queries.job_stories import prompt_text
from midwatch.surfaces.queries.why import decision_of, why_entry
from midwatch.surfaces.web.pages import job, job_agent, job_checkouts, job_steps
from midwatch.surfaces.web.site.page import page
from midwatch.surfaces.web.stream.live_regions import REGIONS, Painter
from midwatch.terms.projects import SessionState
from midwatch.terms.records import AskRow, SessionRow
from midwatch.views.entries.replay import prompt_used
from midwatch.views.text.plain import clean, marked

router = APIRouter(include_in_schema=False)
LONGEST_WORDS = 4000


async def _painter(request: Request) -> Painter:
    """One for the whole site: it remembers what it has read."""
    painter: Painter = request.state.painter
    return painter


ThePainter = Annotated[Painter, Depends(_painter)]


@router.get("/", dependencies=[Reads])
async def first(house: TheHouse) -> RedirectResponse:
    """Redirect to the page that fits the hour: the night under way, the open report, or tonight."""
    for state, there in ((SessionState.AUTONOMOUS, "/live"), (SessionState.DEBRIEF, "/morning")):
        if await house.records.find(SessionRow, state=state, ad_hoc=False):
            return RedirectResponse(there, status_code=303)
    return RedirectResponse("/tonight", status_code=303)


@router.get("/live", dependencies=[Reads])
async def live(request: Request, painter: ThePainter) -> HTMLResponse:
    """Show the night as it is now; the stream sends what follows."""
    seq, rows = await painter.newest()
    return page(request, "live.html", here="Live", seq=seq, rows=rows, drawn=await painter.draw())


@router.get("/why/{seq}", dependencies=[Reads])
async def why(request: Request, house: TheHouse, seq: str) -> HTMLResponse:
    """Show what caused an entry and what followed from it."""
    try:
        asked, result = await why_entry(house, int(seq) if seq.isdecimal() and len(seq) < 19 else 0)
    except Unknown:
        said = f"The journal has no entry {clean(seq, 20)}."
        raise Unknown(said, hint="Follow a `why?` on the Live page.") from None
    prompt = prompt_used(asked.event)
    words = await prompt_text(house, prompt.prompt_blob) if prompt else ""
    shown: dict[str, Any] = {"prompt": prompt, "words": words, "exactly": _exactly(asked.event)}
    shown["decisions"] = await decision_of(house, asked)
    return page(request, "why.html", here="Live", entry=result, at=asked.at, actor=clean(asked.actor, 60), **shown)


def _exactly(event: Event) -> str:
    """Show in full what a tool call would have run: the sentence above it is short."""
    return marked(event.shown) if isinstance(event, ToolCallDecided) else ""


@router.post("/asks/{name}/answer", dependencies=[Answers])
async def answer(request: Request, house: TheHouse, caller: TheCaller, painter: ThePainter, name: str) -> HTMLResponse:
    """Submit an answer to what was shown; the first one wins."""
    given = await _form(request)
    said, text = given.get("answer", ""), given.get("text", "")
    if not said:
        raise Misuse("The answer is empty.", hint="Press one of the ask's buttons.")
    shown = given.get("shown_hash", "")
    if not shown:
        raise Misuse("The answer does not say which question it is for.", hint="Load the page again.")
    ask = await house.records.get(AskRow, name)
    said = next((one for one in ask.options if clean(one) == said), said)  # a button sends an option as it is shown
    await settlement.answer(house.books, ask.id, said, by=caller.name, text=text, shown=shown, capped=caller.capped)
    return HTMLResponse(await painter.regions(("asks", "counts")))


@router.post("/live/pause", dependencies=[Operates])
async def pause(house: TheHouse, person: Person, painter: ThePainter) -> HTMLResponse:
    """Pause the loop."""
    await steering.pause(house.journal, await _current(house), by=person, why=f"paused by {person}")
    return HTMLResponse(await painter.regions(("banner", "controls")))


@router.post("/live/resume", dependencies=[Operates])
async def resume(house: TheHouse, person: Person, painter: ThePainter) -> HTMLResponse:
    """Resume the loop."""
    await steering.resume(house.journal, house.records, await _current(house), by=person)
    return HTMLResponse(await painter.regions(("banner", "controls")))


@router.post("/live/stop", dependencies=[Operates])
async def stop(house: TheHouse, person: Person, painter: ThePainter) -> HTMLResponse:
    """End the night now; its work is kept and the brief is written."""
    session = await _current(house)
    await settlement.debrief(house.books, session.id, f"stopped by {person}", actor=person)
    return HTMLResponse(await painter.regions(REGIONS))


@router.post("/live/say", dependencies=[Answers])
async def say(request: Request, house: TheHouse, person: Person, painter: ThePainter) -> HTMLResponse:
    """Send the night a message; it pauses to read it."""
    text = (await _form(request)).get("text", "")
    await steering.say(house.books, house.night.brain, await _current(house), text, by=person)
    return HTMLResponse(await painter.regions(("banner", "controls")))


async def _form(request: Request) -> dict[str, str]:
    """Read a form's text fields; Midwatch's own pages never send more than this."""
    fields = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    if any(len(value) > LONGEST_WORDS for value in fields.values()):
        raise Misuse(f"That is longer than {LONGEST_WORDS:,} characters.", hint="Shorten it.")
    return fields


async def _current(house: TheHouse) -> SessionRow:
    under_way = await house.records.find(SessionRow, state=SessionState.AUTONOMOUS, ad_hoc=False)
    if not under_way:
        raise Refused("No night is under way.", hint="Begin one on the Tonight page.")
    return under_way[-1]


router.include_router(job.router)
router.include_router(job_checkouts.router)
router.include_router(job_agent.router)
router.include_router(job_steps.router)
