"""Why this recommendation: the work it serves, its evidence, and who approved the work."""

from collections.abc import Sequence
from typing import TypeVar

from midwatch.errors import Unknown
from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events import jobs as ev
from midwatch.journal.events.morning import EvidenceFound, ReportWritten
from midwatch.journal.events.projects import GoalSet, WorkAdded
from midwatch.journal.events.session import ActJudged, OrdersChanged, OrdersSigned, SessionOpened
from midwatch.terms.figures import some
from midwatch.terms.report import Recommendation
from midwatch.terms.term import Term
from midwatch.views.entries.describe import describe
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean, spaced
from midwatch.views.text.proof import PROVEN
from midwatch.views.text.states import DECIDED

E = TypeVar("E", bound=Event)
Events = Sequence[Event]


class CitedEvidence(Term):
    """One piece of evidence with its place."""

    id: str
    citation: str
    notes: str
    excerpt: str


class AdviceExplained(Term):
    """Everything behind one recommendation; an empty text means that there is none."""

    id: str
    text: str
    ask: str
    confidence: float
    hypothesis: bool
    rests_on: str
    tradeoffs: tuple[str, ...]
    evidence: tuple[CitedEvidence, ...]
    work_item: str
    goals: tuple[str, ...]
    job: str
    plan: str
    approved: str
    outcome: str
    reasons: tuple[str, ...]
    signed: str


def why_recommendation(entries: Sequence[Entry], recommendation_id: str, names: Names) -> AdviceExplained:
    """Collect what is behind a recommendation, by its id."""
    events = [entry.event for entry in entries]
    report, advice = _find(events, recommendation_id)
    job = _job(events, advice)
    name = job.job if job else ""
    plans = [one for one in _all(events, ev.JobPlanned) if one.job == name]
    approvals = [one for one in _all(events, ev.JobApproved) if one.job == name]
    judged = [one for one in _all(events, ActJudged) if job and one.act == job.act]
    signed = [one for one in _all(events, OrdersSigned) if one.session == report.session]
    verdict = judged[-1].verdict if judged else None
    return AdviceExplained(
        id=advice.id,
        text=clean(advice.text, 400),
        ask=clean(advice.ask),
        confidence=advice.confidence,
        hypothesis=advice.hypothesis,
        rests_on=_rests_on(events, name, advice),
        tradeoffs=tuple(clean(one) for one in advice.tradeoffs),
        evidence=_evidence(events, advice),
        work_item=_work(events, advice, job),
        goals=_goals(events, report, advice),
        job=names.of(name, "").capitalize(),
        plan=describe(plans[-1], names) if plans else "",
        approved=describe(approvals[-1], names) if approvals else "",
        outcome=DECIDED[verdict.outcome] if verdict else "",
        reasons=tuple(clean(one.text) for one in verdict.reasons) if verdict else (),
        signed=describe(signed[-1], names) if signed else "",
    )


def _all(events: Events, kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def _find(events: Events, wanted: str) -> tuple[ReportWritten, Recommendation]:
    for report in reversed(_all(events, ReportWritten)):
        for advice in report.recommendations:
            if advice.id == wanted:
                return report, advice
    raise Unknown(f"No brief has the recommendation {wanted!r}.", hint="List them: midwatch morning")


def _job(events: Events, advice: Recommendation) -> ev.JobCreated | None:
    """The recommendation names its job; an older one names only its run."""
    created = _all(events, ev.JobCreated)
    named = [one for one in created if advice.why == f"trace:{one.job}"]
    found = named or [one for one in created if advice.run and one.run == advice.run]
    return found[-1] if found else None


def _rests_on(events: Events, job: str, advice: Recommendation) -> str:
    verified = [one for one in _all(events, ev.JobVerified) if one.job == job]
    pieces = f"{some(len(advice.evidence), 'piece')} of evidence" if advice.evidence else "no evidence"
    if not verified:
        return f"Not checked; {pieces}"
    verdict = verified[-1].proof.verdict
    said = PROVEN.get(verdict, spaced(verdict))
    return f"{said[0].upper()}{said[1:]}; {pieces}"


def _evidence(events: Events, advice: Recommendation) -> tuple[CitedEvidence, ...]:
    found = {one.evidence.id: one.evidence for one in _all(events, EvidenceFound)}
    cited = [found[name] for name in advice.evidence if name in found]
    return tuple(
        CitedEvidence(id=one.id, citation=clean(one.citation), notes=clean(one.notes), excerpt=clean(one.excerpt, 300))
        for one in cited
    )


def _work(events: Events, advice: Recommendation, job: ev.JobCreated | None) -> str:
    titles = [one.title for one in _all(events, WorkAdded) if one.item == advice.work_item]
    return clean(titles[-1] if titles else job.title if job else "")


def _goals(events: Events, report: ReportWritten, advice: Recommendation) -> tuple[str, ...]:
    """The goals the work item is linked to, then those the signed orders state."""
    statements = {one.goal: one.statement for one in _all(events, GoalSet)}
    links = [link for one in _all(events, WorkAdded) if one.item == advice.work_item for link in one.goal_links]
    links += [link for one in _all(events, ev.RunStarted) if one.run == advice.run for link in one.contract.goal_links]
    drafts = [one for one in events if isinstance(one, SessionOpened | OrdersChanged) and one.session == report.session]
    ordered = drafts[-1].orders.goals if drafts else ()
    return tuple(dict.fromkeys(clean(text) for text in (*(statements.get(one, "") for one in links), *ordered) if text))
