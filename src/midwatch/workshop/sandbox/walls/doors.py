"""The outer side of the doors: receives the listeners from the first process inside, and lets it continue."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from midwatch.errors import Broken
from midwatch.workshop.sandbox.walls.listening import listen_at

LONGEST_WAIT = 30.0


class Doors:
    """One sandbox's doors: first the listeners, then the signal to start."""

    def __init__(self, waiting: socket.socket) -> None:
        self._waiting = waiting
        self._inside: socket.socket | None = None

    async def listeners(self, ports: tuple[int, ...], *, patience: float = LONGEST_WAIT) -> list[socket.socket]:
        """Wait until the first process inside hands its listeners out; the caller closes them."""
        try:
            async with asyncio.timeout(patience):
                loop = asyncio.get_running_loop()
                self._inside, _ = await loop.sock_accept(self._waiting)
                await _readable(self._inside)
        except TimeoutError:
            raise Broken("The sandbox never opened its doors.", hint="Look at the job's log for why.") from None
        _, descriptors, _, _ = socket.recv_fds(self._inside, 1, len(ports))
        taken = [socket.socket(fileno=descriptor) for descriptor in descriptors]
        for listener in taken:
            listener.settimeout(0)
        if tuple(listener.getsockname()[1] for listener in taken) != ports:
            for listener in taken:
                listener.close()
            raise Broken("The sandbox ended before its doors were open.", hint="Look at the job's log for why.")
        return taken

    def let_in(self) -> None:
        """Send the signal: the doors are served, and the command may start."""
        if self._inside is not None:
            with suppress(OSError):  # it has ended; its exit code says so
                self._inside.send(b"G")
            self._inside.close()
            self._inside = None

    def close(self) -> None:
        """Reject every process that still waits."""
        if self._inside is not None:
            self._inside.close()


@asynccontextmanager
async def waiting_at(control: Path) -> AsyncIterator[Doors]:
    """Listen on a socket that only our user can reach, during the block; enter it before the command starts."""
    waiting = await asyncio.to_thread(listen_at, control)
    doors = Doors(waiting)
    try:
        yield doors
    finally:
        doors.close()
        waiting.close()
        await asyncio.to_thread(control.unlink, missing_ok=True)


async def _readable(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(connection)
