"""Handing finished work over: the branch, the pull request, the word to the person; each once, in this order."""

from dataclasses import dataclass

from midwatch.errors import Stale
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobDelivered, JobEnded, PullRequestOpened
from midwatch.journal.events.session import NoticeRaised
from midwatch.night.context import Night
from midwatch.night.delivery.pull_request_text import pull_request_text
from midwatch.night.delivery.siblings import siblings, worded
from midwatch.night.delivery.wording import ready_text, stayed_red
from midwatch.night.jobs.resume import followed
from midwatch.night.rounds.world import look
from midwatch.ports.door import Effect
from midwatch.ports.journal import Records
from midwatch.rules.checks.check_runs import NOT_DELIVERABLE
from midwatch.rules.gate.contract import WRITE
from midwatch.rules.gate.delivery import judge_delivery
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.terms.acts import ActKind, External, Proposal, Proposer
from midwatch.terms.forges import (
    AGENT,
    LOCAL,
    BranchSeen,
    PullRequestDraft,
    PullRequestPlace,
    PullRequestSeen,
    bearer_of,
)
from midwatch.terms.jobs import Change, Stage
from midwatch.terms.records import InvocationRow, JobRow, ProjectRow, PullRequestRow, SessionRow
from midwatch.terms.trust import Verdict


async def deliver(night: Night, job: JobRow) -> tuple[Event, ...]:
    """Through the door: the branch, and nothing else."""
    change = _delivered(job)
    if job.proof is None:
        raise Stale("There is no verified work to deliver.")
    if is_draft(job) and night.settings().execution.deliver_red == "never":
        return (JobEnded(job=job.id, epoch=job.epoch, state="failed", why=stayed_red(job, job.proof), cause="logic"),)
    project = await night.records.get(ProjectRow, job.project)
    forge = night.forges.of(project)
    chosen = await branch_for(night, job, project, change.head)

    async def push() -> dict[str, str]:
        branch = await forge.deliver(project.path, project.id, chosen.bearer, change.head)
        return {"branch": branch, **({LEFT: chosen.left} if chosen.left else {})}

    other = "" if chosen.bearer == job.id else f":{chosen.bearer}"
    passed = await night.door.pass_through(
        Effect(
            key=f"deliver:{job.id}:{change.head[:12]}:{job.attempt}.{job.waits}{other}",
            tool=WRITE,
            session=job.session,
            run=job.run,
            job=job.id,
            request={"head": change.head, "into": f"{AGENT}{chosen.bearer}", "repository": project.path},
        ),
        lambda: may_leave(night, job),
        push,
    )
    return (JobDelivered(job=job.id, epoch=job.epoch, branch=passed["branch"], head=change.head),)


def is_draft(job: JobRow) -> bool:
    """Whether work may leave only as a draft: its checks stayed red, or are not to be believed."""
    return job.proof is not None and job.proof.verdict in NOT_DELIVERABLE


def _delivered(job: JobRow) -> Change:
    if job.change is None:
        raise Stale("There is nothing to deliver.")
    return job.change


async def ask_for_review(night: Night, job: JobRow) -> tuple[Event, ...]:
    """Ask for the branch to be looked at and merged, where its project's forge keeps such questions."""
    change, project = _delivered(job), await night.records.get(ProjectRow, job.project)
    title, body = pull_request_text(job, project, night.settings().execution.commit_strategy)
    body = worded(body, await siblings(night.records, job))
    place = PullRequestPlace(
        source=project.path, project=project.id, job=job.id, branch=job.branch, head=change.head, into=project.branch
    )
    forge, seen = await _open(
        night, job, project, PullRequestDraft(place=place, title=title, body=body, draft=is_draft(job))
    )
    opened = PullRequestOpened(
        pull_request=night.ids.new("pr"),
        job=job.id,
        epoch=job.epoch,
        run=job.run,
        project=job.project,
        branch=job.branch,
        base=change.base,
        head=change.head,
        into=project.branch,
        title=title,
        body=body,
        forge=forge,
        draft=seen.draft or is_draft(job),
        url=seen.url,
        there=seen.number,
        checks=seen.checks,
        remarks=(*await left_behind(night.records, job), *seen.remarks),
    )
    return (opened,)


async def _open(night: Night, job: JobRow, project: ProjectRow, draft: PullRequestDraft) -> tuple[str, PullRequestSeen]:
    """Through the door, where it leads anywhere: on this machine a pull request is our own record and nothing more."""
    forge = night.forges.of(project)
    if forge.name == LOCAL:
        return LOCAL, await forge.open(draft)

    async def act() -> dict[str, str]:
        return {"seen": (await forge.open(draft)).model_dump_json()}

    passed = await night.door.pass_through(
        Effect(
            key=f"pull_request:{job.id}:{draft.place.head[:12]}:{job.attempt}.{job.waits}",
            tool=WRITE,
            session=job.session,
            run=job.run,
            job=job.id,
            request={"into": draft.place.branch, "meant_for": draft.place.into, "forge": forge.name},
        ),
        lambda: may_leave(night, job),
        act,
    )
    return forge.name, PullRequestSeen.model_validate_json(passed["seen"])


async def tell(night: Night, job: JobRow) -> tuple[Event, ...]:
    """Tell the person that there is something to look at; the job is over."""
    rows = await night.records.find(PullRequestRow, job=job.id)
    if not rows:
        raise Stale("There is no pull request to report.")
    why = f"Only a draft: {rows[-1].title}" if rows[-1].draft else rows[-1].title
    ended = JobEnded(job=job.id, epoch=job.epoch, state="done", why=why)
    told = NoticeRaised(
        notice=night.ids.new("ntc"),
        session=job.session,
        tier=tier_of(NoticeKind.PULL_REQUEST_READY),
        text=ready_text(job, rows[-1], night.clock.now()),
        subject=job.id,
    )
    return (ended, told) if night.settings().notices.on_complete else (ended,)


async def may_leave(night: Night, job: JobRow) -> Verdict:
    """Ask the gate again, about exactly the paths that would leave."""
    now = await night.records.get(JobRow, job.id)
    if now.epoch != job.epoch:
        raise Stale(f"Epoch {job.epoch} is no longer the newest.")
    world = await look(night, await night.records.get(SessionRow, job.session))
    proposal = Proposal(
        kind=ActKind.START,
        by=Proposer.PERSON if by_person(job) else Proposer.BRAIN,
        project=job.project,
        target=job.work_item,
        agent=job.agent,
        tool=WRITE,
        writes=True,
        paths=tuple(file.path for file in job.change.files) if job.change else (),
        external=External.LOW,
        effect="pull_request",
        reason=job.title,
        confidence=1.0,
    )
    return judge_delivery(proposal, world.facts_for(proposal))


def by_person(job: JobRow) -> bool:
    """Whether a person approved the plan: then what follows is the person's own command."""
    return bool(job.approved_by) and job.approved_by != "silence" and not job.approved_by.startswith("level ")


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


async def left_behind(records: Records, job: JobRow) -> tuple[str, ...]:
    """Recall what was said about a branch that was not gone on with, for the remarks on the new one."""
    passed = await records.find(InvocationRow, job=job.id, tool=WRITE, status="ok")
    return tuple(dict.fromkeys(str(one.result[LEFT]) for one in passed if LEFT in one.result))
