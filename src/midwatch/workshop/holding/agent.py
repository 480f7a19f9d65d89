"""Starts the agent below the holder, and reaps every child of the holder."""

import contextlib
import ctypes
import fcntl
import os
import pty
import resource
import signal
import struct
import termios
from dataclasses import dataclass
from typing import NoReturn

from midwatch.workshop.holding.spec import Spec
from midwatch.workshop.sandbox.walls import threshold

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
_HIGH = 256  # the holder's own files use numbers above every number a command line is likely to name


def prctl(option: int, value: int) -> None:
    """Set a kernel option for this process."""
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def set_window(terminal: int, rows: int, columns: int) -> None:
    """Set a terminal's size; the kernel notifies the programs on it."""
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _raise_up(descriptor: int) -> int:
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(descriptor)
    return high


def _memory_file(number: int, content: bytes) -> int:
    descriptor = _raise_up(os.memfd_create(f"midwatch-{number}", os.MFD_CLOEXEC))
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@dataclass
class Ends:
    """The descriptors of one agent: the holder's ends, and the agent's 0, 1 and 2."""

    ours: tuple[int | None, int, int | None]
    theirs: tuple[int, int, int]


def make_ends(spec: Spec) -> Ends:
    """Make the agent's streams; in the guardian, so that bytes in a pipe outlive a killed holder."""
    ends = _make_ends(spec)
    for ours in ends.ours:
        if ours is not None:
            os.set_blocking(ours, False)
    return ends


def _make_ends(spec: Spec) -> Ends:
    if spec.terminal is not None:
        ours, theirs = (_raise_up(end) for end in pty.openpty())
        set_window(theirs, *spec.terminal)
        return Ends((ours, ours, None), (theirs, theirs, theirs))
    out, their_out = (_raise_up(end) for end in os.pipe())
    err, their_err = (None, their_out) if spec.joined else (_raise_up(end) for end in os.pipe())
    if not spec.takes_input:
        return Ends((None, out, err), (_raise_up(os.open(os.devnull, os.O_RDONLY)), their_out, their_err))
    their_in, into = (_raise_up(end) for end in os.pipe())
    return Ends((into, out, err), (their_in, their_out, their_err))


class AgentProcess:
    """The command as the holder's child."""

    def __init__(self, spec: Spec, mark: str, ends: Ends) -> None:
        self.stdin, self.out, self.err = ends.ours
        files = {number: _memory_file(number, content) for number, content in spec.fds.items()}
        heard, tell = (_raise_up(end) for end in os.pipe())
        holder = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            _become(spec, mark, ends.theirs, files, tell, holder)
        for descriptor in {*ends.theirs, *files.values(), tell}:
            os.close(descriptor)
        with open(heard, "rb") as report:  # noqa: PTH123 - it has no path
            self.complaint = report.read().decode(errors="replace")
        self.status: int | None = None

    def bury(self) -> None:
        """Reap every dead child by its own number, so that no other status is mistaken for the agent's."""
        with contextlib.suppress(ChildProcessError):
            while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                _, status = os.waitpid(found.si_pid, 0)
                if found.si_pid == self.pid and self.status is None:
                    self.status = os.waitstatus_to_exitcode(status)


def _become(
    spec: Spec, mark: str, streams: tuple[int, int, int], files: dict[int, int], tell: int, holder: int
) -> NoReturn:
    try:
        signal.set_wakeup_fd(-1)  # its number may soon be one of the command's files
        os.setsid()
        if spec.terminal is not None:
            fcntl.ioctl(streams[0], termios.TIOCSCTTY, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != holder:
            os._exit(127)
        for number, descriptor in [*enumerate(streams), *files.items()]:
            os.dup2(descriptor, number, inheritable=True)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.umask(0o022)
        os.chdir(spec.cwd)
        name, value = mark.split("=", 1)
        if spec.argv[1:-1] == ("-I", "-S", threshold.__file__):
            os._exit(threshold.enter(spec.argv[-1], {name: value}))
        os.execvpe(spec.argv[0], spec.argv, {**spec.env, name: value})  # noqa: S606 - no shell is the point
    except BaseException as error:  # noqa: BLE001 - nothing may return into a second holder
        os.write(tell, (getattr(error, "strerror", None) or str(error)).encode())
    os._exit(127)
