"""The holder's side of its socket: short requests, each checked for nonce and epoch, and ticks for followers."""

import base64
import json
import selectors
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from midwatch.workshop.holding import records
from midwatch.workshop.sandbox.walls.listening import listen_at

LONGEST_REQUEST = 2 << 20
MOST_CALLERS = 64

Answer = Callable[[dict[str, Any]], dict[str, Any]]
"""The answer to a request; descriptors under FILES are sent with it."""
FILES = "files"


class HolderCaller:
    """One connection: a request being read, or a follower that gets the size of the streams."""

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self.heard = bytearray()
        self.follows = False
        self.reported = b""
        self.unsent = b""


class Switchboard:
    """Listens in the epoch's folder and passes requests to the holder."""

    def __init__(self, place: Path, selector: selectors.BaseSelector, answer: Answer) -> None:
        self._answer = answer
        self._selector = selector
        self._callers: dict[int, HolderCaller] = {}
        self._listener = listen_at(place / records.SOCKET, MOST_CALLERS)
        selector.register(self._listener, selectors.EVENT_READ, self._welcome)

    def tick(self, progress: bytes) -> None:
        """Send every follower the size of the streams; a slow one gets only the newest later."""
        for caller in list(self._callers.values()):
            if caller.follows and not caller.unsent and caller.reported != progress:
                caller.reported = progress
                self._send(caller, progress)

    def close(self) -> None:
        for caller in list(self._callers.values()):
            self._drop(caller)
        self._selector.unregister(self._listener)
        self._listener.close()

    def _welcome(self) -> None:
        try:
            line, _ = self._listener.accept()
        except OSError:
            return
        if len(self._callers) >= MOST_CALLERS:
            line.close()
            return
        line.setblocking(False)  # noqa: FBT003 - the socket's own signature
        caller = self._callers[line.fileno()] = HolderCaller(line)
        self._selector.register(line, selectors.EVENT_READ, lambda: self._hear(caller))

    def _hear(self, caller: HolderCaller) -> None:
        try:
            data = caller.line.recv(1 << 16)
        except BlockingIOError:
            self._send(caller, b"")
            return
        except OSError:
            data = b""
        caller.heard += data
        if not data or len(caller.heard) > LONGEST_REQUEST:
            self._drop(caller)
        elif caller.heard.endswith(b"\n") and not caller.follows:
            self._serve(caller)

    def _serve(self, caller: HolderCaller) -> None:
        try:
            request = json.loads(caller.heard)
            reply = self._answer(request)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            request, reply = {}, {"ok": False, "why": f"this request is invalid: {error!r}"}
        caller.heard.clear()
        caller.follows = bool(reply["ok"]) and request.get("do") == "follow"
        files = reply.pop(FILES, [])
        words = json.dumps(reply).encode() + b"\n"
        if files:
            self._pass_on(caller, words, files)
        else:
            self._send(caller, words)

    def _pass_on(self, caller: HolderCaller, words: bytes, files: list[int]) -> None:
        try:
            socket.send_fds(caller.line, [words], files)
        except OSError:  # a client that has not read earlier answers does not get these
            self._drop(caller)

    def _send(self, caller: HolderCaller, data: bytes) -> None:
        caller.unsent += data
        try:
            caller.unsent = caller.unsent[caller.line.send(caller.unsent) :] if caller.unsent else b""
        except BlockingIOError:
            pass
        except OSError:
            self._drop(caller)
            return
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if caller.unsent else 0)
        key = self._selector.get_key(caller.line)
        if key.events != wanted:
            self._selector.modify(caller.line, wanted, key.data)

    def _drop(self, caller: HolderCaller) -> None:
        if self._callers.pop(caller.line.fileno(), None):
            self._selector.unregister(caller.line)
            caller.line.close()


def decode(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
