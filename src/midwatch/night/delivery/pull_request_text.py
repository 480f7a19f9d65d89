"""The texts of a pull request: title and body, why it is only a draft, and the notice that it is ready."""

from datetime import datetime

from midwatch.rules.checks.check_runs import failing
from midwatch.rules.checks.commit_size import remark_on
from midwatch.terms.figures import dollars, some
from midwatch.terms.jobs import NOT_DELIVERABLE, CheckResult, CheckSource, Commit, Proof
from midwatch.terms.records import JobRow, ProjectRow, PullRequestRow
from midwatch.views.text.markdown_safe import closes, quoted, tamed, titled
from midwatch.views.text.proof import PROVEN, PROVEN_IN_SHORT, beside_checks

Lines = list[str]
STAYED = {
    "worse": "This change breaks checks that passed before.",
    "red_when_restored": "The checks pass only with the agent's own changes to the files that decide them; "
    "with yours restored they fail.",
    "doubted": "The change weakens the checks that should prove it.",
    "not_done": "What the orders name as done is not reached yet.",
}
_SOURCES = {
    CheckSource.PROJECT: " (the project's)",
    CheckSource.FOUND: " (found in the project)",
    CheckSource.DONE_WHEN: " (shows that it is done)",
}
_PUT_BACK = frozenset({"edited_config", "new_config", "edited_test"})
"""Doubts that name the files which were put back for the second run."""
MOST_DOUBTS = 3


def pull_request_text(
    job: JobRow, project: ProjectRow, strategy: str = "incremental", turns: int | None = None, *, commanded_by: str = ""
) -> tuple[str, str]:
    """Write title and body; only the person's own words may refer to issues, and no text may mention users."""
    commits = job.change.commits if job.change else ()
    title = titled(commits[0].subject) if len(commits) == 1 else f"{job.title}: {some(len(commits), 'change')}"
    parts = (
        _draft(job),
        _why(job, commanded_by),
        _what(job, commits, strategy),
        _proof(job),
        _risks(job, commits),
        _cost(job, turns),
        _undo(project),
    )
    body = "\n\n".join("\n".join(lines) for lines in (*parts, _trailer(job)) if lines)
    return title, body


def _draft(job: JobRow) -> Lines:
    """Write the first lines of a draft: why it is only a draft."""
    if job.proof is None or job.proof.verdict not in NOT_DELIVERABLE:
        return []
    red = [f"- `{one.command}` still fails (exit {one.exit_code}){_said(one)}" for one in failing(job.proof)]
    return [tamed(line) for line in (f"**Only a draft.** {stayed_red(job, job.proof)}", *red)]


def _said(check: CheckResult) -> str:
    return f": {check.failing_line}" if check.failing_line else ""


def stayed_red(job: JobRow, proof: Proof) -> str:
    """Say why work is not delivered: what still fails, what was tried, and the doubts about the change."""
    tried = f" {some(job.repairs, 'repair round')} did not fix it." if job.repairs else ""
    put_back = [one for one in proof.doubts if one.kind in _PUT_BACK] if proof.verdict == "red_when_restored" else []
    doubts = [doubt.text for doubt in (*proof.grave, *put_back)[:MOST_DOUBTS]]
    return " ".join((STAYED[proof.verdict] + tried, *doubts))


def kept_back_text(job: JobRow, proof: Proof) -> str:
    """Say why work stays here: the failing line first, which a person reads before anything about it."""
    said = [f"{one.command} fails: {one.failing_line}" for one in failing(proof) if one.failing_line]
    ended = [line if line.endswith((".", "!", "?")) else f"{line}." for line in said[:1]]
    return " ".join((*ended, stayed_red(job, proof)))


def _why(job: JobRow, commanded_by: str) -> Lines:
    approved = f" The plan was approved by {tamed(job.approved_by)}." if job.approved_by else ""
    ordered = f"Ordered by {tamed(commanded_by)}" if commanded_by else "Ordered for tonight"
    return [f"**Why.** {ordered}: {job.title}.{approved}"]


def _what(job: JobRow, commits: tuple[Commit, ...], strategy: str) -> Lines:
    said = tamed(job.done.summary) if job.done else ""
    sizes = [
        f"- {tamed(one.subject)} ({some(one.files, 'file')}, +{one.insertions} -{one.deletions})" for one in commits
    ]
    remark = remark_on(job.change, strategy) if job.change else ""
    return [f"**What.** {said}", *sizes, *([remark] if remark else [])]


def _proof(job: JobRow) -> Lines:
    """Write the verdict, each check before and after, what else was seen, and the doubts."""
    if (proof := job.proof) is None:
        return ["**Proof.** Not checked."]
    before = {one.command: one for one in proof.before}
    checks = [
        f"- `{one.command}`{_SOURCES.get(one.source, '')}: "
        f"{_colour(before.get(one.command))} before, {_colour(one)} now"
        for one in proof.delivered
    ]
    others = [f"- {tamed(one.text)}" for one in beside_checks(proof)]
    doubts = ["", "**Doubts.**", *(f"- {tamed(doubt.text)}" for doubt in proof.doubts)] if proof.doubts else []
    return [f"**Proof.** {PROVEN[proof.verdict].capitalize()}.", *checks, *others, *doubts]


def _colour(result: CheckResult | None) -> str:
    if result is None:
        return "unknown"
    if result.flaky:
        runs = (result.exit_code, *result.reruns)
        return f"flaky (green in {sum(not code for code in runs)} of {len(runs)} runs)"
    return "green" if result.green else f"red (exit {result.exit_code})"


def _risks(job: JobRow, commits: tuple[Commit, ...]) -> Lines:
    risks = [f"- {tamed(risk)}" for risk in job.plan.risks] if job.plan else []
    if job.change and job.change.flagged:
        risks.append(f"- **Review carefully:** {', '.join(map(quoted, job.change.flagged))}.")
    closing = [
        (one, issue)
        for one in commits
        for issue in dict.fromkeys((*closes(one.subject), *one.closes))
        if issue not in job.title
    ]
    risks += [
        f"- Merging commit {one.sha[:12]} would close {quoted(issue)}, which was not ordered." for one, issue in closing
    ]
    return ["**Risks.**", *risks] if risks else []


def _cost(job: JobRow, turns: int | None) -> Lines:
    minutes = max(1, round(job.ran_seconds / 60)) if job.ran_seconds else 0
    if not (job.usd_micros or job.tokens or minutes):
        return []
    spent = f"{dollars(job.usd_micros)}, {job.tokens:,} tokens in {_asked(job, turns)}"
    repaired = f", {some(job.repairs, 'repair round')}" if job.repairs else ""
    return [f"**Cost.** {spent}, {some(minutes, 'minute')} of {tamed(job.agent)}{repaired}."]


def _asked(job: JobRow, turns: int | None) -> str:
    """Say how much it talked to its model: in the agent's own turns, or in requests if they are not known."""
    return some(turns, "turn") if turns is not None else some(job.requests, "model request")


def _undo(project: ProjectRow) -> Lines:
    return [f"**Undo.** Close this, or after merging: `git revert -m 1 <merge>` on {tamed(project.branch)}."]


def _trailer(job: JobRow) -> Lines:
    """Return the trailer lines, which come last; no line written by an agent can look like one."""
    plan = [f"Midwatch-Plan: {job.plan_hash}"] if job.plan_hash else []
    return [*plan, f"Midwatch-Job: {job.id}"]


def ready_text(job: JobRow, opened: PullRequestRow, now: datetime, turns: int | None = None) -> str:
    """Write the notice that a pull request is ready: where, how large, how well proven, and its cost (A9)."""
    change = job.change
    size = f"{some(len(change.files), 'file')} · +{change.insertions} -{change.deletions}" if change else "no changes"
    proven = PROVEN_IN_SHORT[job.proof.verdict] if job.proof else "not checked"
    asked = f"Cost {dollars(job.usd_micros)} · {_asked(job, turns)}" if job.requests else "No model requests"
    minutes = round((now - (job.started_at or job.created_at)).total_seconds() / 60)
    took = some(minutes, "minute") if minutes else "under a minute"
    kind = "Only a draft" if opened.draft else "PR ready"
    where = opened.url or opened.branch
    lines = (f"{kind}: {opened.title}", where, f"{size} · {proven}", f"{asked} · {took}", *opened.remarks)
    return "\n".join(lines)
