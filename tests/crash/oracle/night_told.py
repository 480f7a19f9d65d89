"""What becomes of notices and of asks' clocks, as the view shows it."""

from typing import assert_never

from midwatch.journal.events.notices import AskPostponed, NoticeEvent, NoticeRouted, PushBegun, PushFailed
from midwatch.terms.asks import Silence
from tests.crash.oracle.seen import NightView, altered, changed


def happened(view: NightView, event: NoticeEvent) -> NightView:
    """An ask is due later, or waits; on which way a notice reaches a person is no part of the night itself."""
    match event:
        case AskPostponed(ask=ask, due_at=None):
            return altered(view, asks=changed(view.asks, ask, due_at=None, silence=Silence.WAITS))
        case AskPostponed(ask=ask, due_at=due_at):
            return altered(view, asks=changed(view.asks, ask, due_at=due_at))
        case NoticeRouted() | PushBegun() | PushFailed():
            return view
    assert_never(event)
