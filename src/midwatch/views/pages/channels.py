"""What pages and commands say about channels and about the notices sent to them."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, Literal

from midwatch.terms.asks import Delivery, DeliveryState, PushState
from midwatch.terms.figures import first_few, some
from midwatch.terms.records import DeliveryRow, NoticeRow, PushRow
from midwatch.terms.term import Term
from midwatch.views.text.plain import clean
from midwatch.views.text.states import NOTICE_GOES

MOST_NOTICES: Final = 6
NOTHING_SENT: Final = "nothing was sent yet"


class ChannelShown(Term):
    """One channel: whether it accepted its last message, and how many notices still wait for it."""

    name: str
    state: Literal["good", "bad", "new"]
    said: str
    at: datetime | None = None
    waiting: int = 0
    failed: int = 0


class WayShown(Term):
    """The state of a notice on one channel, and since or until when."""

    said: str
    at: datetime | None = None
    bad: bool = False


class NoticeShown(Term):
    """One notice with its state on each channel."""

    id: str
    text: str
    at: datetime
    urgent: bool
    ways: tuple[WayShown, ...] = ()


def channel_shown(name: str, pushes: Sequence[PushRow], rows: Iterable[DeliveryRow]) -> ChannelShown:
    """Describe a channel's state, from its messages in order and its deliveries."""
    states = [row.state for row in rows]
    waiting, failed = sum(not state.over for state in states), states.count(DeliveryState.FAILED)
    over = [push for push in pushes if push.settled_at is not None]
    if not over:
        return ChannelShown(name=name, state="new", said=NOTHING_SENT, waiting=waiting, failed=failed)
    last = over[-1]
    good = last.state is PushState.SENT
    why = f": {clean(last.error, 200)}" if last.error else "; whether it arrived is not known"
    said = "accepted its last message" if good else f"refused its last message{why}"
    state: Literal["good", "bad"] = "good" if good else "bad"
    return ChannelShown(name=name, state=state, said=said, at=last.settled_at, waiting=waiting, failed=failed)


def notices_shown(notices: Sequence[NoticeRow], rows: Iterable[DeliveryRow]) -> tuple[NoticeShown, ...]:
    """Show the newest notices, newest first, each with its state on every channel."""
    ways: dict[str, list[WayShown]] = {}
    for row in rows:
        ways.setdefault(row.notice, []).append(_way(row))
    result = [one for one in notices if one.sent_by][-MOST_NOTICES:]
    return tuple(
        NoticeShown(
            id=one.id,
            text=clean(one.text, 160),
            at=one.created_at,
            urgent=one.tier == 1,
            ways=tuple(ways.get(one.id, [WayShown(said="in the log")])),
        )
        for one in reversed(result)
    )


def _way(row: DeliveryRow) -> WayShown:
    channel = clean(row.channel)
    match row.state:
        case DeliveryState.SENT:
            return WayShown(said=f"sent to {channel}", at=row.settled_at)
        case DeliveryState.FAILED:
            return WayShown(said=f"could not be sent to {channel}", at=row.settled_at, bad=True)
        case DeliveryState.LOGGED:
            return WayShown(said=NOTICE_GOES[Delivery.LOG].format(channel=channel))
        case DeliveryState.SENDING:
            return WayShown(said=f"being sent to {channel}")
        case DeliveryState.WAITING if row.attempts:
            return WayShown(said=f"{channel} refused it; retrying", at=row.due_at, bad=True)
        case DeliveryState.WAITING:
            by = "at the latest" if row.delivery is Delivery.BATCH else "at"
            return WayShown(said=f"{NOTICE_GOES[row.delivery].format(channel=channel)}, {by}", at=row.due_at)


def unsent_line(channel: str, texts: Sequence[str]) -> str:
    """Say what could not be sent over a channel, in one line for the brief and the doctor."""
    shown = first_few([clean(text, 80) for text in texts], 2, "; ")
    return f"{some(len(texts), 'notice')} could not be sent by {clean(channel)}: {shown}"
