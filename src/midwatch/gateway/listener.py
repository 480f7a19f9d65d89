"""Accepts connections on listening sockets, so many at once, until it is closed; a handler serves each of them."""

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from typing import Final

_BUSY: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ECONNABORTED, errno.EINTR})
_PAUSE: Final = 0.2


class _Closing(Exception):
    """The listener is being closed."""


class ConnectionListener:
    """Serves each connection in its own task; a handler that fails ends the serving."""

    def __init__(self, attend: Callable[[socket.socket], Awaitable[None]], *, at_once: int) -> None:
        self._attend = attend
        self._slots = asyncio.Semaphore(at_once)
        self._closing = asyncio.Event()
        self._serving = 0
        self._silent = asyncio.Event()
        self._silent.set()

    async def serve(self, listener: socket.socket) -> None:
        """Serve a listening socket until close; the listener owns the socket from now on and closes it."""
        listener.settimeout(0)
        self._serving += 1
        self._silent.clear()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._accept(listener, group))
                await self._closing.wait()
                raise _Closing  # noqa: TRY301 - the way to end a group of tasks
        except* _Closing:
            pass
        finally:
            listener.close()
            self._serving -= 1
            if not self._serving:
                self._silent.set()

    async def close(self) -> None:
        """Cut every connection, and wait until none is left."""
        self._closing.set()
        await self._silent.wait()

    async def _accept(self, listener: socket.socket, group: asyncio.TaskGroup) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._slots.acquire()
            try:
                caller, _ = await loop.sock_accept(listener)
            except OSError as problem:
                self._slots.release()
                if problem.errno not in _BUSY:
                    raise
                await asyncio.sleep(_PAUSE)
                continue
            group.create_task(self._attended(caller))

    async def _attended(self, caller: socket.socket) -> None:
        try:
            await self._attend(caller)
        finally:
            caller.close()
            self._slots.release()
