"""Reads of asks: what needs a person."""

from collections.abc import Sequence

from midwatch.compose.read_side import ReadSide
from midwatch.surfaces.queries.reads import ReadTable, fields
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import Plan
from midwatch.terms.records import AskRow, JobRow, PastAct, ProjectRow
from midwatch.terms.visible import visible
from midwatch.views.pages.live.open_asks import AskShown, asks_shown, parts_of

READS = ReadTable()


class AskDetails(AskRow):
    """An ask with the facts that every surface shows; the question and exactly what would run are kept separate."""

    what: str
    exactly: str
    heading: str
    line: str
    """What it asks, in one line."""
    outside: str
    """What of a plan goes outside the orders."""
    undo: str
    """How a yes can be taken back without losing anything; empty where nothing can."""
    undo_by_agent: str
    """What the agent wrote about that, in its own words."""
    silence_said: str
    project_name: str
    job_number: int


class AskWhole(AskDetails):
    """An ask with the plan it is about."""

    plan: Plan | None


@READS.at("/asks")
async def asks(house: ReadSide, *, all: bool = False) -> list[AskDetails]:  # noqa: A002  the word people type
    """List what needs a person, the most urgent first."""
    rows = await house.records.find(AskRow) if all else await house.records.find(AskRow, state=AskState.OPEN)
    return [await ask_details(house, row) for row in sorted(rows, key=lambda row: (-row.priority, row.number))]


async def ask_details(house: ReadSide, row: AskRow) -> AskDetails:
    return (await _details(house, row))[0]


async def shown_asks(house: ReadSide, rows: Sequence[AskRow]) -> tuple[AskShown, ...]:
    """Show asks with the jobs, acts and projects that they are about."""
    if not rows:
        return ()
    subjects = tuple({row.subject for row in rows})
    jobs = {one.id: one for one in await house.records.find(JobRow, id=subjects)}
    acts = {one.id: one for one in await house.records.find(PastAct, id=subjects)}
    projects = {one.id: one for one in await house.records.find(ProjectRow)}
    return asks_shown(rows, jobs, projects, acts)


async def _details(house: ReadSide, row: AskRow) -> tuple[AskDetails, AskShown]:
    """Return an ask as the pages show it."""
    (shown,) = await shown_asks(house, (row,))
    what, exactly = parts_of(row)
    more = {
        "what": what,
        "exactly": visible(exactly),
        "heading": shown.heading,
        "line": shown.line,
        "outside": shown.outside,
        "undo": shown.undo,
        "undo_by_agent": shown.undo_by_agent,
        "silence_said": shown.silence_said,
        "project_name": shown.project,
        "job_number": shown.job,
        "shown_hash": shown.shown_hash,
    }
    return AskDetails(**fields(row) | more), shown


@READS.at("/asks/{name}")
async def ask(house: ReadSide, name: str) -> AskWhole:
    """Show one ask, with the plan it is about."""
    details, shown = await _details(house, await house.records.get(AskRow, name))
    return AskWhole(**fields(details), plan=shown.plan)
