"""Evidence, claims, the brief, verdicts and scores."""

from datetime import datetime
from typing import Literal

from midwatch.journal.events.happening import Happening
from midwatch.journal.events.stack import StackEvent
from midwatch.terms.report import Assumption, Brief, Claim, Evidence, Recommendation, Review, ScoreParts
from midwatch.terms.trust import Reason


class EvidenceFound(Happening):
    """A piece of evidence was recorded; it can be looked up again."""

    kind: Literal["evidence.found"] = "evidence.found"
    run: str
    project: str
    job: str
    evidence: Evidence


class ClaimMade(Happening):
    """A claim was made, on evidence or as a hypothesis."""

    kind: Literal["claim.made"] = "claim.made"
    run: str
    project: str
    claim: Claim


class ArtifactKept(Happening):
    """An artifact of a run was stored."""

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
    """An assumption was made because no person could be asked."""

    kind: Literal["assumption.made"] = "assumption.made"
    run: str
    project: str
    assumption: Assumption


class AssumptionSettled(Happening):
    """A person confirmed or rejected an assumption."""

    kind: Literal["assumption.settled"] = "assumption.settled"
    session: str
    assumption: str
    statement: str
    status: Literal["confirmed", "rejected"]
    by: str


class ReportWritten(Happening):
    """The brief is ready."""

    kind: Literal["report.written"] = "report.written"
    report: str
    session: str
    brief: Brief
    recommendations: tuple[Recommendation, ...]
    decisions: tuple[str, ...]
    """Open asks for the person."""
    review_due_at: datetime
    guardrails: tuple[Reason, ...] = ()
    """What the drift guardrails found in its recommendations and claims."""


class RunScored(Happening):
    """A run was scored."""

    kind: Literal["run.scored"] = "run.scored"
    run: str
    phase: Literal["pre", "post"]
    parts: ScoreParts
    score: float | None


class ReviewSubmitted(Happening):
    """A person submitted the review."""

    kind: Literal["review.submitted"] = "review.submitted"
    session: str
    by: str
    review: Review


class ReviewTimedOut(Happening):
    """The review was not given in time; the night is not scored."""

    kind: Literal["review.timed_out"] = "review.timed_out"
    session: str


MorningEvent = (
    EvidenceFound
    | ClaimMade
    | ArtifactKept
    | AssumptionMade
    | AssumptionSettled
    | ReportWritten
    | RunScored
    | ReviewSubmitted
    | ReviewTimedOut
    | StackEvent
)
