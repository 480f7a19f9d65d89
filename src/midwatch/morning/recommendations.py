"""The morning's queue: every ordered item once with its true outcome, undelivered first, then what it found besides."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from midwatch.rules.morning.tally import delivered, outcome_of
from midwatch.rules.recovery.recovery import remedy_of
from midwatch.terms.figures import dollars, some
from midwatch.terms.jobs import JobState
from midwatch.terms.records import ActRow, EvidenceRow, JobRow, ProjectRow, PullRequestRow, SessionRow
from midwatch.terms.report import ITEM_DONE, EvidenceKind, ItemOutcome, Recommendation
from midwatch.views.text.names import pull_request_called
from midwatch.views.text.plain import as_sentence
from midwatch.views.text.proof import PROVEN_IN_SHORT

CONFIDENCE: Final = {"green": 0.9, "still_red": 0.6, "no_checks": 0.5, "flaky": 0.5}
UNDELIVERED: Final = 0.6
FOUND: Final = 0.8
SHOWN: Final = 0.9
MOST_DOUBTS: Final = 2
PER_DOUBT: Final = 0.1
"""How much each doubt lowers the confidence."""
LEAST: Final = 0.2
MOST_TRIES: Final = 5
LONGEST_TRY: Final = 200
WHAT_TO_DO: Final = {
    ItemOutcome.NOTHING_DELIVERED: "Say more exactly what should change, or drop the order.",
    ItemOutcome.STOPPED: "Resume it from its kept checkout, or order it again.",
    ItemOutcome.DECLINED: "Order it again with other words, or drop it.",
    ItemOutcome.REFUSED: "Change what refused it, then order it again.",
    ItemOutcome.PROPOSED: "Raise the level, or start it yourself.",
    ItemOutcome.NOT_STARTED: "Order it again for the next night.",
}
ENDED: Final = {
    ItemOutcome.NOTHING_DELIVERED: "delivered nothing",
    ItemOutcome.STOPPED: "was stopped",
    ItemOutcome.DECLINED: "was declined",
    ItemOutcome.REFUSED: "was refused",
    ItemOutcome.PROPOSED: "was only proposed",
    ItemOutcome.NOT_STARTED: "was not started",
}


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """What the queue is made of."""

    session: SessionRow
    projects: Mapping[str, ProjectRow]
    jobs: Sequence[JobRow]
    acts: Sequence[ActRow]
    pull_requests: Sequence[PullRequestRow]
    evidence: Sequence[EvidenceRow]
    new_id: Callable[[str], str]

    def items(self) -> list[dict[str, str]]:
        """List every ordered item once, and after them work without an order."""
        found = {item["work_item"]: item for item in self.session.items}
        for job in self.jobs:
            found.setdefault(job.work_item, {"work_item": job.work_item, "project": job.project, "title": job.title})
        return list(found.values())

    def name_of(self, project: str) -> str:
        return self.projects[project].name if project in self.projects else project


def recommend(facts: QueueFacts) -> tuple[Recommendation, ...]:
    """Rank the queue: what was not delivered, then deliveries and findings with the best supported first."""
    queue = [_of_item(facts, item) for item in facts.items()]
    missing = [one for one in queue if one.became not in ITEM_DONE]
    merges = sorted((one for one in queue if one.became is ItemOutcome.DELIVERED), key=lambda one: -one.confidence)
    unneeded = [one for one in queue if one.became is ItemOutcome.UNNEEDED]
    found = [one for job in facts.jobs if (one := _finding(facts, job)) is not None]
    return (*missing, *merges, *found, *unneeded)


def _of_item(facts: QueueFacts, item: dict[str, str]) -> Recommendation:
    outcome = outcome_of(item["work_item"], facts.jobs, facts.acts)
    own = [job for job in facts.jobs if job.work_item == item["work_item"]]
    if outcome is ItemOutcome.DELIVERED:
        job = [one for one in own if delivered(one)][-1]
        pulls = [one for one in facts.pull_requests if one.job == job.id]
        if pulls:
            return _merge(facts, job, pulls[-1])
    if outcome is ItemOutcome.UNNEEDED:
        return _unneeded(facts, own[-1])
    return _missing(facts, own[-1], own, outcome) if own else _never_begun(facts, item, outcome)


def _merge(facts: QueueFacts, job: JobRow, pr: PullRequestRow) -> Recommendation:
    verdict = job.proof.verdict if job.proof else "no_checks"
    change = job.change
    size = f"{some(len(change.files), 'file')}, +{change.insertions} -{change.deletions}" if change else ""
    checks = tuple(row.id for row in facts.evidence if row.job == job.id and row.kind is EvidenceKind.BENCHMARK)
    doubts = job.proof.doubts if job.proof else ()
    verb = "Look at draft" if pr.draft else "Merge" if checks else "Review"
    open_ = pr.state == "open"
    which = pull_request_called(pr.number, job.number, facts.name_of(pr.project))
    called = f"{which}, {pr.title} ({size}; {PROVEN_IN_SHORT.get(verdict, verdict)})"
    return Recommendation(
        id=facts.new_id("rec"),
        text=f"{verb} {called}." if open_ else f"P{called[1:]} is {pr.state} already.",
        confidence=max(LEAST, CONFIDENCE.get(verdict, 0.4) - PER_DOUBT * len(doubts)),
        tradeoffs=_tradeoffs(job, verdict, size),
        ask=f"midwatch job {'show' if pr.draft else 'merge'} {job.number}",
        why=f"trace:{job.id}",
        evidence=checks,
        hypothesis=not checks,
        run=job.run,
        work_item=job.work_item,
        became=ItemOutcome.DELIVERED,
    )


def _tradeoffs(job: JobRow, verdict: str, size: str) -> tuple[str, ...]:
    """Name what speaks against this change itself: doubts, its plan's risks, no checks, sensitive files, its size."""
    found = [doubt.text.removesuffix(".") for doubt in (job.proof.doubts if job.proof else ())[:MOST_DOUBTS]]
    found += _risks(job)[:1]
    if verdict == "no_checks":
        found.append("no check verifies it")
    if job.change and job.change.flagged:
        found.append(f"touches {', '.join(job.change.flagged[:2])}")
    return tuple(found) or ((f"{size} to review",) if size else ())


def _risks(job: JobRow) -> list[str]:
    """Name the risks of the work that was delivered; a plan's risks count only if it was carried out as planned."""
    if job.done is not None and job.done.risks is not None:
        return list(job.done.risks)
    if job.done is not None and job.done.dropped:
        return []
    if job.plan is None or job.change is None or not {one.path for one in job.change.files} <= set(job.plan.files):
        return []
    return list(job.plan.risks)


def _finding(facts: QueueFacts, job: JobRow) -> Recommendation | None:
    found = [row for row in facts.evidence if row.job == job.id and row.kind is EvidenceKind.REPO and row.excerpt]
    if not found:
        return None
    first = found[0]
    place = first.citation.split("@")[0]
    more = f" and {some(len(found) - 1, 'more finding')}" if len(found) > 1 else ""
    return Recommendation(
        id=facts.new_id("rec"),
        text=f"Look at {place} ({first.notes}){more}: no safe fix exists.",
        confidence=FOUND,
        ask=f"Open {place}",
        why=f"trace:{job.id}",
        evidence=tuple(row.id for row in found[:5]),
        run=job.run,
        work_item=job.work_item,
    )


def _unneeded(facts: QueueFacts, job: JobRow) -> Recommendation:
    shown = tuple(row.id for row in facts.evidence if row.job == job.id)
    return Recommendation(
        id=facts.new_id("rec"),
        text=f"{facts.name_of(job.project)}: {job.title}: nothing had to be changed. {job.why}",
        confidence=SHOWN,
        ask=f"midwatch job show {job.number}",
        why=f"trace:{job.id}",
        evidence=shown[:5],
        hypothesis=not shown,
        run=job.run,
        work_item=job.work_item,
        became=ItemOutcome.UNNEEDED,
    )


def _missing(facts: QueueFacts, job: JobRow, own: Sequence[JobRow], outcome: ItemOutcome) -> Recommendation:
    """Say why an item was not delivered, what was tried, and what to do."""
    tried = _tried(own)
    remedy = remedy_of(job.cause)
    failed = job.state is JobState.FAILED
    advice = WHAT_TO_DO.get(outcome, remedy.person)
    how = f"failed at {job.stage.said}" if failed else ENDED.get(outcome, f"ended as {outcome.value}")
    times = f" Tried {some(len(tried), 'time')}." if len(tried) > 1 else ""
    return Recommendation(
        id=facts.new_id("rec"),
        text=f"Look into job {job.number}, {job.title}: it {how}. {as_sentence(job.why)}{times} {advice}".replace(
            "  ", " "
        ),
        confidence=UNDELIVERED,
        ask=f"midwatch job show {job.number}",
        why=f"trace:{job.id}",
        tradeoffs=_cost_so_far(own),
        hypothesis=True,
        run=job.run,
        work_item=job.work_item,
        became=outcome,
        cause=remedy.words if failed else ENDED.get(outcome, ""),
        tried=tried,
        advice=advice,
    )


def _cost_so_far(own: Sequence[JobRow]) -> tuple[str, ...]:
    """Say what the tries cost: another may cost as much."""
    minutes = sum(job.ran_seconds for job in own) // 60
    money = sum(job.usd_micros for job in own)
    spent = [f"{minutes} min"] if minutes else []
    spent += [dollars(money)] if money else []
    return (f"{' and '.join(spent)} went into it so far",) if spent else ()


def _tried(own: Sequence[JobRow]) -> tuple[str, ...]:
    failures = [(job, failure) for job in own for failure in job.failures]
    text = [f"Job {job.number} at {one.stage.said}: {one.said[:LONGEST_TRY]}" for job, one in failures]
    text += [f"Job {job.number}: {job.why[:LONGEST_TRY]}" for job in own if job.state.over and not job.failures]
    return tuple(text[-MOST_TRIES:])


def _never_begun(facts: QueueFacts, item: dict[str, str], outcome: ItemOutcome) -> Recommendation:
    judged = [act for act in facts.acts if act.about == item["work_item"]]
    said = f" {judged[-1].text}" if judged and judged[-1].text else ""
    advice = WHAT_TO_DO.get(outcome, "")
    return Recommendation(
        id=facts.new_id("rec"),
        text=f"{facts.name_of(item['project'])}: {item['title']} {ENDED.get(outcome, '')}.{said} {advice}".strip(),
        confidence=UNDELIVERED,
        ask=advice,
        why=f"trace:{judged[-1].id}" if judged else f"trace:{facts.session.id}",
        hypothesis=True,
        work_item=item["work_item"],
        became=outcome,
        cause=ENDED.get(outcome, ""),
        advice=advice,
    )
