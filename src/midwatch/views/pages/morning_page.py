"""The morning as a page: one sentence, the night in a line, the queue to review, and what a review changed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal

from midwatch.errors import Misuse
from midwatch.journal.entry import Entry
from midwatch.journal.events.morning import AssumptionSettled, ReviewSubmitted, RunScored
from midwatch.journal.events.session import SessionEnded
from midwatch.terms.asks import AskState
from midwatch.terms.figures import dollars, many, micros, some
from midwatch.terms.records import AskRow, EvaluationRow, SessionRow
from midwatch.terms.report import AssumptionVerdict, FlagKind, Given, Review, ReviewOutcome, Section
from midwatch.terms.term import Term
from midwatch.terms.trust import Level
from midwatch.views.entries.describe import describe
from midwatch.views.pages.morning_items import Item, NightRows, items_of, since_then
from midwatch.views.pages.stack import StackShown, stack_shown
from midwatch.views.text.names import Names

MOST_NIGHTS, MOST_COMMANDS = 6, 3
"""How many the page links to."""
WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class NightLine(Term):
    """The night in a line, or the command."""

    key: str
    """What the page is asked for by: a night's number; a command has none, so its session's id."""
    called: str
    noun: str
    level: str
    began: datetime | None
    ended: datetime | None
    reason: str
    rounds: int
    spent: str
    """Money and tokens, in words."""
    asks: int
    answered: int
    by_silence: int


class DecisionWanted(Term):
    """An ask that is still open."""

    number: int
    question: str
    recommendation: str
    due_at: datetime | None


class Assumed(Term):
    """An assumption, for a person to confirm."""

    id: str
    statement: str
    confidence: int
    impact: str
    status: str


class RunScore(Term):
    """The score of a run, before and after review."""

    run: int
    title: str
    before: float | None
    after: float | None
    authority: str


class Recorded(Term):
    """One entry that the review wrote."""

    seq: int
    text: str


class Reviewed(Term):
    """The submitted review."""

    by: str
    at: datetime | None
    usefulness: int
    trust: int
    brevity: int
    flags: tuple[str, ...]
    notes: str
    recorded: tuple[Recorded, ...]


class MorningPage(Term):
    """Everything the page shows."""

    verdict: str
    night: NightLine
    report: str
    items: tuple[Item, ...]
    stacks: tuple[StackShown, ...]
    decisions: tuple[DecisionWanted, ...]
    assumptions: tuple[Assumed, ...]
    sections: tuple[Section, ...]
    since: tuple[str, ...]
    """What changed after the brief was written."""
    words: int
    cut: int
    scores: tuple[RunScore, ...]
    reviewed: Reviewed | None
    missed: bool
    """The review was not given in time; it can still be given."""


def morning_page(rows: NightRows, entries: Sequence[Entry], names: Names) -> MorningPage:
    """Put the page together from the night's rows and its entries."""
    open_asks = [ask for ask in rows.asks if ask.state is AskState.OPEN]
    brief = rows.report.brief
    return MorningPage(
        verdict=verdict(rows),
        night=_night(rows),
        report=rows.report.id,
        items=items_of(rows, entries, names),
        stacks=_stacks(rows),
        decisions=tuple(_wanted(ask) for ask in sorted(open_asks, key=lambda ask: -ask.priority)),
        assumptions=tuple(
            Assumed(
                id=one.id,
                statement=one.statement,
                confidence=round(one.confidence * 100),
                impact=one.impact_if_wrong,
                status=one.status,
            )
            for one in rows.assumptions
            if one.needs_confirmation
        ),
        sections=brief.sections,
        since=since_then(rows.report, rows.pull_requests, rows.jobs, rows.projects),
        words=brief.words,
        cut=brief.cut,
        scores=_scores(rows),
        reviewed=_reviewed(rows, entries, names),
        missed=any(one.capture_status == "timeout" for one in rows.evaluations),
    )


def verdict(rows: NightRows) -> str:
    """Describe in one sentence how the night went."""
    ended = rows.tally
    if rows.session.level is Level.OBSERVE and not rows.jobs:
        said = sum(act.state == "said" for act in rows.acts)
        return f"Nothing was touched. {_number(said)} {'proposal' if said == 1 else 'proposals'} to read."
    if not ended.ordered:
        return "Nothing was ordered, nothing was done."
    return f"{_share(ended.done, ended.ordered)} done.{_eye(ended.wanted)}"


def _share(done: int, ordered: int) -> str:
    if ordered == 1:
        return "The one thing ordered is" if done else "The one thing ordered is not"
    if done == ordered:
        return "Both are" if ordered == 2 else f"All {_number(ordered).lower()} are"
    return f"{_number(done)} of {_number(ordered).lower()}"


def _eye(count: int) -> str:
    if not count:
        return ""
    return f" {_number(count)} {'needs' if count == 1 else 'need'} your attention."


def _number(count: int) -> str:
    return (WORDS[count] if count < len(WORDS) else str(count)).capitalize()


def _night(rows: NightRows) -> NightLine:
    session = rows.session
    return NightLine(
        key=session_key(session),
        called="Command" if session.ad_hoc else session.called,
        noun=session.noun,
        level=session.level.value,
        began=session.started_at,
        ended=session.debrief_at or session.ended_at,
        reason=session.reason,
        rounds=session.rounds,
        spent=_spent(rows),
        asks=len(rows.asks),
        answered=sum(ask.state is AskState.ANSWERED for ask in rows.asks),
        by_silence=sum(ask.state is AskState.EXPIRED for ask in rows.asks),
    )


def session_key(session: SessionRow) -> str:
    """Give what a page asks for this night or command by."""
    return session.id if session.ad_hoc else str(session.number)


def sessions_listed(sessions: Iterable[SessionRow], names: Names) -> tuple[tuple[str, str], ...]:
    """List the last nights, then the last commands, each by its key and name."""
    every = tuple(sessions)
    nights = [(session_key(one), one.called) for one in every if not one.ad_hoc]
    commands = [(session_key(one), _capital(names.command(one.created_at))) for one in every if one.ad_hoc]
    return (*nights[-MOST_NIGHTS:], *commands[-MOST_COMMANDS:])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _spent(rows: NightRows) -> str:
    money, tokens = sum(job.usd_micros for job in rows.jobs), sum(job.tokens for job in rows.jobs)
    granted = dollars(micros(rows.session.orders.limits.usd))
    return f"{dollars(money)} of {granted}, {f'{many(tokens)} tokens' if tokens else 'no tokens'}"


def asked(night: NightLine) -> str:
    """Say how many questions the night asked a person."""
    if not night.asks:
        return "no question asked"
    result = [f"{night.answered} answered in time"] if night.answered else []
    result += [f"{night.by_silence} decided by silence"] if night.by_silence else []
    waiting = night.asks - night.answered - night.by_silence
    result += [f"{waiting} still open or withdrawn"] if waiting > 0 else []
    return f"{some(night.asks, 'question')} asked, {', '.join(result)}"


def _stacks(rows: NightRows) -> tuple[StackShown, ...]:
    """The newest of each project."""
    newest = {row.project: row for row in rows.stacks}
    names = {row.id: row.name for row in rows.projects}
    away = {row.id for row in rows.pull_requests if row.forge != "local"}
    pulls = {row.id: row for row in (*rows.pull_requests, *rows.stacked)}
    return tuple(
        stack_shown(
            row,
            names.get(row.project, ""),
            rows.verdicts,
            pulls,
            rows.numbers,
            elsewhere=any(step.pull_request in away for step in row.order),
        )
        for row in newest.values()
    )


def _wanted(ask: AskRow) -> DecisionWanted:
    return DecisionWanted(
        number=ask.number, question=ask.question, recommendation=ask.recommendation, due_at=ask.due_at
    )


def _scores(rows: NightRows) -> tuple[RunScore, ...]:
    titles = {job.run: job.title for job in rows.jobs}
    return tuple(
        RunScore(
            run=run.number,
            title=titles.get(run.id, ""),
            before=run.score_pre,
            after=run.score_post,
            authority=run.contract.authority_policy.start_level.value,
        )
        for run in rows.runs
    )


def _reviewed(rows: NightRows, entries: Sequence[Entry], names: Names) -> Reviewed | None:
    given = [one for one in rows.evaluations if one.capture_status == "submitted"]
    said = [one for one in entries if isinstance(one.event, ReviewSubmitted) and one.event.session == rows.session.id]
    if not said:
        return None
    last = said[-1]
    runs = {run.id for run in rows.runs}
    wrote = [one for one in entries if one.seq >= last.seq and _by_review(one, rows.session.id, runs)]
    event = last.event
    assert isinstance(event, ReviewSubmitted)  # noqa: S101  for the type checker: chosen so above
    return Reviewed(
        by=event.by,
        at=_when(given) or last.at,
        usefulness=event.review.usefulness,
        trust=event.review.trust,
        brevity=event.review.brevity,
        flags=tuple(flag.value for flag in event.review.flags),
        notes=event.review.notes,
        recorded=tuple(Recorded(seq=one.seq, text=describe(one.event, names)) for one in wrote),
    )


def _when(given: Sequence[EvaluationRow]) -> datetime | None:
    return max((one.submitted_at for one in given if one.submitted_at), default=None)


def _by_review(entry: Entry, session: str, runs: set[str]) -> bool:
    event = entry.event
    if isinstance(event, RunScored):
        return event.phase == "post" and event.run in runs
    return isinstance(event, ReviewSubmitted | AssumptionSettled | SessionEnded) and event.session == session


RATINGS = ("usefulness", "trust", "brevity")
GIVEN = frozenset(ReviewOutcome) - {ReviewOutcome.PENDING}
ASSUMED: Final[dict[str, Literal["confirmed", "rejected"]]] = {"right": "confirmed", "wrong": "rejected"}
LONGEST = 4_000


def review_of(form: Mapping[str, str], flags: Sequence[str], page: MorningPage) -> Review:
    """Read a review; raise an error that names what is missing or unknown."""
    ratings = {name: _rating(name, form.get(name, "")) for name in RATINGS}
    outcomes = [one for item in page.items if (one := _given(form, item.id)) is not None]
    unknown = [flag for flag in flags if flag not in set(FlagKind)]
    if unknown:
        raise Misuse("That flag is not known.", hint="Flags are: a wrong fact, unsafe.")
    return Review(
        **ratings,
        outcomes=tuple(outcomes),
        assumptions=tuple(_assumed(form, page)),
        flags=tuple(FlagKind(flag) for flag in flags),
        notes=form.get("notes", "").strip()[:LONGEST],
    )


def _rating(name: str, said: str) -> int:
    if said not in {"1", "2", "3", "4", "5"}:
        raise Misuse(f"The rating for {name} is missing.", hint="Choose one to five for each of the three ratings.")
    return int(said)


def _given(form: Mapping[str, str], item: str) -> Given | None:
    said = form.get(f"outcome:{item}", "")
    if not said:
        return None
    if said not in GIVEN:
        raise Misuse("That verdict is not known.", hint="Accept, amend, reject or later.")
    reason = form.get(f"reason:{item}", "").strip()[:LONGEST]
    wanted = ReviewOutcome(said) in {ReviewOutcome.MODIFIED, ReviewOutcome.REJECTED}
    kept = ReviewOutcome(said) is ReviewOutcome.REJECTED and bool(form.get(f"keep:{item}"))
    return Given(recommendation=item, outcome=ReviewOutcome(said), reason=reason if wanted else "", keep_open=kept)


def _assumed(form: Mapping[str, str], page: MorningPage) -> Iterator[AssumptionVerdict]:
    for one in page.assumptions:
        said = form.get(f"assumed:{one.id}", "")
        if said in ASSUMED:
            yield AssumptionVerdict(assumption=one.id, status=ASSUMED[said])
