"""The server: loops, engine, the API on a socket that only its owner can reach, and the pages on a port."""

import asyncio
import contextlib
import os
import signal
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from midwatch.compose.house import House
from midwatch.errors import Misuse
from midwatch.evening.accounts import anybody, invite
from midwatch.surfaces.address import FIRST_LOGIN, LONGEST_SOCKET_PATH, PORT_TAKEN, SOCKET
from midwatch.surfaces.api.app import make_app
from midwatch.surfaces.connections import CountedConnection, PatientConnection
from midwatch.surfaces.pages_port import open_port
from midwatch.surfaces.web.site.app import Site
from midwatch.terms.people import Role

FLAG = "flag"
"""The source of a setting that `up` was given on its command line."""


class OwnersSocket(socket.socket):
    """Accepts only its owner and root, even if the file's mode would allow others."""

    def accept(self) -> tuple[socket.socket, Any]:
        connection, address = super().accept()
        if hasattr(socket, "SO_PEERCRED"):
            packed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            _, uid, _ = struct.unpack("3i", packed)
            if uid not in {os.geteuid(), 0}:
                connection.close()
                raise ConnectionAbortedError  # the event loop goes on with the next one
        return connection, address


class QuietServer(uvicorn.Server):
    """Leaves signals to Midwatch, which has more to close, and ticks once a second instead of ten times."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._wake_up = asyncio.Event()

    def leave(self) -> None:
        """Stop serving, now."""
        self.should_exit = True
        self._wake_up.set()

    async def main_loop(self) -> None:
        """Keep uvicorn's own clock running, at a tenth of its pace."""
        tenths = 0
        while not await self.on_tick(tenths):
            tenths = (tenths + 10) % 864_000
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await self._wake_up.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def refuse_long_path(path: Path) -> None:
    """Check a socket's path against its limit before anything is opened."""
    if len(bytes(path)) > LONGEST_SOCKET_PATH:
        raise Misuse(
            f"The data folder's path is too long for a socket ({path}).", hint="Choose a shorter MIDWATCH_HOME."
        )


def open_socket(home: Path) -> socket.socket:
    """Bind the socket for its owner only."""
    path = home / SOCKET
    refuse_long_path(path)
    path.unlink(missing_ok=True)
    listening = OwnersSocket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        listening.bind(str(path))
    finally:
        os.umask(before)
    return listening


async def serve(
    house: House,
    *,
    api: bool = True,
    say: Callable[[str], None] = print,
    stop: asyncio.Event | None = None,
    on_terminal: bool = False,
) -> None:
    """Serve until a signal or `stop` ends it: the API on the socket, the pages on their port.

    Output may end in a log, and a link makes its reader an owner: it is printed on a terminal only.
    """
    stop = stop or asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if not api:
        await stop.wait()
        return
    listening = open_socket(house.home)
    servers = [(_server(make_app(house), PatientConnection), listening)]
    settings = house.loaded.settings
    site = None
    if settings.server.port:
        wanted = settings.server.port
        door = open_port(settings.server.host, wanted, exactly=house.loaded.source_of("server.port") == FLAG)
        site = Site(house, port=door.getsockname()[1])
        house.port_taken = wanted if site.port != wanted else 0
        house.pages = f"http://{_named(settings.server.host)}:{site.port}"
        servers.append((_server(site.guarded, CountedConnection), door))
        await _announce(house, say, on_terminal=on_terminal)
    try:
        async with asyncio.TaskGroup() as tasks:
            for server, line in servers:
                tasks.create_task(server.serve(sockets=[line]))
            following = tasks.create_task(site.feed.run()) if site else None
            await stop.wait()
            if site and following:
                site.feed.close()
                following.cancel()
            for server, _ in servers:
                server.leave()
    finally:
        (house.home / SOCKET).unlink(missing_ok=True)


def _server(app: ASGIApp, connection: type[PatientConnection]) -> QuietServer:
    return QuietServer(
        uvicorn.Config(
            app,
            http=connection,
            ws="none",
            log_level="warning",
            lifespan="off",
            timeout_graceful_shutdown=2,
            server_header=False,
            proxy_headers=False,
        )
    )


def _named(host: str) -> str:
    """Return the address as a browser on this machine writes it."""
    if host in {"0.0.0.0", "::"}:  # noqa: S104  everywhere is also here
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


async def _announce(house: House, say: Callable[[str], None], *, on_terminal: bool) -> None:
    if house.port_taken:
        say(PORT_TAKEN.format(taken=house.port_taken, pages=house.pages))
    if await anybody(house.entrance):
        say(f"Pages: {house.pages}")
        return
    if not on_terminal:
        say(f"Pages: {house.pages}")
        say(FIRST_LOGIN)
        return
    key = await invite(house.entrance, Role.OWNER, by="midwatch")
    say(f"Open this once to make your login: {house.pages}/welcome?key={key}")
