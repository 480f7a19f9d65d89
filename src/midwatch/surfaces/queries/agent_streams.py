"""Reads an agent's stream: from its first line, from where a reader left it, or only its newest lines.

A place in a stream is two numbers: how much of the log and how much of the journal was read. What the lines after it
refer to is built again from what is before it, unless the last reader of this place left it here.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from midwatch.compose.read_side import ReadSide
from midwatch.errors import Misuse
from midwatch.journal.entry import Entry
from midwatch.journal.events.crew import ToolCallDecided
from midwatch.ports.room import TREE_INSIDE
from midwatch.rules.tools.tool_calls import ToolCall, shown
from midwatch.settings.folder import job_log
from midwatch.surfaces.queries.logs import read_between, read_lines
from midwatch.terms.agents import ToolRequested
from midwatch.terms.records import ActRow, JobRow
from midwatch.views.pages.agent_stream import KINDS, AgentStream, LogEvent, StreamLine

LOOK_BACK: Final = 4 * 1024**2
"""How much of a log is read again for what later lines refer to."""
MOST_KEPT: Final = 16
TAIL_LINES: Final = 200
LONGEST_PLACE: Final = 40
TOO_LONG: Final = "[midwatch: a line of {:,} bytes is only in the raw log]"
readers_left: OrderedDict[tuple[str, str, str], "StreamReader"] = OrderedDict()
"""Readers of a moment ago, by data folder, job and place; without one its state is built again."""


class StreamReader:
    """One reader of one job's stream, and how far it has read."""

    def __init__(self, house: ReadSide, job: str, place: int, seq: int, *, midway: bool = False) -> None:
        self.house = house
        self._job = job
        self._place = place
        self._seq = seq
        self._fetched = seq
        self._waiting: list[Entry] = []
        self._output = house.output_reader(midway=midway)
        self._stream = AgentStream(_display, str(TREE_INSIDE))

    @property
    def at(self) -> str:
        """Where it is, for the next request."""
        return f"{self._place}.{self._seq}"

    async def more(self) -> tuple[list[StreamLine], bool]:
        """Read on; say whether this is all there can be, since the job is over."""
        while True:
            # First the job: the log of one that is over is complete. Then the entries: a call is in the log first.
            over = (await self.house.records.get(JobRow, self._job)).state.over
            self._waiting += await self.house.history.about([self._job], KINDS, after=self._fetched)
            self._fetched = self._waiting[-1].seq if self._waiting else self._fetched
            before = self._place
            events, end = await asyncio.to_thread(self._read, ended=over)
            lines, used = self._stream.woven(events, self._waiting, to_the_end=end)
            self._seq = self._waiting[used - 1].seq if used else self._seq
            del self._waiting[:used]
            if lines or end:
                return lines, over and end and self._place == before and not lines

    def _read(self, *, ended: bool) -> tuple[list[LogEvent], bool]:
        self._place, raw, end = read_lines(job_log(self.house.home, self._job), self._place, ended=ended)
        return [event for line in raw for event in self._event(line)], end

    def _event(self, line: bytes | int) -> list[LogEvent]:
        return self._output.read(TOO_LONG.format(line).encode() if isinstance(line, int) else line)

    async def pass_over(self, place: int) -> None:
        """Read up to a place without showing anything."""
        begin = await _begin(self.house, self._job)
        entries = await self.house.history.about([self._job], KINDS, after=begin, upto=self._seq)
        raw = await asyncio.to_thread(read_between, job_log(self.house.home, self._job), self._place, place)
        self._place = place
        self._stream.woven([one for line in raw for one in self._output.read(line)], entries, to_the_end=True)

    async def tail(self) -> list[StreamLine]:
        """Read to the end, and show only the newest lines."""
        newest: list[StreamLine] = []
        while True:
            before = self.at
            lines, _ = await self.more()
            newest = [*newest, *lines][-TAIL_LINES:]
            if self.at == before:
                return newest


async def stream_at(house: ReadSide, job: JobRow, at: str) -> StreamReader:
    """Continue at a place, or begin if it is empty."""
    if not at:
        return StreamReader(house, job.id, 0, await _begin(house, job.id))
    known = readers_left.pop((str(house.home), job.id, at), None)
    if known is not None:
        known.house = house  # the one it was left by may be closed
        return known
    place, seq = _numbers(at)
    size = _size(house, job.id)
    if place > size:
        return StreamReader(house, job.id, 0, seq)  # another log than the one that was read
    begin = _line_after(house, job.id, place - LOOK_BACK)
    reader = StreamReader(house, job.id, begin, seq, midway=begin > 0)
    await reader.pass_over(place)
    return reader


async def newest(house: ReadSide, job: JobRow) -> tuple[list[StreamLine], StreamReader]:
    """Show the newest lines; of a long log, its beginning is not read."""
    begin = _line_after(house, job.id, _size(house, job.id) - LOOK_BACK)
    seq = await _begin(house, job.id)
    if begin:
        seq = await _seq_near(house, job.id, seq, begin)
    reader = StreamReader(house, job.id, begin, seq, midway=begin > 0)
    return await reader.tail(), reader


def keep(reader: StreamReader, house: ReadSide, job: JobRow) -> None:
    """Leave a reader for the next request from where it is."""
    readers_left[str(house.home), job.id, reader.at] = reader
    while len(readers_left) > MOST_KEPT:
        readers_left.popitem(last=False)


async def _seq_near(house: ReadSide, job: str, seq: int, begin: int) -> int:
    """Find where in the journal a place in the log is: as many decisions come after it as calls."""
    output = house.output_reader(midway=True)
    raw = await asyncio.to_thread(read_between, job_log(house.home, job), begin, _size(house, job))
    calls = sum(isinstance(one, ToolRequested) for line in raw for one in output.read(line))
    entries = await house.history.about([job], KINDS, after=seq)
    decided = [entry.seq for entry in entries if isinstance(entry.event, ToolCallDecided)]
    return decided[-calls - 1] if calls < len(decided) else seq


async def _begin(house: ReadSide, job: str) -> int:
    row = await house.records.get(JobRow, job)
    acts = await house.records.find(ActRow, id=row.act) if row.act else ()
    return acts[0].judged_seq if acts else 0


def _display(tool: str, given: Mapping[str, Any]) -> str:
    return shown(ToolCall(tool, given))


def _numbers(at: str) -> tuple[int, int]:
    place, _, seq = at.partition(".")
    seq = seq or "0"
    if not (place.isdecimal() and seq.isdecimal() and len(at) <= LONGEST_PLACE):
        raise Misuse(f"{at[:40]!r} is not a place in a stream.", hint="Give `next` of the last answer, or nothing.")
    return int(place), int(seq)


def _size(house: ReadSide, job: str) -> int:
    path = job_log(house.home, job)
    return path.stat().st_size if path.exists() else 0


def _line_after(house: ReadSide, job: str, place: int) -> int:
    """Return where the first whole line after a place begins; 0 if all of it is near enough."""
    if place <= 0:
        return 0
    with job_log(house.home, job).open("rb") as file:
        file.seek(place)
        return place + len(file.readline(LOOK_BACK))
