"""Moving bytes between two wires, and ending both in good order."""

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
        """Take both directions; nothing is kept waiting in memory, so that a drained wire holds no bytes."""
        writer.transport.set_write_buffer_limits(0)
        line: socket.socket | None = writer.get_extra_info("socket")
        if line is not None and line.family in {socket.AF_INET, socket.AF_INET6}:
            # asyncio does so only where the listener names its protocol; else each small part waits 40 ms for the last.
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(reader, writer)

    def cut(self) -> None:
        """End it at once."""
        self.writer.transport.abort()

    def break_off(self) -> None:
        """End it so that the other side cannot take what it got for the whole."""
        with suppress(OSError):
            line: socket.socket = self.writer.get_extra_info("socket")
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.cut()

    async def hang_up(self, linger: float) -> None:
        """End it so that the last words arrive: bytes left unread would make the system take them back."""
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
    """Give the whole block so many seconds, and a sentence when they are over."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise EgressRefused(why, verdict, status) from None


@contextmanager
def one_failure() -> Iterator[None]:
    """Let the failure that matters out of a group of tasks, by itself."""
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
