"""The model proxy of one job epoch: the only way from its sandbox to a model."""

import asyncio
import logging
import socket
from typing import Final

from midwatch.gateway.egress.wire import Wire
from midwatch.gateway.listener import ConnectionListener
from midwatch.gateway.metering.client_connection import BodyMemory, ClientConnection, ClientHungUp
from midwatch.gateway.metering.exchange import Exchange
from midwatch.gateway.metering.grant import Grant, ProxyServices, RecordingFailed
from midwatch.gateway.metering.limits import ProxyLimits, ProxyTimeouts
from midwatch.gateway.metering.refusals import RequestDeclined
from midwatch.gateway.metering.request import model_request, target_of
from midwatch.gateway.metering.upstream import Upstream

log = logging.getLogger(__name__)

_LARGE: Final = 512 * 1024
"""Bodies beyond this are read in a thread: others must not wait for them."""


class ModelProxy:
    """Serves the listening sockets of one job epoch until it is closed.

    A record that fails ends the serving: what cannot be written down must not happen.
    """

    def __init__(
        self,
        grant: Grant,
        books: ProxyServices,
        upstream: Upstream,
        *,
        room: ProxyLimits | None = None,
        patience: ProxyTimeouts | None = None,
    ) -> None:
        """Take what was granted, everybody who must know, and the way out that all jobs share."""
        self._grant = grant
        self._room = room or ProxyLimits()
        self._patience = patience or ProxyTimeouts()
        self._carrying = Exchange(grant, books, upstream, self._room, self._patience)
        self._reception = ConnectionListener(self._attend, at_once=self._room.at_once)
        self._shelf = BodyMemory(self._room)

    async def serve(self, listener: socket.socket) -> None:
        """Serve a listening socket until close; the socket is ours from now on, and closed with us."""
        await self._reception.serve(listener)

    async def close(self) -> None:
        """Cut every request, book what each has used, and wait until nothing of this epoch moves."""
        await self._reception.close()

    async def _attend(self, caller: socket.socket) -> None:
        """See one connection through, from its first byte to its end."""
        wire: Wire | None = None
        try:
            wire = Wire.of(*await asyncio.open_connection(sock=caller, limit=64 * 1024))
            inside = ClientConnection(wire, self._grant.provider.shape, self._patience)
            await self._see_through(inside)
        except (OSError, ClientHungUp):
            pass
        finally:
            if wire is not None:
                wire.cut()

    async def _see_through(self, inside: ClientConnection) -> None:
        try:
            await self._speak(inside)
        except RequestDeclined as declined:
            await inside.decline(declined)
        except (ClientHungUp, OSError):
            inside.break_off()
        except RecordingFailed:
            inside.break_off()
            raise
        except Exception:
            log.exception("A request to a model broke the proxy's own code.")
            await inside.decline(RequestDeclined(500, "A fault in Midwatch itself; its log says which."))

    async def _speak(self, inside: ClientConnection) -> None:
        """Hear what the job wants, judge it, and have it carried."""
        heard = await inside.head()
        way = target_of(self._grant.provider, self._grant.placeholder, heard)
        with self._shelf.place() as place:
            body = await inside.body(heard, place)
            if len(body) > _LARGE:
                asked = await asyncio.to_thread(model_request, way, self._grant.placeholder, body)
            else:
                asked = model_request(way, self._grant.placeholder, body)
            await self._carrying.carry(inside, asked)
