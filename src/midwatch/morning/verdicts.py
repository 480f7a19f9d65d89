"""The verdicts of reviews, by pull request."""

from collections.abc import Sequence

from midwatch.ports.journal import Records
from midwatch.rules.morning.verdicts import verdict_on
from midwatch.terms.records import OutcomeRow, PullRequestRow, ReportRow, RunRow
from midwatch.terms.report import ReviewOutcome


async def verdicts_on(records: Records, pulls: Sequence[PullRequestRow]) -> dict[str, ReviewOutcome]:
    """By pull request: what the person said about it."""
    runs = await records.find(RunRow, id=tuple(pull.run for pull in pulls))
    nights = tuple({run.session for run in runs})
    recommended = [one for row in await records.find(ReportRow, session=nights) for one in row.recommendations]
    outcomes = {row.id: ReviewOutcome(row.outcome) for row in await records.find(OutcomeRow, session=nights)}
    return {pull.id: verdict_on(pull.job, recommended, outcomes) for pull in pulls}
