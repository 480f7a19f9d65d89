"""What the morning is made of: evidence, claims, the report, the verdicts, the scores."""

from datetime import datetime
from typing import Literal

from midwatch.journal.events.happening import Happening
from midwatch.journal.events.stack import StackEvent
from midwatch.terms.report import Assumption, Brief, Claim, Evidence, Recommendation, Review, ScoreParts


class EvidenceFound(Happening):
    """Something was seen that can be looked up again."""

    kind: Literal["evidence.found"] = "evidence.found"
    run: str
    project: str
    job: str
    evidence: Evidence


class ClaimMade(Happening):
    """Something was claimed, on evidence or as hypothesis."""

    kind: Literal["claim.made"] = "claim.made"
    run: str
    project: str
    claim: Claim


class ArtifactKept(Happening):
    """Something durable came out of a run."""

    kind: Literal["artifact.kept"] = "artifact.kept"
    artifact: str
    run: str
    project: str
    job: str
    type: Literal["decision_memo", "experiment_card", "code_diff", "research_brief", "verification_note"]
    title: str
    format: Literal["md", "pdf", "json", "patch"]
    blob: str
    summary: str


class AssumptionMade(Happening):
    """Something was taken for granted while nobody could be asked."""

    kind: Literal["assumption.made"] = "assumption.made"
    run: str
    project: str
    assumption: Assumption


class ReportWritten(Happening):
    """The brief is ready."""

    kind: Literal["report.written"] = "report.written"
    report: str
    session: str
    brief: Brief
    recommendations: tuple[Recommendation, ...]
    decisions: tuple[str, ...]
    """Asks that wait for the person."""
    review_due_at: datetime


class RunScored(Happening):
    """A run was scored by the formulas."""

    kind: Literal["run.scored"] = "run.scored"
    run: str
    phase: Literal["pre", "post"]
    parts: ScoreParts
    score: float | None


class ReviewSubmitted(Happening):
    """The person gave verdicts."""

    kind: Literal["review.submitted"] = "review.submitted"
    session: str
    by: str
    review: Review


class ReviewTimedOut(Happening):
    """No verdict came in time; the night counts for nothing."""

    kind: Literal["review.timed_out"] = "review.timed_out"
    session: str


MorningEvent = (
    EvidenceFound
    | ClaimMade
    | ArtifactKept
    | AssumptionMade
    | ReportWritten
    | RunScored
    | ReviewSubmitted
    | ReviewTimedOut
    | StackEvent
)
