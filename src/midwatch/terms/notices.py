"""Words about how a notice reaches a person."""

from enum import StrEnum


class Delivery(StrEnum):
    """What a channel does with a notice."""

    NOW = "now"
    AFTER_QUIET = "after_quiet"
    BATCH = "batch"
    DIGEST = "digest"
    LOG = "log"


class DeliveryState(StrEnum):
    """Where a notice stands on its way to one channel."""

    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    LOGGED = "logged"
    """It stays in the log: the channel was taken away meanwhile."""

    @property
    def over(self) -> bool:
        """Whether nothing more is tried."""
        return self not in {DeliveryState.WAITING, DeliveryState.SENDING}


class PushState(StrEnum):
    """What became of one message to a channel."""

    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """Whoever sent it was gone before it could say so; what was in it is sent once more."""
