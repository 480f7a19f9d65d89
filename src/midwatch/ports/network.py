"""The network of a sandbox: what one attempt may reach, and the proxies it reaches it through."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from midwatch.terms.agents import Met, ModelAccess


@dataclass(frozen=True, slots=True)
class NetworkReach:
    """What one attempt may reach on the network, and how often."""

    job: str
    epoch: int
    domains: tuple[str, ...]
    max_requests: int
    registries: tuple[str, ...] = ()
    """Package registries with their credentials' names, for setups."""
    purpose: str = ""
    model: ModelAccess | None = None
    """Which model the attempt may ask."""


class RoomNetwork(Protocol):
    """The proxies of one room: all that leaves it passes them.

    Only a room with a network of its own has them. Elsewhere an agent has the machine's network or none, and its level
    is capped for that reason.
    """

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports they listen on at 127.0.0.1 inside."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables by which programs inside find them."""
        ...

    async def serve(self, listeners: list[socket.socket]) -> None:
        """Serve until cancelled, and close the listeners."""
        ...


class Networks(Protocol):
    """Makes the network of each room."""

    def for_room(self, reach: NetworkReach) -> RoomNetwork:
        """Make the proxies that allow this reach and record every connection."""
        ...

    def access(self, reach: NetworkReach) -> tuple[str, str, str]:
        """Give the model's address inside, the placeholder to present there, and the placeholder's kind."""
        ...

    def met(self, job: str) -> Met | None:
        """Give the last error a job met at its model, unless the last request went well."""
        ...
