"""How notices reach the person."""

from dataclasses import dataclass
from typing import Protocol

from midwatch.terms.records import NoticeRow


class NoticeLog(Protocol):
    """Where every notice goes first: the log."""

    name: str

    async def send(self, notice: NoticeRow) -> None:
        """Send the notice, once."""
        ...


@dataclass(frozen=True, slots=True)
class Destination:
    """The service behind a channel's URL, as far as it may be shown."""

    kind: str
    place: str


class Outlet(Protocol):
    """Sends messages through the channels in the settings."""

    async def push(self, channel: str, title: str, text: str) -> None:
        """Send one message, or raise the reason it could not be sent."""
        ...

    async def look(self, channel: str) -> Destination:
        """Return the service behind a channel's URL, without sending anything."""
        ...
