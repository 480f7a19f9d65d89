"""The text of a pull request for its reviewer: why, what, proof, risks, cost, undo, and the journal's ids."""

from midwatch.night.delivery.wording import check_lines, doubt_block, draft_lines, in_words, other_lines
from midwatch.rules.checks.commit_size import remark_on
from midwatch.terms.jobs import Commit
from midwatch.terms.money import dollars, some
from midwatch.terms.records import JobRow, ProjectRow
from midwatch.views.text.markdown_safe import closes, quoted, tamed, titled

Lines = list[str]


def pull_request_text(job: JobRow, project: ProjectRow, strategy: str = "incremental") -> tuple[str, str]:
    """Write title and body; only the person's own words may refer to issues, and no text may mention users."""
    commits = job.change.commits if job.change else ()
    title = titled(commits[0].subject) if len(commits) == 1 else f"{job.title}: {some(len(commits), 'change')}"
    parts = (
        _draft(job),
        _why(job),
        _what(job, commits, strategy),
        _proof(job),
        _risks(job, commits),
        _cost(job),
        _undo(project),
    )
    body = "\n\n".join("\n".join(lines) for lines in (*parts, _trailer(job)) if lines)
    return title, body


def _draft(job: JobRow) -> Lines:
    return [tamed(line) for line in draft_lines(job, job.proof) if line]


def _why(job: JobRow) -> Lines:
    approved = f" The plan was approved by {tamed(job.approved_by)}." if job.approved_by else ""
    return [f"**Why.** Ordered for tonight: {job.title}.{approved}"]


def _what(job: JobRow, commits: tuple[Commit, ...], strategy: str) -> Lines:
    said = tamed(job.done.summary) if job.done else ""
    sizes = [
        f"- {tamed(one.subject)} ({some(one.files, 'file')}, +{one.insertions} -{one.deletions})" for one in commits
    ]
    remark = remark_on(job.change, strategy) if job.change else ""
    return [f"**What.** {said}", *sizes, *([remark] if remark else [])]


def _proof(job: JobRow) -> Lines:
    said = [f"**Proof.** {in_words(job.proof)}", *(f"- {line}" for line in check_lines(job.proof))]
    others = (*(f"- {line}" for line in other_lines(job.proof)), *doubt_block(job.proof))
    return [*said, *(tamed(line) for line in others)]


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


def _cost(job: JobRow) -> Lines:
    minutes = max(1, round(job.ran_seconds / 60)) if job.ran_seconds else 0
    if not (job.usd_micros or job.tokens or minutes):
        return []
    spent = f"{dollars(job.usd_micros)}, {job.tokens:,} tokens in {some(job.requests, 'turn')}"
    repaired = f", {some(job.repairs, 'repair round')}" if job.repairs else ""
    return [f"**Cost.** {spent}, {some(minutes, 'minute')} of {tamed(job.agent)}{repaired}."]


def _undo(project: ProjectRow) -> Lines:
    return [f"**Undo.** Close this, or after merging: `git revert -m 1 <merge>` on {tamed(project.branch)}."]


def _trailer(job: JobRow) -> Lines:
    """Return the trailer lines, which come last; no line written by an agent can look like one."""
    plan = [f"Midwatch-Plan: {job.plan_hash}"] if job.plan_hash else []
    return [*plan, f"Midwatch-Job: {job.id}"]
