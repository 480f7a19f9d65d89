"""The egress proxy of one job epoch: the only way from its sandbox to the network."""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Collection
from dataclasses import replace
from http import HTTPStatus

from midwatch.gateway.egress.connection import (
    ConnectionRecord,
    EgressCounts,
    EgressMeter,
    EgressRefused,
    LiveConnection,
)
from midwatch.gateway.egress.dialer import Address, Dialer, Resolver, SystemResolver
from midwatch.gateway.egress.forwarding import carry, head_for
from midwatch.gateway.egress.http_head import LARGEST_HEAD, ProxyRequest, read_request, written
from midwatch.gateway.egress.opened import OpenedTunnel
from midwatch.gateway.egress.policy import EgressPolicy, RegistryHost, RegistryRoute
from midwatch.gateway.egress.reading import RegistryReader
from midwatch.gateway.egress.tls import ACCESS_DENIED
from midwatch.gateway.egress.tunnel import Tunnel
from midwatch.gateway.egress.wire import Wire, within
from midwatch.gateway.listener import ConnectionListener
from midwatch.rules.budget.egress import may_reach, shown

Seen = Callable[[ConnectionRecord], None]
"""Gets each connection when it ends. It is called at most caps.requests + caps.refusals times."""

log = logging.getLogger(__name__)


class EgressProxy:
    """Serves the listening sockets of one job epoch until it is closed.

    A callback that fails ends the serving: what cannot be recorded must not happen.
    """

    def __init__(
        self,
        policy: EgressPolicy,
        seen: Seen,
        *,
        resolve: Resolver | None = None,
        trust: ssl.SSLContext | None = None,
        exempt: Collection[Address] = (),
    ) -> None:
        """Take the policy and the callback; `exempt` are addresses that may always be dialled."""
        self._policy = policy
        self._seen = seen
        self._system = SystemResolver()
        self._dialler = Dialer(resolve or self._system, exempt, policy.deadlines)
        self._trust = trust
        self._reader = RegistryReader(self._dialler, self._trusted)
        self._meter = EgressMeter(policy.caps)
        self._reception = ConnectionListener(self._attend, at_once=policy.caps.at_once)

    @property
    def counts(self) -> EgressCounts:
        """Return what the job has used so far."""
        return self._meter.counts()

    async def serve(self, listener: socket.socket) -> None:
        """Serve a listening socket until close; the proxy owns the socket from now on and closes it."""
        await self._reception.serve(listener)

    async def close(self) -> None:
        """Cut every connection, write the last records, and wait until all traffic of this epoch has ended."""
        await self._reception.close()
        self._reader.close()
        self._system.close()

    async def _attend(self, caller: socket.socket) -> None:
        """Handle one connection, from its first byte to its record."""
        visit = LiveConnection(self._meter, self._policy.deadlines.idle)
        self._meter.open += 1
        job: Wire | None = None
        try:
            job = Wire.of(*await asyncio.open_connection(sock=caller, limit=LARGEST_HEAD))
            await self._see_through(visit, job)
        except OSError:
            visit.judged("failed", "The job closed the connection before it sent anything.")
        finally:
            if job is not None:
                job.cut()
            self._meter.open -= 1
            self._record(visit.ended(), counted=visit.counted)

    def _record(self, ended: ConnectionRecord, *, counted: bool) -> None:
        if not counted:
            self._meter.refused += 1
        if counted or self._meter.refused <= self._policy.caps.refusals:
            self._seen(ended)

    async def _see_through(self, visit: LiveConnection, job: Wire) -> None:
        try:
            visit.judged("allowed", await self._within_limits(visit, job))
            await job.hang_up(self._policy.deadlines.linger)
        except EgressRefused as turned:
            visit.judged(turned.verdict, turned.message)
            await self._tell(visit, job, turned)
        except OSError:
            visit.judged("failed", f"The connection to {visit.host or 'no host'} broke off.")
        except Exception:
            log.exception("A connection of a job broke the proxy's own code.")
            visit.judged("failed", "The connection ended by an internal error in Midwatch; see its log.")

    async def _within_limits(self, visit: LiveConnection, job: Wire) -> str:
        limits = self._policy.deadlines
        whole = f"A connection may last at most {limits.whole:g} seconds."
        quiet = f"Nothing moved for {limits.idle:g} seconds."
        async with within(limits.whole, whole, "cut"):
            try:
                async with visit.quiet_limit():
                    return await self._speak(visit, job)
            except TimeoutError:
                raise EgressRefused(quiet, "cut", 504) from None

    async def _speak(self, visit: LiveConnection, job: Wire) -> str:
        """Read the job's request, judge it, and carry it out; return why it was allowed."""
        request = read_request(await self._head(job))
        visit.host, visit.port = shown(request.host), request.port
        route = None if request.method == "CONNECT" else self._policy.route(request.host, request.port)
        if route is not None:
            visit.host, visit.rule = route.name, f"{route.name} for {route.host}"
            visit.begin()
            await self._forward(visit, request, job, route)
            return f"{route.name} is {route.host}, by the settings."
        registry = self._policy.registry(request.host, request.port, request.path)
        if registry is not None:
            return await self._read_registry(visit, request, job, registry)
        reach = may_reach(request.host, request.port, self._policy.rules)
        if not reach.allowed:
            raise EgressRefused(reach.why)
        visit.host, visit.rule = reach.name, reach.rule
        if request.method != "CONNECT" and request.port == 443:
            raise EgressRefused(f"Port 443 of {reach.name} accepts TLS only; a plain request was refused.")
        visit.begin()
        if request.method == "CONNECT":
            await self._tunnel(visit, job)
        else:
            await self._forward(visit, replace(request, host=reach.name), job, None)
        return reach.why

    async def _read_registry(
        self, visit: LiveConnection, request: ProxyRequest, job: Wire, registry: RegistryHost
    ) -> str:
        visit.host, visit.rule = registry.host, registry.client
        if registry.secure != (request.method == "CONNECT"):
            kind = "TLS" if registry.secure else "plain http"
            raise EgressRefused(f"{registry.host} is a registry that {registry.client} reads by {kind} only.")
        visit.begin()
        if not registry.secure:
            await self._reader.read(visit, request, job, registry, keeps=False)
        elif self._policy.identity is None:
            raise EgressRefused(f"{registry.host} cannot be read without a certificate for it.", "failed")
        else:
            tunnel = OpenedTunnel(visit, job, self._policy.identity, self._policy.deadlines)

            async def forward(inner: ProxyRequest, wire: Wire) -> bool:
                at = self._policy.registry(inner.host, inner.port, inner.path) or registry
                return await self._reader.read(visit, inner, wire, at, keeps=True)

            await tunnel.run(forward)
        return f"{registry.host} is a registry of {registry.client} on this machine, for reading."

    async def _head(self, job: Wire) -> bytes:
        slow = "The job opened a connection and did not finish its request in time."
        async with within(self._policy.deadlines.head, slow, "refused", 408):
            try:
                return await job.reader.readuntil(b"\r\n\r\n")
            except asyncio.LimitOverrunError:
                raise EgressRefused("The request was refused: its head is too large.", status=431) from None
            except asyncio.IncompleteReadError:
                raise EgressRefused(
                    "The job opened a connection and hung up before its request was complete."
                ) from None

    async def _tunnel(self, visit: LiveConnection, job: Wire) -> None:
        limits = self._policy.deadlines
        addresses = await self._dialler.addresses(visit.host, visit.port)
        world = await self._dialler.dial(visit, addresses, host=visit.host)
        try:
            await Tunnel(visit, job, world, limits).run()
            await world.hang_up(limits.linger)
        finally:
            world.cut()

    async def _forward(
        self, visit: LiveConnection, request: ProxyRequest, job: Wire, route: RegistryRoute | None
    ) -> None:
        head = await head_for(request, route)
        host, port = (route.host, route.port) if route else (request.host, request.port)
        own_network = route is not None and route.own_network
        addresses = await self._dialler.addresses(host, port, own_network=own_network)
        trust = self._trusted() if route and route.secure else None
        world = await self._dialler.dial(visit, addresses, host=host, trust=trust)
        try:
            await visit.send(head, world.writer)
            await carry(visit, request, job, world, route)
        finally:
            world.cut()

    def _trusted(self) -> ssl.SSLContext:
        """Load the machine's certificates once, and only if a route needs them."""
        self._trust = self._trust or ssl.create_default_context()
        return self._trust

    async def _tell(self, visit: LiveConnection, job: Wire, turned: EgressRefused) -> None:
        """Send the reason, where it cannot be mistaken for something else."""
        if visit.stage == "sealed":
            return  # the closed connection itself shows a TLS client that data is missing
        if visit.stage == "answering":
            job.break_off()
            return
        if visit.stage == "greeting":
            job.writer.write(ACCESS_DENIED)
        else:
            text = f"{turned.message}\n".encode()
            fields = (("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(text))))
            first = f"HTTP/1.1 {turned.answer} {HTTPStatus(turned.answer).phrase}"
            job.writer.write(written(first, (*fields, ("Connection", "close"))) + text)
        await job.hang_up(self._policy.deadlines.linger)
