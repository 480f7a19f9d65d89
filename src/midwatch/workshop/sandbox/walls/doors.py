"""The outer side of the doors: takes the listeners from the first process inside, and lets it go on."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from midwatch.errors import Broken
from midwatch.workshop.sandbox.walls.listening import listen_at

LONGEST_WAIT = 30.0


class Doors:
    """One sandbox's doors: first the listeners, then the word to begin."""

    def __init__(self, waiting: socket.socket) -> None:
        self._waiting = waiting
        self._inside: socket.socket | None = None

    async def listeners(self, ports: tuple[int, ...], *, patience: float = LONGEST_WAIT) -> list[socket.socket]:
        """Wait until the first process inside hands its listeners out; they are the caller's to close."""
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
        """Say the word: the doors are served, and the command may begin."""
        if self._inside is not None:
            with suppress(OSError):  # it has ended meanwhile, which its exit code tells
                self._inside.send(b"G")
            self._inside.close()
            self._inside = None

    def close(self) -> None:
        """Turn whoever still waits away."""
        if self._inside is not None:
            self._inside.close()


@asynccontextmanager
async def waiting_at(control: Path) -> AsyncIterator[Doors]:
    """Wait at a socket that only we can reach, until leaving the block; do it before the command is started."""
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
