"""Entries about the night's own course in words: orders, rounds, verdicts, asks, notices."""

from typing import assert_never

from midwatch.journal.events import session as ev
from midwatch.journal.events.notices import AskPostponed, NoticeEvent, NoticeRouted, PushBegun, PushFailed
from midwatch.terms.asks import Tier
from midwatch.terms.english import without_answer
from midwatch.terms.figures import some
from midwatch.terms.orders import Orders
from midwatch.views.entries.groups import Asking, Briefing, Course, Reaching
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean, listed, spaced
from midwatch.views.text.states import DECIDED, NOTICE_GOES

LOUDNESS = {Tier.URGENT: "Urgent", Tier.ACTION: "Told", Tier.SUMMARY: "For the summary", Tier.LOG: "Noted"}


def sentence(event: ev.SessionEvent, names: Names) -> str:
    if isinstance(event, Briefing):
        return _briefing(event, names)
    if isinstance(event, Course):
        return _course(event, _whose(event, names))
    if isinstance(event, Asking):
        return _asking(event, names)
    if isinstance(event, Reaching):
        return _reaching(event, names)
    return _thinking(event, names)


def _whose(event: Course | ev.SessionStarted, names: Names) -> str:
    called = names.whose(event.session)
    return called[0].upper() + called[1:]


def _briefing(event: Briefing, names: Names) -> str:
    match event:
        case ev.SessionOpened(orders=orders, ad_hoc=True):
            text = f"A command was given: {_orders(orders)}"
        case ev.SessionOpened(orders=orders):
            text = f"A briefing began: {_orders(orders)}"
        case ev.OrdersChanged(orders=orders):
            text = f"The draft was edited: {_orders(orders)}"
        case ev.OrdersSigned(by=by):
            text = f"{clean(by)} signed the orders"
        case ev.SessionStarted():
            work = some(len(event.items), "item")
            began = f"{_whose(event, names)} began at level {event.level.value}"
            text = f"{began}: {work}, until {names.clock(event.ends_at)} at the latest"
        case _:
            assert_never(event)
    return text


def _orders(orders: Orders) -> str:
    work = listed(tuple(one.title for one in orders.work)) or "no work yet"
    return f"{work}; level {orders.level.value}"


def _course(event: Course, whose: str) -> str:
    match event:
        case ev.SessionPaused(why=why):
            text = f"{whose} is paused: {clean(why) or 'no reason given'}"
        case ev.SessionResumed():
            text = f"{whose} resumed"
        case ev.SessionDebriefing(reason=reason):
            text = f"{whose} is over: {clean(reason)}"
        case ev.SessionEnded(reason=reason):
            text = f"The session is closed: {clean(reason)}"
        case ev.MessageSaid(by=by, text=said):
            text = f"{clean(by)} said: {clean(said, 360)}"
        case ev.CheckInMade(text=said):
            text = f"Check-in ({event.type}): {clean(said)}"
        case _:
            assert_never(event)
    return text


def _thinking(
    event: ev.RoundCalled | ev.RoundPlanned | ev.CouncilSpoke | ev.ActJudged | ev.ActEnded | ev.RoundEnded, names: Names
) -> str:
    match event:
        case ev.RoundCalled(number=number, why=why):
            text = f"Round {number} begins ({clean(why)})"
        case ev.RoundPlanned(number=number):
            wishes = listed(tuple(spaced(one.proposal.kind.value) for one in event.proposals)) or "nothing"
            text = f"Round {number}: {clean(event.summary)} The {clean(event.brain)} brain proposes {wishes}"
        case ev.CouncilSpoke(opinions=opinions):
            stances = [one.stance for one in opinions]
            text = (
                f"Council: {stances.count('support')} for, {stances.count('object')} against. {clean(event.decision)}"
            )
        case ev.ActJudged():
            text = _judged(event, names)
        case ev.ActEnded(end=end):
            text = f"Act {end}: {clean(event.text)}"
        case ev.RoundEnded(number=number):
            trouble = f" with an error: {clean(event.error)}" if event.error else ""
            text = f"Round {number} is over{trouble}; the next is due at {names.clock(event.next_at)}"
        case _:
            assert_never(event)
    return text


def _judged(event: ev.ActJudged, names: Names) -> str:
    verdict = event.verdict
    where = names.projects.get(event.proposal.project)
    what = spaced(event.proposal.kind.value) + (f" in {where}" if where else "")
    why = f" ({clean(verdict.reasons[0].text)})" if verdict.reasons else ""
    return f"Gate: {what}: {DECIDED[verdict.outcome]}{why}"


def _asking(event: Asking, names: Names) -> str:
    name = names.of(event.ask, "an ask").capitalize()
    match event:
        case ev.AskOpened(draft=draft, due_at=due):
            until = f" Open until {names.clock(due)}." if due else ""
            text = f"{name} for you: {clean(draft.question, 360)}{until}"
        case ev.AskAnswered():
            more = f": {clean(event.text)}" if event.text else ""
            text = f"{name} was answered by {clean(event.by)}: {clean(event.answer)}{more}"
        case ev.AskExpired(meant=meant):
            text = f"{name} was not answered in time. {without_answer(meant)}"
        case ev.AskWithdrawn(why=why):
            text = f"{name} is no longer needed: {clean(why)}"
        case _:
            assert_never(event)
    return text


def _reaching(event: Reaching, names: Names) -> str:
    match event:
        case ev.NoticeRaised(tier=tier, text=said):
            text = f"{LOUDNESS[tier]}: {clean(said, 360)}"
        case ev.NoticeSent(channel=channel, push=push):
            text = f"A notice was sent to {clean(channel)}" if push else f"A notice was sent by {clean(channel)}"
        case ev.ToolCalled(tool=tool):
            text = f"{clean(tool)} begins for {names.of(event.job, 'Midwatch')}"
        case ev.ToolFinished(status=status):
            trouble = f": {clean(event.error)}" if event.error else ""
            text = f"A tool ended: {status}{trouble}"
        case _:
            assert_never(event)
    return text


def notice_sentence(event: NoticeEvent, names: Names) -> str:
    """Describe what happened to a notice, or to the deadline of an ask."""
    match event:
        case NoticeRouted(delivery=delivery, channel=channel):
            return f"A notice {NOTICE_GOES[delivery].format(channel=clean(channel))}"
        case PushBegun(channel=channel, notices=notices):
            return f"A message with {some(len(notices), 'notice')} goes to {clean(channel)}"
        case PushFailed(channel=channel, error=error, given_up=given_up):
            end = f" {some(len(given_up), 'notice')} will not be tried again." if given_up else ""
            return f"{clean(channel)} refused a message: {clean(error)}{end}"
        case AskPostponed(ask=ask, due_at=due_at, why=why):
            called = names.of(ask, "an ask")
            meant = "waits for you" if due_at is None else "is due later"
            return f"{called[0].upper()}{called[1:]} {meant}: {clean(why)}"
    assert_never(event)
