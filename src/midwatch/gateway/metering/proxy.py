"""The model proxy of one job epoch: the only way from its sandbox to a model."""

import asyncio
import logging
import socket

from midwatch.gateway.egress.wire import Wire
from midwatch.gateway.listener import ConnectionListener
from midwatch.gateway.metering.client_connection import BodyMemory, ClientConnection, ClientHungUp
from midwatch.gateway.metering.exchange import LARGE, Exchange
from midwatch.gateway.metering.grant import Grant, ProxyServices, RecordingFailed
from midwatch.gateway.metering.limits import ProxyLimits, ProxyTimeouts
from midwatch.gateway.metering.refusals import RequestDeclined
from midwatch.gateway.metering.requests.answers_received import AnswersReceived
from midwatch.gateway.metering.requests.request import model_request, target_of
from midwatch.gateway.metering.upstream import Upstream

log = logging.getLogger(__name__)


class ModelProxy:
    """Serves the listening sockets of one job epoch until it is closed.

    A record that fails ends the serving: what cannot be recorded must not happen.
    """

    def __init__(
        self,
        grant: Grant,
        services: ProxyServices,
        upstream: Upstream,
        *,
        room: ProxyLimits | None = None,
        patience: ProxyTimeouts | None = None,
        received: AnswersReceived | None = None,
    ) -> None:
        """Take the grant, the services, the transport that all jobs share, and what the job has received before."""
        self._grant = grant
        self._room = room or ProxyLimits()
        self._patience = patience or ProxyTimeouts()
        self._received = AnswersReceived() if received is None else received
        self._exchange = Exchange(grant, services, upstream, self._received, self._room, self._patience)
        self._listener = ConnectionListener(self._attend, at_once=self._room.at_once)
        self._memory = BodyMemory(self._room)

    async def serve(self, listener: socket.socket) -> None:
        """Serve a listening socket until close; the proxy owns the socket from now on and closes it."""
        await self._listener.serve(listener)

    async def close(self) -> None:
        """Cut every request, book what each has used, and wait until all traffic of this epoch has ended."""
        await self._listener.close()

    async def _attend(self, caller: socket.socket) -> None:
        """Handle one connection, from its first byte to its end."""
        wire: Wire | None = None
        try:
            wire = Wire.of(*await asyncio.open_connection(sock=caller, limit=64 * 1024))
            client = ClientConnection(wire, self._grant.provider.shape, self._patience)
            await self._see_through(client)
        except (OSError, ClientHungUp):
            pass
        finally:
            if wire is not None:
                wire.cut()

    async def _see_through(self, client: ClientConnection) -> None:
        try:
            await self._speak(client)
        except RequestDeclined as declined:
            await client.decline(declined)
        except (ClientHungUp, OSError):
            client.break_off()
        except RecordingFailed:
            client.break_off()
            raise
        except Exception:
            log.exception("A request to a model broke the proxy's own code.")
            await client.decline(RequestDeclined(500, "Internal error in Midwatch; see its log."))

    async def _speak(self, client: ClientConnection) -> None:
        """Read the job's request, judge it, and have it sent."""
        heard = await client.head()
        way = target_of(self._grant.provider, self._grant.placeholder, heard)
        with self._memory.place() as place:
            body = await client.body(heard, place)
            if len(body) > LARGE:
                asked = await asyncio.to_thread(model_request, way, self._grant, self._received, body)
            else:
                asked = model_request(way, self._grant, self._received, body)
            await self._exchange.carry(client, asked)
