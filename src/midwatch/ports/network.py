"""The network of a sandbox: what one attempt may reach, and the proxies it uses."""

import asyncio
import socket
from collections.abc import Mapping, Sequence
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
    """A host that a room could not read: it is not on its list, or it is a registry that lets nothing be read."""

    host: str
    client: str = ""
    """The package client of this machine whose registry it is; empty where it is none's."""
    status: int = 0
    """What the registry answered every time, 401 or 403; 0 for a host that is not on the list."""
    route: bool = False
    """Whether the registry and its credential are in Midwatch's own settings."""


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

    @property
    def only_repeats(self) -> asyncio.Event:
        """Set once a program does nothing more than repeat a request that was refused."""
        ...

    async def refused(self, clients: Sequence[str] = ()) -> tuple[HostRefused, ...]:
        """Name the hosts that could not be read so far; of several owners, one of these clients is named."""
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
