"""The score of a run before review, each part from its own records (N15, RULES 6)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from midwatch.journal.events.morning import RunScored
from midwatch.rules.morning import scores
from midwatch.rules.morning.scores import ActDone
from midwatch.terms import records as rec
from midwatch.terms.acts import ActKind
from midwatch.terms.money import four_digits
from midwatch.terms.report import EvidenceKind, Recommendation, ScoreParts

if TYPE_CHECKING:
    from midwatch.morning.brief import NightRecords


def score_before_review(ledger: "NightRecords", run: rec.RunRow, recommended: tuple[Recommendation, ...]) -> RunScored:
    """Score one run by the formulas; one that delivered nothing, or recommends nothing, has nothing to decide on."""
    items = [row for row in ledger.evidence if row.run == run.id]
    claims = [row for row in ledger.claims if row.run == run.id]
    mine = [one for one in recommended if one.run == run.id]
    parts = ScoreParts(
        alignment=scores.alignment(_acts(ledger, run)),
        evidence=scores.evidence_score(items, claims),
        novelty=scores.novelty(_findings(items), _findings(ledger.earlier_evidence)),
        readiness=scores.readiness(mine),
    )
    if run.status in scores.UNDELIVERED or not mine:
        parts = parts.model_copy(update={"evidence": 0.0, "readiness": 0.0})
    return RunScored(run=run.id, phase="pre", parts=parts, score=four_digits(scores.pre(parts)))


def _acts(ledger: "NightRecords", run: rec.RunRow) -> list[ActDone]:
    """List what was done for this run, and what was done for nothing that was ordered: that counts against each run."""
    jobs = {job.id: job.work_item for job in ledger.jobs}
    serves = {item["work_item"] for item in ledger.session.items} | set(jobs) | set(jobs.values())
    serves |= {*run.contract.goal_links, *(item["project"] for item in ledger.session.items)}
    started = {job.act for job in ledger.jobs if job.run == run.id}
    own = {name for job in ledger.jobs if job.run == run.id for name in (job.id, job.work_item, job.project)}
    return [
        ActDone(kind=ActKind(act.kind), target=act.about, linked=act.about in serves, fresh=bool(act.result))
        for act in ledger.acts
        if act.state == "done" and (act.id in started or act.about in own or act.about not in serves)
    ]


def _findings(items: Iterable[rec.EvidenceRow]) -> list[str]:
    """Name each finding by its file and what it is: lines move, and a check that was run is no finding."""
    found = [item for item in items if item.kind is EvidenceKind.REPO]
    return [f"{item.citation.split('@')[0].rpartition(':')[0]} {item.notes}" for item in found]
