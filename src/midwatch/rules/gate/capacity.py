"""Conditions about capacity: running jobs, concurrency, memory, disk, retries, budgets, attention."""

from datetime import timedelta

from midwatch.rules.gate.act_groups import AGENT_WORK, STARTING, spends
from midwatch.rules.gate.conditions import ConditionResult, project_name, refuse, say_only
from midwatch.rules.gate.levels import HOUSEKEEPER
from midwatch.rules.gate.state import within
from midwatch.terms.acts import ActKind, Proposal
from midwatch.terms.facts import Budget, Facts, RunningJob
from midwatch.terms.figures import dollars

_MIB = 1024**2


def running_already(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A job that runs is not started again."""
    job = _job(facts)
    if proposal.kind is ActKind.START and job is not None and job.running and proposal.target == job.id:
        return refuse("gate.running_already", target=facts.target_name or proposal.target)
    return None


def busy(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A project runs no more jobs at once than allowed."""
    running, most = _running_here(facts), facts.limits.jobs_per_project
    if not _adds_a_job(proposal, facts) or running < most:
        return None
    return refuse("gate.busy", project=project_name(proposal, facts), running=running, most=most)


def crowded(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Midwatch runs no more jobs at once than allowed."""
    running, most = max(facts.jobs_running, _running_here(facts)), facts.limits.jobs_in_all
    if not _adds_a_job(proposal, facts) or running < most:
        return None
    return refuse("gate.crowded", running=running, most=most)


def memory_short(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """No agent is started on a machine short of memory."""
    free, least = facts.free_memory_bytes, facts.limits.free_memory_bytes
    if proposal.kind not in AGENT_WORK or free >= least:
        return None
    return refuse("gate.memory_short", free_mib=free // _MIB, least_mib=least // _MIB)


def disk_short(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """No agent is started on a machine short of disk space."""
    free, least = facts.free_disk_bytes, facts.limits.free_disk_bytes
    if proposal.kind not in AGENT_WORK or free >= least:
        return None
    return refuse("gate.disk_short", free_mib=free // _MIB, least_mib=least // _MIB)


def pull_request_open(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """While Midwatch has an open pull request, the project takes no unordered work; signed work is not affected."""
    project, job = facts.project, _job(facts)
    if proposal.kind not in STARTING or proposal.ordered or project is None or not project.open_pull_request:
        return None
    follows_up = job is not None and proposal.target == job.id
    return None if follows_up else refuse("gate.pull_request_open", project=project.called)


def retries_of_cause(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """The same cause is not tried again and again."""
    if proposal.kind not in AGENT_WORK or facts.retries_of_cause < facts.limits.retries:
        return None
    return refuse("gate.retries_cause", tries=facts.retries_of_cause, most=facts.limits.retries)


def retries_of_project(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A project that keeps failing waits for a success or a person."""
    project = facts.project
    if proposal.kind not in AGENT_WORK or project is None or project.retries_in_a_row < facts.limits.retries:
        return None
    tries, most = project.retries_in_a_row, facts.limits.retries
    return refuse("gate.retries_project", project=project.called, tries=tries, most=most)


def nothing_to_stop(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Only what runs can be stopped."""
    if proposal.kind is not ActKind.STOP or _running_here(facts) > 0:
        return None
    return refuse("gate.nothing_to_stop", project=project_name(proposal, facts))


def nothing_to_restart(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Only what runs or failed can be restarted."""
    job = _job(facts)
    if proposal.kind is not ActKind.RESTART or (job is not None and (job.running or job.in_error)):
        return None
    return refuse("gate.nothing_to_restart", project=project_name(proposal, facts))


def young_job(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A brain does not end a young job that is not in error; a running job of unknown age counts as young."""
    job, span = _job(facts), facts.limits.young_job
    if proposal.kind not in {ActKind.STOP, ActKind.RESTART} or _running_here(facts) == 0:
        return None
    known = job is not None and job.running
    if known and job is not None and (job.in_error or not within(facts, job.started_at, span)):
        return None
    return refuse("gate.young_job", project=project_name(proposal, facts), minutes=span / timedelta(minutes=1))


def budget_usd(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Nothing is spent without money left, and an estimate must fit into what is left."""
    budget, need = facts.budgets.usd_micros, max(0, proposal.estimated_usd_micros)
    if not spends(proposal) or _free(proposal) or budget.room_for(need):
        return None
    left = max(0, (budget.limit or 0) - budget.taken)
    return refuse("gate.budget_usd", need=dollars(need), left=dollars(left))


def budget_tokens(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Without tokens left nothing more is started."""
    used_up = not _free(proposal) and _used_up(proposal, facts.budgets.tokens)
    return refuse("gate.budget_tokens") if used_up else None


def budget_seconds(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Without time left nothing more is started."""
    return refuse("gate.budget_seconds") if _used_up(proposal, facts.budgets.seconds) else None


def budget_rounds(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Without rounds left nothing more is started."""
    return refuse("gate.budget_rounds") if _used_up(proposal, facts.budgets.rounds) else None


def attention_spent(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """When the person's attention is used up, a question goes into the brief instead."""
    if proposal.kind is ActKind.ASK_USER and not facts.budgets.attention.room_for(1):
        return say_only("gate.attention_spent")
    return None


def _free(proposal: Proposal) -> bool:
    """The housekeeper asks no model, so it also works in a night without money or tokens."""
    return proposal.kind in AGENT_WORK and proposal.agent == HOUSEKEEPER and proposal.estimated_usd_micros <= 0


def _used_up(proposal: Proposal, budget: Budget) -> bool:
    return spends(proposal) and not budget.room_for(0)


def _job(facts: Facts) -> RunningJob | None:
    return facts.project.job if facts.project else None


def _running_here(facts: Facts) -> int:
    """A running newest job counts even where the tally has not caught up."""
    job = _job(facts)
    tally = facts.project.jobs_running if facts.project else 0
    return max(tally, 1 if job is not None and job.running else 0)


def _adds_a_job(proposal: Proposal, facts: Facts) -> bool:
    """Restarting a running job replaces it; restarting a failed one adds one."""
    job = _job(facts)
    if proposal.kind is ActKind.RESTART:
        return not (job is not None and job.running)
    return proposal.kind in STARTING
