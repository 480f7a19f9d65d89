"""Sends one request and returns its answer, with the money reserved before and booked after."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Final

from midwatch.errors import MidwatchError
from midwatch.gateway.metering.calls import MeteredCall
from midwatch.gateway.metering.client_connection import ClientConnection, ClientHungUp
from midwatch.gateway.metering.counting.decompression import Decompressor, UnreadableEncoding
from midwatch.gateway.metering.exchange_state import ExchangeState
from midwatch.gateway.metering.grant import Grant, ProxyServices, RecordingFailed, recorded
from midwatch.gateway.metering.limits import ProxyLimits, ProxyTimeouts
from midwatch.gateway.metering.masking import StreamMask, mask_everywhere
from midwatch.gateway.metering.provider_quota import readings
from midwatch.gateway.metering.refusals import RequestDeclined, error_body
from midwatch.gateway.metering.requests.answers_received import AnswersReceived
from midwatch.gateway.metering.requests.cost import RequestCost
from midwatch.gateway.metering.requests.request import ModelRequest
from midwatch.gateway.metering.upstream import OutgoingRequest, Upstream, parts
from midwatch.rules.budget.reservation import Refusal, Reservation, ReservationRequest
from midwatch.rules.budget.spending import Amount

if TYPE_CHECKING:
    import httpx

log = logging.getLogger(__name__)

LARGE: Final = 512 * 1024
"""Larger bodies are parsed in a thread: other requests must not wait for them."""
TIMED_OUT: Final = 504
_OURS: Final = frozenset({"content-length", "content-encoding", "connection", "transfer-encoding"})


class Exchange:
    """Handles one request, from the ledger to the provider and back to the ledger."""

    def __init__(
        self,
        grant: Grant,
        services: ProxyServices,
        upstream: Upstream,
        received: AnswersReceived,
        room: ProxyLimits,
        patience: ProxyTimeouts,
    ) -> None:
        self._grant = grant
        self._services = services
        self._upstream = upstream
        self._received = received
        self._room = room
        self._patience = patience
        self._giving: set[asyncio.Task[None]] = set()

    async def carry(self, client: ClientConnection, asked: ModelRequest) -> None:
        """Reserve money, send, book, and only then end the answer."""
        cost = RequestCost(self._grant, self._services.prices, asked)
        reservation = await self._reserved(cost)
        state = ExchangeState(await self._fitted(cost, reservation))
        try:
            await self._out_and_back(client, state)
        except RequestDeclined as declined:
            state.abandoned = declined.answer == TIMED_OUT
            state.why = declined.message
            raise
        except ClientHungUp:
            state.abandoned = True
            state.why = "The job hung up before its answer was complete."
            raise
        except asyncio.CancelledError:
            state.abandoned = True
            raise
        finally:
            await self._booked(state, reservation)
        await client.end()

    async def _fitted(self, cost: RequestCost, reservation: Reservation) -> RequestCost:
        """Write what the budgets have left into the request."""
        try:
            if len(cost.asked.body) > LARGE:
                return await asyncio.to_thread(cost.fitted, reservation.answers)
            return cost.fitted(reservation.answers)
        except BaseException:
            await recorded(self._services.ledger.release(reservation))
            raise

    async def _reserved(self, cost: RequestCost) -> Reservation:
        wish = ReservationRequest(
            self._grant.job, self._grant.epoch, cost.bounds, self._grant.provider.name, cost.asked.model
        )
        try:
            answer = await self._set_aside(wish)
        except MidwatchError:
            raise RequestDeclined(503, "The budget of this job cannot be read right now.") from None
        if isinstance(answer, Refusal) and answer.for_now:
            raise RequestDeclined(429, f"{answer.why} Try again when they have ended.")
        if isinstance(answer, Refusal):
            raise RequestDeclined(402, f"{answer.why} {answer.then}")
        return answer

    async def _set_aside(self, wish: ReservationRequest) -> Reservation | Refusal:
        """Reserve in a separate task: a ledger finishes what it has begun, even for a cancelled request."""
        setting = asyncio.create_task(self._services.ledger.reserve(wish))  # noqa: TID251 - a group would cancel it with us
        try:
            return await asyncio.shield(setting)
        except asyncio.CancelledError:
            giving = asyncio.create_task(self._given_back(setting))  # noqa: TID251 - we end, and it must not
            self._giving.add(giving)
            giving.add_done_callback(self._giving.discard)
            # One that waits for others may wait long, and closing the proxy must not: then it continues alone, for
            # as long as the ledger waits.
            await asyncio.wait({giving}, timeout=self._patience.linger)
            raise

    async def _given_back(self, setting: asyncio.Task[Reservation | Refusal]) -> None:
        try:
            answer = await setting
            if isinstance(answer, Reservation):
                await self._services.ledger.release(answer)
        except Exception:
            log.exception("The reservation of an interrupted request is released at the next start.")

    async def _out_and_back(self, client: ClientConnection, state: ExchangeState) -> None:
        try:
            async with asyncio.timeout(self._patience.whole):
                with _what_matters():
                    async with asyncio.TaskGroup() as group:
                        watching = group.create_task(client.until_gone())
                        await self._travel(client, state)
                        watching.cancel()
        except TimeoutError:
            raise RequestDeclined(504, f"A request may last at most {self._patience.whole:g} seconds.") from None

    async def _travel(self, client: ClientConnection, state: ExchangeState) -> None:
        secret = await self._secret()
        leaving = self._leaving(state.asked, secret)
        async with self._upstream.answer(leaving, self._patience, state.progress) as response:
            state.answered(response)
            await self._read_fuel(response)
            if not 200 <= response.status_code < 300:
                await self._pass_error(client, response, secret)
            else:
                await self._pass(client, state, response, secret)
            state.whole = True

    async def _pass(
        self, client: ClientConnection, state: ExchangeState, response: "httpx.Response", secret: str
    ) -> None:
        """Pass an answer on as it comes, and count it."""
        packed = response.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}
        # Compressed data passes unchanged and cannot be inspected on its way.
        veil = StreamMask("" if packed else secret)
        await client.begin(response.status_code, self._headers_passed_on(response, secret, length=True))
        async with aclosing(parts(response, self._patience.quiet)) as coming:
            async for data in coming:
                state.counter.feed(data)
                self._remember(state)
                if clear := veil.feed(data):
                    await client.pass_on(clear)
        if rest := veil.end():
            await client.pass_on(rest)

    def _remember(self, state: ExchangeState) -> None:
        """Note an answer that is complete, before the job reads its end and can name it."""
        counter = state.counter
        if state.asked.kept and counter.ended and counter.answer and not state.remembered:
            state.remembered = True
            used = counter.usage
            self._received.remember(counter.answer, counter.items, tokens=used.total, made=used.output)

    async def _pass_error(self, client: ClientConnection, response: "httpx.Response", secret: str) -> None:
        """Pass an error on as a whole, without the credential that some providers repeat in it."""
        status = response.status_code
        if status < 400:
            raise RequestDeclined(502, f"The provider answered with {status}, which is not followed.")
        body = mask_everywhere(secret, await self._error_body(response))
        fields = [each for each in self._headers_passed_on(response, secret) if each[0] not in _OURS]
        await client.begin(status, [*fields, ("content-length", str(len(body)))])
        await client.pass_on(body)

    async def _error_body(self, response: "httpx.Response") -> bytes:
        shape, status = self._grant.provider.shape, response.status_code
        ours = error_body(shape, status, f"The provider answered with {status}; what it said cannot be shown.")
        body = bytearray()
        try:
            decoder = Decompressor(response.headers.get("content-encoding", ""))
            async with aclosing(parts(response, self._patience.quiet)) as coming:
                async for data in coming:
                    body += decoder.feed(data)
                    if len(body) > self._room.error:
                        return ours
        except (UnreadableEncoding, RequestDeclined):
            return ours
        return bytes(body)

    async def _booked(self, state: ExchangeState, reservation: Reservation) -> None:
        if not state.progress.left:
            await recorded(self._services.ledger.release(reservation))
            return
        usage = state.usage()
        model = self._model(state)
        usd_micros = state.cost.usd_micros(usage, model)
        await recorded(self._services.ledger.settle(reservation, Amount(usd_micros, usage.total, 1)))
        call = MeteredCall(
            provider=self._grant.provider.name,
            model=model,
            api=state.asked.way.endpoint.api,
            status=state.progress.status,
            usage=usage,
            usd_micros=usd_micros,
            ms=state.ms(),
            cut=not state.whole,
            why=state.why or ("" if state.whole else "The network of this job was closed."),
            request_id=state.request_id,
            reservation=reservation.id,
        )
        await recorded(self._services.settled(call))

    async def _read_fuel(self, response: "httpx.Response") -> None:
        name, now = self._grant.provider.name, self._services.clock.now()
        for reading in readings(name, dict(response.headers), response.status_code, now):
            await recorded(self._services.fuel(reading))

    async def _secret(self) -> str:
        credential = self._grant.credential
        if credential.kind == "none":
            return ""
        try:
            value = (await self._services.vault.secret(credential.secret)).reveal()
        except (MidwatchError, OSError):
            # Its own message is not repeated: it may hold the credential that it could not use.
            raise RequestDeclined(502, "The credential for this model is not available.") from None
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise RequestDeclined(502, "The credential for this model contains invalid characters.")
        return value

    def _leaving(self, asked: ModelRequest, secret: str) -> OutgoingRequest:
        provider = self._grant.provider
        credential = provider.presented(self._grant.credential.kind, secret)
        fields = (*asked.way.fields, *credential.items(), ("accept-encoding", "identity"))
        return OutgoingRequest(asked.way.endpoint.method, provider.base + asked.way.target, fields, asked.body)

    def _headers_passed_on(
        self, response: "httpx.Response", secret: str, *, length: bool = False
    ) -> list[tuple[str, str]]:
        provider = self._grant.provider
        known = ((name.lower(), value) for name, value in response.headers.multi_items())
        return [
            (name, value)
            for name, value in known
            if (provider.passes_on(name) or (length and name == "content-length")) and not (secret and secret in value)
        ]

    def _model(self, state: ExchangeState) -> str:
        """Use the provider's name for the model that answered, where there is a price for it."""
        result = state.counter.model
        return result if result and self._services.prices.knows(self._grant.provider, result) else state.asked.model


@contextmanager
def _what_matters() -> Iterator[None]:
    """Raise the failure that matters most from a group of tasks, by itself."""
    try:
        yield
    except BaseExceptionGroup as failed:
        order = (RecordingFailed, RequestDeclined, ClientHungUp, BaseException)
        raise min(failed.exceptions, key=lambda one: [isinstance(one, kind) for kind in order].index(True)) from None
