"""Rows about the morning: evidence, claims, the report, the verdicts."""

from datetime import datetime

from midwatch.terms.report import Brief, EvidenceKind, Recommendation
from midwatch.terms.term import Term


class EvidenceRow(Term):
    """A piece of evidence."""

    id: str
    run: str
    project: str
    job: str
    kind: EvidenceKind
    citation: str
    origin: str
    excerpt: str
    quality: float
    fresh: bool
    notes: str
    retrieved_at: datetime


class ClaimRow(Term):
    """A claim with its evidence."""

    id: str
    run: str
    project: str
    text: str
    evidence: tuple[str, ...]
    hypothesis: bool
    strength: str
    created_at: datetime


class ArtifactRow(Term):
    """A durable output."""

    id: str
    run: str
    project: str
    job: str
    type: str
    title: str
    format: str
    blob: str
    summary: str
    created_at: datetime


class AssumptionRow(Term):
    """An assumption."""

    id: str
    run: str
    project: str
    statement: str
    confidence: float
    impact_if_wrong: str
    needs_confirmation: bool
    status: str
    created_at: datetime


class ReportRow(Term):
    """The brief of one night."""

    id: str
    session: str
    brief: Brief
    recommendations: tuple[Recommendation, ...]
    decisions: tuple[str, ...]
    created_at: datetime


class EvaluationRow(Term):
    """The review of one run: pending until the person submits it or its time is over."""

    id: str
    run: str
    session: str
    project: str
    capture_status: str
    usefulness: int | None
    trust: int | None
    brevity: int | None
    flags: tuple[str, ...]
    notes: str
    due_at: datetime
    created_at: datetime
    submitted_at: datetime | None


class OutcomeRow(Term):
    """What the person did with a recommendation."""

    id: str
    run: str
    session: str
    outcome: str
    reason: str
    created_at: datetime
