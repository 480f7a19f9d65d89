"""Routes about stacks: list, show, check again, merge, undo.

Its own module: `surfaces/api` has one for each resource.
"""

from fastapi import APIRouter

from midwatch.errors import Unknown
from midwatch.morning import build_stack, merge_stack
from midwatch.surfaces.api.access import Operates, Person, TheHouse
from midwatch.surfaces.queries.stacks import StackAnswer, stack_answer
from midwatch.terms.term import Term

router = APIRouter()


class Wanted(Term):
    """The project whose branches are to be checked together."""

    project: str


@router.post("/stacks", dependencies=[Operates])
async def make(house: TheHouse, person: Person, wanted: Wanted) -> StackAnswer:
    """Start a merge check of a project's open branches; it runs in the background."""
    if not wanted.project.strip():
        raise Unknown("No project is named.", hint="List them: midwatch project")
    await house.look_here()
    return await stack_answer(house, await build_stack.begin_again(house.books, wanted.project, by=person))


@router.post("/stacks/{name}/merge", dependencies=[Operates])
async def merge(house: TheHouse, person: Person, name: str) -> StackAnswer:
    """Merge the verified order as one, or post it on the forge's pull requests; only a person may."""
    return await stack_answer(house, await merge_stack.take(house.morning, name, by=person))


@router.post("/stacks/{name}/undo", dependencies=[Operates])
async def undo(house: TheHouse, person: Person, name: str) -> StackAnswer:
    """Undo a merged stack, if its branch has not moved since."""
    return await stack_answer(house, await merge_stack.undo(house.books, house.forges.local, name, by=person))
