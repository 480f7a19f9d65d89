"""The route of `midwatch code`: one sentence, its own session, a job for each repository.

Its own module: `surfaces/api` has one for each resource.
"""

from fastapi import APIRouter

from midwatch.night.commands.code_command import Commanded, command
from midwatch.surfaces.api.access import Operates, TheCaller, TheHouse
from midwatch.terms.records import JobRow, ProjectRow, RunRow, SessionRow
from midwatch.terms.term import Term
from midwatch.views.pages.orders_text import allows

router = APIRouter()


class JobBegun(Term):
    """A job that a command started."""

    id: str
    number: int
    project: str
    agent: str
    title: str


class CodeBegun(Term):
    """What a command started, and what it allows."""

    session: str
    run: int
    jobs: tuple[JobBegun, ...]
    allows: str
    after: int
    """The last entry of the journal before the command; its entries come after this one."""


@router.post("/code", dependencies=[Operates])
async def code(house: TheHouse, caller: TheCaller, wanted: Commanded) -> CodeBegun:
    """Start a person's command at once; sending it counts as the signature."""
    after = await house.records.head()
    given = house.books, house.crew.agents, house.workshop.mirrors
    jobs = await command(*given, wanted, by=caller.name, capped=caller.capped)
    session = await house.records.get(SessionRow, jobs[0].session)
    run = await house.records.get(RunRow, jobs[0].run)
    names = {row.id: row.name for row in await house.records.find(ProjectRow)}
    return CodeBegun(
        session=session.id,
        run=run.number,
        jobs=tuple(_job(job, names[job.project]) for job in jobs),
        allows=allows(run.contract, [names[job.project] for job in jobs], session.level, by_hand=wanted.by_hand),
        after=after,
    )


def _job(job: JobRow, project: str) -> JobBegun:
    return JobBegun(id=job.id, number=job.number, project=project, agent=job.agent, title=job.title)
