"""Which branch work that goes on is handed over on: the one pushed before, while it lies as we left it, or its own."""

from dataclasses import dataclass

from midwatch.night.context import Night
from midwatch.night.jobs.resume import followed
from midwatch.rules.gate.contract import WRITE
from midwatch.terms.forges import AGENT, BranchSeen, bearer_of
from midwatch.terms.jobs import Stage
from midwatch.terms.records import InvocationRow, JobRow, ProjectRow

OUTWARD = frozenset({Stage.DELIVER, Stage.PULL_REQUEST, Stage.NOTICE})
"""Where a job may have pushed its branch, whether or not anybody wrote that down."""
LEFT = "left"
"""What the door's record calls the branch that was not gone on with, and why."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The branch work is handed over on."""

    bearer: str
    """The job whose name it bears."""
    left: str = ""
    """The sentence about a branch pushed before that stays as it is."""


async def branch_for(night: Night, job: JobRow, project: ProjectRow, head: str) -> Chosen:
    """Choose the newest branch of those it goes on for that still is where one of us left it, so that there is one.

    What has passed the door once is not chosen anew: whoever committed there since did so upon our work.
    """
    for one in await night.records.find(InvocationRow, job=job.id, tool=WRITE, status="ok"):
        if "branch" in one.result and one.request.get("head") == head:
            return Chosen(bearer_of(str(one.result["branch"])) or job.id, str(one.result.get(LEFT, "")))
    before = [one for one in await followed(night.records, job) if one.change is not None and one.stage in OUTWARD]
    ours = {head, *(one.change.head for one in before if one.change is not None)}
    forge, left = night.forges.of(project), ""
    for bearer in dict.fromkeys(bearer_of(one.branch) or one.id for one in before):
        there = await forge.pushed(project.path, project.id, bearer, head)
        if why := _in_the_way(there, ours):
            left = left or f"{AGENT}{bearer} {why} and was left unchanged; this work is on {AGENT}{job.id} instead."
        elif there.head:
            return Chosen(bearer)
    return Chosen(job.id, left)


def _in_the_way(there: BranchSeen, ours: set[str]) -> str:
    """Nobody's later commits are built upon or moved, even where git would take it."""
    if there.head and there.head not in ours:
        return "was changed by another person"
    return there.in_the_way


async def left_behind(night: Night, job: JobRow) -> tuple[str, ...]:
    """Recall what was said about a branch that was not gone on with, for the remarks on the new one."""
    passed = await night.records.find(InvocationRow, job=job.id, tool=WRITE, status="ok")
    return tuple(dict.fromkeys(str(one.result[LEFT]) for one in passed if LEFT in one.result))
