"""The brief's lines, section by section, before they are cut to their limits."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from midwatch.rules.gate.act_groups import PASSING
from midwatch.rules.morning.scores import UNDELIVERED
from midwatch.rules.morning.tally import tally
from midwatch.terms.figures import dollars, many, micros, some
from midwatch.terms.jobs import JobState
from midwatch.terms.records import AskRow, EvidenceRow, JobRow, RunRow, StackRow
from midwatch.terms.report import EvidenceKind, Recommendation, WorkTally
from midwatch.terms.trust import Level, Reason
from midwatch.views.pages.channels import unsent_line
from midwatch.views.pages.stack import brief_line, offered
from midwatch.views.text.names import MOMENT, session_named
from midwatch.views.text.plain import as_sentence
from midwatch.views.text.states import JOB_ENDED

LACKS: Final = {
    "drift.no_support": ("recommendation", "without evidence"),
    "drift.no_why": ("recommendation", "without a reason"),
    "drift.no_evidence": ("claim", "without evidence"),
}
"""Flags that a person should know of; the others are in the report."""

if TYPE_CHECKING:
    from midwatch.morning.brief import NightRecords


def headline(ledger: "NightRecords", to_local: Callable[[datetime], datetime]) -> str:
    """One sentence about the night, good or bad."""
    called = session_named(ledger.session, to_local)
    counted = _counted(ledger)
    failed = [job for job in ledger.jobs if job.state is JobState.FAILED]
    if ledger.session.level is Level.OBSERVE and not ledger.jobs:
        said = sum(act.state == "said" for act in ledger.acts)
        return f"{called}: observed only; {some(said, 'proposal')}, nothing was changed."
    if failed and not counted.done and not ledger.pull_requests:
        return f"{called} failed: none of {counted.ordered} delivered. {failed[-1].why}"
    eye = counted.wanted
    tail = f" {eye} {'needs' if eye == 1 else 'need'} your attention." if eye else ""
    unneeded = f"; {counted.unneeded} needed no change" if counted.unneeded else ""
    left = f"; {counted.not_started} not started" if counted.not_started else ""
    left += f"; {counted.proposed} only proposed" if counted.proposed else ""
    done = f"{counted.delivered} of {counted.ordered} delivered as pull requests{unneeded}{left}"
    return f"{called}: {done}.{tail}"


def _counted(ledger: "NightRecords") -> WorkTally:
    return tally(ledger.session.works(), ledger.jobs, ledger.acts, ledger.asks)


@dataclass(frozen=True, slots=True)
class BriefFacts:
    """What the brief's lines are written from."""

    ledger: "NightRecords"
    recommended: Sequence[Recommendation]
    waiting: Sequence[AskRow]
    flags: Sequence[Reason]
    review_due_at: datetime
    to_local: Callable[[datetime], datetime]


def sections(told: BriefFacts) -> dict[str, list[str]]:
    """All lines, the most important first in each section."""
    ledger, recommended, waiting = told.ledger, told.recommended, told.waiting
    return {
        "objective": _objective(ledger),
        "completed": _all_completed(ledger) or [_nothing(ledger)],
        "evidence": [_evidence(row) for row in ranked(ledger.evidence)],
        "recommendations": [_recommended(place, one) for place, one in enumerate(recommended, 1)],
        "decisions": _decisions(ledger, waiting),
        "assumptions": [f"{row.statement} If wrong: {row.impact_if_wrong} impact." for row in ledger.assumptions],
        "risks": [*_risks(ledger), *_lacking(told.flags)],
        "authority": _authority(ledger),
        "next": [_next(told)],
    }


def _next(told: BriefFacts) -> str:
    """Say what happens without the person, and until when: nothing starts, what is open stays, deadlines pass."""
    opened = sum(one.state == "open" for one in told.ledger.pull_requests)
    stay = f"{some(opened, 'pull request')} {'stays' if opened == 1 else 'stay'} open; " if opened else ""
    due = [(ask.due_at, ask.number) for ask in told.waiting if ask.due_at is not None]
    ask = f"ask {min(due)[1]} is decided by silence at {told.to_local(min(due)[0]):{MOMENT}}; " if due else ""
    review = f"without a review by {told.review_due_at:{MOMENT}} the {told.ledger.session.noun} is not scored."
    return f"No agent starts before you sign new orders. {_capital(f'{stay}{ask}{review}')}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lacking(flags: Sequence[Reason]) -> list[str]:
    """Name what the guardrails found, each kind once."""
    counted = Counter(flag.code for flag in flags if flag.code in LACKS)
    return [f"{some(many_, LACKS[code][0])} {LACKS[code][1]}." for code, many_ in counted.items()]


def _decisions(ledger: "NightRecords", waiting: Sequence[AskRow]) -> list[str]:
    """Open questions, how many works want a decision, and the stacks that may be merged, which nothing pushes out."""
    asked = [f"{ask.number}. {ask.question}" for ask in sorted(waiting, key=lambda ask: -ask.priority)]
    works = _counted(ledger).undecided
    wants = [f"{some(works, 'ordered work')} not done or in doubt: decide in the review."] if works else []
    may_merge = [row for row in _stacks(ledger) if offered(row)]
    result = [brief_line(row, ledger.projects[row.project].name) for row in may_merge]
    first = [*wants, *asked]
    return [*first[:2], *result, *first[2:]]


def _stacks(ledger: "NightRecords") -> list[StackRow]:
    """The newest of each project."""
    newest = {row.project: row for row in ledger.stacks}
    return [row for row in newest.values() if row.project in ledger.projects]


def _authority(ledger: "NightRecords") -> list[str]:
    """Name each domain's authority, what it was before, and the verdicts it rests on."""
    was, now = _standing(ledger.earlier_runs), _standing(ledger.runs)
    return [f"{domain}: {level}{_since(ledger, domain, level, was)}." for domain, level in now.items()]


def _standing(runs: Sequence[RunRow]) -> dict[str, str]:
    ordered = sorted(runs, key=lambda run: run.number)
    return {
        domain: run.contract.authority_policy.start_level.value
        for run in ordered
        for domain in run.contract.domain_scope
    }


def _since(ledger: "NightRecords", domain: str, level: str, was: dict[str, str]) -> str:
    if domain not in was:
        return f"; this is its first {ledger.session.noun}"
    before = ", as before" if was[domain] == level else f"; it was {was[domain]} before"
    runs = {run.id for run in ledger.earlier_runs if domain in run.contract.domain_scope}
    given = [one.outcome for one in ledger.earlier_outcomes if one.run in runs and one.outcome != "pending"]
    verdicts = f"; {given.count('accepted')} of {some(len(given), 'verdict')} accepted so far" if given else ""
    return f"{before}{verdicts}"


def _objective(ledger: "NightRecords") -> list[str]:
    goals = "; ".join(ledger.session.orders.goals)
    return [f"{_spent(ledger)}{goals}. The {ledger.session.noun} ended because {ledger.session.reason}."]


def _spent(ledger: "NightRecords") -> str:
    """Put it first, because a long line is cut at its end."""
    money, tokens = sum(job.usd_micros for job in ledger.jobs), sum(job.tokens for job in ledger.jobs)
    if not money and not tokens:
        return ""
    granted = dollars(micros(ledger.session.orders.limits.usd))
    return f"Spent {dollars(money)} of {granted} and {many(tokens)} tokens on: "


def _all_completed(ledger: "NightRecords") -> list[str]:
    """One line for each piece of work, the done ones first; one in several repositories has its parts in one line."""
    found = []
    for run in sorted(ledger.runs, key=lambda one: one.status in UNDELIVERED):
        jobs = [job for job in ledger.jobs if job.run == run.id]
        if run.contract.parts:
            parts = (f"{_where(ledger, job)} {JOB_ENDED.get(job.state, job.state.value)}. {_said(job)}" for job in jobs)
            found.append(f"{run.contract.objective} ({run.status.replace('_', ' ')}): {' '.join(parts)}")
        else:
            found += [
                f"{_where(ledger, job)}: {job.title}: {JOB_ENDED.get(job.state, job.state.value)}. {_said(job)}"
                for job in jobs
            ]
    return found


def _where(ledger: "NightRecords", job: JobRow) -> str:
    return ledger.projects[job.project].name if job.project in ledger.projects else job.project


def _said(job: JobRow) -> str:
    return as_sentence(job.done.summary if job.done and job.state is JobState.DONE else job.why)


def _nothing(ledger: "NightRecords") -> str:
    refused = [act for act in ledger.acts if act.state in {"refused", "said"}]
    return f"No job was started. {refused[0].text}" if refused else "No job was started."


def ranked(evidence: Sequence[EvidenceRow]) -> list[EvidenceRow]:
    """Order: what was run here first, then what was read."""
    return sorted(evidence, key=lambda row: (row.kind is not EvidenceKind.BENCHMARK, -row.quality))


def _evidence(row: EvidenceRow) -> str:
    note = f" {row.notes}" if row.notes else ""
    return f"[{row.id[-6:]}] {row.citation}{note}"


def _recommended(place: int, one: Recommendation) -> str:
    sure = f"{'Untested, ' if one.hypothesis else ''}{one.confidence:.0%} sure"
    cost = f" Tradeoff: {one.tradeoffs[0]}." if one.tradeoffs else ""
    return f"{place}. {one.text} {sure}.{cost}"


def _risks(ledger: "NightRecords") -> list[str]:
    found = [ledger.signed_with] if ledger.signed_with else []
    names = {one.path: one.name for one in ledger.projects.values()}
    for facts in ledger.session.repositories:
        if facts.dirty:
            shown, where = ", ".join(facts.dirty[:3]), names.get(facts.path, facts.path)
            unseen = some(len(facts.dirty), "uncommitted file")
            found.append(f"The {ledger.session.noun} did not see {unseen} in {where}: {shown}.")
    dropped = [one for job in ledger.jobs if job.done for one in job.done.dropped]
    found += [f"Taken back: {one.subject}. {one.why}" for one in dropped]
    found += [
        f"Job {job.number} touched {', '.join(job.change.flagged[:3])}; review this closely."
        for job in ledger.jobs
        if job.change and job.change.flagged
    ]
    found += [brief_line(row, ledger.projects[row.project].name) for row in _stacks(ledger) if not offered(row)]
    for channel in dict.fromkeys(channel for channel, _ in ledger.unsent):
        found.append(unsent_line(channel, [text for name, text in ledger.unsent if name == channel]))
    return [*found, *_refused(ledger)[:2]]


def _refused(ledger: "NightRecords") -> list[str]:
    """Name what was refused and not done later either, each reason once: what only had to wait is no risk."""
    done = {(act.kind, act.about) for act in ledger.acts if act.state == "done"}
    refused = [act for act in ledger.acts if act.state == "refused" and act.code not in PASSING]
    texts = (act.text for act in refused if (act.kind, act.about) not in done)
    return [f"Refused: {text}" for text in dict.fromkeys(texts)]
