"""The review: the person's verdicts are stored, scored, and close the night."""

from midwatch.errors import Misuse, Refused, Unknown
from midwatch.journal.events import Event
from midwatch.journal.events.morning import AssumptionSettled, ReviewSubmitted, RunScored
from midwatch.journal.events.session import SessionEnded
from midwatch.morning import build_stack
from midwatch.ports.books import Books
from midwatch.ports.journal import Records
from midwatch.rules.morning import scores
from midwatch.rules.morning.verdicts import TAKEN, verdict_on
from midwatch.terms.figures import four_digits
from midwatch.terms.projects import SessionState
from midwatch.terms.records import AssumptionRow, OutcomeRow, PullRequestRow, ReportRow, RunRow, SessionRow
from midwatch.terms.report import Review, ReviewOutcome, ScoreParts


async def last_report(records: Records, night: str = "") -> tuple[SessionRow, ReportRow]:
    """Find the night's report, the newest unless one is named."""
    if night:
        session = await records.get(SessionRow, night)
        reports = await records.find(ReportRow, session=session.id)
        if not reports:
            raise Unknown(f"{session.called} has no brief yet.", hint="Watch it: midwatch watch")
        return session, reports[-1]
    if (written := await being_written(records)) is not None:
        raise Unknown(
            f"{written.called} is over, and its brief is being written.",
            hint="Read it in a moment: midwatch morning; an earlier one: midwatch morning --night NUMBER",
        )
    nights = tuple(row.id for row in await records.find(SessionRow, ad_hoc=False))
    reports = await records.find(ReportRow, session=nights) or await records.find(ReportRow)
    if not reports:
        raise Unknown("There is no brief yet: no night has ended.", hint="Begin one: midwatch brief --example")
    return await records.get(SessionRow, reports[-1].session), reports[-1]


async def being_written(records: Records) -> SessionRow | None:
    """Find the newest night that is over, if it has no brief yet: an older one is not shown or judged in its place."""
    over = [row for row in await records.find(SessionRow, ad_hoc=False) if row.debrief_at is not None]
    return over[-1] if over and not await records.find(ReportRow, session=over[-1].id) else None


async def submit(books: Books, review: Review, *, by: str, night: str = "") -> SessionRow:
    """Store the verdicts, score each run after review, and end the session. A second review replaces the first."""
    session, report = await last_report(books.records, night)
    if session.state not in {SessionState.DEBRIEF, SessionState.ENDED}:
        raise Refused(f"{session.called} is not over yet.", hint="Stop it first: midwatch stop")
    known = {one.id for one in report.recommendations}
    for given in review.outcomes:
        if given.recommendation not in known:
            raise Misuse(f"The brief has no recommendation {given.recommendation}.", hint="List them: midwatch morning")
    runs = await books.records.find(RunRow, session=session.id)
    past = await books.records.find(OutcomeRow, session=session.id)
    said = {row.id: ReviewOutcome(row.outcome) for row in past} | {
        one.recommendation: one.outcome for one in review.outcomes
    }
    of_run = {one.id: one.run for one in report.recommendations}
    events: list[Event] = [
        ReviewSubmitted(session=session.id, by=by, review=review),
        *await _settled(books.records, session.id, review, runs, by),
    ]
    for run in runs:
        mine = [outcome for name, outcome in said.items() if of_run.get(name) == run.id]
        score = four_digits(scores.post(review.usefulness, mine, review.flags))
        events.append(RunScored(run=run.id, phase="post", parts=ScoreParts(), score=score))
    events += await _stacks(books, session, report, said)
    if session.state is SessionState.DEBRIEF:
        events.append(SessionEnded(session=session.id, reason="reviewed"))
    await books.journal.record(*events, actor=by)
    return await books.records.get(SessionRow, session.id)


async def _settled(
    records: Records, session: str, review: Review, runs: tuple[RunRow, ...], by: str
) -> list[AssumptionSettled]:
    """Confirm or reject the night's own assumptions, each by its own entry."""
    if not review.assumptions:
        return []
    made = {row.id: row for row in await records.find(AssumptionRow, run=tuple(run.id for run in runs))}
    for given in review.assumptions:
        if given.assumption not in made:
            raise Misuse("There is no such assumption.", hint="Read them in the brief.")
    return [
        AssumptionSettled(
            session=session,
            assumption=one.assumption,
            statement=made[one.assumption].statement,
            status=one.status,
            by=by,
        )
        for one in review.assumptions
    ]


async def _stacks(
    books: Books, session: SessionRow, report: ReportRow, said: dict[str, ReviewOutcome]
) -> tuple[Event, ...]:
    """A stack holds accepted work only: one with anything else in it is made again without it."""
    runs = tuple(run.id for run in await books.records.find(RunRow, session=session.id))
    pulls = await books.records.find(PullRequestRow, run=runs)
    taken = {pull.id for pull in pulls if verdict_on(pull.job, report.recommendations, said) in TAKEN}
    if not taken:
        return ()
    return await build_stack.begin_after_review(books, session, frozenset(pull.id for pull in pulls) - taken)
