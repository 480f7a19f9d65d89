"""Linked work in several repositories: what sibling jobs know about each other, and what their reviewers read.

A pull request is opened as soon as its own work is ready, and names the others. When a sibling delivers later, or ends
without work, the texts of the open ones are updated, so that the person who merges one knows about the other (X16).
"""

from dataclasses import dataclass

from midwatch.night.rounds.contracts import company_of
from midwatch.ports.journal import Records
from midwatch.terms.jobs import JobState
from midwatch.terms.records import JobRow, ProjectRow, PullRequestRow, SessionRow
from midwatch.views.text.markdown_safe import tamed

MARK = "\n\n**Together with.**\n"
"""No line written by an agent can begin like this, so it marks Midwatch's own part."""
TAIL = "\n\nMidwatch-"
"""The trailer stays last."""


@dataclass(frozen=True, slots=True)
class Sibling:
    """The same work in another repository, with its current state."""

    project: str
    job: JobRow | None
    pull_request: PullRequestRow | None


async def siblings(records: Records, job: JobRow) -> tuple[Sibling, ...]:
    """Find the other parts of the same ordered work, each by its newest job."""
    session = await records.get(SessionRow, job.session)
    if not any(item["work_item"] == job.work_item for item in session.items):
        return ()
    found = []
    for item in company_of(session, job.work_item):
        if item["work_item"] == job.work_item:
            continue
        project = await records.get(ProjectRow, item["project"])
        jobs = await records.find(JobRow, session=session.id, work_item=item["work_item"])
        opened = await records.find(PullRequestRow, job=tuple(one.id for one in jobs)) if jobs else ()
        found.append(Sibling(project.name, jobs[-1] if jobs else None, opened[-1] if opened else None))
    return tuple(found)


def heard(sibling: Sibling) -> str:
    """Describe a sibling for an agent: what it planned or changed so far."""
    job = sibling.job
    if job is None:
        return f"{sibling.project}: not started yet."
    said = [f"{sibling.project}: {job.state.value} at {job.stage.said}."]
    if job.plan is not None:
        said.append(f"Its plan: {job.plan.summary} Files: {', '.join(job.plan.files[:20])}.")
    if job.done is not None:
        said.append(f"It says: {job.done.summary}")
    if job.change is not None:
        said.append(f"It changed: {', '.join(one.path for one in job.change.files[:20])}.")
    return " ".join(said)


NOT_DELIVERED = {JobState.FAILED: "failed", JobState.NOTHING_DELIVERED: "delivered nothing"}


def _line(sibling: Sibling) -> str:
    job, opened = sibling.job, sibling.pull_request
    if opened is not None:
        return f"{sibling.project}: pull request {opened.number}, {opened.title} ({opened.branch})"
    if job is None or not job.state.over:
        return f"{sibling.project}: not ready yet"
    if job.state is JobState.DONE:
        return f"{sibling.project}: nothing had to change"
    ended = NOT_DELIVERED.get(job.state, f"was {job.state.value}")
    return f"Its counterpart in {sibling.project} {ended}: review before merging this alone. {job.why}".strip()


def worded(body: str, company: tuple[Sibling, ...]) -> str:
    """Write the siblings into a pull request's text, in place of the earlier list."""
    if not company:
        return body
    head, trailer, rest = body.rpartition(TAIL)
    if not trailer:
        head, rest = body, ""
    text = "\n".join(f"- {tamed(_line(one))}" for one in company)
    return f"{head.partition(MARK)[0]}{MARK}{text}{trailer}{rest}"
