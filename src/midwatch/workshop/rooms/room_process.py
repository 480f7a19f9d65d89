"""One agent in a room: starts or finds it, writes its output to the log, serves its doors and reports its end."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from midwatch.errors import Broken, Exhausted, Refused, Stale, Unavailable
from midwatch.ports.network import RoomNetwork
from midwatch.ports.redaction import NewScrub
from midwatch.ports.room import ProgramEnd
from midwatch.rules.recovery.failure_texts import telling_line
from midwatch.terms.trust import Isolation
from midwatch.workshop.holding import spec as holding
from midwatch.workshop.holding.adoption import EndedProgram, launch
from midwatch.workshop.holding.ending import Ending
from midwatch.workshop.holding.held import HeldProgram
from midwatch.workshop.holding.log_file import LogPiece, read_piece
from midwatch.workshop.rooms.logs import CappedLog, Untouched
from midwatch.workshop.rooms.rooms import WALLS, RoomFolder, errand_of, write_errand
from midwatch.workshop.sandbox import disk
from midwatch.workshop.sandbox.background import meanwhile
from midwatch.workshop.sandbox.walls.entry import command
from midwatch.workshop.sandbox.walls.spec import SandboxSpec

WALL, IDLE, STOPPED = 124, 125, 143
BEAT_SECONDS = 60.0
AGENT_LOG = 64 * 1024**2
SCREEN = (24, 80)
LONGEST_LINE = 32 * 1024**2


@dataclass(frozen=True, slots=True)
class RoomCommand:
    """What to run in a room, and how its output is kept."""

    argv: tuple[str, ...]
    log: Path
    wall: timedelta
    idle: timedelta
    grace: timedelta = timedelta(seconds=10)
    counts_work: bool = False
    night_ends: float | None = None
    """In Unix time; from then on a holder without contact to the server ends its agent."""
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    takes_input: bool = False
    terminal: bool = False
    """A person types into it: one PTY instead of pipes; the viewer sets its size."""
    joined: bool = True
    """Errors in the same log as the rest; agents with a protocol keep them apart."""


@contextlib.asynccontextmanager
async def occupied(
    room: RoomFolder,
    errand: RoomCommand,
    *,
    stop: asyncio.Event,
    network: RoomNetwork | None = None,
    scrub: NewScrub = Untouched,
    watch: disk.Watch | None = None,
) -> AsyncIterator["RoomTalk"]:
    """Run an agent for a while, started or found again; wait for its end before leaving, or it continues."""
    held, begins = await _held(room, errand, network)
    talk = RoomTalk(room, held, errand, stop)
    async with contextlib.AsyncExitStack() as stack:
        if isinstance(held, HeldProgram):
            if network is not None and room.has_doors:
                await stack.enter_async_context(_serving(network, held))
            work = (_beats(held), _stops(held, stop, errand.grace), _watches(held, watch, errand.grace, talk.full))
            await stack.enter_async_context(meanwhile(*work))
        await stack.enter_async_context(meanwhile(*talk.writing(begins, scrub)))
        yield talk


class RoomTalk:
    """A program in its room: it outlives the server, so its output from before a restart is read again."""

    def __init__(
        self, room: RoomFolder, held: HeldProgram | EndedProgram, errand: RoomCommand, stop: asyncio.Event
    ) -> None:
        self._room = room
        self._held = held
        self._errand = errand
        self._stop = stop
        self._written = asyncio.Event()
        self._tail = ""
        self._complained = asyncio.Event()
        self._complaint = ""
        self._waits: list[float] = []
        self.full: list[str] = []

    async def lines(self) -> AsyncIterator[bytes]:
        rest = b""
        async for piece in _pieces(self._held):
            *whole, rest = (b"" if piece.cut else rest + piece.data).split(b"\n")
            for line in whole:
                yield line
            if len(rest) > LONGEST_LINE:
                rest = b""  # no protocol has such a line; a reader waiting for its end would wait for ever
        if rest:
            yield rest

    async def say(self, data: bytes) -> None:
        """Write to its stdin; nothing is sent to one that has ended."""
        await self.answer("", data)

    async def answered(self, question: str) -> bool:
        """Whether this question was answered before a restart; an ended agent waits for no answer."""
        try:
            return not isinstance(self._held, HeldProgram) or await self._held.said(question)
        except Unavailable:
            return True

    async def answer(self, question: str, data: bytes) -> None:
        """Answer a question once: the holder writes it and remembers it, so no crash can separate the two."""
        if isinstance(self._held, HeldProgram):
            with contextlib.suppress(Unavailable, Refused):  # what an ended agent does not receive, its end explains
                await self._held.say(data, once=question)

    @contextlib.asynccontextmanager
    async def waiting(self, span: timedelta) -> AsyncIterator[None]:
        """Pause the idle clock while the agent waits for Midwatch, at most so long; the wall clock continues.

        On cancellation it stays paused, because a server that stops is started again and continues to wait.
        """
        until = time.monotonic() + span.total_seconds()
        self._waits.append(until)
        await self._rest()
        yield
        self._waits.remove(until)
        await self._rest()

    async def _rest(self) -> None:
        if isinstance(self._held, HeldProgram):
            with contextlib.suppress(Unavailable, Refused, Stale):
                await self._held.rest(max(0.0, max(self._waits, default=0.0) - time.monotonic()))

    async def stop(self) -> None:
        if isinstance(self._held, HeldProgram):
            await self._held.stop(self._errand.grace.total_seconds())

    async def left(self) -> ProgramEnd:
        await self._written.wait()
        if not self._errand.joined:
            await self._complained.wait()
        ending = await self._held.wait() if isinstance(self._held, HeldProgram) else self._held.ending
        if self.full:
            raise Exhausted(self.full[0], hint="Free some disk space, then resume the job; its work is kept.")
        # For a program with a protocol, its stderr says more to a person than the protocol's last line, if it says why.
        tail = self._complaint or self._tail
        last = telling_line(self._complaint, self._tail)
        return _left(ending, tail if last in tail else self._tail, last, asked=self._stop.is_set())

    def writing(self, begins: int, scrub: NewScrub) -> tuple[Coroutine[Any, Any, None], ...]:
        """Write its output to the log, and its errors beside it where they are kept apart."""
        apart = () if self._errand.joined else (self._write_errors(scrub),)
        return self._write(begins, scrub), *apart

    async def _write(self, begins: int, scrub: NewScrub) -> None:
        log = await asyncio.to_thread(_log, self._errand.log, begins, scrub)
        try:
            async for piece in _pieces(self._held):
                await asyncio.to_thread(log.add, piece.data)
        except BaseException:
            log.leave()
            raise
        await asyncio.to_thread(log.close)
        self._tail = await asyncio.to_thread(log.tail)
        self._written.set()

    async def _write_errors(self, scrub: NewScrub) -> None:
        own = self._errand.log.with_name(f"{self._errand.log.stem}-errors-{self._room.epoch}.log")
        log = await asyncio.to_thread(_log, own, 0, scrub)
        try:
            async for piece in _pieces(self._held, "err"):
                await asyncio.to_thread(log.add, piece.data)
            await asyncio.to_thread(log.close)
            self._complaint = (await asyncio.to_thread(log.tail)).strip()
        finally:
            log.leave()
        self._complained.set()


@contextlib.asynccontextmanager
async def _serving(network: RoomNetwork, held: HeldProgram) -> AsyncIterator[None]:
    """Serve a holder's listeners for a while; connections made before or after wait in the kernel's queue."""
    try:
        listeners = await held.doors()
    except (Unavailable, Broken):
        yield  # it has ended; its ending says how
        return
    async with meanwhile(network.serve(listeners)):
        yield


async def _held(
    room: RoomFolder, errand: RoomCommand, network: RoomNetwork | None
) -> tuple[HeldProgram | EndedProgram, int]:
    """Find the agent that works here, or start it; return where in the log its output begins."""
    if room.occupant is not None:
        return room.occupant, int(str(errand_of(room.place).get("log_begins", 0)))
    begins = errand.log.stat().st_size if errand.log.exists() else 0
    walls = replace(room.walls, environment={**room.walls.environment, **errand.environment})
    if errand.terminal:
        walls = replace(walls, terminal=room.enclosure.isolation is Isolation.BUBBLEWRAP)
    if network is not None and room.has_doors:
        surroundings = {**walls.environment, **network.environment}
        walls = replace(walls, environment=surroundings, ports=network.ports, control=room.place / "doors")
        walls = replace(walls, read_only=(*walls.read_only, *network.lent))
    await asyncio.to_thread(write_errand, room.place, {"purpose": room.purpose, "log_begins": begins})
    entering = await asyncio.to_thread(
        command,
        room.enclosure.furnished(walls),
        errand.argv,
        isolation=room.enclosure.isolation,
        note=room.place / WALLS,
    )
    return await launch(_spec(room, errand, entering, walls), room.nursery), begins


def _spec(room: RoomFolder, errand: RoomCommand, entering: list[str], walls: SandboxSpec) -> holding.Spec:
    return holding.Spec(
        folder=room.folder,
        epoch=room.epoch,
        argv=tuple(entering),
        cwd=Path("/"),
        env={},
        takes_input=errand.takes_input,
        joined=errand.joined and not errand.terminal,
        terminal=SCREEN if errand.terminal else None,
        control=walls.control,
        ports=walls.ports,
        limits=holding.HolderLimits(
            wall=errand.wall.total_seconds(),
            idle=errand.idle.total_seconds(),
            counts_work=errand.counts_work,
            grace=errand.grace.total_seconds(),
            night_ends=errand.night_ends,
        ),
    )


def _log(path: Path, begins: int, scrub: NewScrub) -> CappedLog:
    """Open the log where this agent's output begins; what an earlier server wrote is written again, identically."""
    # The holder's own caps are smaller, so that nothing of what it kept is left out here.
    return CappedLog(path, scrub=scrub, limit=AGENT_LOG, again_from=begins)


async def _pieces(held: HeldProgram | EndedProgram, stream: Literal["out", "err"] = "out") -> AsyncIterator[LogPiece]:
    if isinstance(held, HeldProgram):
        async for piece in held.follow(stream=stream):
            yield piece
        return
    after = 0
    while piece_left := await asyncio.to_thread(read_piece, held.place / stream, after):
        yield piece_left
        after = piece_left.after


async def _beats(held: HeldProgram) -> None:
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        with contextlib.suppress(Exception):
            await held.beat()


async def _stops(held: HeldProgram, stop: asyncio.Event, grace: timedelta) -> None:
    await stop.wait()
    await held.stop(grace.total_seconds())


async def _watches(held: HeldProgram, watch: disk.Watch | None, grace: timedelta, full: list[str]) -> None:
    if watch is not None:
        full.append(await watch.until_too_much())
        await held.stop(grace.total_seconds())


def _left(ending: Ending, tail: str, last: str, *, asked: bool) -> ProgramEnd:
    codes = {"wall": WALL, "idle": IDLE, "exited": ending.exit_code or 0, "killed": 128 + (ending.signal or 0)}
    return ProgramEnd(
        exit_code=codes.get(ending.how, STOPPED),
        stopped=ending.how == "stopped" and asked,
        sentence=ending.sentence(),
        tail=tail,
        last_words=last,
        seconds=ending.seconds,
    )


def unix_time_in(seconds: float) -> float:
    """Return the machine's time that many seconds from now: a holder uses real time."""
    return time.clock_gettime(time.CLOCK_REALTIME) + seconds
