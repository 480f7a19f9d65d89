"""What the night writes about a job: the question about its plan, its check results, the notice that it is ready."""

from datetime import datetime

from midwatch.rules.checks.check_runs import NOT_DELIVERABLE, failing
from midwatch.rules.people.asks import silence_in_words
from midwatch.terms.asks import Silence
from midwatch.terms.jobs import NEW_TESTS, PROVEN, PROVEN_IN_SHORT, CheckResult, CheckSource, Plan, Proof
from midwatch.terms.money import dollars, some
from midwatch.terms.records import JobRow, PullRequestRow


def plan_question(job: JobRow, plan: Plan, silence: Silence, minutes: float | None, wrong: tuple[str, ...] = ()) -> str:
    """Ask about a plan: name what goes outside the orders, and say what no answer means."""
    again = f", version {job.plan_version + 1}" if job.plan_version else ""
    left = f" It goes outside your orders; those parts will be refused: {' '.join(wrong)}" if wrong else ""
    return f"Plan for job {job.number} ({job.title}){again}: {plan.summary}{left} {within(silence, minutes)}"


def within(silence: Silence, minutes: float | None) -> str:
    """Say what no answer means, and after how many minutes."""
    words = silence_in_words(silence)
    return words if minutes is None else words.replace("do not answer", f"do not answer within {minutes:g} minutes", 1)


def ready_text(job: JobRow, opened: PullRequestRow, now: datetime) -> str:
    """Write the notice that a pull request is ready: where, how large, how well proven, and its cost (A9)."""
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


STAYED = {
    "worse": "This change breaks checks that passed before.",
    "red_when_restored": "The checks pass only with the agent's own changes to the files that decide them; "
    "with yours restored they fail.",
    "doubted": "The change weakens the checks that should prove it.",
}
_SOURCES = {CheckSource.PROJECT: " (the project's)", CheckSource.FOUND: " (found in the project)"}
MOST_DOUBTS = 3


def in_words(proof: Proof | None) -> str:
    return f"{PROVEN[proof.verdict].capitalize()}." if proof else "Not checked."


def stayed_red(job: JobRow, proof: Proof) -> str:
    """Say why work is not delivered: what still fails, what was tried, and the doubts about the change."""
    tried = f" {some(job.repairs, 'repair round')} did not fix it." if job.repairs else ""
    doubts = [doubt.text for doubt in proof.grave[:MOST_DOUBTS]]
    return " ".join((STAYED[proof.verdict] + tried, *doubts))


def draft_lines(job: JobRow, proof: Proof | None) -> list[str]:
    """Write the first lines of a draft: why it is only a draft."""
    if proof is None or proof.verdict not in NOT_DELIVERABLE:
        return []
    red = [f"- `{one.command}` still fails (exit {one.exit_code})" for one in failing(proof)]
    return [f"**Only a draft.** {stayed_red(job, proof)}", *red, ""]


def check_lines(proof: Proof | None) -> list[str]:
    if proof is None:
        return []
    before = {one.command: one for one in proof.before}
    return [
        f"`{one.command}`{_SOURCES.get(one.source, '')}: {_colour(before.get(one.command))} before, {_colour(one)} now"
        for one in proof.delivered
    ]


def other_lines(proof: Proof | None) -> list[str]:
    """List new tests, coverage, and checks that were left out."""
    if proof is None:
        return []
    lines = [NEW_TESTS[proof.new_tests]] if proof.new_tests in NEW_TESTS else []
    if proof.coverage:
        lines.append(
            f"{proof.coverage.covered} of {some(proof.coverage.measurable, 'changed line')} that can be measured ran "
            f"({proof.coverage.by})."
        )
    return lines + list(proof.notes)


def doubt_block(proof: Proof | None) -> list[str]:
    if proof is None or not proof.doubts:
        return []
    return ["", "**Doubts.**", *(f"- {doubt.text}" for doubt in proof.doubts)]


def _colour(result: CheckResult | None) -> str:
    if result is None:
        return "unknown"
    if result.flaky:
        runs = (result.exit_code, *result.reruns)
        return f"flaky (green in {sum(not code for code in runs)} of {len(runs)} runs)"
    return "green" if result.green else f"red (exit {result.exit_code})"
