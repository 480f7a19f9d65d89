"""What a job's agents did, on its page: each agent run with its cost, its tool calls, and its prompt on demand."""

from typing import Annotated, Final

from fastapi import APIRouter, Path
from fastapi.responses import HTMLResponse

from midwatch.compose.house import House
from midwatch.surfaces.api.access import Reads, TheHouse
from midwatch.surfaces.queries.job_stories import prompt_of, story_of
from midwatch.surfaces.web.site.page import fragment
from midwatch.terms.records import JobRow
from midwatch.terms.term import Term
from midwatch.views.pages.job_story import Call, ErrandDone
from midwatch.views.text.plain import marked

router = APIRouter(include_in_schema=False)
FIRST: Final = 10
MOST: Final = 100
"""How many calls of one agent run are on the page; `midwatch job show` has all of them."""
LONGEST: Final = 3000


class CallShown(Term):
    """One call as the page shows it; characters that are not shown are counted."""

    call: Call
    text: str
    left_out: int


class ErrandShown(Term):
    """One agent run with its newest calls first."""

    done: ErrandDone
    first: tuple[CallShown, ...]
    more: tuple[CallShown, ...]
    left_out: int


@router.get("/jobs/{name}/prompts/{epoch}", dependencies=[Reads])
async def prompt(house: TheHouse, name: str, epoch: Annotated[int, Path(ge=0, le=2**31)]) -> HTMLResponse:
    """Show the prompt of an agent; the page requests it when it is unfolded."""
    row = await house.records.get(JobRow, name)
    return HTMLResponse(fragment("_prompt.html", text=await prompt_of(house, row, epoch)))


async def errands(house: House, row: JobRow) -> tuple[ErrandShown, ...]:
    """Show a job's agent runs, the newest first."""
    return tuple(_shown(one) for one in reversed(await story_of(house, row)))


def _shown(done: ErrandDone) -> ErrandShown:
    calls = tuple(_call(one) for one in reversed(done.calls[-MOST:]))
    return ErrandShown(
        done=done.model_copy(update={"calls": ()}),
        first=calls[:FIRST],
        more=calls[FIRST:],
        left_out=max(0, len(done.calls) - MOST),
    )


def _call(call: Call) -> CallShown:
    text = call.shown[:LONGEST]
    return CallShown(call=call, text=marked(text), left_out=len(call.shown) - len(text))
