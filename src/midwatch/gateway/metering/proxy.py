"""The model proxy of one job epoch: the only way from its sandbox to a model."""

import asyncio
import logging
import socket
from typing import Final

from midwatch.gateway.egress.wire import Wire
from midwatch.gateway.listener import Reception
from midwatch.gateway.metering.client_connection import HungUp, Inside, Shelf
from midwatch.gateway.metering.exchange import Carrying
from midwatch.gateway.metering.grant import Books, Grant, Unwritten
from midwatch.gateway.metering.limits import Patience, Room
from midwatch.gateway.metering.refusals import Declined
from midwatch.gateway.metering.request import asked_of, way_of
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
        books: Books,
        upstream: Upstream,
        *,
        room: Room | None = None,
        patience: Patience | None = None,
    ) -> None:
        """Take what was granted, everybody who must know, and the way out that all jobs share."""
        self._grant = grant
        self._room = room or Room()
        self._patience = patience or Patience()
        self._carrying = Carrying(grant, books, upstream, self._room, self._patience)
        self._reception = Reception(self._attend, at_once=self._room.at_once)
        self._shelf = Shelf(self._room)

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
            inside = Inside(wire, self._grant.provider.shape, self._patience)
            await self._see_through(inside)
        except (OSError, HungUp):
            pass
        finally:
            if wire is not None:
                wire.cut()

    async def _see_through(self, inside: Inside) -> None:
        try:
            await self._speak(inside)
        except Declined as declined:
            await inside.decline(declined)
        except (HungUp, OSError):
            inside.break_off()
        except Unwritten:
            inside.break_off()
            raise
        except Exception:
            log.exception("A request to a model broke the proxy's own code.")
            await inside.decline(Declined(500, "A fault in Midwatch itself; its log says which."))

    async def _speak(self, inside: Inside) -> None:
        """Hear what the job wants, judge it, and have it carried."""
        heard = await inside.head()
        way = way_of(self._grant.provider, self._grant.placeholder, heard)
        with self._shelf.place() as place:
            body = await inside.body(heard, place)
            if len(body) > _LARGE:
                asked = await asyncio.to_thread(asked_of, way, self._grant.placeholder, body)
            else:
                asked = asked_of(way, self._grant.placeholder, body)
            await self._carrying.carry(inside, asked)
