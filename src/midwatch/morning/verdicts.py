"""The verdicts of reviews, by pull request."""

from collections.abc import Sequence

from midwatch.errors import Refused
from midwatch.ports.journal import Records
from midwatch.rules.morning.verdicts import verdict_on
from midwatch.terms.records import JobRow, OutcomeRow, PullRequestRow, ReportRow, RunRow
from midwatch.terms.report import ReviewOutcome


async def verdicts_on(records: Records, pulls: Sequence[PullRequestRow]) -> dict[str, ReviewOutcome]:
    """By pull request: what the person said about it."""
    runs = await records.find(RunRow, id=tuple(pull.run for pull in pulls))
    nights = tuple({run.session for run in runs})
    recommended = [one for row in await records.find(ReportRow, session=nights) for one in row.recommendations]
    outcomes = {row.id: ReviewOutcome(row.outcome) for row in await records.find(OutcomeRow, session=nights)}
    return {pull.id: verdict_on(pull.job, recommended, outcomes) for pull in pulls}


async def refuse_rejected(records: Records, job: JobRow) -> None:
    """Refuse to merge a job's pull request while the person's review says no to it."""
    pulls = await records.find(PullRequestRow, job=job.id, state="open")
    said = await verdicts_on(records, pulls)
    for pull in pulls:
        if said[pull.id] is ReviewOutcome.REJECTED:
            raise Refused(
                f"Pull request {pull.number} was rejected in the review, so it is not merged.",
                hint=f"Accept it in a new review first: midwatch review --job {job.number}",
            )
