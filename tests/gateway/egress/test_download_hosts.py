"""Hosts that only a registry's own page names: on the internet, or where the registry itself is."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from midwatch.gateway.egress import RegistryHost
from midwatch.gateway.egress.dialer import Dialer
from midwatch.gateway.registries.access import hosts_of
from midwatch.gateway.registries.book import downloads
from midwatch.gateway.registries.client import ClientRegistries, DownloadHost, RegistrySource
from tests.gateway.egress.conftest import Authority
from tests.gateway.egress.lab import QUICK, FarEnd, far_end, lab
from tests.gateway.egress.test_registry_hosts import HOST, OURS, ask, tunnel

REGISTRY = "packages.corp.example"
AT_HOME, BESIDE, ON_THE_INTERNET = "10.0.0.7", "10.0.0.8", "93.184.215.14"
GET = b"GET /a.tgz HTTP/1.1\r\nAuthorization: own\r\n\r\n"


def naming(url: str) -> bytes:
    said = json.dumps({"dist": {"tarball": url}}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(said), said)


async def named_by(end: FarEnd) -> tuple[DownloadHost | RegistrySource, ...]:
    """Ask a registry on loopback from where it downloads."""
    return await downloads(ClientRegistries("npm", (RegistrySource(f"http://127.0.0.1:{end.port}/", "Bearer s3cret"),)))


HOSTILE = {
    "this machine": (ON_THE_INTERNET, "127.0.0.1", "this machine itself"),
    "this network, by a registry on the internet": (ON_THE_INTERNET, AT_HOME, "a private address"),
    "the cloud's metadata": (AT_HOME, "169.254.169.254", "a link-local address"),
    "this machine, by a registry at home": (AT_HOME, "127.0.0.1", "this machine itself"),
    "a neighbour of another domain": (AT_HOME, BESIDE, "a private address"),
}


@pytest.mark.parametrize("case", HOSTILE)
async def test_a_hostile_registry_opens_no_way_into(case: str) -> None:
    registry_at, leads_to, what = HOSTILE[case]
    async with far_end(FarEnd(naming(f"https://{HOST}/a.tgz"))) as end:
        (named,) = await named_by(end)
        assert named == DownloadHost(HOST, 443, (("127.0.0.1", end.port),))
    known = ClientRegistries("npm", (), downloads=(DownloadHost(HOST, 443, ((REGISTRY, 443),)),))
    world = {REGISTRY: [(registry_at, 443)], HOST: [(leads_to, 443)]}
    identity = OURS.identity([HOST], datetime.now(UTC))
    async with lab([], world=world, registries=hosts_of(known), identity=identity, exempt=set()) as job:
        async with tunnel(job, 443) as wire:
            assert f"{HOST} leads to {leads_to}, {what}" in (await ask(wire, GET)).decode()
        record = await job.record()
        assert (record.verdict, record.address) == ("refused", "")


OPEN = {
    "a host on the internet": ([ON_THE_INTERNET], "cdn.elsewhere.example", ON_THE_INTERNET),
    "the registry's own machine": ([AT_HOME], "cdn.elsewhere.example", AT_HOME),
    "a neighbour of the registry's domain": ([AT_HOME], "files.corp.example", BESIDE),
}


@pytest.mark.parametrize("case", OPEN)
async def test_a_registry_may_download_from(case: str) -> None:
    registry_at, host, leads_to = OPEN[case]

    async def resolve(name: str, port: int) -> Sequence[tuple[str, int]]:
        return [(at, port) for at in (registry_at if name == REGISTRY else [leads_to, "127.0.0.1"])]

    dialler = Dialer(resolve, (), QUICK)
    assert await dialler.downloads(host, 443, ((REGISTRY, 443),)) == [(leads_to, 443)]


async def test_a_download_host_is_read_without_any_credential(authority: Authority) -> None:
    end = FarEnd()
    async with far_end(end, authority.server()):
        host = RegistryHost("npm", HOST, end.port, named_by=((REGISTRY, 443),))
        identity = OURS.identity([HOST], datetime.now(UTC))
        world = {HOST: [("127.0.0.1", end.port)]}
        opened = lab([], world=world, registries=(host,), identity=identity, trust=authority.client())
        async with opened as job, tunnel(job, end.port) as wire:
            assert (await ask(wire, GET)).endswith(b"hello")
    assert b"uthorization" not in end.heard[0]


async def test_a_registry_does_not_lead_the_server_itself_elsewhere() -> None:
    async with far_end(FarEnd(naming("https://far.example/a.tgz"))) as inside:
        moved = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%d/npm/latest\r\nContent-Length: 0\r\n\r\n"
        async with far_end(FarEnd(moved % inside.port)) as end:
            assert await named_by(end) == ()
        assert not inside.heard
    own = FarEnd(b"HTTP/1.1 301 Moved\r\nLocation: /moved/latest\r\nContent-Length: 0\r\n\r\n")
    async with far_end(own):
        assert await named_by(own) == ()
        assert own.heard[1].startswith(b"GET /moved/latest ")
