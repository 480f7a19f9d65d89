"""Notices, their delivery to each channel, and the messages that contained them."""

from datetime import datetime

import sqlalchemy as sa

from midwatch.errors import Stale
from midwatch.journal.entry import Entry
from midwatch.journal.events.notices import NoticeRouted, PushBegun, PushFailed
from midwatch.journal.events.session import NoticeRaised, NoticeSent
from midwatch.store.projectors.rows import adjust, begin, change, clear_timer, on, row, set_timer
from midwatch.store.schema.tables import deliveries, notices, pushes
from midwatch.terms.asks import Delivery, DeliveryState, PushState

ON_THE_WAY = (DeliveryState.WAITING.value, DeliveryState.SENDING.value)


@on(NoticeRaised)
def notice_raised(c: sa.Connection, entry: Entry, event: NoticeRaised) -> None:
    """It is in the outbox until the log has it."""
    begin(c, entry, notices, event.notice, event)


@on(NoticeRouted)
def notice_routed(c: sa.Connection, entry: Entry, event: NoticeRouted) -> None:
    """A channel has it, or is to have it at another time."""
    name, result = delivery_id(event.notice, event.channel), row(c, notices, event.notice)
    place = {"delivery": event.delivery, "due_at": event.due_at} | _settled_if_logged(entry, event.delivery)
    if former := c.execute(sa.select(deliveries).where(deliveries.c.id == name)).mappings().first():
        if former["state"] == DeliveryState.SENDING.value:
            _lost(c, entry, former["push"])
        change(c, deliveries, {"id": name, "state": ON_THE_WAY}, **{"state": DeliveryState.WAITING} | place)
    else:
        about = {"session": result["session"], "tier": result["tier"], "state": DeliveryState.WAITING}
        begin(c, entry, deliveries, name, event, **about | place)
    _wake(c, event.channel)


def delivery_id(notice: str, channel: str) -> str:
    return f"{notice}.{channel}"


def _settled_if_logged(entry: Entry, delivery: Delivery) -> dict[str, object]:
    return {"state": DeliveryState.LOGGED, "settled_at": entry.at} if delivery is Delivery.LOG else {}


def _lost(c: sa.Connection, entry: Entry, push: str) -> None:
    """Its sender is gone: its notices go into another message, and this one is not sent again."""
    adjust(c, pushes, {"id": push, "state": PushState.SENDING}, state=PushState.UNKNOWN, settled_at=entry.at)


@on(PushBegun)
def push_begun(c: sa.Connection, entry: Entry, event: PushBegun) -> None:
    """A second sender finds nothing left to send."""
    for notice in event.notices:
        name = delivery_id(notice, event.channel)
        now = row(c, deliveries, name)
        lapsed = now["state"] == DeliveryState.SENDING.value and now["due_at"] <= entry.at
        if now["state"] != DeliveryState.WAITING.value and not lapsed:
            raise Stale("The notice is on its way already.", hint="Look at the current state and try again.")
        if lapsed:
            _lost(c, entry, now["push"])
        change(c, deliveries, {"id": name}, state=DeliveryState.SENDING, push=event.push, due_at=event.until)
    begin(c, entry, pushes, event.push, event, state=PushState.SENDING)
    _wake(c, event.channel)


@on(PushFailed)
def push_failed(c: sa.Connection, entry: Entry, event: PushFailed) -> None:
    """Its notices wait for another try, or are not tried again."""
    change(
        c,
        pushes,
        {"id": event.push, "state": PushState.SENDING},
        state=PushState.FAILED,
        error=event.error,
        settled_at=entry.at,
    )
    mine = sa.select(deliveries).where(deliveries.c.push == event.push).order_by(deliveries.c.id)
    for one in c.execute(mine).mappings().all():
        over = one["notice"] in event.given_up
        ended = {"state": DeliveryState.FAILED, "settled_at": entry.at}
        again = {"state": DeliveryState.WAITING, "due_at": event.again_at}
        change(
            c,
            deliveries,
            {"id": one["id"], "state": DeliveryState.SENDING},
            attempts=one["attempts"] + 1,
            error=event.error,
            **ended if over else again,
        )
    _wake(c, event.channel)


@on(NoticeSent)
def notice_sent(c: sa.Connection, entry: Entry, event: NoticeSent) -> None:
    """Each channel once. The log has a notice before any other channel."""
    if not event.push:
        change(c, notices, {"id": event.notice, "sent_by": ""}, sent_by=event.channel, sent_at=entry.at)
        return
    where = {"id": delivery_id(event.notice, event.channel), "state": ON_THE_WAY}
    change(c, deliveries, where, state=DeliveryState.SENT, push=event.push, error="", settled_at=entry.at)
    adjust(c, pushes, {"id": event.push}, state=PushState.SENT, error="", settled_at=entry.at)
    _wake(c, event.channel)


def _wake(c: sa.Connection, channel: str) -> None:
    """A timer for when the first notice that waits for the channel is due."""
    waiting = sa.select(sa.func.min(deliveries.c.due_at)).where(
        deliveries.c.channel == channel, deliveries.c.state.in_(ON_THE_WAY)
    )
    due: datetime | None = c.execute(waiting).scalar()
    if due is None:
        clear_timer(c, f"channel:{channel}")
    else:
        set_timer(c, f"channel:{channel}", "channel", channel, due)
