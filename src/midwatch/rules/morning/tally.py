"""What became of each ordered item, and how many of them are done: counted once, for every surface (RULES 6, 10)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from midwatch.rules.gate.act_groups import PASSING, only_waits
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import DELIVERING, JobState, Stage
from midwatch.terms.records import AskRow, JobRow, PastAct
from midwatch.terms.report import ITEM_DONE, ItemOutcome, WorkTally

GOING: Final = frozenset({ItemOutcome.WORKING, ItemOutcome.WAITING})
_BY_STATE: Final = {
    JobState.DONE: ItemOutcome.UNNEEDED,
    JobState.FAILED: ItemOutcome.FAILED,
    JobState.STOPPED: ItemOutcome.STOPPED,
    JobState.DECLINED: ItemOutcome.DECLINED,
    JobState.NOTHING_DELIVERED: ItemOutcome.NOTHING_DELIVERED,
    JobState.WAITING: ItemOutcome.WAITING,
}
_BY_ACT: Final = {
    "refused": ItemOutcome.REFUSED,
    "said": ItemOutcome.PROPOSED,
    "dropped": ItemOutcome.DECLINED,
    "failed": ItemOutcome.REFUSED,
}


UNDECIDED: Final = frozenset(
    {
        ItemOutcome.FAILED,
        ItemOutcome.NOTHING_DELIVERED,
        ItemOutcome.STOPPED,
        ItemOutcome.DECLINED,
        ItemOutcome.REFUSED,
    }
)
"""Ends that leave a decision to the person; what was only proposed or never began leaves none."""


def delivered(job: JobRow) -> bool:
    """Whether its pull request exists."""
    return job.stage is Stage.NOTICE or (job.state is JobState.DONE and job.stage in DELIVERING)


def held_back(jobs: Iterable[JobRow], acts: Sequence[PastAct]) -> PastAct | None:
    """Find the act that only time holds back, while no job is going: a night that is silent because of it says so."""
    if not acts or any(not job.state.over for job in jobs):
        return None
    return acts[-1] if only_waits(acts[-1]) else None


def outcome_of(item: str, jobs: Iterable[JobRow], acts: Iterable[PastAct] = ()) -> ItemOutcome:
    """Return what became of one item: by its jobs, and where it has none by the last verdict about it."""
    own = [job for job in jobs if job.work_item == item]
    if any(delivered(job) for job in own):
        return ItemOutcome.DELIVERED
    if own:
        return _BY_STATE.get(own[-1].state, ItemOutcome.WORKING)
    judged = [act for act in acts if act.about == item]
    if not judged or judged[-1].code in PASSING:  # there was no free place for it, or not the time
        return ItemOutcome.NOT_STARTED
    return _BY_ACT.get(judged[-1].state, ItemOutcome.NOT_STARTED)


def outcomes_of(
    works: Iterable[frozenset[str]], jobs: Sequence[JobRow], acts: Sequence[PastAct] = ()
) -> dict[str, ItemOutcome]:
    return {item: outcome_of(item, jobs, acts) for items in works for item in sorted(items)}


def tally(
    works: Sequence[frozenset[str]],
    jobs: Sequence[JobRow],
    acts: Sequence[PastAct] = (),
    asks: Iterable[AskRow] = (),
) -> WorkTally:
    """Count the ordered works, and what a person has to decide."""
    outcomes = outcomes_of(works, jobs, acts)
    opened = [ask for ask in asks if ask.state is AskState.OPEN]
    ends = [_together([outcomes[item] for item in items]) for items in works]
    return WorkTally(
        ordered=len(works),
        delivered=ends.count(ItemOutcome.DELIVERED),
        unneeded=ends.count(ItemOutcome.UNNEEDED),
        working=ends.count(ItemOutcome.WORKING),
        waiting=ends.count(ItemOutcome.WAITING),
        undelivered=sum(one not in ITEM_DONE | GOING for one in ends),
        not_started=ends.count(ItemOutcome.NOT_STARTED),
        proposed=ends.count(ItemOutcome.PROPOSED),
        asked=len(opened),
        undecided=len(_undecided(works, jobs, outcomes, opened)),
    )


def _together(ends: Sequence[ItemOutcome]) -> ItemOutcome:
    """Return what became of one work in several repositories: what is least done of it decides."""
    for going in (ItemOutcome.WORKING, ItemOutcome.WAITING):
        if going in ends:
            return going
    left = [one for one in ends if one not in ITEM_DONE]
    if left:
        return left[0]
    return ItemOutcome.DELIVERED if ItemOutcome.DELIVERED in ends else ItemOutcome.UNNEEDED


def _undecided(
    works: Iterable[frozenset[str]],
    jobs: Sequence[JobRow],
    outcomes: Mapping[str, ItemOutcome],
    opened: Iterable[AskRow],
) -> list[frozenset[str]]:
    """List the works that want a decision and that no open ask is about; a plan the person rejected wants none."""
    asked = {ask.subject for ask in opened}
    answered = {job.work_item for job in jobs if job.id in asked or job.state is JobState.DECLINED}
    unproven = {job.work_item for job in jobs if delivered(job) and job.proof and job.proof.verdict != "green"}
    wants = unproven | {item for item, became in outcomes.items() if became in UNDECIDED}
    return [items for items in works if items & wants - answered]
