"""What the night says about a job: the plan's question, the pull request's text, the word that it is ready."""

from datetime import datetime

from midwatch.rules.people.asks import silence_in_words
from midwatch.terms.asks import Silence
from midwatch.terms.counting import some
from midwatch.terms.jobs import Plan
from midwatch.terms.money import dollars
from midwatch.terms.proof import PROVEN_IN_SHORT
from midwatch.terms.records import JobRow, PullRequestRow


def plan_question(job: JobRow, plan: Plan, silence: Silence, minutes: float | None, wrong: tuple[str, ...] = ()) -> str:
    """Ask about a plan, say where it leaves the orders, and what silence means."""
    again = f", version {job.plan_version + 1}" if job.plan_version else ""
    left = f" It goes outside your orders; those parts will be refused: {' '.join(wrong)}" if wrong else ""
    return f"Plan for job {job.number} ({job.title}){again}: {plan.summary}{left} {within(silence, minutes)}"


def within(silence: Silence, minutes: float | None) -> str:
    """Say what silence means, and from when on."""
    words = silence_in_words(silence)
    return words if minutes is None else words.replace("do not answer", f"do not answer within {minutes:g} minutes", 1)


def ready_text(job: JobRow, opened: PullRequestRow, now: datetime) -> str:
    """Tell that a pull request is ready: where, how large, how well proven, and what it took (A9)."""
    change = job.change
    size = f"{some(len(change.files), 'file')} · +{change.insertions} -{change.deletions}" if change else "no changes"
    proven = PROVEN_IN_SHORT[job.proof.verdict] if job.proof else "not checked"
    asked = f"Cost {dollars(job.usd_micros)} · {some(job.requests, 'turn')}" if job.requests else "No model requests"
    minutes = round((now - (job.started_at or job.created_at)).total_seconds() / 60)
    took = some(minutes, "minute") if minutes else "under a minute"
    kind = "Only a draft" if opened.draft else "PR ready"
    where = opened.url or opened.branch
    lines = (f"{kind}: {opened.title}", where, f"{size} · {proven}", f"{asked} · {took}", *opened.remarks)
    return "\n".join(lines)
