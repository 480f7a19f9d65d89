"""Commands in processes of their own, forked from one that has imported the house: a command costs what it does."""

import fcntl
import os
import pty
import socket
import struct
import sys
import tempfile
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.synchronize import Event
from pathlib import Path

from midwatch.surfaces.address import SOCKET
from midwatch.surfaces.cli.main import main
from tests.patience import PATIENCE
from tests.store.processes import CONTEXT, finish, start, wait_until

STREAMS = ("in", "out", "err")


def typed(
    words: Sequence[str], *, text: str, folder: Path, environment: Mapping[str, str], patience: float
) -> tuple[int, str, str]:
    """Run one command to its end; gives its exit code and what it said. What it starts is started from scratch."""
    with tempfile.TemporaryDirectory(prefix="mw", dir="/tmp") as place:
        streams = Path(place)
        (streams / "in").write_text(text)
        child = start(_command, tuple(words), streams, folder, dict(environment))
        child.join(patience)
        if child.exitcode is None:
            child.kill()
            raise AssertionError(f"{words} never ended")
        out, err = ((streams / name).read_text() for name in STREAMS[1:])
        told = streams / "code"
        return int(told.read_text()) if told.exists() else child.exitcode, out, err


def served(home: Path, *, folder: Path, environment: Mapping[str, str]) -> str:
    """Start `midwatch up` and wait until it answers, as `up --detach` does; gives what it printed by then."""
    log = home / "server.log"
    begins = log.stat().st_size if log.exists() else 0
    child = start(_server, log, folder, dict(environment))

    def said() -> str:
        assert child.is_alive(), log.read_text()
        return _answered(home / SOCKET) and log.read_bytes()[begins:].decode()

    return str(wait_until(said, "the server answers"))


class OnTerminal:
    """One command on a terminal of its own, forked; `screen` is our end of it."""

    def __init__(self, words: Sequence[str], *, folder: Path, environment: Mapping[str, str]) -> None:
        self.screen, theirs = pty.openpty()
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self._place = tempfile.TemporaryDirectory(prefix="mw", dir="/tmp")
        begun, place = CONTEXT.Event(), Path(self._place.name)
        self._child = start(_on_terminal, tuple(words), os.ttyname(theirs), begun, place, folder, dict(environment))
        assert begun.wait(PATIENCE), "it never began"
        os.close(theirs)  # only now: a terminal that is open nowhere is over

    def rest(self) -> str:
        """Read until the command has closed its terminal, as its end does."""
        seen = b""
        with suppress(OSError):  # EIO: nobody has the other end any more
            while piece := os.read(self.screen, 65536):
                seen += piece
        return seen.decode(errors="replace")

    def ends(self) -> int:
        """Wait for the command's end; gives its exit code."""
        os.close(self.screen)
        with self._place:
            ended = finish(self._child)
            assert ended is not None
            told = Path(self._place.name, "code")
            return int(told.read_text()) if told.exists() else ended


def _answered(address: Path) -> str:
    with socket.socket(socket.AF_UNIX) as caller:
        try:
            caller.connect(str(address))
            caller.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
            return caller.recv(99).decode()
        except OSError:
            return ""


def _server(log: Path, folder: Path, environment: dict[str, str]) -> None:
    os.setsid()  # like every server in the background, it hears no Ctrl-C of ours
    _typed(("up",), (Path(os.devnull), log, log), folder, environment)


def _on_terminal(
    words: tuple[str, ...], terminal: str, begun: Event, place: Path, folder: Path, environment: dict[str, str]
) -> None:
    os.setsid()  # the first terminal it opens is then its own
    with _code_kept(place):
        _typed(words, [Path(terminal)] * 3, folder, environment, begun)


def _command(words: tuple[str, ...], streams: Path, folder: Path, environment: dict[str, str]) -> None:
    with _code_kept(streams):
        _typed(words, [streams / name for name in STREAMS], folder, environment)


@contextmanager
def _code_kept(place: Path) -> Iterator[None]:
    """Write the exit code down: a busy machine's fork server may lose how a child ended, and says 255."""
    try:
        yield
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        (place / "code").write_text(str(code))
        raise


def _typed(
    words: tuple[str, ...],
    streams: Sequence[Path],
    folder: Path,
    environment: dict[str, str],
    begun: Event | None = None,
) -> None:
    for number, stream in enumerate(streams):
        opened = os.open(stream, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  multiprocessing put another one there
    if begun:
        begun.set()
        sys.stdout, sys.stderr = (open(number, "w", 1, closefd=False) for number in (1, 2))  # noqa: SIM115  by lines
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["midwatch", *words]
    main()
