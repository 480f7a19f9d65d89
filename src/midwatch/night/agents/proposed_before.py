"""What the housekeeper proposed in a project before: its open pull requests, and those that people rejected."""

from collections.abc import Sequence

from midwatch.ports.agent import FormerPullRequest
from midwatch.ports.journal import Records
from midwatch.rules.gate.levels import HOUSEKEEPER
from midwatch.terms.records import JobRow, OutcomeRow, PullRequestRow, ReportRow
from midwatch.terms.report import ReviewOutcome

MOST = 50
"""The newest; what was rejected long before has changed since, or is in a later one."""


async def proposed_before(records: Records, job: JobRow) -> tuple[FormerPullRequest, ...]:
    """Return them, the oldest first; a model reads the project's history instead, so other agents get none."""
    if job.agent != HOUSEKEEPER:
        return ()
    jobs = {one.id: one for one in await records.find(JobRow, project=job.project, agent=HOUSEKEEPER)}
    rows = await records.find(PullRequestRow, project=job.project, state=("open", "closed"))
    pulls = [row for row in rows if row.job in jobs and row.job != job.id][-MOST:]
    rejected = await _rejected(records, [jobs[row.job] for row in pulls])
    return tuple(
        FormerPullRequest(row.number, row.base, row.head, row.state == "closed" or row.job in rejected) for row in pulls
    )


async def _rejected(records: Records, jobs: Sequence[JobRow]) -> frozenset[str]:
    """Return the jobs whose change was rejected in the review."""
    runs, sessions = tuple({one.run for one in jobs}), tuple({one.session for one in jobs})
    if not jobs:
        return frozenset()
    said = {row.id for row in await records.find(OutcomeRow, run=runs, outcome=ReviewOutcome.REJECTED)}
    reports = await records.find(ReportRow, session=sessions)
    given = [one for report in reports for one in report.recommendations if one.id in said]
    # A recommendation to look at a finding is not about the change.
    return frozenset(one.why.removeprefix("trace:") for one in given if not one.ask.startswith("Open "))
