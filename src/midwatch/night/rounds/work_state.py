"""The state of each ordered work item: from its last job, the asks about it, and the verdicts since."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from midwatch.night.rounds.contracts import item_for
from midwatch.rules.budget.time_boxes import boxed, progressed
from midwatch.rules.gate.act_groups import PASSING
from midwatch.rules.morning.scores import ActDone, must_abort
from midwatch.rules.people.asks import agrees
from midwatch.rules.recovery.recovery import Cause, NextAct, next_act, remedy_of
from midwatch.rules.recovery.tries import GUIDANCE, failures_of, forgiven_at, project_spent, spent, tries_of
from midwatch.terms.acts import ActKind, ItemSense
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import DELIVERING, JobState
from midwatch.terms.records import JobRow, PastAct
from midwatch.terms.trust import Reason

if TYPE_CHECKING:
    from midwatch.night.rounds.world import World

RETRYABLE = frozenset({NextAct.RESTART, NextAct.AGAIN, NextAct.BACK_OFF})
YIELDED = frozenset({ActKind.UPDATE_WORK_ITEM.value})


def item_seen(world: "World", item: dict[str, str]) -> ItemSense:
    """Return the state of one work item, with what went wrong and what would help."""
    ordered = item_for(world.session, item["work_item"])
    tried = [job for job in world.jobs if job.work_item == item["work_item"]]
    judged = [act for act in world.acts if act.about == item["work_item"]]
    about = {
        "work_item": item["work_item"],
        "project": item["project"],
        "project_name": world.name_of(item["project"]),
        "title": item["title"],
        "agent": ordered.agent,
    }
    if not tried:
        return ItemSense.model_validate({**about, "state": _before_any_job(world, item["project"], judged)})
    return ItemSense.model_validate({**about, **_after_a_job(world, tried, judged)})


def _before_any_job(world: "World", project: str, judged: Sequence[PastAct]) -> str:
    if judged and for_good(judged[-1]) and not _forgiven(world, project, judged[-1]):
        return judged[-1].state
    waits = judged and judged[-1].id in {ask.subject for ask in world.asks}
    return "waiting" if waits else "todo"


def _forgiven(world: "World", project: str, act: PastAct) -> bool:
    """Whether it was refused only because its project had failed too often, and a person has said to go on since."""
    since = forgiven_at(world.answered, project, world.jobs)
    return act.code == "gate.retries_project" and since is not None and act.judged_at <= since


def _after_a_job(world: "World", tried: Sequence[JobRow], judged: Sequence[PastAct]) -> dict[str, object]:
    last = tried[-1]
    since = forgiven_at(world.answered, last.project, world.jobs, last.work_item)
    failures = failures_of(world.jobs, last.work_item, since)
    newer = [act for act in judged if last.ended_at is not None and act.judged_at > last.ended_at]
    state = _state(world, last, newer)
    refused = bool(newer) and newer[-1].kind == ActKind.RESTART.value and for_good(newer[-1])
    # A restart that was judged and did not happen yet waits for a person, or for the job it stopped.
    restarts = any(act.kind == ActKind.RESTART.value and act.state == "judged" for act in judged)
    asked = restarts or (bool(newer) and newer[-1].id in {ask.subject for ask in world.asks})
    former = next((job for job in tried if job.id == last.retry_of and boxed(job)), None)
    remedy = remedy_of(last.cause)
    return {
        "state": "waiting" if asked and state in {"failed", "boxed", "stopped"} else state,
        "job": last.id,
        "cause": last.cause,
        "tries": len(tried),
        "may_retry": state == "failed"
        and not refused
        and not asked
        and _may_retry(world, last)
        and not wasted(world, last),
        "error": failures[-1].said if failures and state == "failed" else "",
        "advice": remedy.differently if state == "failed" else "",
        "boxes": last.boxes,
        "progress": boxed(last) and progressed(last, former),
        "held_back": refused,
        "last_stage": last.stage.said,
    }


def _state(world: "World", last: JobRow, newer: Sequence[PastAct]) -> str:
    state = state_of(last)
    if state == "boxed" and any(act.kind in YIELDED and act.state != "judged" for act in newer):
        return "parked"
    if state != "failed":
        return state
    about = [ask for ask in (*world.answered, *world.asks) if ask.kind in GUIDANCE and ask.subject == last.id]
    if any(ask.state is AskState.OPEN for ask in about):
        return "asked"
    return "parked" if about and not agrees(about[-1].answer) else state


def _may_retry(world: "World", last: JobRow) -> bool:
    """Whether a brain may start it again: the table allows it, and neither its cause nor its project is at the cap."""
    cap = world.settings.jobs.max_retries
    looked = forgiven_at(world.answered, last.project, world.jobs)
    if project_spent([job for job in world.jobs if job.project == last.project], looked, cap):
        return False
    since = forgiven_at(world.answered, last.project, world.jobs, last.work_item)
    failures = failures_of(world.jobs, last.work_item, since)
    if not failures:
        return since is not None  # a person said to continue
    if last.cause not in set(Cause):
        return False  # not a failure of the work: money, or a limit of the night
    return next_act(Cause(last.cause), tries_of(failures, last.cause), cap) in RETRYABLE


def wasted(world: "World", job: JobRow) -> Reason | None:
    """Return the hard guardrail that ends a run: most of the acts on its item repeated or left nothing new (N16).

    Acts from before a person said to continue are not counted.
    """
    own = {one.id: one for one in world.jobs if one.work_item == job.work_item}
    since = forgiven_at(world.answered, job.project, world.jobs, job.work_item)
    counted = [
        ActDone(
            kind=ActKind(act.kind), target=act.about, arguments=_differently(own, act.result), fresh=bool(act.result)
        )
        for act in world.acts
        if act.state == "done" and act.about in {job.work_item, *own} and (since is None or act.judged_at > since)
    ]
    scores = world.settings.scores
    return must_abort(counted, above=scores.low_value_share, least=scores.low_value_min_acts)


def _differently(own: Mapping[str, JobRow], started: str) -> str:
    """Tell one restart from another: after another failure, or other commits, it is not the same act again."""
    former = own.get(own[started].retry_of) if started in own else None
    return f"{former.cause} {former.stage.value} {former.last_head}" if former else ""


def retries_counted(world: "World", work_item: str, project: str) -> int:
    """Count the tries for the same cause, for the gate; at least the cap, if only a person can help."""
    cap = world.settings.jobs.max_retries
    since = forgiven_at(world.answered, project, world.jobs, work_item)
    failures = failures_of(world.jobs, work_item, since)
    tries = tries_of(failures, failures[-1].cause) if failures else 0
    return max(tries, cap) if spent(world.jobs, work_item, since, cap) else tries


def state_of(job: JobRow) -> str:
    """Return the state of a work item after this job."""
    if job.state is JobState.WAITING:
        return "waiting"
    if not job.state.over:
        return "working"
    if job.state is JobState.DONE:
        return "delivered" if job.stage in DELIVERING else "nothing_to_do"
    return "boxed" if boxed(job) else job.state.value


def for_good(act: PastAct) -> bool:
    """Whether proposing it again tonight would get the same answer."""
    return act.state in {"said", "dropped", "refused"} and act.code not in PASSING
