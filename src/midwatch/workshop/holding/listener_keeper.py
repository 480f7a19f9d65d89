"""The holder's side of a sandbox's doors: it receives the listeners when they open, and keeps them for life.

The server borrows duplicates. While no server serves them, connections wait in the kernel's backlog.
"""

import contextlib
import os
import selectors
import socket
import time
from pathlib import Path
from typing import Final

from midwatch.workshop.sandbox.walls.listening import listen_at

GO_ON: Final = b"G"
NOT_YET: Final = "not yet"


class ListenerKeeper:
    """Waits at the control socket, from before the sandbox starts until the sandbox has handed out its listeners."""

    def __init__(self, control: Path | None, ports: tuple[int, ...], patience: float, board: selectors.BaseSelector):
        self._control, self._ports, self._selector = control, ports, board
        self._deadline = time.monotonic() + patience
        self._kept: list[socket.socket] = []
        self._waiting: socket.socket | None = None
        self.why = ""
        if control is not None and ports:
            self._watch(listen_at(control), self._welcome)

    @property
    def pending(self) -> bool:
        """Return whether doors are wanted that are not open."""
        return len(self._kept) < len(self._ports)

    def failed(self) -> bool:
        """Return whether the doors will never open; `why` gives the reason."""
        if self.pending and not self.why and time.monotonic() >= self._deadline:
            self.why = "they were not open in time"
        return bool(self.why)

    def lend(self) -> list[int]:
        """Return the descriptors of the doors, so that the caller can pass them on."""
        return [door.fileno() for door in self._kept]

    def close(self) -> None:
        """Stop waiting, and close what is open."""
        self._let_go()
        for door in self._kept:
            door.close()

    def _watch(self, waiting: socket.socket, act: object) -> None:
        self._waiting = waiting
        self._selector.register(waiting, selectors.EVENT_READ, act)

    def _let_go(self) -> None:
        if self._waiting is not None:
            self._selector.unregister(self._waiting)
            self._waiting.close()
            self._waiting = None
        if self._control is not None:
            with contextlib.suppress(OSError):
                self._control.unlink(missing_ok=True)

    def _welcome(self) -> None:
        assert self._waiting is not None  # noqa: S101 - for the type checker
        try:
            inside, _ = self._waiting.accept()
        except OSError:
            return
        inside.setblocking(False)  # noqa: FBT003 - the socket's own signature
        self._let_go()
        self._watch(inside, self._take)

    def _take(self) -> None:
        inside = self._waiting
        assert inside is not None  # noqa: S101 - for the type checker
        try:
            word, descriptors, _, _ = socket.recv_fds(inside, 1, len(self._ports), socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return
        except OSError:
            word, descriptors = b"", []
        taken = _sockets(descriptors)
        if tuple(_port(door) for door in taken) == self._ports:
            self._kept = taken
            with contextlib.suppress(OSError):  # it has ended; its exit code says so
                inside.send(GO_ON)
        else:
            self.why = "it handed out something else" if word else "it ended first"
            for door in taken:
                door.close()
        self._let_go()


def _sockets(descriptors: list[int]) -> list[socket.socket]:
    taken = []
    for descriptor in descriptors:
        try:
            taken.append(socket.socket(fileno=descriptor))
        except OSError:
            os.close(descriptor)
    for door in taken:
        door.setblocking(False)  # noqa: FBT003 - the socket's own signature; duplicates share it
    return taken


def _port(door: socket.socket) -> int:
    listens = door.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    return int(door.getsockname()[1]) if door.family == socket.AF_INET and listens else -1
