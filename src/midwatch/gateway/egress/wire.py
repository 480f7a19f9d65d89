"""Moves bytes between two connections, and closes both in order."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from midwatch.gateway.egress.connection import ConnectionVerdict, EgressRefused

BUFFER: Final = 32_768


@dataclass(frozen=True, slots=True)
class Wire:
    """Both directions of one connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    def of(cls, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> "Wire":
        """Take both directions; nothing is buffered in memory, so a drained connection holds no bytes."""
        # A TLS transport with a limit of 0 would pause for ever: it pauses at the limit, not above it.
        writer.transport.set_write_buffer_limits(1 if writer.get_extra_info("sslcontext") else 0)
        line: socket.socket | None = writer.get_extra_info("socket")
        if line is not None and line.family in {socket.AF_INET, socket.AF_INET6}:
            # asyncio does so only where the listener names its protocol; else each small part waits 40 ms for the last.
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(reader, writer)

    def cut(self) -> None:
        """Close it at once."""
        self.writer.transport.abort()

    def break_off(self) -> None:
        """Close it so that the other side cannot mistake what it got for the whole."""
        with suppress(OSError):
            line: socket.socket = self.writer.get_extra_info("socket")
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.cut()

    async def hang_up(self, linger: float) -> None:
        """Close it so that the last message arrives: unread bytes would make the system discard it."""
        with suppress(OSError):  # also TimeoutError
            async with asyncio.timeout(linger):
                await self.writer.drain()
                if self.writer.can_write_eof():
                    self.writer.write_eof()
                while await self.reader.read(BUFFER):
                    pass
                self.writer.close()
                await self.writer.wait_closed()
        self.cut()


@asynccontextmanager
async def within(
    seconds: float, why: str, verdict: ConnectionVerdict = "failed", status: int = 504
) -> AsyncIterator[None]:
    """Limit the whole block to so many seconds, and raise with this sentence after that."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise EgressRefused(why, verdict, status) from None


@contextmanager
def one_failure() -> Iterator[None]:
    """Raise the failure that matters from a group of tasks, by itself."""
    try:
        yield
    except BaseExceptionGroup as failed:
        ours = (error for error in failed.exceptions if isinstance(error, EgressRefused))
        raise next(ours, failed.exceptions[0]) from None


async def pump(source: asyncio.StreamReader, move: Callable[[bytes], Awaitable[None]]) -> None:
    """Move everything until the source ends."""
    while data := await source.read(BUFFER):
        await move(data)


async def pump_length(source: asyncio.StreamReader, move: Callable[[bytes], Awaitable[None]], length: int) -> None:
    """Move exactly so many bytes."""
    while length:
        data = await source.read(min(BUFFER, length))
        if not data:
            raise EgressRefused("The connection ended in the middle of a body.", "failed", 400)
        length -= len(data)
        await move(data)
