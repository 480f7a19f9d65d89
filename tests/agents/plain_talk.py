"""A plain process as the drivers see it: pipes, a memory of what was answered, and every line kept from the first.

talk = await PlainTalk.begin(argv, environment, folder)
await driver.drive(talk, brief, decide, tell)      # a second drive() on the same talk is a restarted server
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Mapping

from midwatch.ports.room import ProgramEnd


class PlainTalk:
    """A process and its pipes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.heard: list[bytes] = []
        self.given: dict[str, list[bytes]] = {}
        """Every answer, by its question; more than one under a name is a fault of the driver's."""
        self._errors = b""
        self._over = False
        self._stopped = False
        self._news = asyncio.Condition()
        self._ears: list[asyncio.Task[None]] = []

    @classmethod
    async def begin(cls, argv: tuple[str, ...], environment: Mapping[str, str]) -> "PlainTalk":
        """Start it; it leads a process group of its own."""
        process = await asyncio.create_subprocess_exec(
            *argv,
            env=dict(environment),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            limit=64 * 2**20,
        )
        talk = cls(process)
        talk._ears = [asyncio.ensure_future(talk._hear()), asyncio.ensure_future(talk._hear_errors())]
        return talk

    async def _hear(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            async with self._news:
                self.heard.append(line)
                self._news.notify_all()
        async with self._news:
            self._over = True
            self._news.notify_all()

    async def _hear_errors(self) -> None:
        assert self.process.stderr is not None
        self._errors = await self.process.stderr.read()

    async def lines(self) -> AsyncIterator[bytes]:
        at = 0
        while True:
            async with self._news:
                await self._news.wait_for(lambda at=at: len(self.heard) > at or self._over)  # type: ignore[misc]
                if at == len(self.heard):
                    return
            yield self.heard[at]
            at += 1

    async def hears(self, number: int) -> None:
        """Wait until it has said so many lines."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.heard) >= number)

    async def say(self, data: bytes) -> None:
        assert self.process.stdin is not None
        if self.process.returncode is not None or self.process.stdin.is_closing():
            raise BrokenPipeError
        self.process.stdin.write(data)
        await self.process.stdin.drain()

    async def answered(self, question: str) -> bool:
        return question in self.given

    async def answer(self, question: str, data: bytes) -> None:
        self.given.setdefault(question, []).append(data)
        await self.say(data)

    async def stop(self) -> None:
        self._stopped = True
        self.signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self.process.wait(), 10)
        except TimeoutError:
            self.signal(signal.SIGKILL)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program alone."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    async def left(self) -> ProgramEnd:
        await asyncio.gather(*self._ears)
        code = await self.process.wait()
        sentence = f"It was ended by signal {-code}." if code < 0 else f"It ended with exit code {code}."
        return ProgramEnd(
            exit_code=code,
            stopped=self._stopped,
            sentence=sentence,
            tail=self._errors.decode(errors="replace")[-2000:],
        )

    async def clear(self) -> None:
        """Leave nothing of it behind, whatever the test did."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.wait()
        await asyncio.gather(*self._ears)
