"""Attacks on the only door: what an agent may reach is the names on its list, each where it says it is."""

import asyncio
import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from midwatch.gateway.egress import ConnectionRecord, EgressPolicy, EgressProxy
from midwatch.ports.network import HostRefused
from midwatch.rules.budget.egress import rules_of
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.walls.spec import SandboxSpec
from tests.gateway.egress.lab import QUICK, FarEnd, far_end
from tests.workshop.walls.lab import python_inside

PORT = 8118
LISTED = ("allowed.test", "rebind.test")


def _ask(line: str, *, then: str = "") -> str:
    """Say something to the door; it worked if the far end's own word comes back."""
    return python_inside(
        f"import socket, ssl, sys\ndoor = socket.create_connection(('127.0.0.1', {PORT}), 10)\n"
        f"door.sendall(b'{line} HTTP/1.1\\r\\n\\r\\n')\nheard = door.recv(65536)\n{then}\n"
        "while data := door.recv(65536): heard += data\nsys.exit(b'hello' not in heard)"
    )


def _tunnel(host: str, name: str) -> str:
    """Ask for a tunnel to one host, and for another name inside of it."""
    hello = (
        "bio = ssl.MemoryBIO(), ssl.MemoryBIO()\n"
        f"tls = ssl.create_default_context().wrap_bio(*bio, server_hostname='{name}')\n"
        "try: tls.do_handshake()\nexcept ssl.SSLWantReadError: door.sendall(bio[1].read())"
    )
    return _ask(f"CONNECT {host}:443", then=hello)


REACHING: Mapping[str, str] = {
    "fetch from a name that is not on the list": _ask("GET http://evil.test/x"),
    "open a tunnel to a name that is not on the list": _tunnel("evil.test", "evil.test"),
    "fetch from an address in place of a name": _ask("GET http://169.254.169.254/"),
    "fetch from a listed name that leads inside": _ask("GET http://rebind.test/x"),
    "ask for another name inside a tunnel": _tunnel("allowed.test", "evil.test"),
}
REACHABLE: Mapping[str, str] = {
    "fetch from a name on the list": _ask("GET http://allowed.test/x"),
    "open a tunnel to a name on the list": _tunnel("allowed.test", "allowed.test"),
}


@dataclass(frozen=True)
class Doorman:
    """Serves one room's door with the house's own egress, in a world where every name leads to a far end of ours."""

    far: FarEnd
    inside: FarEnd
    ports: tuple[int, ...] = (PORT,)
    lent: tuple[Path, ...] = ()
    only_repeats: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def environment(self) -> Mapping[str, str]:
        return {}

    async def refused(self, clients: Sequence[str] = ()) -> tuple[HostRefused, ...]:  # noqa: ARG002  a role
        """Name nothing."""
        return ()

    async def serve(self, listeners: list[socket.socket]) -> None:
        async def resolve(host: str, _: int) -> list[tuple[str, int]]:
            return [("127.0.0.1", self.inside.port if host == "rebind.test" else self.far.port)]

        seen: list[ConnectionRecord] = []
        policy = EgressPolicy(rules_of(LISTED), deadlines=QUICK)
        egress = EgressProxy(policy, seen.append, resolve=resolve, exempt={("127.0.0.1", self.far.port)})
        try:
            await asyncio.gather(*(egress.serve(listener) for listener in listeners))
        finally:
            await asyncio.shield(egress.close())


async def _answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(65536)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    await writer.drain()
    writer.close()
    await writer.wait_closed()


async def reach(script: str, folder: Path) -> tuple[bool, str]:
    """Run a script in walls with a door; tell whether it got what it wanted, and what it said."""
    for name in ("tree", "home"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    walls = SandboxSpec(folder / "tree", home=folder / "home")
    log = folder / "log"
    async with AsyncExitStack() as stack:
        far, inside = [await stack.enter_async_context(far_end(FarEnd(talk=_answers))) for _ in range(2)]
        ended = await Enclosure(Isolation.BUBBLEWRAP, path=os.environ["PATH"]).run(
            walls, ["/bin/bash", "-c", script], log=log, wall=timedelta(seconds=60), network=Doorman(far, inside)
        )
    return ended.exit_code == 0, log.read_text(errors="replace")
