"""Finds every process of a tree through /proc and ends all of it, however it forks, hides or refuses."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from midwatch.workshop.sandbox.walls import groups

KILL_SECONDS = 60.0
NANOSECONDS = 1e9
_PAUSE = 0.005


class FoundProcess(NamedTuple):
    """A living process, identified by its start too: in a fork storm numbers are reused within seconds."""

    pid: int
    start: int


def _stat(pid: int) -> list[bytes] | None:
    try:
        stat = Path("/proc", str(pid), "stat").read_bytes()
    except OSError:
        return None
    return stat[stat.rindex(b")") + 2 :].split()


def _lives(fields: list[bytes]) -> bool:
    # A process whose first thread has left looks like a zombie and still works.
    return fields[0] not in b"ZX" or int(fields[17]) > 1


def start_time(pid: int) -> int | None:
    """Return when a living process started, in ticks since boot; None for a dead one."""
    fields = _stat(pid)
    return int(fields[19]) if fields and _lives(fields) else None


def processor_seconds(processes: Iterable[FoundProcess]) -> dict[str, float]:
    """Say for how long each thread of these processes used a processor, or waited for one that others used."""
    return {thread.name: _wanted(thread) for process in processes for thread in _threads(process.pid)}


def _threads(pid: int) -> list[Path]:
    try:
        return list(Path("/proc", str(pid), "task").iterdir())
    except OSError:  # it ends while we look
        return []


def _wanted(thread: Path) -> float:
    try:
        used, waited, _ = (thread / "schedstat").read_text().split()
    except (OSError, ValueError):  # it has ended, or this kernel does not count
        return 0.0
    return (int(used) + int(waited)) / NANOSECONDS


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _numbers() -> Iterator[int]:
    for name in os.listdir("/proc"):  # noqa: PTH208 - names only, and thousands of them
        if name.isdigit():
            yield int(name)


def descendants(root: int) -> list[FoundProcess]:
    """List every living process below this one."""
    children: dict[int, list[FoundProcess]] = {}
    for pid in _numbers():
        fields = _stat(pid)
        if fields and _lives(fields):
            children.setdefault(int(fields[1]), []).append(FoundProcess(pid, int(fields[19])))
    found = [FoundProcess(root, 0)]
    for process in found:
        found.extend(children.get(process.pid, ()))
    return found[1:]


def marked(mark: str) -> list[FoundProcess]:
    """List every living process we may inspect that carries this entry in its environment."""
    wanted, found = mark.encode(), []
    for pid in _numbers():
        with contextlib.suppress(OSError):
            start = start_time(pid)
            if start is not None and wanted in Path("/proc", str(pid), "environ").read_bytes().split(b"\0"):
                found.append(FoundProcess(pid, start))
    return found


@contextlib.contextmanager
def pinned(pid: int, start: int) -> Iterator[int | None]:
    """Pin a process so that its number cannot pass to another; None when it is not that process any more."""
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        yield None
        return
    try:
        yield pidfd if start_time(pid) == start else None
    finally:
        os.close(pidfd)


def send(processes: Iterable[FoundProcess], number: signal.Signals) -> None:
    """Signal each process; one that is gone, or that we may not signal, is skipped."""
    for pid, start in processes:
        with pinned(pid, start) as pidfd, contextlib.suppress(ProcessLookupError, PermissionError):
            if pidfd is not None:
                signal.pidfd_send_signal(pidfd, number)


def members(group: str | None) -> list[FoundProcess]:
    started = [(pid, start_time(pid)) for pid in groups.members(group)] if group else []
    return [FoundProcess(pid, start) for pid, start in started if start is not None]


def kill_all(
    find: Callable[[], list[FoundProcess]], pause: Callable[[float], None] = time.sleep, group: str | None = None
) -> tuple[int, bool]:
    """Freeze and kill what `find` finds and the group holds until nothing is left; return how many, and whether so.

    Only a group ends a chain whose every link forks the next and dies: a list of processes is out of date too soon.
    """
    deadline = time.monotonic() + KILL_SECONDS
    hit = set(members(group))  # before it is closed: where the kernel ends all of it in one step, we would count none

    def everybody() -> set[FoundProcess]:
        if group:
            groups.shut(group)  # each time, because the first process may be about to make it
        return {*find(), *members(group)}

    frozen: set[FoundProcess] = set()
    # Twice, because a process whose parent dies during the scan is seen under no parent.
    while living := everybody() or everybody():
        if time.monotonic() > deadline:
            return len(hit), False
        send(living - frozen, signal.SIGSTOP)  # frozen processes cannot fork
        send(living, signal.SIGKILL)
        frozen |= living
        hit |= living
        pause(_PAUSE)
    if group:
        groups.remove(group)
    return len(hit), True
