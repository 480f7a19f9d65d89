"""How much of the network a job has used, counted before a byte moves, and the record of each connection."""

import asyncio
from dataclasses import dataclass
from time import monotonic
from typing import Literal

from midwatch.errors import Refused
from midwatch.gateway.egress.policy import EgressCaps

ConnectionVerdict = Literal["allowed", "refused", "cut", "failed"]
"""Cut: allowed, then over a limit. Failed: allowed, but the remote host or the job did not keep up."""

ConnectionStage = Literal["asking", "greeting", "sealed", "answering"]
"""State of a connection: it decides what we may still send to the job. Sealed: TLS that we cannot write into."""


@dataclass(frozen=True, slots=True)
class ConnectionRecord:
    """One ended connection, for the journal and the page."""

    host: str
    port: int
    address: str
    verdict: ConnectionVerdict
    why: str
    rule: str
    bytes_out: int
    bytes_in: int
    ms: int
    denied: int = 0
    """What a registry answered, 401 or 403, where it let nothing be read."""


@dataclass(frozen=True, slots=True)
class EgressCounts:
    """What the job has used so far."""

    requests: int = 0
    refused: int = 0
    bytes_out: int = 0
    bytes_in: int = 0
    open: int = 0


class EgressRefused(Refused):
    """A connection that may not continue, with the sentence for the record."""

    def __init__(self, why: str, verdict: ConnectionVerdict = "refused", status: int = 403) -> None:
        super().__init__(why, hint="Add the host to the orders, or raise the limit.")
        self.verdict = verdict
        self.answer = status


class EgressMeter:
    """Counts one job over all its connections."""

    def __init__(self, caps: EgressCaps) -> None:
        self.caps = caps
        self.requests = self.refused = self.bytes_out = self.bytes_in = self.open = 0

    def counts(self) -> EgressCounts:
        return EgressCounts(self.requests, self.refused, self.bytes_out, self.bytes_in, self.open)

    def begin(self) -> None:
        """Count a request to an allowed host, while the caps permit it."""
        if self.requests >= self.caps.requests:
            raise EgressRefused(f"This job has used all its {self.caps.requests} requests.")
        if self.bytes_out >= self.caps.bytes_out:
            raise EgressRefused(self.spent_out)
        if self.bytes_in >= self.caps.bytes_in:
            raise EgressRefused(self.spent_in)
        self.requests += 1

    def take_out(self, wanted: int) -> int:
        """Reserve outgoing bytes; as many as are left."""
        taken = max(0, min(wanted, self.caps.bytes_out - self.bytes_out))
        self.bytes_out += taken
        return taken

    def take_in(self, wanted: int) -> int:
        """Reserve incoming bytes; as many as are left."""
        taken = max(0, min(wanted, self.caps.bytes_in - self.bytes_in))
        self.bytes_in += taken
        return taken

    @property
    def spent_out(self) -> str:
        """Return the sentence that nothing more may be sent."""
        return f"This job has sent all the {self.caps.bytes_out} bytes it may send."

    @property
    def spent_in(self) -> str:
        """Return the sentence that nothing more may be fetched."""
        return f"This job has fetched all the {self.caps.bytes_in} bytes it may fetch."


class LiveConnection:
    """One connection while it is open."""

    def __init__(self, meter: EgressMeter, idle: float) -> None:
        self._meter = meter
        self._idle = idle
        self._began = monotonic()
        self._watch: asyncio.Timeout | None = None
        self.host, self.port, self.address, self.rule = "", 0, "", ""
        self.bytes_out = self.bytes_in = 0
        self.stage: ConnectionStage = "asking"
        self.verdict: ConnectionVerdict = "cut"
        self.why = "The network of this job was closed."
        self.counted = False
        """Whether it was counted as one of the job's requests."""
        self._denied = 0
        self._answered = False

    def begin(self) -> None:
        """Count as one of the job's requests."""
        self._meter.begin()
        self.counted = True

    def quiet_limit(self) -> asyncio.Timeout:
        """Return the time-out that each moved byte extends; both directions share it."""
        self._watch = asyncio.timeout(self._idle)
        return self._watch

    def alive(self) -> None:
        """Extend the idle limit."""
        if self._watch is not None and not self._watch.expired():
            self._watch.reschedule(asyncio.get_running_loop().time() + self._idle)

    async def send(self, data: bytes, world: asyncio.StreamWriter) -> None:
        """Send bytes out, never one more than the cap."""
        taken = self._meter.take_out(len(data))
        self.bytes_out += taken
        world.write(data[:taken])
        await world.drain()
        self.alive()
        if taken < len(data):
            raise EgressRefused(self._meter.spent_out, "cut")

    async def bring(self, data: bytes, job: asyncio.StreamWriter) -> None:
        """Pass bytes in, never one more than the cap."""
        taken = self._meter.take_in(len(data))
        self.bytes_in += taken
        if self.stage == "asking" and taken:
            self.stage = "answering"
        job.write(data[:taken])
        await job.drain()
        self.alive()
        if taken < len(data):
            raise EgressRefused(self._meter.spent_in, "cut")

    def judged(self, verdict: ConnectionVerdict, why: str) -> None:
        """Settle how it ends, before the last message is sent."""
        self.verdict, self.why = verdict, why

    def registry_said(self, status: int) -> None:
        """Remember whether a registry lets something be read."""
        if status in {401, 403}:
            self._denied = status
        else:
            self._answered = True

    def ended(self) -> ConnectionRecord:
        took = round((monotonic() - self._began) * 1000)
        return ConnectionRecord(
            host=self.host,
            port=self.port,
            address=self.address,
            verdict=self.verdict,
            why=self.why,
            rule=self.rule,
            bytes_out=self.bytes_out,
            bytes_in=self.bytes_in,
            ms=took,
            denied=0 if self._answered else self._denied,
        )
