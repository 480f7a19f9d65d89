"""Reading from registries: over a connection that is already open where there is one."""

import ssl
from collections.abc import Callable

from midwatch.gateway.egress.connection import LiveConnection
from midwatch.gateway.egress.dialer import Dialer
from midwatch.gateway.egress.forwarding import Answer, AnswerMissing, head_for, pass_on, read_answer
from midwatch.gateway.egress.http_head import ProxyRequest
from midwatch.gateway.egress.policy import RegistryHost
from midwatch.gateway.egress.resting import RestingConnections, RestingFor
from midwatch.gateway.egress.wire import Wire


class RegistryReader:
    """Carries out the requests of one sandbox to registries, all of them GET or HEAD without a body."""

    def __init__(self, dialler: Dialer, trusted: Callable[[], ssl.SSLContext]) -> None:
        self._dialler = dialler
        self._trusted = trusted
        self._resting = RestingConnections()

    async def read(
        self, visit: LiveConnection, request: ProxyRequest, job: Wire, registry: RegistryHost, *, keeps: bool
    ) -> bool:
        """Bring the answer to the job; return whether the job's connection can carry another request."""
        use = RestingFor.of(registry, request.path)
        world, answer = await self._answered(visit, request, registry, use)
        whole = False
        try:
            keeps = keeps and answer.ends_itself and answer.first.startswith("HTTP/1.1")
            await pass_on(visit, answer, job, world, keeps=keeps)
            whole = answer.leaves_it_open
        finally:
            if whole:
                self._resting.put(use, world, visit.address)
            else:
                world.cut()
        return keeps

    def close(self) -> None:
        self._resting.close()

    async def _answered(
        self, visit: LiveConnection, request: ProxyRequest, registry: RegistryHost, use: RestingFor
    ) -> tuple[Wire, Answer]:
        """Ask on a connection at rest, and once more on a new one where that turns out to be closed."""
        head = await head_for(request, registry)
        if rested := await self._resting.take(use):
            world, visit.address = rested
            try:
                return world, await _asked(visit, request, registry, head, world)
            except AnswerMissing:
                pass  # only reading comes here, so the same request twice changes nothing
        world = await self._dial(visit, registry)
        return world, await _asked(visit, request, registry, head, world)

    async def _dial(self, visit: LiveConnection, registry: RegistryHost) -> Wire:
        host, port = registry.host, registry.port
        if registry.named_by:
            addresses = await self._dialler.downloads(host, port, registry.named_by)
        else:
            addresses = await self._dialler.addresses(host, port, own_network=True)
        trust = self._trusted() if registry.secure else None
        return await self._dialler.dial(visit, addresses, host=host, trust=trust)


async def _asked(
    visit: LiveConnection, request: ProxyRequest, registry: RegistryHost, head: bytes, world: Wire
) -> Answer:
    try:
        try:
            await visit.send(head, world.writer)
        except ConnectionError:
            raise AnswerMissing(f"{registry.host} closed the connection.", "failed", 502) from None
        return await read_answer(visit, request, world, registry)
    except BaseException:
        world.cut()
        raise
