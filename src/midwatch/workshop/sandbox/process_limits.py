"""Runs one command and ends its whole process tree at a time limit, after long silence, or when its starter ends.

`python process_limits.py --wall S --idle S -- argv...`, standard library only. Exit code: the
command's (128 + n for signal n), 124 wall limit, 125 idle limit, 143 stopped (SIGTERM, or end of stdin: the process
that started this is gone), 127 when the command cannot be started.
"""

import argparse
import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

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
            stat = Path("/proc", entry, "stat").read_bytes()
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


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


class LimitedProcess:
    """One command, its pipes, its limits and its end."""

    def __init__(self, argv: list[str], *, wall: float, idle: float) -> None:
        self._idle = idle
        self._verdict: int | None = None
        self._echo = bytearray()
        self._echoing = True
        self._listen()
        self._child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - there is only one thread here
        )
        assert self._child.stdout is not None  # noqa: S101 - for the type checker
        self._out = self._child.stdout.fileno()
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
        return code if code >= 0 else 128 - code

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
        """Reap adopted orphans, but never the command itself: Popen would then report that it succeeded."""
        with contextlib.suppress(ChildProcessError):
            while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if found.si_pid == self._child.pid:
                    self._child.poll()
                else:
                    os.waitpid(found.si_pid, 0)

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


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wall", type=float, required=True)
    parser.add_argument("--idle", type=float, required=True)
    parser.add_argument("argv", nargs="+")
    given = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        limited = LimitedProcess(given.argv, wall=given.wall, idle=given.idle)
    except OSError as error:
        sys.stdout.write(f"midwatch: cannot start {given.argv[0]}: {error.strerror}\n")
        return NO_COMMAND
    return limited.run()


if __name__ == "__main__":
    sys.exit(main())
