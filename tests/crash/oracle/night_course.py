"""What the session's own events do to the view: its course, its rounds, its asks, what left the house."""

from typing import assert_never

from midwatch.journal.entry import Entry
from midwatch.journal.events.session import (
    ActEnded,
    ActJudged,
    AskAnswered,
    AskExpired,
    AskOpened,
    AskWithdrawn,
    CheckInMade,
    CouncilSpoke,
    MessageSaid,
    NoticeRaised,
    NoticeSent,
    OrdersChanged,
    OrdersSigned,
    RoundCalled,
    RoundEnded,
    RoundPlanned,
    SessionDebriefing,
    SessionEnded,
    SessionEvent,
    SessionOpened,
    SessionPaused,
    SessionResumed,
    SessionStarted,
    ToolCalled,
    ToolFinished,
)
from midwatch.terms.asks import AskState
from midwatch.terms.orders import Orders
from midwatch.terms.projects import SessionState
from midwatch.views.entries.groups import Asking, Briefing, Course, Reaching
from tests.crash.oracle.seen import (
    AskSeen,
    CheckInSeen,
    NightView,
    NoticeSeen,
    ToolSeen,
    altered,
    changed,
    one_more,
)

Thinking = RoundCalled | RoundPlanned | CouncilSpoke | ActJudged | ActEnded | RoundEnded
"""The loop."""


def happened(view: NightView, entry: Entry, event: SessionEvent) -> NightView:
    """Let an event of a session happen; one of another session than the newest changes nothing."""
    if isinstance(event, SessionOpened) and not event.ad_hoc:  # a command stands beside the night
        names = view.names.model_copy(update={"things": {}})
        fresh = NightView(names=names, session=event.session, state=SessionState.BRIEFING)
        return _ordered(fresh, event.orders)
    if getattr(event, "session", view.session) != view.session:
        return view
    if isinstance(event, Briefing):
        return _briefing(view, entry, event)
    if isinstance(event, Course):
        return _course(view, entry, event)
    if isinstance(event, Thinking):
        return _thinking(view, event)
    return _asking(view, event) if isinstance(event, Asking) else _reaching(view, event)


def _ordered(view: NightView, orders: Orders) -> NightView:
    work = tuple(one.title for one in orders.work)
    return altered(view, level=orders.level, goals=orders.goals, work=work)


def _briefing(view: NightView, entry: Entry, event: Briefing) -> NightView:
    match event:
        case SessionOpened(orders=orders) | OrdersChanged(orders=orders):
            after = _ordered(view, orders)
        case OrdersSigned(by=by):
            after = altered(view, signed_by=by, number=view.names.count("night"))
        case SessionStarted():
            after = altered(
                view,
                state=SessionState.AUTONOMOUS,
                level=event.level,
                started_at=entry.at,
                ends_at=event.ends_at,
                next_round_at=entry.at,
            )
        case _:
            assert_never(event)
    return after


def _course(view: NightView, entry: Entry, event: Course) -> NightView:
    match event:
        case SessionPaused(why=why):
            after = altered(view, paused=True, why_paused=why, next_round_at=None)
        case SessionResumed():
            after = altered(view, paused=False, why_paused="", next_round_at=None if view.round_active else entry.at)
        case SessionDebriefing(reason=reason):
            after = altered(view, state=SessionState.DEBRIEF, paused=False, reason=reason, next_round_at=None)
        case SessionEnded(reason=reason):
            after = altered(view, state=SessionState.ENDED, next_round_at=None, reason=view.reason or reason)
        case MessageSaid():
            after = altered(view, messages=view.messages + 1)
        case CheckInMade():
            told = CheckInSeen(type=event.type, text=event.text, at=entry.at)
            after = altered(view, check_ins=(*view.check_ins, told))
        case _:
            assert_never(event)
    return after


def _thinking(view: NightView, event: Thinking) -> NightView:
    match event:
        case RoundCalled(number=number):
            after = altered(view, rounds=number, round_active=True, next_round_at=None)
        case RoundPlanned() | CouncilSpoke():
            after = view
        case ActJudged(act=act, proposal=proposal, verdict=verdict):
            after = altered(
                view,
                decisions=view.decisions + 1,
                verdicts=one_more(view.verdicts, verdict.outcome.value),
                judged={**view.judged, act: proposal.kind.value},
            )
        case ActEnded():
            after = _act_ended(view, event)
        case RoundEnded(next_at=next_at):
            goes_on = view.state is SessionState.AUTONOMOUS and not view.paused
            after = altered(view, round_active=False, next_round_at=next_at if goes_on else None)
        case _:
            assert_never(event)
    return after


def _act_ended(view: NightView, event: ActEnded) -> NightView:
    kind = view.judged.get(event.act)
    if kind is None:
        return view
    return altered(
        view,
        ends=one_more(view.ends, event.end),
        done=one_more(view.done, kind) if event.end == "done" else view.done,
        judged={act: other for act, other in view.judged.items() if act != event.act},
    )


def _asking(view: NightView, event: Asking) -> NightView:
    match event:
        case AskOpened(draft=draft):
            new = AskSeen(
                id=event.ask,
                number=view.names.count("ask"),
                kind=draft.kind,
                question=draft.question,
                silence=draft.silence,
                due_at=event.due_at,
            )
            return altered(view, asks=(*view.asks, new))
        case AskAnswered():
            values = {"state": AskState.ANSWERED, "answer": event.answer, "answered_by": event.by}
        case AskExpired(meant=meant):
            values = {"state": AskState.EXPIRED, "answer": meant.value, "answered_by": "silence"}
        case AskWithdrawn():
            values = {"state": AskState.WITHDRAWN}
        case _:
            assert_never(event)
    return altered(view, asks=changed(view.asks, event.ask, **values))


def _reaching(view: NightView, event: Reaching) -> NightView:
    match event:
        case NoticeRaised():
            new = NoticeSeen(id=event.notice, tier=int(event.tier), text=event.text)
            after = altered(view, notices=(*view.notices, new))
        case NoticeSent(notice=notice, push=push):
            sent = {one.id: one.sent + (0 if push else 1) for one in view.notices}
            after = altered(view, notices=changed(view.notices, notice, sent=sent.get(notice, 1)))
        case ToolCalled():
            called = ToolSeen(id=event.invocation, tool=event.tool, job=event.job)
            after = altered(view, tools=(*view.tools, called))
        case ToolFinished(status=status):
            after = altered(view, tools=changed(view.tools, event.invocation, status=status))
        case _:
            assert_never(event)
    return after
