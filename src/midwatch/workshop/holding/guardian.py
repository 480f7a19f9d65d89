"""The holder's parent: it does nothing until the holder is gone, and then ensures that no process of the agent stays.

Server -> begin (ends at once) -> guardian -> holder -> agent. Both guardian and holder are subreapers. A killed
holder's orphans pass to the guardian, which ends them and writes the verdict; a killed guardian is noticed by the
holder (its parent-death signal), which ends the agent and writes the verdict. If both are killed at once, the
agent dies by its own parent-death signal (and with bwrap's pid namespace everything in it); what it had forked without
one is found later by the mark in its environment. Each of these processes has one thread, which is what a parent-death
signal is really tied to.
"""

import contextlib
import fcntl
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import NoReturn

from midwatch.workshop.holding import records, tree
from midwatch.workshop.holding.agent import PR_SET_CHILD_SUBREAPER, make_ends, prctl
from midwatch.workshop.holding.ending import lost, read_ending, write_ending
from midwatch.workshop.holding.holder import Holder
from midwatch.workshop.holding.log_file import CHUNK, LogWriter
from midwatch.workshop.holding.spec import Caps, Spec, from_bytes

_LOCK_TRIES, _LOCK_PAUSE = 100, 0.02
_STREAMS = 2


def detach_each(number: int) -> None:
    """Detach a holder for each pair of streams that comes through a socket: forking takes less time than starting."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps what ends
    with socket.socket(fileno=number) as line:
        while True:
            word, streams, _, _ = socket.recv_fds(line, 1, _STREAMS)
            if not word:
                return
            if os.fork() == 0:
                _detach_from(streams)
            for stream in streams:
                os.close(stream)


def _detach_from(streams: list[int]) -> NoReturn:
    """Be what `begin.py` is when it is started for one holder: no other descriptor, a session of its own."""
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        detach(sys.stdin.buffer.read())
    finally:
        os._exit(1)


def detach(result: bytes) -> NoReturn:
    """Leave the server's process tree and session, and answer the server when the holder is running."""
    spec, nonce = from_bytes(result)
    heard, tell = os.pipe()
    if os.fork():
        os.close(tell)
        with open(heard, "rb") as report:  # noqa: PTH123 - it has no path
            sys.stdout.buffer.write(report.read())
        sys.stdout.flush()
        os._exit(0)
    os.close(heard)
    os.setsid()
    if os.fork():
        os._exit(0)
    try:
        _guard(spec, nonce, tell)
    finally:
        os._exit(1)


def _guard(spec: Spec, nonce: str, tell: int) -> None:
    os.umask(0o077)  # every file written here is raw, and private to this user
    place = records.epoch_folder(spec.folder, spec.epoch)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    refusal = _claim(spec, place)
    if refusal:
        os.write(tell, refusal.encode())
        return
    _let_go_of_the_server(place)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    guardian, ends = os.getpid(), make_ends(spec)
    holder = os.fork()
    if holder == 0:
        try:
            Holder(spec, nonce, place, guardian, ends).run(tell)
            os._exit(0)
        finally:
            os._exit(1)
    _, out, err = ends.ours
    for descriptor in {tell, *ends.theirs, *ends.ours} - {out, err}:
        if descriptor is not None:  # our copies; the agent's input would not end while one is open
            os.close(descriptor)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    _, status = os.waitpid(holder, 0)
    _clean_up(place, os.waitstatus_to_exitcode(status), {records.OUT: out, records.ERR: err}, spec.caps)


def _claim(spec: Spec, place: Path) -> str:
    """Claim this epoch, for as long as guardian or holder lives; return the reason if that fails."""
    lock = os.open(place / records.LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    for _ in range(_LOCK_TRIES):  # a reader holds it for a moment
        if (place / records.STATE).exists() or (place / records.EXIT).exists():
            return "taken"
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOCK_PAUSE)
            continue
        if (place / records.STATE).exists():
            return "taken"
        return "stale" if records.epochs(spec.folder)[-1] > spec.epoch else ""
    return "taken"


def _let_go_of_the_server(place: Path) -> None:
    os.chdir("/")
    null = os.open(os.devnull, os.O_RDWR)
    complaints = os.open(place / records.COMPLAINTS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for ours, number in ((null, 0), (null, 1), (complaints, 2)):
        os.dup2(ours, number)


def _clean_up(place: Path, code: int, streams: dict[str, int | None], caps: Caps) -> None:
    def living() -> list[tree.FoundProcess]:
        _bury()
        return tree.descendants(os.getpid())

    group = records.group_of(records.read_state(place), tree.boot_id())
    swept, clean = tree.kill_all(living, group=group)
    if read_ending(place) is None:
        for name, source in streams.items():
            if source is not None:
                _keep_last_lines(LogWriter(place / name, caps.head, caps.tail), source)
        how = f"signal {-code} killed it" if code < 0 else f"it broke down, see {records.COMPLAINTS}"
        write_ending(place, lost(place, how, swept=swept, clean=clean))


def _keep_last_lines(log: LogWriter, source: int) -> None:
    """Save the output that the holder had not read yet."""
    with contextlib.suppress(OSError):  # no more output, or a terminal that every program has closed
        while data := os.read(source, CHUNK):
            log.add(data)
    log.close()


def _bury() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:  # the holder's status is read already; no other is needed
            pass
    except ChildProcessError:
        return
