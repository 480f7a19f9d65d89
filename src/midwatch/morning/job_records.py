"""The records of a finished job: evidence, claims, the diff, assumptions, and the state of its work item."""

from midwatch.errors import MidwatchError, Stale
from midwatch.journal.events import Event
from midwatch.journal.events.morning import ArtifactKept, AssumptionMade, ClaimMade, EvidenceFound
from midwatch.journal.events.projects import WorkChanged
from midwatch.morning.run_end import finish
from midwatch.ports.books import Books
from midwatch.ports.clock import Ids
from midwatch.ports.journal import Records
from midwatch.ports.workspace import Mirrors
from midwatch.rules.morning.scores import SourceRank, item_quality
from midwatch.terms.figures import some
from midwatch.terms.jobs import CheckResult, Finding, JobState
from midwatch.terms.projects import WorkStatus
from midwatch.terms.records import JobRow, ProjectRow, PullRequestRow
from midwatch.terms.report import Assumption, Claim, Evidence, EvidenceKind

MOST_FINDINGS = 20
TRIES = 4
"""Two parts of one run may be closed at the same moment; only one of them closes the run."""


async def close_job(books: Books, mirrors: Mirrors, job_id: str) -> None:
    """Write the receipts of a finished job, once."""
    key = f"close:{job_id}"
    job = await books.records.get(JobRow, job_id)
    if not job.state.over:
        return
    events = await _receipts(books, mirrors, job)
    for _ in range(TRIES):
        if await books.journal.known(key) is not None:
            return
        try:
            await books.journal.record(*events, *await finish(books.records, job.run), key=key)
        except Stale:
            continue  # another worker closed it, or the run


async def _receipts(books: Books, mirrors: Mirrors, job: JobRow) -> list[Event]:
    pull_requests = await books.records.find(PullRequestRow, job=job.id)
    events: list[Event] = []
    fresh = await _is_current(books.records, mirrors, job)
    checks = [_found(job, _check_evidence(books.ids, job, one), fresh=fresh) for one in _checks(job)]
    findings = [_found(job, _finding_evidence(books.ids, job, one), fresh=fresh) for one in _left(job)[:MOST_FINDINGS]]
    events += [*checks, *findings, *(_found(job, one, fresh=fresh) for one in _survey_evidence(books.ids, job))]
    events += _claims(books.ids, job, tuple(one.evidence.id for one in checks), findings)
    if job.diff_blob:
        events.append(_artifact(books.ids, job))
    events += [AssumptionMade(run=job.run, project=job.project, assumption=one) for one in _assumptions(books.ids, job)]
    events.append(_work_changed(job, pull_requests))
    return events


def _checks(job: JobRow) -> tuple[CheckResult, ...]:
    return job.proof.delivered if job.proof else ()


def _left(job: JobRow) -> tuple[Finding, ...]:
    if job.done is not None:
        return job.done.left
    return tuple(one for one in job.plan.findings if not one.fixable) if job.plan else ()


def _head(job: JobRow) -> str:
    if job.change is not None:
        return job.change.head
    return job.repository.head if job.repository else ""


async def _is_current(records: Records, mirrors: Mirrors, job: JobRow) -> bool:
    """Whether the branch is still at the commit the work is based on; not, if that cannot be found out."""
    if job.repository is None:
        return False
    project = await records.get(ProjectRow, job.project)
    try:
        head = await mirrors.update(project.id, project.path, project.branch)
    except MidwatchError:
        return False
    return head == job.repository.head


def _found(job: JobRow, evidence: Evidence, *, fresh: bool) -> EvidenceFound:
    kept = evidence.model_copy(update={"fresh": fresh})
    return EvidenceFound(run=job.run, project=job.project, job=job.id, evidence=kept)


def _check_evidence(ids: Ids, job: JobRow, result: CheckResult) -> Evidence:
    return Evidence(
        id=ids.new("evi"),
        kind=EvidenceKind.BENCHMARK,
        citation=f"`{result.command}` on a fresh checkout of {_head(job)[:12]}: exit {result.exit_code}",
        origin=f"check:{result.command}",
        excerpt=(result.failing_line or result.tail[-300:])[:300],
        quality=item_quality(SourceRank.PRIMARY),
    )


def _finding_evidence(ids: Ids, job: JobRow, finding: Finding) -> Evidence:
    return Evidence(
        id=ids.new("evi"),
        kind=EvidenceKind.REPO,
        citation=f"{finding.path}:{finding.line}@{_head(job)[:12]}",
        origin=f"{finding.tool}:{finding.rule}",
        excerpt=finding.excerpt,
        quality=item_quality(SourceRank.PRIMARY),
        notes=f"{finding.rule}: {finding.message}",
    )


def _survey_evidence(ids: Ids, job: JobRow) -> list[Evidence]:
    """Record what was read to show that nothing had to be done."""
    left = job.done or job.plan
    if job.state is not JobState.DONE or job.change is not None or left is None or left.survey is None:
        return []
    files = some(left.survey.files, "file")
    return [
        Evidence(
            id=ids.new("evi"),
            kind=EvidenceKind.METRIC_SNAPSHOT,
            citation=f"{job.agent} read {files} at {_head(job)[:12]} and found nothing it could fix",
            origin=f"survey:{job.agent}",
            quality=item_quality(SourceRank.PRIMARY),
        )
    ]


def _claims(ids: Ids, job: JobRow, checks: tuple[str, ...], findings: list[EvidenceFound]) -> list[ClaimMade]:
    claims = []
    if job.change is not None and job.done is not None:
        strength = "strong" if job.proof is not None and job.proof.verdict == "green" else "medium"
        claims.append(
            Claim(
                id=ids.new("clm"),
                text=job.done.summary,
                evidence=checks,
                hypothesis=not checks,
                strength=strength if checks else "weak",
            )
        )
    if findings:
        text = f"{some(len(findings), 'finding')} in {job.title} for a person to look at."
        claims.append(Claim(id=ids.new("clm"), text=text, evidence=tuple(one.evidence.id for one in findings)))
    return [ClaimMade(run=job.run, project=job.project, claim=claim) for claim in claims]


def _artifact(ids: Ids, job: JobRow) -> ArtifactKept:
    return ArtifactKept(
        artifact=ids.new("art"),
        run=job.run,
        project=job.project,
        job=job.id,
        type="code_diff",
        title=job.title,
        format="patch",
        blob=job.diff_blob,
        summary=job.done.summary if job.done else "",
    )


def _assumptions(ids: Ids, job: JobRow) -> list[Assumption]:
    made = []

    def assume(statement: str, confidence: float, impact: str) -> None:
        made.append(Assumption(id=ids.new("asm"), statement=statement, confidence=confidence, impact_if_wrong=impact))

    if job.approved_by == "silence":
        assume(f"The plan of job {job.number} was approved by timeout; it was not reviewed.", 0.7, "medium")
    if job.change is not None and job.proof is not None and job.proof.verdict == "no_checks":
        assume(f"The change in job {job.number} breaks nothing; no check could verify this.", 0.6, "high")
    if job.repository is not None and job.repository.dirty:
        count = some(len(job.repository.dirty), "uncommitted file")
        assume(f"The work of job {job.number} does not depend on {count} in its repository.", 0.7, "low")
    return made


def _work_changed(job: JobRow, pull_requests: tuple[PullRequestRow, ...]) -> WorkChanged:
    if pull_requests and pull_requests[-1].state == "merged":
        return WorkChanged(item=job.work_item, status=WorkStatus.DONE, next_step="", why=job.why)
    if pull_requests:
        step = f"Look at pull request {pull_requests[-1].number}: midwatch job diff {job.number}"
        return WorkChanged(
            item=job.work_item, status=WorkStatus.IN_PROGRESS, next_step=step, owner="human", why=job.why
        )
    if job.state is JobState.DONE:
        return WorkChanged(item=job.work_item, status=WorkStatus.DONE, next_step="", why=job.why)
    return WorkChanged(item=job.work_item, status=WorkStatus.BLOCKED, next_step=job.why, owner="human", why=job.why)
