"""The server: loops, engine and API on a socket that only its owner can reach."""

import asyncio
import contextlib
import os
import signal
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from midwatch.compose import House
from midwatch.errors import Misuse
from midwatch.surfaces.address import LONGEST_SOCKET_PATH, SOCKET
from midwatch.surfaces.api.app import make_app


class OwnersOnly(H11Protocol):
    """Hangs up on anybody but the owner, even where the file's mode would let him in."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Look at who is calling."""
        peer: socket.socket = transport.get_extra_info("socket")
        if hasattr(socket, "SO_PEERCRED"):
            packed = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            _, uid, _ = struct.unpack("3i", packed)
            if uid not in {os.geteuid(), 0}:
                transport.abort()
                return
        super().connection_made(transport)


class QuietServer(uvicorn.Server):
    """Leaves signals to us, who have more to put in order, and ticks once a second instead of ten times."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._bell = asyncio.Event()

    def leave(self) -> None:
        """Stop serving, now."""
        self.should_exit = True
        self._bell.set()

    async def main_loop(self) -> None:
        """Keep uvicorn's own clock going, at a tenth of its pace."""
        tenths = 0
        while not await self.on_tick(tenths):
            tenths = (tenths + 10) % 864_000
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await self._bell.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none."""
        yield


def refuse_long_path(path: Path) -> None:
    """Say it before anything is opened: a socket's path has a limit."""
    if len(bytes(path)) > LONGEST_SOCKET_PATH:
        raise Misuse(
            f"The data folder's path is too long for a socket ({path}).", hint="Choose a shorter MIDWATCH_HOME."
        )


def open_socket(home: Path) -> socket.socket:
    """Bind the socket for its owner only."""
    path = home / SOCKET
    refuse_long_path(path)
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        listening.bind(str(path))
    finally:
        os.umask(before)
    return listening


async def serve(house: House, *, api: bool = True) -> None:
    """Serve until told to stop."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if not api:
        await stop.wait()
        return
    listening = open_socket(house.home)
    config: Any = uvicorn.Config(
        make_app(house), http=OwnersOnly, log_level="warning", lifespan="off", timeout_graceful_shutdown=2
    )
    server = QuietServer(config)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(server.serve(sockets=[listening]))
            await stop.wait()
            server.leave()
    finally:
        (house.home / SOCKET).unlink(missing_ok=True)
