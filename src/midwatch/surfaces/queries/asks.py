"""Reads of asks: what needs a person."""

from midwatch.compose.read_side import ReadSide
from midwatch.rules.tools.visible import visible
from midwatch.surfaces.queries.reads import ReadTable, fields
from midwatch.terms.asks import AskKind, AskState
from midwatch.terms.jobs import Plan
from midwatch.terms.records import AskRow, JobRow
from midwatch.views.pages.open_asks import parts_of

READS = ReadTable()


class AskDetails(AskRow):
    """An ask, with the question and exactly what would run kept separate."""

    what: str
    exactly: str


class AskWhole(AskDetails):
    """An ask with the plan it is about."""

    plan: Plan | None


@READS.at("/asks")
async def asks(house: ReadSide, *, all: bool = False) -> list[AskDetails]:  # noqa: A002  the word people type
    """List what needs a person, the most urgent first."""
    rows = await house.records.find(AskRow) if all else await house.records.find(AskRow, state=AskState.OPEN)
    return [ask_details(row) for row in sorted(rows, key=lambda row: (-row.priority, row.number))]


def ask_details(row: AskRow) -> AskDetails:
    """Return an ask with the question and exactly what would run kept separate."""
    what, exactly = parts_of(row)
    return AskDetails(**fields(row), what=what, exactly=visible(exactly))


@READS.at("/asks/{name}")
async def ask(house: ReadSide, name: str) -> AskWhole:
    """Show one ask, with the plan it is about."""
    row = await house.records.get(AskRow, name)
    subject = await house.records.find(JobRow, id=row.subject)
    plan = subject[0].plan if subject and row.kind is AskKind.APPROVE_PLAN else None
    return AskWhole(**fields(ask_details(row)), plan=plan)
