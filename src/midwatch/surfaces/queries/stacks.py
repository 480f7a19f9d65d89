"""Reads of stacks: which branches go together, in which order, and what is left out."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from midwatch.compose.read_side import ReadSide
from midwatch.morning import merge_stack
from midwatch.morning.verdicts import verdicts_on
from midwatch.surfaces.queries.reads import Page, ReadTable, fields
from midwatch.terms.records import JobRow, ProjectRow, PullRequestRow, StackRow
from midwatch.terms.stack import LeftOut
from midwatch.views.pages.stack import StackShown, StackStepShown, stack_shown

READS = ReadTable()
ProjectName = Annotated[str, Field(description="A project's name or id; any by default.")]


class LeftOutAnswer(LeftOut):
    """A branch that is not in the stack, with the reason as a sentence."""

    job_number: int
    said: str


class StackAnswer(StackRow):
    """A stack in words."""

    order: tuple[StackStepShown, ...]
    left_out: tuple[LeftOutAnswer, ...]
    project_name: str
    headline: str
    offered: bool
    held: tuple[str, ...]
    outdated: bool
    elsewhere: bool


async def in_words(house: ReadSide, row: StackRow) -> StackShown:
    """Describe a stack, with the names of its projects and pull requests."""
    projects = await house.records.find(ProjectRow, id=row.project)
    pulls = await house.records.find(PullRequestRow, id=tuple(step.pull_request for step in row.order))
    elsewhere = any(pull.forge != merge_stack.LOCAL for pull in pulls)
    said = await verdicts_on(house.records, pulls)
    by_id = {pull.id: pull for pull in pulls}
    name = projects[0].name if projects else row.project
    return stack_shown(row, name, said, by_id, await job_numbers(house, [row]), elsewhere=elsewhere)


async def job_numbers(house: ReadSide, rows: Iterable[StackRow]) -> dict[str, int]:
    """Return the number of each job that has a branch in these stacks, or left out of them."""
    together = {step.job for row in rows for step in row.order}
    apart = {one.job for row in rows for one in row.left_out}
    return {job.id: job.number for job in await house.records.find(JobRow, id=tuple(together | apart))}


async def stack_answer(house: ReadSide, row: StackRow) -> StackAnswer:
    """Return a stack with its words."""
    words = await in_words(house, row)
    out = {one.number: one for one in words.out}
    whole = fields(row) | {
        "order": words.steps,
        "left_out": tuple(
            LeftOutAnswer(**fields(one), job_number=out[one.number].job_number, said=out[one.number].why)
            for one in row.left_out
        ),
        "project_name": words.project,
        "headline": words.headline,
        "offered": words.offered,
        "held": words.held,
        "outdated": words.outdated,
        "elsewhere": words.elsewhere,
    }
    return StackAnswer(**whole)


@READS.at("/stacks")
async def stacks(house: ReadSide, page: Page, project: ProjectName = "") -> list[StackAnswer]:
    """List the stacks, oldest first."""
    await house.look_here()
    wanted = {"project": (await house.records.get(ProjectRow, project)).id} if project else {}
    return [await stack_answer(house, row) for row in page.of(await house.records.find(StackRow, **wanted))]


@READS.at("/stacks/newest")
async def newest(house: ReadSide, project: ProjectName = "") -> StackAnswer:
    """Show the newest stack of a project; without a name, of the only project that has one."""
    await house.look_here()
    return await stack_answer(house, await merge_stack.newest(house.records, project))


@READS.at("/stacks/{name}")
async def stack(house: ReadSide, name: str) -> StackAnswer:
    """Show one stack: its order, what is left out and why, what the checks said."""
    await house.look_here()
    return await stack_answer(house, await house.records.get(StackRow, name))
