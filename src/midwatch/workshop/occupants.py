"""One agent at work in a room: started or found again, its words written down, its doors served, its end told."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

from midwatch.errors import Exhausted
from midwatch.terms.term import Term
from midwatch.workshop import disk
from midwatch.workshop.doorman import Doorman, serving
from midwatch.workshop.holding import spec as holding
from midwatch.workshop.holding.adoption import Ended, launch
from midwatch.workshop.holding.ending import Ending
from midwatch.workshop.holding.held import Held
from midwatch.workshop.holding.log_file import Piece, read_piece
from midwatch.workshop.logs import CappedLog, NewScrub, Untouched
from midwatch.workshop.meanwhile import meanwhile
from midwatch.workshop.rooms import WALLS, Room, errand_of, write_errand
from midwatch.workshop.walls.entry import command
from midwatch.workshop.walls.spec import Walls

WALL, IDLE, STOPPED = 124, 125, 143
BEAT_SECONDS = 60.0
AGENT_LOG = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class Errand:
    """What is to be run in a room, and how its words are kept."""

    argv: tuple[str, ...]
    log: Path
    wall: timedelta
    idle: timedelta
    grace: timedelta = timedelta(seconds=10)
    night_ends: float | None = None
    """In Unix time; from then on a holder that hears nothing from the server ends its agent."""
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    takes_input: bool = False
    joined: bool = True
    """Errors in the same log as the rest; agents that speak a protocol keep them apart."""


class Left(Term):
    """How an agent left its room."""

    exit_code: int
    stopped: bool
    """We asked it to; limits have their own exit codes (124 wall, 125 idle)."""
    sentence: str
    tail: str
    seconds: float = 0.0


async def occupy(
    room: Room,
    errand: Errand,
    *,
    stop: asyncio.Event,
    doorman: Doorman | None = None,
    scrub: NewScrub = Untouched,
    watch: disk.Watch | None = None,
) -> Left:
    """See an agent through to its end; if we are cancelled it works on, and the next of us finds it."""
    held, begins = await _held(room, errand, doorman)
    log = await asyncio.to_thread(_log, errand.log, begins, scrub)
    full: list[str] = []
    try:
        async with contextlib.AsyncExitStack() as stack:
            if isinstance(held, Held):
                if doorman is not None and room.has_doors:
                    await stack.enter_async_context(serving(doorman, held))
                work = (_beats(held), _stops(held, stop, errand.grace), _watches(held, watch, errand.grace, full))
                await stack.enter_async_context(meanwhile(*work))
            async for piece in _pieces(held):
                await asyncio.to_thread(log.add, piece.data)
            ending = await held.wait() if isinstance(held, Held) else held.ending
    except BaseException:
        log.leave()
        raise
    await asyncio.to_thread(log.close)
    if full:
        raise Exhausted(full[0], hint="Free some disk space, then resume the job; its work is kept.")
    return _left(ending, await asyncio.to_thread(log.tail), asked=stop.is_set())


async def _held(room: Room, errand: Errand, doorman: Doorman | None) -> tuple[Held | Ended, int]:
    """Find whoever works here, or start the agent; tell where in the log its words begin."""
    if room.occupant is not None:
        return room.occupant, int(str(errand_of(room.place).get("log_begins", 0)))
    begins = errand.log.stat().st_size if errand.log.exists() else 0
    walls = replace(room.walls, environment={**room.walls.environment, **errand.environment})
    if doorman is not None and room.has_doors:
        surroundings = {**walls.environment, **doorman.environment}
        walls = replace(walls, environment=surroundings, ports=doorman.ports, control=room.place / "doors")
    await asyncio.to_thread(write_errand, room.place, {"purpose": room.terms.purpose, "log_begins": begins})
    entering = await asyncio.to_thread(
        command,
        room.enclosure.furnished(walls),
        errand.argv,
        isolation=room.enclosure.isolation,
        note=room.place / WALLS,
    )
    return await launch(_spec(room, errand, entering, walls)), begins


def _spec(room: Room, errand: Errand, entering: list[str], walls: Walls) -> holding.Spec:
    return holding.Spec(
        folder=room.folder,
        epoch=room.epoch,
        argv=tuple(entering),
        cwd=Path("/"),
        env={},
        takes_input=errand.takes_input,
        joined=errand.joined,
        control=walls.control,
        ports=walls.ports,
        limits=holding.Limits(
            wall=errand.wall.total_seconds(),
            idle=errand.idle.total_seconds(),
            grace=errand.grace.total_seconds(),
            night_ends=errand.night_ends,
        ),
    )


def _log(path: Path, begins: int, scrub: NewScrub) -> CappedLog:
    """Open the log where this agent's words begin; what an earlier server wrote of them is written again, the same."""
    # The holder's own caps are smaller, so that nothing of what it kept is left out here.
    return CappedLog(path, scrub=scrub, limit=AGENT_LOG, again_from=begins)


async def _pieces(held: Held | Ended) -> AsyncIterator[Piece]:
    if isinstance(held, Held):
        async for piece in held.follow():
            yield piece
        return
    after = 0
    while piece_left := await asyncio.to_thread(read_piece, held.place / "out", after):
        yield piece_left
        after = piece_left.after


async def _beats(held: Held) -> None:
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        with contextlib.suppress(Exception):
            await held.beat()


async def _stops(held: Held, stop: asyncio.Event, grace: timedelta) -> None:
    await stop.wait()
    await held.stop(grace.total_seconds())


async def _watches(held: Held, watch: disk.Watch | None, grace: timedelta, full: list[str]) -> None:
    if watch is not None:
        full.append(await watch.until_too_much())
        await held.stop(grace.total_seconds())


def _left(ending: Ending, tail: str, *, asked: bool) -> Left:
    codes = {"wall": WALL, "idle": IDLE, "exited": ending.exit_code or 0, "killed": 128 + (ending.signal or 0)}
    return Left(
        exit_code=codes.get(ending.how, STOPPED),
        stopped=ending.how == "stopped" and asked,
        sentence=ending.sentence(),
        tail=tail,
        seconds=ending.seconds,
    )


def unix_time_in(seconds: float) -> float:
    """Tell the machine's own time that many seconds from now: a holder lives in real time."""
    return time.clock_gettime(time.CLOCK_REALTIME) + seconds
