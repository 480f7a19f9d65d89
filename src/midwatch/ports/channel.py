"""How notices reach the person."""

from typing import Protocol

from midwatch.terms.records import NoticeRow


class Channel(Protocol):
    """Where every notice goes first: the log."""

    name: str

    async def send(self, notice: NoticeRow) -> None:
        """Hand the notice over, once."""
        ...


class Outlet(Protocol):
    """Sends messages by the channels that the settings name."""

    async def push(self, channel: str, title: str, text: str) -> None:
        """Hand one message over, or raise why it could not be sent."""
        ...
