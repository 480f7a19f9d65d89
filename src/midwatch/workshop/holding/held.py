"""The server's side of one holder: follow it, send to it, stop it, and learn how it ended."""

import asyncio
import base64
import contextlib
import json
import os
import signal
import socket
import weakref
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

from midwatch.errors import Exhausted, Misuse, Refused, Stale, Unavailable
from midwatch.workshop.holding import records
from midwatch.workshop.holding.ending import Ending, lost, read_ending, write_ending
from midwatch.workshop.holding.intake import INPUT_ROOM
from midwatch.workshop.holding.listener_keeper import NOT_YET
from midwatch.workshop.holding.log_file import LogPiece, read_piece
from midwatch.workshop.holding.tree import KILL_SECONDS, boot_id, kill_all, marked

ANSWER_SECONDS = 10.0
_FIRST_PAUSE, _PAUSE = 0.005, 0.05
Stream = Literal["out", "err"]


class HeldProgram:
    """A holder that was found alive, pinned by pidfds so that no other process is mistaken for it."""

    def __init__(
        self,
        place: Path,
        state: records.State,
        holder: int | None,
        guardian: int | None,
        *,
        epoch: int | None = None,
    ) -> None:
        self.place = place
        self.state = state
        self.epoch = state.epoch if epoch is None else epoch
        self._pins = [pin for pin in (holder, guardian) if pin is not None]
        self._holder = holder
        weakref.finalize(self, _close, self._pins)

    async def follow(self, after: int = 0, stream: Stream = "out") -> AsyncIterator[LogPiece]:
        """Yield the output from a position in the stream on, as it comes, until the agent ends; cuts are marked."""
        async with self._call({"do": "follow"}) as line:
            while True:
                piece = await asyncio.to_thread(read_piece, self.place / stream, after)
                if piece is not None:
                    yield piece
                    after = piece.after
                elif line is None or not await _ticked(line):
                    break
        await self.wait()
        while piece := await asyncio.to_thread(read_piece, self.place / stream, after):
            yield piece
            after = piece.after

    async def say(self, data: bytes, *, ends: bool = False, once: str = "") -> None:
        """Send the agent input; `ends` closes it afterwards (on a terminal, send Ctrl-D instead).

        With the name `once` it is sent only once, by any server: the holder remembers it while the agent lives.
        """
        if len(data) > INPUT_ROOM:
            raise Misuse(f"{len(data)} bytes are too much input at once.", hint=f"Send at most {INPUT_ROOM} at a time.")
        await self._ask({"do": "say", "data": base64.b64encode(data).decode(), "ends": ends, "once": once})

    async def said(self, once: str) -> bool:
        """Whether something was sent under this name."""
        return bool((await self._ask({"do": "said", "once": once})).get("said"))

    async def rest(self, seconds: float) -> None:
        """Pause the idle clock for so long, or resume it with 0; the wall clock never pauses."""
        await self._ask({"do": "rest", "seconds": seconds})

    async def beat(self) -> None:
        """Report to the holder that the server is alive."""
        await self._ask({"do": "beat"})

    async def resize(self, rows: int, columns: int) -> None:
        """Resize an interactive job's terminal."""
        await self._ask({"do": "resize", "rows": rows, "columns": columns})

    async def doors(self) -> list[socket.socket]:
        """Lend the sandbox's listeners, once it has opened them; they do not block, and the caller closes them."""
        answer, doors = await self._borrow_doors()
        pause = _FIRST_PAUSE
        while answer.get("why") == NOT_YET:  # if they never open, its holder ends it soon
            await asyncio.sleep(pause)
            pause = min(pause * 2, _PAUSE)
            answer, doors = await self._borrow_doors()
        _judge(answer)
        return doors

    async def stop(self, grace: float | None = None, *, epoch: int | None = None) -> Ending:
        """End the agent's whole tree, by force after `grace` seconds, and return how it ended.

        A holder that does not answer is ended itself, and its guardian ends the tree.
        """
        try:
            await self._ask({"do": "stop", "grace": grace}, epoch=epoch)
        except Unavailable:
            self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)
        patience = KILL_SECONDS + ANSWER_SECONDS + (60.0 if grace is None else grace)
        with contextlib.suppress(TimeoutError):
            return await asyncio.wait_for(self.wait(), patience)
        self._signal(signal.SIGKILL)
        return await self.wait()

    async def wait(self) -> Ending:
        """Wait until holder and guardian are gone, and read the verdict."""
        for pin in self._pins:
            await _gone(pin)
        return await asyncio.to_thread(settle, self.place)

    def _signal(self, number: signal.Signals) -> None:
        if self._holder is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._holder, number)

    async def _ask(self, request: dict[str, Any], *, epoch: int | None = None) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        with contextlib.suppress(TimeoutError, ValueError, ConnectionError):
            async with asyncio.timeout(ANSWER_SECONDS), self._call(request, epoch) as line:
                answer = json.loads(await line.readline() or b"{}") if line else {}
        _judge(answer)
        return answer

    async def _borrow_doors(self) -> tuple[dict[str, Any], list[socket.socket]]:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await borrow(self.place, self._signed({"do": "doors"}))
        except TimeoutError:
            return {}, []

    def _signed(self, request: dict[str, Any], epoch: int | None = None) -> dict[str, Any]:
        return {"nonce": self.state.nonce, "epoch": self.epoch if epoch is None else epoch, **request}

    @contextlib.asynccontextmanager
    async def _call(
        self, request: dict[str, Any], epoch: int | None = None
    ) -> AsyncIterator[asyncio.StreamReader | None]:
        """Open one connection to the holder and send the request; None when no holder answers."""
        try:
            folder = os.open(self.place, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            yield None
            return
        try:
            # By the folder's descriptor, because a socket's path may not be longer than 107 bytes.
            reader, writer = await asyncio.open_unix_connection(f"/proc/self/fd/{folder}/{records.SOCKET}")
        except OSError:
            yield None
            return
        finally:
            os.close(folder)
        try:
            writer.write(json.dumps(self._signed(request, epoch)).encode() + b"\n")
            yield reader
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


def _judge(answer: dict[str, Any]) -> None:
    if answer.get("ok"):
        return
    match answer.get("why"):
        case None:
            raise Unavailable("The holder does not answer.", hint="Adopt the job again to learn what became of it.")
        case "stale":
            raise Stale("A newer server holds this job.", hint="Leave the job alone; this claim on it is over.")
        case "full":
            raise Exhausted("The agent has not read its earlier input.", hint="Wait for its output, then try again.")
        case why:
            raise Refused(f"The holder refused: {why}.", hint="Adopt the job again to learn who holds it.")


def settle(place: Path, why: str = "it and its guardian were killed") -> Ending:
    """Read the verdict; where no process was left to write one, end what still runs and write it."""
    ending = read_ending(place)
    if ending is None:
        mark = f"{records.MARK}={records.mark_of(place)}"
        group = records.group_of(records.read_state(place), boot_id())
        swept, clean = kill_all(lambda: marked(mark), group=group)
        ending = lost(place, why, swept=swept, clean=clean)
        # The first verdict counts; one that cannot be read is treated as missing.
        torn = read_ending(place) is None and (place / records.EXIT).exists()
        with contextlib.suppress(OSError):  # on a full disk the next reader settles it again
            write_ending(place, ending, over=torn)
    return read_ending(place) or ending


async def _ticked(line: asyncio.StreamReader) -> bool:
    """Wait for news from the holder; False when it has closed the connection."""
    try:
        news = await line.read(1 << 16)
    except ConnectionError:
        return False
    if news.startswith(b"{"):  # the answer to our request comes before all ticks
        _judge(json.loads(news.partition(b"\n")[0]))
    return bool(news)


async def _gone(pin: int) -> None:
    """Wait for the end of a pinned process; each waiter uses its own descriptor."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    descriptor = os.dup(pin)
    loop.add_reader(descriptor, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _close(pins: list[int]) -> None:
    for pin in pins:
        os.close(pin)


LONGEST_ANSWER = 1 << 16
MOST_DOORS = 64


async def borrow(place: Path, request: dict[str, Any]) -> tuple[dict[str, Any], list[socket.socket]]:
    """Ask the holder for its doors; the caller closes them. Without a holder the answer is empty."""
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.setblocking(False)  # noqa: FBT003 - the socket's own signature
        try:
            # By the folder's descriptor, because a socket's path may not be longer than 107 bytes.
            folder = os.open(place, os.O_PATH | os.O_DIRECTORY)
            try:
                await loop.sock_connect(line, f"/proc/self/fd/{folder}/{records.SOCKET}")
            finally:
                os.close(folder)
            await loop.sock_sendall(line, json.dumps(request).encode() + b"\n")
            await _readable(line)
            said, descriptors, _, _ = socket.recv_fds(line, LONGEST_ANSWER, MOST_DOORS, socket.MSG_CMSG_CLOEXEC)
        except OSError:
            return {}, []
    doors = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    for door in doors:
        door.setblocking(False)  # noqa: FBT003 - as above
    try:
        return json.loads(said or b"{}"), doors
    except ValueError:
        return {}, doors


async def _readable(line: socket.socket) -> None:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(line, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(line)
