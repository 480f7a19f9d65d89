"""Entries about the delivery of notices to their channels in words."""

from typing import assert_never

from midwatch.journal.events.notices import AskPostponed, NoticeEvent, NoticeRouted, PushBegun, PushFailed
from midwatch.terms.asks import Delivery
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean, counted

WAITS = {
    Delivery.NOW: "A notice goes to {channel} now",
    Delivery.AFTER_QUIET: "A notice waits for the end of quiet hours, then goes to {channel}",
    Delivery.BATCH: "A notice goes to {channel} with the next batch",
    Delivery.DIGEST: "A notice goes to {channel} with the digest",
    Delivery.LOG: "A notice stays in the log: {channel} was removed",
}


def told(event: NoticeEvent, names: Names) -> str:
    """Describe what happened to a notice, or to the deadline of an ask."""
    match event:
        case NoticeRouted(delivery=delivery, channel=channel):
            return WAITS[delivery].format(channel=clean(channel))
        case PushBegun(channel=channel, notices=notices):
            return f"A message with {counted(len(notices), 'notice')} goes to {clean(channel)}"
        case PushFailed(channel=channel, error=error, given_up=given_up):
            end = f" {counted(len(given_up), 'notice')} will not be tried again." if given_up else ""
            return f"{clean(channel)} refused a message: {clean(error)}{end}"
        case AskPostponed(ask=ask, due_at=due_at, why=why):
            called = names.of(ask, "an ask")
            meant = "waits for you" if due_at is None else "is due later"
            return f"{called[0].upper()}{called[1:]} {meant}: {clean(why)}"
    assert_never(event)
