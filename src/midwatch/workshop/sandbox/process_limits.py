"""Runs one command and ends its whole process tree at a time limit, after long silence, or when its starter ends.

`python process_limits.py --wall S --idle S -- argv...`, standard library only. Exit code: the
command's (128 + n for signal n), 124 wall limit, 125 idle limit, 143 stopped (SIGTERM, or end of stdin: the process
that started this is gone), 127 when the command cannot be started.

It runs before every check, so it loads little: `subprocess` alone takes longer to load than all of this.
"""

import ctypes
import os
import select
import sys
import time

TYPE_CHECKING = False  # typing's own would have to be imported
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # without the enumerations of `signal`

WALL, IDLE, STOPPED, NO_COMMAND = 124, 125, 143, 127
GRACE_SECONDS = 2.0
KILL_SECONDS = 10.0
ECHO_BACKLOG = 1 << 20
PIPE_SLOT = 4096  # a pipe that polls writable takes this much without blocking
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def _process_table() -> dict[int, list[int]]:
    """Map every living process's parent to its children; zombies are already dead."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - names only, and thousands of them
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:  # noqa: PTH123 - pathlib is slow to load
                stat = file.read()
        except OSError:
            continue
        fields = stat[stat.rindex(b")") + 2 :].split()
        state, parent, threads = fields[0], int(fields[1]), int(fields[17])
        # A process whose first thread has left looks like a zombie and still works.
        if state not in b"ZX" or threads > 1:
            children.setdefault(parent, []).append(int(entry))
    return children


def _descendants(root: int) -> list[int]:
    children, found = _process_table(), [root]
    for pid in found:
        found.extend(children.get(pid, ()))
    return found[1:]


def _signal(pids: list[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


class _Child:
    """The command as a child that leads a session of its own and writes into one pipe; dies with this process."""

    returncode: int | None = None

    def __init__(self, argv: list[str]) -> None:
        self.out, out = os.pipe()
        failed, fail = os.pipe()  # closed by a successful exec, so the error comes only if there is one
        self.pid = os.fork()
        if not self.pid:
            _become(argv, out, fail)
        os.close(out)
        os.close(fail)
        error = os.read(failed, 16)
        os.close(failed)
        if error:
            os.waitpid(self.pid, 0)
            raise OSError(int(error), os.strerror(int(error)))

    def poll(self) -> int | None:
        """Return how it ended, or nothing while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def _become(argv: list[str], out: int, fail: int) -> None:
    """Turn the forked process into the command; never returns."""
    try:
        os.setsid()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # Python ignores these two; the command would inherit that.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.execvp(argv[0], argv)  # noqa: S606 - becoming it is the point
    except OSError as error:
        os.write(fail, str(error.errno).encode())
    finally:
        os._exit(NO_COMMAND)


class LimitedProcess:
    """One command, its pipes, its limits and its end."""

    def __init__(self, argv: list[str], *, wall: float, idle: float) -> None:
        self._idle = idle
        self._verdict: int | None = None
        self._echo = bytearray()
        self._echoing = True
        self._listen()
        self._child = _Child(argv)
        self._out = self._child.out
        self._sources = {self._out, self._wake, 0}
        self._spoke_at = time.monotonic()
        self._wall_at = self._spoke_at + wall

    def run(self) -> int:
        """Run until nothing of the command is left, and return how it ended."""
        while self._verdict is None and self._child.poll() is None:
            self._turn(self._patience())
            self._watch_the_time()
        self._take_down()
        self._drain()
        if self._verdict is not None:
            return self._verdict
        code = self._child.returncode
        return 0 if code is None else code if code >= 0 else 128 - code

    def _listen(self) -> None:
        self._wake, wake_end = os.pipe()
        os.set_blocking(wake_end, False)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, lambda *_: self._stop(STOPPED))
        # No-op functions, not SIG_IGN: an ignored signal would stay ignored in the command.
        for quiet in (signal.SIGCHLD, signal.SIGHUP, signal.SIGINT):
            signal.signal(quiet, lambda *_: None)

    def _stop(self, verdict: int) -> None:
        if self._verdict is None:
            self._verdict = verdict

    def _held_back(self) -> bool:
        return len(self._echo) >= ECHO_BACKLOG

    def _patience(self) -> float:
        now = time.monotonic()
        return max(0.0, min(self._wall_at - now, self._spoke_at + self._idle - now))

    def _watch_the_time(self) -> None:
        now = time.monotonic()
        if self._held_back():
            self._spoke_at = now  # our reader is slow, not the command
        if self._child.poll() is not None:
            return
        if now >= self._wall_at:
            self._stop(WALL)
        elif now >= self._spoke_at + self._idle:
            self._stop(IDLE)

    def _turn(self, patience: float) -> None:
        """Wait once for anything to happen, and serve it."""
        readable = self._sources - ({self._out} if self._held_back() else set())
        ready, room, _ = select.select(readable, [1] if self._echo else [], [], patience)
        for source in ready:
            self._read(source)
        if room:
            self._echo_some()
        self._reap()

    def _read(self, source: int) -> None:
        try:
            data = os.read(source, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self._sources.discard(source)
            if source == 0:
                self._stop(STOPPED)
        elif source == self._out:
            self._spoke_at = time.monotonic()
            if self._echoing:
                self._echo += data

    def _echo_some(self) -> None:
        try:
            sent = os.write(1, self._echo[:PIPE_SLOT])
        except OSError:
            self._echoing = False
            self._echo.clear()
        else:
            del self._echo[:sent]

    def _reap(self) -> None:
        """Reap adopted orphans, but never the command itself: how it ended is read by `poll`."""
        try:
            while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if found.si_pid == self._child.pid:
                    self._child.poll()
                else:
                    os.waitpid(found.si_pid, 0)
        except ChildProcessError:
            return

    def _living(self) -> list[int]:
        self._reap()
        # Twice, because a process whose parent dies during the scan is seen under no parent.
        return _descendants(os.getpid()) or _descendants(os.getpid())

    def _take_down(self) -> None:
        """Ask all descendants to end, then freeze and kill the rest until nothing is left."""
        living = self._living()
        _signal(living, signal.SIGTERM)
        _signal(living, signal.SIGCONT)
        deadline = time.monotonic() + GRACE_SECONDS
        while self._living() and time.monotonic() < deadline:
            self._turn(0.02)
        deadline = time.monotonic() + KILL_SECONDS
        while (living := self._living()) and time.monotonic() < deadline:
            _signal(living, signal.SIGSTOP)  # a frozen process cannot fork to escape the kill
            _signal(living, signal.SIGKILL)
            self._turn(0.01)
        self._child.poll()

    def _drain(self) -> None:
        """Save the last output: what is still in the pipes, then what our reader has not taken yet."""
        self._sources -= {0, self._wake}
        for source in self._sources:
            os.set_blocking(source, False)
        deadline = time.monotonic() + KILL_SECONDS
        while (self._sources or self._echo) and time.monotonic() < deadline:
            self._turn(0.1)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def main() -> int:
    wall, idle, argv = float(sys.argv[2]), float(sys.argv[4]), sys.argv[6:]
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        limited = LimitedProcess(argv, wall=wall, idle=idle)
    except OSError as error:
        sys.stdout.write(f"midwatch: cannot start {argv[0]}: {error.strerror}\n")
        return NO_COMMAND
    return limited.run()


if __name__ == "__main__":
    sys.exit(main())
