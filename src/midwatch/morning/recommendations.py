"""The ranked recommendations: deliveries first, then findings without a safe fix, then failures."""

from collections.abc import Callable, Sequence

from midwatch.terms.jobs import JobState
from midwatch.terms.money import some
from midwatch.terms.records import EvidenceRow, JobRow, PullRequestRow
from midwatch.terms.report import EvidenceKind, Recommendation
from midwatch.views.text.proof import PROVEN_IN_SHORT

CONFIDENCE = {"green": 0.9, "still_red": 0.6, "no_checks": 0.5, "flaky": 0.5}
MOST = 3
MOST_DOUBTS = 2
PER_DOUBT = 0.1
"""How much each doubt lowers the confidence."""
LEAST = 0.2


def recommend(
    jobs: Sequence[JobRow],
    pull_requests: Sequence[PullRequestRow],
    evidence: Sequence[EvidenceRow],
    *,
    new_id: Callable[[str], str],
) -> tuple[Recommendation, ...]:
    """Rank the night's recommendations, the best supported first."""
    by_job = {job.id: job for job in jobs}
    merges = [_merge(by_job[pr.job], pr, evidence, new_id) for pr in pull_requests if pr.state == "open"]
    looks = [one for job in jobs if (one := _look(job, evidence, new_id)) is not None]
    again = [_again(job, new_id) for job in jobs if job.state is JobState.FAILED and not _retried(job, jobs)]
    ranked = sorted(merges, key=lambda one: -one.confidence)  # all of them: a person merges only what they accepted
    return (*ranked, *(looks + again)[: max(0, MOST - len(ranked))])


def _merge(
    job: JobRow, pr: PullRequestRow, evidence: Sequence[EvidenceRow], new_id: Callable[[str], str]
) -> Recommendation:
    verdict = job.proof.verdict if job.proof else "no_checks"
    change = job.change
    size = f"{some(len(change.files), 'file')}, +{change.insertions} -{change.deletions}" if change else ""
    checks = tuple(row.id for row in evidence if row.job == job.id and row.kind is EvidenceKind.BENCHMARK)
    doubts = job.proof.doubts if job.proof else ()
    tradeoffs = [doubt.text.removesuffix(".") for doubt in doubts[:MOST_DOUBTS]]
    tradeoffs += list(job.plan.risks[:1]) if job.plan else []
    if verdict == "no_checks":
        tradeoffs.append("no check verifies it")
    if change and change.flagged:
        tradeoffs.append(f"touches {', '.join(change.flagged[:2])}")
    return Recommendation(
        id=new_id("rec"),
        text=f"{'Look at draft' if pr.draft else 'Merge' if checks else 'Review'} pull request {pr.number}, {pr.title} "
        f"({size}; {PROVEN_IN_SHORT.get(verdict, verdict)}).",
        confidence=max(LEAST, CONFIDENCE.get(verdict, 0.4) - PER_DOUBT * len(doubts)),
        tradeoffs=tuple(tradeoffs) or (f"{size} to review" if size else "a pull request to review",),
        ask=f"midwatch job {'show' if pr.draft else 'merge'} {job.number}",
        why=f"trace:{job.id}",
        evidence=checks,
        hypothesis=not checks,
        run=job.run,
        work_item=job.work_item,
    )


def _look(job: JobRow, evidence: Sequence[EvidenceRow], new_id: Callable[[str], str]) -> Recommendation | None:
    found = [row for row in evidence if row.job == job.id and row.kind is EvidenceKind.REPO]
    if not found:
        return None
    first = found[0]
    place = first.citation.split("@")[0]
    more = f" and {some(len(found) - 1, 'more finding')}" if len(found) > 1 else ""
    return Recommendation(
        id=new_id("rec"),
        text=f"Look at {place} ({first.notes}){more}: no safe fix exists.",
        confidence=0.8,
        tradeoffs=("some may be intentional",),
        ask=f"Open {place}",
        why=f"trace:{job.id}",
        evidence=tuple(row.id for row in found[:5]),
        run=job.run,
        work_item=job.work_item,
    )


def _again(job: JobRow, new_id: Callable[[str], str]) -> Recommendation:
    return Recommendation(
        id=new_id("rec"),
        text=f"Look into job {job.number}, {job.title}: it failed at {job.stage.value}. {job.why}",
        confidence=0.6,
        tradeoffs=("its checkout is kept until you decide",),
        ask=f"midwatch job show {job.number}",
        why=f"trace:{job.id}",
        hypothesis=True,
        run=job.run,
        work_item=job.work_item,
    )


def _retried(job: JobRow, jobs: Sequence[JobRow]) -> bool:
    return any(other.retry_of == job.id for other in jobs)
