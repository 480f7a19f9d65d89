"""A job on this machine: connections, setup, orphaned processes, removed checkouts."""

from typing import Literal

from midwatch.journal.events.happening import Happening, JobHappening


class ConnectionSeen(JobHappening):
    """A connection of an agent ended or was refused."""

    kind: Literal["connection.seen"] = "connection.seen"
    host: str
    port: int
    verdict: Literal["allowed", "refused", "cut", "failed"]
    why: str
    rule: str = ""
    bytes_out: int = 0
    bytes_in: int = 0


class SetupFinished(JobHappening):
    """The project's setup ran, or its cached result was reused."""

    kind: Literal["setup.finished"] = "setup.finished"
    project: str
    command: str
    fingerprint: str
    """A hash of the command and the lockfiles; the same hash reuses the cache."""
    reused: bool
    seconds: float = 0.0


class ProcessOrphaned(JobHappening):
    """A process of a job was found without an owner and was ended."""

    kind: Literal["process.orphaned"] = "process.orphaned"
    why: str
    ended: bool


class CheckoutRemoved(Happening):
    """A job's checkouts were deleted, by a person or because they were old and held no work of their own."""

    kind: Literal["checkout.removed"] = "checkout.removed"
    job: str
    why: str
    freed_bytes: int


WorkshopEvent = ConnectionSeen | SetupFinished | ProcessOrphaned | CheckoutRemoved
