"""Starts holders quickly: one process has loaded what a holder needs, and forks a holder when it is asked."""

import contextlib
import os
import socket
import subprocess
import sys

from midwatch.workshop.holding import begin

BEGIN = (sys.executable, "-I", "-S", begin.__file__)
"""By path and isolated: a holder starts without the site's packages, and survives upgrades of Midwatch."""


class Nursery:
    """The server's end of that process, which ends with the server; the holders it forked live on.

    While it is not open, or if it was killed, holders are started from the beginning: the same, only later.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None

    def open(self) -> None:
        """Start it; blocking."""
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [*BEGIN, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )

    def close(self) -> None:
        """End it; blocking."""
        if self._line is not None and self._process is not None:
            self._line.close()
            self._process.wait()
            self._line = self._process = None

    def begin(self, result: bytes) -> str:
        """Let it start a holder, and return the answer of `begin.py`; empty if there is none. Blocking."""
        if self._line is None:
            return ""
        spec, telling = os.pipe()
        hearing, answer = os.pipe()
        with open(telling, "wb") as tell, open(hearing, "rb") as heard:  # noqa: PTH123 - they have no path
            try:
                socket.send_fds(self._line, [b"H"], [spec, answer])
            except OSError:
                return ""
            finally:
                os.close(spec)
                os.close(answer)
            with contextlib.suppress(BrokenPipeError):
                tell.write(result)
                tell.close()
            return heard.read().decode()
