"""An agent's workplace: a room with its terms, and the only way to start a program."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path

from midwatch.ports.room import ProgramEnd
from midwatch.ports.workspace import RoomRequest
from midwatch.terms.agents import SIGNALS, SIGNALS_VARIABLE
from midwatch.workshop.rooms.room_process import RoomCommand, RoomTalk, occupied, unix_time_in
from midwatch.workshop.rooms.rooms import RoomFolder
from midwatch.workshop.rooms.signal_files import Letterbox
from midwatch.workshop.sandbox.disk import Watch

SITTING_IDLE = timedelta(hours=1)
"""People think longer than programs."""


class Workplace:
    """A room with its terms: the only way to start an agent."""

    def __init__(self, room: RoomFolder, request: RoomRequest, log: Path) -> None:
        self._room = room
        self._request = request
        self.log = log
        self.tree = room.tree
        self.inside = room.inside
        self.home_inside = room.home_inside
        self.epoch = room.epoch
        self.letters = Letterbox(room.home, room.tree, log.with_name(SIGNALS))
        self.signals_inside = room.home_inside / SIGNALS
        self._talk: RoomTalk | None = None
        self.begun = asyncio.Event()

    def put(self, name: str, content: str) -> Path:
        return self._room.put(name, content)

    def take(self, name: str) -> bytes:
        return self._room.take(name)

    async def run(self, argv: tuple[str, ...], *, environment: Mapping[str, str] | None = None) -> ProgramEnd:
        async with self._occupied(argv, environment or {}, talks=False) as talk:
            return await talk.left()

    def talk(self, argv: tuple[str, ...], environment: Mapping[str, str]) -> AbstractAsyncContextManager[RoomTalk]:
        """Run a program that is controlled over its pipes; wait for its end before leaving."""
        return self._occupied(argv, environment, talks=True)

    async def sit(self, argv: tuple[str, ...], environment: Mapping[str, str]) -> ProgramEnd:
        async with self._occupied(argv, environment, talks=False, terminal=True) as talk:
            return await talk.left()

    @asynccontextmanager
    async def waiting(self, span: timedelta) -> AsyncIterator[None]:
        if self._talk is None:
            yield
            return
        async with self._talk.waiting(span):
            yield

    @asynccontextmanager
    async def _occupied(
        self, argv: tuple[str, ...], environment: Mapping[str, str], *, talks: bool, terminal: bool = False
    ) -> AsyncIterator[RoomTalk]:
        request = self._request
        errand = RoomCommand(
            argv=argv,
            log=self.log,
            wall=request.wall,
            idle=SITTING_IDLE if terminal else request.idle,
            grace=request.grace,
            counts_work=request.counts_work,
            night_ends=None if request.night_left is None else unix_time_in(request.night_left.total_seconds()),
            environment={**environment, SIGNALS_VARIABLE: str(self.signals_inside)},
            takes_input=talks,
            terminal=terminal,
            joined=not talks,
        )
        limits = (request.floor_bytes, request.room_bytes, request.room_files)
        watch = Watch(self.tree.parent.parent, *limits)
        scrub = self._room.enclosure.scrub
        work = occupied(self._room, errand, stop=request.stop, network=request.network, scrub=scrub, watch=watch)
        await asyncio.to_thread(self.letters.open)
        async with work as self._talk:
            self.begun.set()
            yield self._talk
