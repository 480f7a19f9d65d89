"""The network of a sandbox: what one attempt may reach, and the proxies it uses."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
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
    """Package registries with the names of their credentials, for setups."""
    purpose: str = ""
    model: ModelAccess | None = None
    """The model that the attempt may use."""


@dataclass(frozen=True, slots=True)
class HostRefused:
    """A host that a room was refused because it is not on its list."""

    host: str
    client: str = ""
    """The package client of this machine whose registry it is; empty where it is none's."""
    listed: tuple[str, ...] = ()
    """The list as it was."""


class RoomNetwork(Protocol):
    """The proxies of one room; all its traffic passes them.

    Only a room with a network of its own has them. Elsewhere an agent has the machine's network or none, and its level
    is capped for that reason.
    """

    @property
    def ports(self) -> tuple[int, ...]:
        """Their ports on 127.0.0.1 inside the room."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables that name them to programs inside."""
        ...

    @property
    def lent(self) -> tuple[Path, ...]:
        """What programs inside need for it, read-only: certificates, and packages in folders."""
        ...

    async def refused(self) -> tuple[HostRefused, ...]:
        """Name the hosts that were refused so far because they are not on the list."""
        ...

    async def serve(self, listeners: list[socket.socket]) -> None:
        """Serve until cancelled, and close the listeners."""
        ...


class Networks(Protocol):
    """Makes the network of each room."""

    async def for_room(self, reach: NetworkReach) -> RoomNetwork:
        """Make the proxies that allow these hosts and record every connection."""
        ...

    def access(self, reach: NetworkReach) -> tuple[str, str, str]:
        """Return the model's address inside the room, the placeholder credential to send there, and its kind."""
        ...

    def met(self, job: str) -> Met | None:
        """Return a job's last error from its model; None if the last request succeeded."""
        ...
