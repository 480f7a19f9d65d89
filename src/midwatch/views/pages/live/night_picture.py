"""A night as spans by phase on one time line, with idle stretches folded."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal

from midwatch.journal.entry import Entry
from midwatch.journal.events import session as ev
from midwatch.journal.events.jobs import JobApproved, JobClaimed, JobCreated, JobEnded, JobPlanned
from midwatch.terms.figures import minutes_in_words, some
from midwatch.terms.term import Term
from midwatch.views.text.plain import clean

Lane = Literal["sense", "plan", "act", "job", "ask"]
LANES: Final[tuple[Lane, ...]] = ("sense", "plan", "act", "job", "ask")
IDLE: Final = timedelta(minutes=10)
"""A longer stretch than this with nothing under way is folded."""
PICTURED: Final = (
    "session.started",
    "round.called",
    "round.planned",
    "act.judged",
    "round.ended",
    "job.created",
    "job.claimed",
    "job.planned",
    "job.approved",
    "job.ended",
    "ask.opened",
    "ask.answered",
    "ask.expired",
    "ask.withdrawn",
    "session.debriefing",
)
"""Events that change the picture."""


class Span(Term):
    """One span from one moment to another; `seq` is the entry it began with."""

    lane: Lane
    begin: datetime
    end: datetime
    seq: int
    what: str
    going: bool = False


class Fold(Term):
    """A folded idle stretch."""

    begin: datetime
    end: datetime


class NightPicture(Term):
    """Everything the drawing needs."""

    begin: datetime
    end: datetime
    noun: str = "night"
    spans: tuple[Span, ...] = ()
    folds: tuple[Fold, ...] = ()


def night_picture(entries: Sequence[Entry], begin: datetime, now: datetime, noun: str = "night") -> NightPicture:
    """Lay a night's entries out as spans up to `now`; a span without an end is still open."""
    weaver = _Weaver()
    for entry in entries:
        weaver.take(entry)
    spans = weaver.upto(now)
    return NightPicture(begin=begin, end=now, noun=noun, spans=spans, folds=_folds(spans, begin, now))


def in_words(picture: NightPicture) -> str:
    """Describe the picture in words, for screen readers."""
    result = [
        some(sum(span.lane == "sense" for span in picture.spans), "round"),
        some(len({span.what for span in picture.spans if span.lane == "job"}), "job"),
        some(sum(span.lane == "ask" for span in picture.spans), "ask"),
    ]
    idle = sum(((fold.end - fold.begin) for fold in picture.folds), timedelta())
    quiet = f", {minutes_in_words(idle)} idle and folded" if picture.folds else ""
    return f"The {picture.noun} so far, {minutes_in_words(picture.end - picture.begin)}: {', '.join(result)}{quiet}."


class _Weaver:
    """Opens and closes spans entry by entry."""

    def __init__(self) -> None:
        self._open: dict[str, Span] = {}
        self._done: list[Span] = []
        self._jobs: dict[str, str] = {}

    def take(self, entry: Entry) -> None:
        """Open or close spans for one entry."""
        match entry.event:
            case ev.RoundCalled(number=number):
                self._begin("round", "sense", entry, f"round {number}: looking")
            case ev.RoundPlanned(summary=summary, number=number):
                self._begin("round", "plan", entry, f"round {number}: {clean(summary, 120)}")
            case ev.ActJudged(number=number):
                self._begin("round", "act", entry, f"round {number}: acting")
            case ev.RoundEnded():
                self._end("round", entry.at)
            case ev.SessionDebriefing():
                self._all_over(entry.at)
            case _:
                self._asks(entry)

    def _asks(self, entry: Entry) -> None:
        match entry.event:
            case ev.AskOpened(ask=ask, draft=draft):
                self._begin(ask, "ask", entry, f"waits for you: {clean(draft.question, 120)}")
            case ev.AskAnswered(ask=ask) | ev.AskExpired(ask=ask) | ev.AskWithdrawn(ask=ask):
                self._end(ask, entry.at)
            case _:
                self._work(entry)

    def _work(self, entry: Entry) -> None:
        """A job that waits for approval is not running: the ask below it shows the wait."""
        match entry.event:
            case JobCreated(job=job, title=title):
                self._jobs[job] = clean(title, 120)
            case JobClaimed(job=job) | JobApproved(job=job):
                if job not in self._open:
                    self._begin(job, "job", entry, self._jobs.get(job, "a job"))
            case JobPlanned(job=job) | JobEnded(job=job):
                self._end(job, entry.at)
            case _:
                pass  # everything else leaves the picture as it is

    def _begin(self, key: str, lane: Lane, entry: Entry, what: str) -> None:
        before = self._open.get(key)
        if before is not None and before.lane == lane:
            return  # several acts of one round are one stretch of acting
        self._end(key, entry.at)
        self._open[key] = Span(lane=lane, begin=entry.at, end=entry.at, seq=entry.seq, what=what, going=True)

    def _end(self, key: str, at: datetime) -> None:
        span = self._open.pop(key, None)
        if span is not None:
            self._done.append(span.model_copy(update={"end": at, "going": False}))

    def _all_over(self, at: datetime) -> None:
        for key in tuple(self._open):
            self._end(key, at)

    def upto(self, now: datetime) -> tuple[Span, ...]:
        """Return every span in the order of its beginning; open ones reach to now."""
        going = (span.model_copy(update={"end": max(now, span.begin)}) for span in self._open.values())
        return tuple(sorted((*self._done, *going), key=lambda span: (span.begin, span.seq)))


def _folds(spans: Iterable[Span], begin: datetime, now: datetime) -> tuple[Fold, ...]:
    """Find the stretches longer than IDLE that no span covers, the last one up to now included."""
    folds: list[Fold] = []
    busy_until = begin
    for span in spans:
        if span.begin - busy_until > IDLE:
            folds.append(Fold(begin=busy_until, end=span.begin))
        busy_until = max(busy_until, span.end)
    if now - busy_until > IDLE:
        folds.append(Fold(begin=busy_until, end=now))
    return tuple(folds)
