"""What happens around a job on this machine: connections, setup, processes left behind, checkouts thrown away."""

from typing import Literal

from midwatch.journal.events.happening import Happening


class ConnectionSeen(Happening):
    """An agent reached out, or tried to; each connection that ended is one entry."""

    kind: Literal["connection.seen"] = "connection.seen"
    job: str
    epoch: int
    host: str
    port: int
    verdict: Literal["allowed", "refused", "cut", "failed"]
    why: str
    rule: str = ""
    bytes_out: int = 0
    bytes_in: int = 0


class SetupFinished(Happening):
    """The project's setup command ran, or what it made the last time still holds."""

    kind: Literal["setup.finished"] = "setup.finished"
    job: str
    epoch: int
    project: str
    command: str
    fingerprint: str
    """Of the command and the lockfiles: the same means that nothing needs to be made again."""
    reused: bool
    seconds: float = 0.0


class ProcessOrphaned(Happening):
    """Something of a job was still at work though nobody answers for it any more; it was ended."""

    kind: Literal["process.orphaned"] = "process.orphaned"
    job: str
    epoch: int
    why: str
    ended: bool


class CheckoutRemoved(Happening):
    """A job's checkouts were thrown away, by a person or because they were old and held nothing of their own."""

    kind: Literal["checkout.removed"] = "checkout.removed"
    job: str
    why: str
    freed_bytes: int


WorkshopEvent = ConnectionSeen | SetupFinished | ProcessOrphaned | CheckoutRemoved
