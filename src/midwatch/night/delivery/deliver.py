"""Delivers finished work: the branch, the pull request, the notice to the person; each once, in this order."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from midwatch.errors import Stale
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobDelivered, JobEnded, PullRequestOpened
from midwatch.night.agents.agent_events import turns_of
from midwatch.night.context import Outside
from midwatch.night.delivery.pull_request_text import kept_back_text, pull_request_text, ready_text
from midwatch.night.delivery.siblings import siblings, worded
from midwatch.night.jobs.job_limits import files_allowed
from midwatch.night.jobs.resume import followed
from midwatch.night.notify.notice import in_check_in, job_notice
from midwatch.night.rounds.world import look
from midwatch.ports.books import Books
from midwatch.ports.door import Door, Effect
from midwatch.ports.forge import Forges
from midwatch.ports.journal import Records
from midwatch.rules.checks.check_runs import kept_back
from midwatch.rules.gate.contract import WRITE, opened
from midwatch.rules.gate.gate import judge_delivery
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
from midwatch.terms.jobs import DELIVERING, NOT_DELIVERABLE, Change
from midwatch.terms.records import InvocationRow, JobRow, ProjectRow, PullRequestRow, SessionRow
from midwatch.terms.trust import Verdict


async def deliver(books: Books, outside: Outside, job: JobRow) -> tuple[Event, ...]:
    """Push the branch through the door, and nothing else."""
    change = _delivered(job)
    if job.proof is None:
        raise Stale("There is no verified work to deliver.")
    if kept_back(job.proof, books.settings().execution.deliver_red):
        why = kept_back_text(job, job.proof)
        return (JobEnded(job=job.id, epoch=job.epoch, state="failed", why=why, cause="logic"),)
    project = await books.records.get(ProjectRow, job.project)
    forge = outside.forges.of(project)
    chosen = await branch_for(books.records, outside.forges, job, project, change.head)

    async def push() -> dict[str, str]:
        branch = await forge.deliver(project.path, project.id, chosen.bearer, change.head)
        return {"branch": branch, **({LEFT: chosen.left} if chosen.left else {})}

    other = "" if chosen.bearer == job.id else f":{chosen.bearer}"
    key = f"deliver:{job.id}:{change.head[:12]}:{job.attempt}.{job.waits}{other}"
    request = {"head": change.head, "into": f"{AGENT}{chosen.bearer}", "repository": project.path}
    passed = await through_the_door(books, outside.door, job, key, request, push)
    return (JobDelivered(job=job.id, epoch=job.epoch, branch=passed["branch"], head=change.head),)


def is_draft(job: JobRow) -> bool:
    """Whether work may be delivered only as a draft: its checks still fail, or cannot be trusted."""
    return job.proof is not None and job.proof.verdict in NOT_DELIVERABLE


def _delivered(job: JobRow) -> Change:
    if job.change is None:
        raise Stale("There is nothing to deliver.")
    return job.change


async def ask_for_review(books: Books, outside: Outside, job: JobRow) -> tuple[Event, ...]:
    """Open a pull request for the branch on its project's forge."""
    change, project = _delivered(job), await books.records.get(ProjectRow, job.project)
    turns = await turns_of(books.journal, job)
    title, body = pull_request_text(job, project, books.settings().execution.commit_strategy, turns)
    body = worded(body, await siblings(books.records, job))
    place = PullRequestPlace(
        source=project.path, project=project.id, job=job.id, branch=job.branch, head=change.head, into=project.branch
    )
    forge, seen = await _open(
        books, outside, job, project, PullRequestDraft(place=place, title=title, body=body, draft=is_draft(job))
    )
    opened = PullRequestOpened(
        pull_request=books.ids.new("pr"),
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
        remarks=(*await left_behind(books.records, job), *seen.remarks),
    )
    return (opened,)


async def _open(
    books: Books, outside: Outside, job: JobRow, project: ProjectRow, draft: PullRequestDraft
) -> tuple[str, PullRequestSeen]:
    """Open it through the door if the forge is remote; on this machine a pull request is only our own record."""
    forge = outside.forges.of(project)
    if forge.name == LOCAL:
        return LOCAL, await forge.open(draft)

    async def act() -> dict[str, str]:
        return {"seen": (await forge.open(draft)).model_dump_json()}

    key = f"pull_request:{job.id}:{draft.place.head[:12]}:{job.attempt}.{job.waits}"
    request = {"into": draft.place.branch, "meant_for": draft.place.into, "forge": forge.name}
    passed = await through_the_door(books, outside.door, job, key, request, act)
    return forge.name, PullRequestSeen.model_validate_json(passed["seen"])


async def tell(books: Books, job: JobRow) -> tuple[Event, ...]:
    """Send the notice that the pull request is ready, and end the job."""
    rows = await books.records.find(PullRequestRow, job=job.id)
    if not rows:
        raise Stale("There is no pull request to report.")
    why = f"Only a draft: {rows[-1].title}" if rows[-1].draft else rows[-1].title
    ended = JobEnded(job=job.id, epoch=job.epoch, state="done", why=why)
    kind = NoticeKind.PULL_REQUEST_READY
    together = in_check_in(await books.records.get(SessionRow, job.session), kind, tier_of(kind))
    if together or not books.settings().notices.on_complete:
        return (ended,)
    text = ready_text(job, rows[-1], books.clock.now(), await turns_of(books.journal, job))
    return ended, job_notice(books.ids, job, tier_of(kind), text)


async def through_the_door(
    books: Books,
    door: Door,
    job: JobRow,
    key: str,
    request: dict[str, str],
    act: Callable[[], Awaitable[dict[str, str]]],
) -> dict[str, str]:
    """Let an effect of a job leave, once per key, if the gate still allows it."""
    effect = Effect(key=key, tool=WRITE, session=job.session, run=job.run, job=job.id, request=request)
    return await door.pass_through(effect, lambda: _may_leave(books, job), act)


async def _may_leave(books: Books, job: JobRow) -> Verdict:
    """Ask the gate again, about exactly the paths that would be delivered."""
    now = await books.records.get(JobRow, job.id)
    if now.epoch != job.epoch:
        raise Stale(f"Epoch {job.epoch} is no longer the newest.")
    world = await look(books, await books.records.get(SessionRow, job.session))
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
    facts = world.facts_for(proposal)
    if facts.contract is not None:
        files = await files_allowed(books.journal, books.records, job)
        facts = facts.model_copy(update={"contract": opened(facts.contract, files)})
    return judge_delivery(proposal, facts)


def by_person(job: JobRow) -> bool:
    """Whether a person approved the plan; then what follows counts as the person's own command."""
    return bool(job.approved_by) and job.approved_by != "silence" and not job.approved_by.startswith("level ")


LEFT = "left"
"""The key in the door's record for the branch that was not continued, and why."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The branch that work is delivered on."""

    bearer: str
    """The job that the branch is named after."""
    left: str = ""
    """The sentence about an earlier branch that is left unchanged."""


async def branch_for(records: Records, forges: Forges, job: JobRow, project: ProjectRow, head: str) -> Chosen:
    """Choose the newest branch of the jobs it continues that is still where Midwatch left it, to keep a single branch.

    A branch that was pushed once is not chosen again: later commits there were made on top of this work.
    """
    for one in await records.find(InvocationRow, job=job.id, tool=WRITE, status="ok"):
        if "branch" in one.result and one.request.get("head") == head:
            return Chosen(bearer_of(str(one.result["branch"])) or job.id, str(one.result.get(LEFT, "")))
    before = [one for one in await followed(records, job) if one.change is not None and one.stage in DELIVERING]
    ours = {head, *(one.change.head for one in before if one.change is not None)}
    forge, left = forges.of(project), ""
    for bearer in dict.fromkeys(bearer_of(one.branch) or one.id for one in before):
        there = await forge.pushed(project.path, project.id, bearer, head)
        if why := _in_the_way(there, ours):
            left = left or f"{AGENT}{bearer} {why} and was left unchanged; this work is on {AGENT}{job.id} instead."
        elif there.head:
            return Chosen(bearer)
    return Chosen(job.id, left)


def _in_the_way(there: BranchSeen, ours: set[str]) -> str:
    """Return why a branch cannot be continued: another person's later commits are never moved or built upon."""
    if there.head and there.head not in ours:
        return "was changed by another person"
    return there.in_the_way


async def left_behind(records: Records, job: JobRow) -> tuple[str, ...]:
    """Return what was recorded about a branch that was not continued, for the remarks on the new one."""
    passed = await records.find(InvocationRow, job=job.id, tool=WRITE, status="ok")
    return tuple(dict.fromkeys(str(one.result[LEFT]) for one in passed if LEFT in one.result))
