"""The journal, its readers, the queue behind it, large content by hash, and answers by idempotency key."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextvars import ContextVar
from datetime import datetime
from typing import Protocol, TypeVar

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.follows import QueuedWork
from midwatch.terms.term import Term

R = TypeVar("R", bound=Term)
T = TypeVar("T")
in_background: ContextVar[bool] = ContextVar("in_background", default=False)
"""Whether the caller is queued work: what a person or an agent waits for is written first."""


class Queue(Protocol):
    """Takes work inside the caller's transaction. Only the engine knows what the connection is."""

    def put(self, connection: object, work: QueuedWork, *, seq: int) -> None:
        """Queue the work that entry `seq` asks for; it exists if and only if the entry does."""
        ...

    def committed(self) -> None:
        """Start the work that was put; its transaction is committed."""
        ...


class Journal(Protocol):
    """Append-only; the only state that is not derived."""

    async def record(
        self, *events: Event, key: str = "", actor: str = "midwatch", because: Iterable[int] = ()
    ) -> tuple[Entry, ...]:
        """Append the events, project them and queue what follows, all in one transaction.

        A key that was used before for the same events changes nothing and returns what was written then.
        """
        ...

    async def known(self, key: str) -> Entry | None:
        """Find the entry written under this key."""
        ...

    async def entries(self, *, after: int = 0, limit: int = 1000, kinds: tuple[str, ...] = ()) -> tuple[Entry, ...]:
        """Read entries in order."""
        ...

    def tail(self, *, after: int) -> AsyncIterator[Entry]:
        """Follow the journal from any process, without gap or duplicate."""
        ...


class Moment(Protocol):
    """All records as they are at one moment, whatever is written meanwhile."""

    @property
    def head(self) -> int:
        """The newest seq of that moment."""
        ...

    def find(self, kind: type[R], /, **where: object) -> tuple[R, ...]:
        """Return rows as `Records.find` does."""
        ...


class Records(Protocol):
    """The tables, for reading only."""

    async def find(self, kind: type[R], /, **where: object) -> tuple[R, ...]:
        """Return rows of a kind whose columns equal the given values (a tuple means any of them), oldest first."""
        ...

    async def get(self, kind: type[R], name: str) -> R:
        """Return one row by id, small number or name; Unknown if there is none."""
        ...

    async def head(self) -> int:
        """Return the newest seq: the state version stamped on decisions."""
        ...

    async def at_once(self, look: Callable[[Moment], T]) -> T:
        """Return what a function finds at one moment; it runs in another thread and may only read."""
        ...


class Numbered(Protocol):
    """A record with a small number for people."""

    @property
    def number(self) -> int:
        """Counted from one, in the order of creation."""
        ...


class Blobs(Protocol):
    """Large content by its hash."""

    async def keep(self, content: bytes) -> str:
        """Store the content and return its name."""
        ...

    async def fetch(self, name: str) -> bytes:
        """Read the content and check it against its name."""
        ...


class StoredAnswer(Term):
    """What was asked under a key, and what was answered; no status means not answered yet."""

    id: str
    request: str
    status: int | None = None
    kind: str = ""
    body: str = ""
    at: datetime
