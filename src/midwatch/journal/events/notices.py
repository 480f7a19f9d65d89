"""How notices leave the house: which channel takes which and when, and what became of each message."""

from datetime import datetime
from typing import Literal

from midwatch.journal.events.happening import Happening
from midwatch.terms.notices import Delivery


class NoticeRouted(Happening):
    """A notice waits for a channel until its time has come, or stays in the log for good."""

    kind: Literal["notice.routed"] = "notice.routed"
    notice: str
    channel: str
    delivery: Delivery
    due_at: datetime


class PushBegun(Happening):
    """One message with these notices is being handed to a channel."""

    kind: Literal["push.begun"] = "push.begun"
    push: str
    channel: str
    notices: tuple[str, ...]
    day: str
    """Which day it is for the person; budgets are counted by it."""
    counts: bool
    """Whether it is one of the day's budget; the digest is not."""
    note: str = ""
    """What else the message says, such as that the day's budget is nearly used."""
    until: datetime
    """If nobody has said by then what became of it, it is sent again."""


class PushFailed(Happening):
    """The channel did not take the message; it is tried again, or no more."""

    kind: Literal["push.failed"] = "push.failed"
    push: str
    channel: str
    error: str
    again_at: datetime
    given_up: tuple[str, ...] = ()
    """Notices in it that were tried often enough."""


class AskPostponed(Happening):
    """An ask's clock started later than the ask, or stops: silence may not decide it any more, and it waits."""

    kind: Literal["ask.postponed"] = "ask.postponed"
    ask: str
    due_at: datetime | None
    """None: it waits for a person."""
    why: str


NoticeEvent = NoticeRouted | PushBegun | PushFailed | AskPostponed
