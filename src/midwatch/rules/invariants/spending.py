"""What must hold for money and tokens: no ceiling is exceeded by more than what was in flight."""

from collections.abc import Iterator, Sequence

from midwatch.journal.entry import Entry
from midwatch.journal.events.crew import ModelCalled
from midwatch.rules.budget.reservation import Held
from midwatch.rules.budget.spending import KINDS, NOTHING, Amount, BudgetUse, Ceilings, Whose, amount_said, higher
from midwatch.rules.gate.contract import part_of
from midwatch.rules.invariants.records_seen import Found, RecordsSeen
from midwatch.terms.contract import Constraints
from midwatch.terms.figures import micros
from midwatch.terms.records import JobRow


def within_ceilings(entries: Sequence[Entry], records: RecordsSeen) -> Found:
    """What is spent and set aside exceeds no ceiling by more than one request for each job that pays from it."""
    largest = _largest(entries, records.held)
    for name, budget, jobs in _budgets(records):
        for kind in KINDS:
            ceiling, taken = budget.ceilings.of(kind), budget.spent.of(kind) + budget.reserved.of(kind)
            leave = sum(largest.get(job, NOTHING).of(kind) for job in jobs)
            if ceiling is not None and taken > ceiling + leave:
                said, most = amount_said(kind, taken), amount_said(kind, ceiling)
                yield f"{name} has spent or set aside {said} of {most}, more than one request of each job over", 0


def _largest(entries: Sequence[Entry], held: Sequence[Held]) -> dict[str, Amount]:
    """Find the most expensive request of each job, ended or under way: a cost is known only at the end."""
    found: dict[str, Amount] = {}
    for entry in entries:
        if isinstance(event := entry.event, ModelCalled):
            one = Amount(event.usd_micros, event.tokens.total, 1)
            found[event.job] = higher(found.get(event.job, NOTHING), one)
    for reserved in held:
        found[reserved.job] = higher(found.get(reserved.job, NOTHING), reserved.amount)
    return found


def _budgets(records: RecordsSeen) -> Iterator[tuple[str, BudgetUse, list[str]]]:
    """Give every budget with its name and the jobs that are paid from it."""
    bounds = {run.id: run.contract for run in records.runs}
    for job in records.jobs:
        if job.run in bounds:
            limit = _granted(part_of(bounds[job.run], job.project).constraints, [job])
            held = [one for one in records.held if one.job == job.id]
            yield f"job {job.number}", _budget(Whose.JOB, limit, [job], held), [job.id]
    for run in records.runs:
        jobs = [job for job in records.jobs if job.run == run.id]
        limit = _granted(bounds[run.id].constraints, jobs)
        held = [one for one in records.held if one.run == run.id]
        yield f"run {run.id}", _budget(Whose.RUN, limit, jobs, held), [job.id for job in jobs]
    for night in records.sessions:
        jobs = [job for job in records.jobs if job.session == night.id]
        limits = night.orders.limits
        limit = Ceilings(usd_micros=micros(limits.usd), tokens=limits.tokens)
        held = [one for one in records.held if one.session == night.id]
        yield night.called, _budget(Whose.SESSION, limit, jobs, held), [job.id for job in jobs]


def _granted(bounds: Constraints, jobs: Sequence[JobRow]) -> Ceilings:
    """Add what a person granted to what the contract says."""
    return Ceilings(
        usd_micros=bounds.max_usd_micros + sum(job.granted_usd_micros for job in jobs),
        tokens=bounds.max_tokens + sum(job.granted_tokens for job in jobs),
    )


def _budget(whose: Whose, limit: Ceilings, jobs: Sequence[JobRow], held: Sequence[Held]) -> BudgetUse:
    spent = sum((Amount(job.usd_micros, job.tokens, job.requests) for job in jobs), NOTHING)
    return BudgetUse(whose, limit, spent, sum((one.amount for one in held), NOTHING))
