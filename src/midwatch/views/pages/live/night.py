"""What the Live page shows: the state of the night, its counts, what it used, what happened."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

from midwatch.journal.entry import Entry
from midwatch.terms.acts import LEVEL_MEANS
from midwatch.terms.figures import dollars, many, micros, some, span
from midwatch.terms.projects import SessionState
from midwatch.terms.records import CheckInRow, JobRow, SessionRow
from midwatch.terms.report import WorkTally
from midwatch.terms.term import Term
from midwatch.views.entries.describe import describe
from midwatch.views.entries.tags import MILESTONES, Phase, phase_of
from midwatch.views.pages.job_line import spent_by
from midwatch.views.text.names import Names, session_named
from midwatch.views.text.plain import clean, spaced

FEED_ROWS: Final = 60
ALMOST: Final = 0.8
"""From this share on a limit is nearly used up."""


class FeedRow(Term):
    """One entry as the feed shows it."""

    seq: int
    at: datetime
    phase: Phase
    text: str
    milestone: bool = True
    """Whether it is shown without being asked for."""


class Count(Term):
    """How many works are in one situation, or how many asks are open; `where` lists them on the page."""

    name: str
    number: int
    words: str
    where: str = ""
    wanted: bool = False
    """Whether these wait for the person."""


class Gauge(Term):
    """One limited thing, in words and as a share of its limit; `most` 0 means there is no limit to show."""

    name: str
    said: str
    used: float = 0
    most: float = 0
    near: bool = False


class NightShown(Term):
    """The banner: which night, its state, its level."""

    number: int = 0
    noun: str = "night"
    title: str
    sentence: str = ""
    paused: str = ""
    """Why it is paused, if it is."""
    level: str = ""
    level_means: str = ""
    authority: str = ""
    under_way: bool = False
    steered: bool = False
    """Whether it can be paused, stopped and spoken to as a whole, as a night; a command's jobs are stopped singly."""
    ends_at: datetime | None = None
    next_round_at: datetime | None = None
    next_page: str = ""
    next_words: str = ""


def feed_rows(entries: Iterable[Entry], names: Names) -> tuple[FeedRow, ...]:
    """Describe entries in words, newest first; `names` already knows everything they name."""
    result = [
        FeedRow(
            seq=one.seq,
            at=one.at,
            phase=phase_of(one.event),
            text=describe(one.event, names),
            milestone=one.event.kind in MILESTONES,
        )
        for one in entries
    ]
    return tuple(reversed(result))


def counts(tally: WorkTally, asks: int) -> tuple[Count, ...]:
    """Count what needs the person, what is at work, what waits, and what is done, in the figures of the brief."""
    over = tally.undelivered - tally.not_started
    every = (
        Count(name="asks", number=asks, words="needs you" if asks == 1 else "need you", where="asks", wanted=asks > 0),
        Count(name="working", number=tally.working, words="at work", where="at-work"),
        Count(name="waiting", number=tally.waiting, words="waits" if tally.waiting == 1 else "wait", where="at-work"),
        Count(name="done", number=tally.done, words=f"of {tally.ordered} done", where="done"),
        Count(name="undone", number=over, words="not done", where="not-done"),
        Count(name="later", number=tally.not_started, words="not started"),
    )
    always = {"asks", "working", "done"}
    return tuple(one for one in every if one.number or one.name in always)


class CheckInShown(Term):
    """The last report of the night."""

    at: datetime
    text: str
    alert: bool


def check_in_shown(rows: Iterable[CheckInRow]) -> CheckInShown | None:
    last = max(rows, key=lambda row: row.created_at, default=None)
    if last is None:
        return None
    return CheckInShown(at=last.created_at, text=clean(last.text, 480), alert=last.type == "alert")


def night_shown(
    session: SessionRow | None, to_local: Callable[[datetime], datetime], *, headline: str = "", authority: str = ""
) -> NightShown:
    """Describe the newest night, or the newest command if there was none; when none is under way, what to do next."""
    if session is None:
        return NightShown(
            title="No night is under way.",
            sentence="Write and sign tonight's orders, and follow the night here.",
            next_page="/tonight",
            next_words="Prepare tonight",
        )
    if session.state is SessionState.AUTONOMOUS:
        return _under_way(session, session_named(session, to_local), authority)
    if session.state is SessionState.BRIEFING:
        return NightShown(
            title="No night is under way.",
            sentence="Orders for tonight are drafted. They begin when you sign them.",
            next_page="/tonight",
            next_words="Read and sign the orders",
        )
    waits = session.state is SessionState.DEBRIEF
    said = clean(headline, 300) or f"It ended: {clean(session.reason, 200) or 'without a reason'}."
    return NightShown(
        number=session.number,
        noun=session.noun,
        title=f"{session_named(session, to_local)} is over.",
        sentence=said,
        next_page=_morning_of(session) if waits else "/tonight",
        next_words="Review the results" if waits else "Prepare tonight",
    )


def _morning_of(session: SessionRow) -> str:
    return f"/morning?night={session.id}" if session.ad_hoc else "/morning"


def _under_way(session: SessionRow, called: str, authority: str) -> NightShown:
    level = session.level.value
    state = "is paused" if session.paused else "is under way"
    goals = "; ".join(clean(goal, 120) for goal in session.orders.goals[:2])
    return NightShown(
        number=session.number,
        noun=session.noun,
        title=f"{called} {state}",
        sentence=goals,
        paused=_sentence(session.why_paused) if session.paused else "",
        level=level,
        level_means=LEVEL_MEANS[session.level],
        authority=spaced(authority),
        under_way=True,
        steered=not session.ad_hoc,
        ends_at=session.ends_at,
        next_round_at=None if session.paused else session.next_round_at,
    )


def _sentence(words: str) -> str:
    said = clean(words, 300) or "No reason was given."
    return said[:1].upper() + said[1:]


def gauges(
    session: SessionRow, jobs: Iterable[JobRow], now: datetime, *, asks: int, attention: int
) -> tuple[Gauge, ...]:
    """Measure what the night and its jobs used of what was signed."""
    limits, spent = session.orders.limits, spent_by(jobs)
    granted = micros(limits.usd)
    began = session.started_at or now
    used = (session.debrief_at or session.ended_at or now) - began
    minutes = used.total_seconds() / 60
    most = round((session.ends_at - began).total_seconds() / 60) if session.ends_at else limits.minutes
    return (
        _gauge("Time", f"{span(minutes)} of {span(most)}", minutes, most),
        _gauge("Rounds", f"{session.rounds:,} of {limits.rounds:,}", session.rounds, limits.rounds),
        Gauge(name="Decisions", said=f"{session.decisions:,}, of which {session.actions:,} done"),
        _gauge("Money", f"{dollars(spent.usd_micros)} of {dollars(granted)}", spent.usd_micros, granted),
        _gauge("Tokens", f"{many(spent.tokens)} of {many(limits.tokens)}", spent.tokens, limits.tokens),
        _gauge("Your attention", f"{asks} of {some(attention, 'ask')}", asks, attention),
    )


def _gauge(name: str, said: str, used: float, most: float) -> Gauge:
    return Gauge(name=name, said=said, used=min(used, most), most=most, near=most > 0 and used >= ALMOST * most)
