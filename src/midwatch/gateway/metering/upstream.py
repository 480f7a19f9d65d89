"""The providers' side: httpx's bare transport, which follows no redirect, keeps no cookie and uses no proxy."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from midwatch.gateway.metering.limits import ProxyTimeouts
from midwatch.gateway.metering.refusals import RequestDeclined

if TYPE_CHECKING:
    import httpx

_IDLE: Final = 30.0


@dataclass(slots=True)
class SendProgress:
    """State of a request; whether it was sent decides whether it is paid for."""

    left: bool = False
    left_at: float = 0.0
    """When, by the monotonic clock; it has no meaning before."""
    status: int = 0
    forsaken: bool = False
    """Whether the provider closed the connection without an answer; then nothing is billed."""

    async def trace(self, event: str, _facts: Any) -> None:
        """Receive the transport's trace events."""
        if event.endswith("send_request_headers.started"):
            self.left, self.left_at = True, monotonic()


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request with everything that is sent."""

    method: str
    url: str
    fields: tuple[tuple[str, str], ...]
    body: bytes


class Upstream:
    """Connections to providers, shared by all jobs of a server and kept for a moment for the next request."""

    def __init__(self, *, trust: ssl.SSLContext | None = None, most: int = 256) -> None:
        """Set which certificates are trusted; by default those of this machine."""
        self._trust = trust
        self._most = most

    @cached_property
    def _transport(self) -> "httpx.AsyncHTTPTransport":
        """Open the transport with the first request: most Midwatch processes never ask a model."""
        import httpx  # noqa: PLC0415 - loaded with the first request: most processes ask no model

        trust = self._trust or ssl.create_default_context()
        limits = httpx.Limits(max_connections=self._most, max_keepalive_connections=32, keepalive_expiry=_IDLE)
        return httpx.AsyncHTTPTransport(verify=trust, trust_env=False, limits=limits, retries=0)

    async def close(self) -> None:
        if "_transport" in self.__dict__:
            await self._transport.aclose()

    @asynccontextmanager
    async def answer(
        self, leaving: OutgoingRequest, patience: ProxyTimeouts, progress: SendProgress
    ) -> AsyncIterator["httpx.Response"]:
        """Send a request and yield its answer, of which only the head has come; leaving the block cuts the rest off."""
        import httpx  # noqa: PLC0415 - loaded with the first request: most processes ask no model

        waits = {"connect": patience.connect, "read": patience.first, "write": patience.send, "pool": patience.connect}
        request = httpx.Request(
            leaving.method,
            leaving.url,
            headers=list(leaving.fields),
            content=leaving.body if leaving.method == "POST" else None,
            extensions={"timeout": waits, "trace": progress.trace},
        )
        try:
            # The transport's own time-outs limit each read; this limits a head that comes slowly.
            async with asyncio.timeout(patience.connect + patience.first):
                response = await self._transport.handle_async_request(request)
        except (TimeoutError, httpx.TimeoutException):
            raise RequestDeclined(504, "The provider did not answer in time.") from None
        except httpx.ConnectError:
            raise RequestDeclined(502, "The provider cannot be reached.") from None
        except httpx.HTTPError:
            progress.forsaken = True
            raise RequestDeclined(502, "The provider hung up without an answer.") from None
        progress.status = response.status_code
        waits["read"] = patience.quiet  # the transport checks it again when it begins to read the body
        try:
            yield response
        finally:
            await response.aclose()


async def parts(response: "httpx.Response", quiet: float) -> AsyncGenerator[bytes, None]:
    """Yield the body as it comes, still compressed; a provider that falls silent or closes early is a cut."""
    import httpx  # noqa: PLC0415 - loaded with the first request: most processes ask no model

    stream = aiter(response.stream)  # type: ignore[arg-type]  # both kinds are declared, this transport's is async
    while True:
        try:
            data = await anext(stream, b"")
        except httpx.TimeoutException:
            raise RequestDeclined(504, f"The provider sent nothing for {quiet:g} seconds.") from None
        except httpx.HTTPError:
            raise RequestDeclined(502, "The provider hung up in the middle of its answer.") from None
        if not data:
            return
        yield data
