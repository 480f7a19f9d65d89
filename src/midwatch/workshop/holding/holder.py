"""The holder: owns one agent's streams, limits and end, and waits while the server is away."""

import os
import resource
import selectors
import signal
import time
from pathlib import Path
from typing import Any

from midwatch.workshop.holding import agent as agents
from midwatch.workshop.holding import records, tree
from midwatch.workshop.holding.ending import LAST_WORDS, Ending, How, wall_clock, write_ending
from midwatch.workshop.holding.intake import Intake
from midwatch.workshop.holding.listener_keeper import NOT_YET, ListenerKeeper
from midwatch.workshop.holding.log_file import LogWriter, last_words
from midwatch.workshop.holding.spec import Spec
from midwatch.workshop.holding.switchboard import FILES, Switchboard, decode
from midwatch.workshop.sandbox.walls import groups

READ_BYTES = 1 << 16
WORKS = 0.01
"""From this share of the time on, a silent program works; one that only waits for others wants less."""
LAST_READS = 1024  # a pipe holds far less; only an unkillable process could continue longer


class Holder:
    """One held agent, from its start to its verdict."""

    def __init__(self, spec: Spec, nonce: str, place: Path, guardian: int, ends: agents.Ends) -> None:
        self._spec, self._nonce, self._place, self._guardian, self._ends = spec, nonce, place, guardian, ends
        self._reason: How | None = None
        self._grace = spec.limits.grace
        self._epoch = spec.epoch
        self._streams: set[int] = set()
        self._swept, self._clean = 0, True
        self._selector = selectors.DefaultSelector()
        self._began = self._spoke = time.monotonic()
        self._touched = _uptime()
        self._worked: dict[str, float] = {}
        """For how long each thread had used the processor or waited for it when the silence was last looked at."""
        self._still_until = 0.0
        """Until then the agent waits for the server, and its silence is not counted."""
        self._said: set[str] = set()
        """Names of inputs that are sent only once; a restarted server that repeats one must not send it twice."""
        self._logs = {
            name: LogWriter(place / name, spec.caps.head, spec.caps.tail) for name in (records.OUT, records.ERR)
        }
        self._listen_to_signals()

    def run(self, tell: int) -> None:
        """Start the agent, report it, hold it to its end and write the verdict."""
        agents.prctl(agents.PR_SET_CHILD_SUBREAPER, 1)
        self._board = Switchboard(self._place, self._selector, self._answer)
        control, ports, patience = self._spec.control, self._spec.ports, self._spec.limits.doors
        self._doors = ListenerKeeper(control, ports, patience, self._selector)
        self._agent = agents.AgentProcess(self._spec, f"{records.MARK}={records.mark_of(self._place)}", self._ends)
        self._group = groups.group_of(self._agent.pid)
        self._intake = Intake(self._selector, os.dup(self._agent.stdin) if self._agent.stdin is not None else None)
        self._watch_stream(self._agent.out, self._logs[records.OUT])
        if self._agent.err is not None:
            self._watch_stream(self._agent.err, self._logs[records.ERR])
        if self._spec.terminal is None and self._agent.stdin is not None:
            os.close(self._agent.stdin)  # or the agent would never see the end of its input
        records.write_state(self._place, self._state())
        os.write(tell, b"held")
        os.close(tell)
        while self._reason is None and self._agent.status is None:
            self._turn(self._patience())
            self._watch_the_time()
        reason = self._reason if self._agent.status is None else None
        self._take_down()
        self._drain()
        write_ending(self._place, self._verdict(reason))
        self._board.close()
        self._doors.close()

    def _listen_to_signals(self) -> None:
        wake, wake_end = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(wake_end, False)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
        self._selector.register(wake, selectors.EVENT_READ, lambda: os.read(wake, READ_BYTES))
        signal.signal(signal.SIGTERM, lambda *_: self._stop("stopped"))
        signal.signal(signal.SIGUSR1, lambda *_: self._stop("unguarded"))
        for quiet in (signal.SIGCHLD, signal.SIGHUP, signal.SIGINT):
            signal.signal(quiet, lambda *_: None)
        agents.prctl(agents.PR_SET_PDEATHSIG, signal.SIGUSR1)
        if os.getppid() != self._guardian:
            self._stop("unguarded")

    def _stop(self, reason: How) -> None:
        if self._reason is None:
            self._reason = reason

    def _state(self) -> records.State:
        return records.State(
            nonce=self._nonce,
            epoch=self._spec.epoch,
            boot=tree.boot_id(),
            holder=os.getpid(),
            holder_start=tree.start_time(os.getpid()) or 0,
            guardian=self._guardian,
            guardian_start=tree.start_time(self._guardian) or 0,
            agent=self._agent.pid,
            argv_hash=records.argv_hash(self._spec.argv),
            began=wall_clock(),
            group=str(self._group or ""),
        )

    def _patience(self) -> float:
        limits, now = self._spec.limits, time.monotonic()
        return max(0.0, min(self._began + limits.wall - now, self._silent_from() + limits.idle - now, 1.0))

    def _silent_from(self) -> float:
        return max(self._spoke, self._still_until)

    def _watch_the_time(self) -> None:
        limits, now = self._spec.limits, time.monotonic()
        if now >= self._began + limits.wall:
            self._stop("wall")
        elif self._doors.failed():
            self._stop("no_doors")
        elif now >= self._silent_from() + limits.idle:
            self._judge_silence(now)
        elif limits.night_ends is not None and wall_clock() >= limits.night_ends:
            self._watch_for_the_server(limits.dead_man)

    def _judge_silence(self, now: float) -> None:
        """End a silent agent, unless its work counts and it has worked or tried to: a busy machine gives it no time."""
        limits, before = self._spec.limits, self._worked
        if limits.counts_work:
            self._worked = tree.processor_seconds(self._living())
        more = sum(max(0.0, spent - before.get(thread, 0.0)) for thread, spent in self._worked.items())
        if limits.counts_work and more >= limits.idle * WORKS:
            self._spoke = now
        else:
            self._stop("idle")

    def _watch_for_the_server(self, patience: float) -> None:
        # Time asleep counts: a server that is up would have been in touch since the machine woke.
        if _uptime() >= self._touched + patience:
            self._stop("dead_man")

    def _turn(self, patience: float) -> None:
        """Wait once for anything to happen, and serve it."""
        for key, _ in self._selector.select(patience):
            if key.fileobj in self._selector.get_map():  # an earlier event of this turn may have ended it
                key.data()
        self._agent.bury()
        self._board.tick(b"%d %d\n" % (self._logs[records.OUT].size, self._logs[records.ERR].size))

    def _watch_stream(self, source: int, log: LogWriter) -> None:
        self._streams.add(source)
        self._selector.register(source, selectors.EVENT_READ, lambda: self._read(source, log))

    def _read(self, source: int, log: LogWriter) -> bool:
        """Read some output; False when there is none now or never will be."""
        try:
            data = os.read(source, READ_BYTES)
        except BlockingIOError:
            return False
        except OSError:  # a terminal that every program has closed
            data = b""
        if not data:
            self._selector.unregister(source)
            self._streams.discard(source)
            return False
        self._spoke = time.monotonic()
        log.add(data)
        return True

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["nonce"] != self._nonce:
            return {"ok": False, "why": "this is another holder"}
        if int(request["epoch"]) < self._epoch:
            return {"ok": False, "why": "stale"}
        self._epoch = int(request["epoch"])  # a server with an older epoch has been replaced
        self._touched = _uptime()
        served = {
            "stop": self._asked_to_stop,
            "say": self._take_input,
            "said": lambda asked: {"said": asked["once"] in self._said},
            "rest": self._rest,
            "doors": lambda _: self._lend_doors(),
            "resize": self._resize,
        }.get(request["do"])  # beat and follow: the contact itself is all that counts
        return {"ok": True, **((served(request) if served else None) or {})}

    def _asked_to_stop(self, request: dict[str, Any]) -> None:
        self._grace = self._spec.limits.grace if request["grace"] is None else float(request["grace"])
        self._stop("stopped")

    def _rest(self, request: dict[str, Any]) -> None:
        self._still_until = time.monotonic() + float(request["seconds"])

    def _resize(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._spec.terminal is None:
            return {"ok": False, "why": "it has no terminal"}
        agents.set_window(self._agent.out, int(request["rows"]), int(request["columns"]))
        return {}

    def _take_input(self, request: dict[str, Any]) -> dict[str, Any]:
        data, once = decode(request["data"]), str(request["once"])
        if once in self._said:
            return {}
        why = self._intake.take(data, ends=bool(request["ends"]))
        if why:
            return {"ok": False, "why": why}
        self._said |= {once} - {""}
        self._spoke = time.monotonic()
        return {}

    def _lend_doors(self) -> dict[str, Any]:
        if not self._spec.ports:
            return {"ok": False, "why": "it has no doors"}
        if self._doors.pending:
            return {"ok": False, "why": NOT_YET}
        return {FILES: self._doors.lend()}

    def _living(self) -> list[tree.FoundProcess]:
        self._agent.bury()
        return tree.descendants(os.getpid())

    def _take_down(self) -> None:
        """Ask the rest of the tree to end, then kill it."""
        asked = [process for process in self._living() if not _is_bwrap(process.pid)]
        tree.send(asked, signal.SIGTERM)
        tree.send(asked, signal.SIGCONT)
        deadline = time.monotonic() + self._grace
        while (self._living() or self._living()) and time.monotonic() < deadline:
            self._turn(0.02)
        self._swept, self._clean = tree.kill_all(self._living, self._turn, self._group)

    def _drain(self) -> None:
        """Save the last output that is still in the pipes."""
        self._agent.bury()
        for source, name in ((self._agent.out, records.OUT), (self._agent.err, records.ERR)):
            for _ in range(LAST_READS):
                if source is None or source not in self._streams or not self._read(source, self._logs[name]):
                    break
        for log in self._logs.values():
            log.close()

    def _how(self, reason: How | None) -> tuple[How, str]:
        if self._agent.complaint:
            return "not_started", self._agent.complaint
        if self._doors.pending and reason in {None, "no_doors"}:
            return "no_doors", self._doors.why or "it ended first"
        return reason or ("killed" if (self._agent.status or 0) < 0 else "exited"), ""

    def _verdict(self, reason: How | None) -> Ending:
        status, used = self._agent.status, resource.getrusage(resource.RUSAGE_CHILDREN)
        how, why = self._how(reason)
        return Ending(
            how=how,
            why=why,
            exit_code=status if status is not None and status >= 0 else None,
            signal=-status if status is not None and status < 0 else None,
            last_words=last_words(self._place / records.OUT, LAST_WORDS),
            last_errors=last_words(self._place / records.ERR, LAST_WORDS),
            out_bytes=self._logs[records.OUT].size,
            err_bytes=self._logs[records.ERR].size,
            seconds=round(time.monotonic() - self._began, 3),
            ended=wall_clock(),
            cpu_seconds=round(used.ru_utime + used.ru_stime, 3),
            max_rss=used.ru_maxrss * 1024,
            swept=self._swept,
            clean=self._clean,
        )


def _uptime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _is_bwrap(pid: int) -> bool:
    # It ends with its child anyway; ended first, it would end the child before the grace is over.
    try:
        return Path("/proc", str(pid), "comm").read_text().strip() == "bwrap"
    except OSError:
        return False
