"""Routes: a name inside for a registry outside, whose credential the job never sees."""

from collections.abc import Mapping

import pytest

from midwatch.errors import Misuse, Unavailable
from midwatch.gateway.egress import HeaderSource, RegistryRoute
from midwatch.gateway.egress.connection import EgressRefused
from midwatch.gateway.egress.forwarding import path_on
from tests.gateway.egress.conftest import Authority
from tests.gateway.egress.lab import FarEnd, far_end, lab

NAME = "pip.midwatch.internal"
GET = b"GET http://pip.midwatch.internal/wheels/a-1.whl?x=1 HTTP/1.1\r\nHost: pip.midwatch.internal\r\n"


async def token() -> Mapping[str, str]:
    return {"Authorization": "Bearer s3cret"}


def route(headers: HeaderSource = token, upstream: str = "https://files.example/team/") -> RegistryRoute:
    return RegistryRoute(NAME, upstream, headers)


async def test_the_credential_is_added_outside_and_the_jobs_own_is_left_behind(authority: Authority) -> None:
    async with (
        far_end(FarEnd(), authority.server()) as end,
        lab([], world={"files.example": [("127.0.0.1", end.port)]}, routes=(route(),), trust=authority.client()) as job,
    ):
        heard = await job.say(GET + b"Authorization: Basic own\r\nCookie: own\r\nAccept: */*\r\n\r\n")
        assert heard.endswith(b"hello")
        assert end.heard == [
            (
                b"GET /team/wheels/a-1.whl?x=1 HTTP/1.1\r\nHost: files.example\r\nConnection: close\r\nAccept: */*\r\n"
                b"Authorization: Bearer s3cret\r\n\r\n"
            )
        ]
        record = await job.record()
        assert (record.host, record.verdict) == (NAME, "allowed")
        assert record.why == "pip.midwatch.internal is files.example, by the settings."
        assert "s3cret" not in repr(job.records)


async def test_a_route_over_plain_http_carries_the_credential_too() -> None:
    named = RegistryRoute("files.example", "http://files.example/", token)
    async with (
        far_end(FarEnd()) as end,
        lab([], world={"files.example": [("127.0.0.1", end.port)]}, routes=(named,)) as job,
    ):
        assert (await job.say(b"GET http://files.example/a HTTP/1.1\r\n\r\n")).endswith(b"hello")
        assert b"GET /a HTTP/1.1\r\n" in end.heard[0]
        assert b"Bearer s3cret" in end.heard[0]


async def test_a_certificate_nobody_vouches_for_ends_it_before_the_credential_is_sent(authority: Authority) -> None:
    async with (
        far_end(FarEnd(), authority.server()) as end,
        lab([], world={"files.example": [("127.0.0.1", end.port)]}, routes=(route(),)) as job,
    ):
        assert (await job.say(GET + b"\r\n")).startswith(b"HTTP/1.1 502")
        assert (await job.record()).why == "The certificate of files.example cannot be trusted."
        assert not end.heard


async def test_a_certificate_for_another_host_ends_it_too(authority: Authority) -> None:
    other = route(upstream="https://other.example/")
    async with (
        far_end(FarEnd(), authority.server()) as end,
        lab([], world={"other.example": [("127.0.0.1", end.port)]}, routes=(other,), trust=authority.client()) as job,
    ):
        assert (await job.say(GET + b"\r\n")).startswith(b"HTTP/1.1 502")
        assert not end.heard


REFUSED = {
    "publishing": (b"PUT http://pip.midwatch.internal/x HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", "PUT is not allowed"),
    "climbing": (b"GET http://pip.midwatch.internal/../other/ HTTP/1.1\r\n\r\n", "its path leaves the registry"),
    "climbing in disguise": (
        b"GET http://pip.midwatch.internal/%2e%2E%2fother/ HTTP/1.1\r\n\r\n",
        "its path leaves the registry",
    ),
    "climbing backwards": (
        b"GET http://pip.midwatch.internal/..\\other/ HTTP/1.1\r\n\r\n",
        "its path leaves the registry",
    ),
    "a tunnel": (b"CONNECT pip.midwatch.internal:443 HTTP/1.1\r\n\r\n", "not on the list of this job"),
    "another port": (b"GET http://pip.midwatch.internal:8080/ HTTP/1.1\r\n\r\n", "not on the list of this job"),
    "the far end itself": (b"GET http://files.example/ HTTP/1.1\r\n\r\n", "not on the list of this job"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_route_is_for_reading_below_its_folder_only(case: str, authority: Authority) -> None:
    sent, why = REFUSED[case]
    async with (
        far_end(FarEnd(), authority.server()) as end,
        lab([], world={"files.example": [("127.0.0.1", end.port)]}, routes=(route(),), trust=authority.client()) as job,
    ):
        assert (await job.say(sent)).startswith(b"HTTP/1.1 4")
        assert why in (await job.record()).why
        assert not end.heard


async def fails() -> Mapping[str, str]:
    raise Unavailable("the vault says s3cret")


async def breaks_out() -> Mapping[str, str]:
    return {"Authorization": "s3cret\r\nX-More: 1"}


@pytest.mark.parametrize("source", [fails, breaks_out])
async def test_a_credential_that_cannot_be_had_is_said_without_a_word_of_it(source: HeaderSource) -> None:
    async with lab([], routes=(route(source),)) as job:
        heard = await job.say(GET + b"\r\n")
        assert heard.startswith(b"HTTP/1.1 502")
        assert b"s3cret" not in heard
        assert (await job.record()).why == "The credential for pip.midwatch.internal is not available."


async def test_redirects_stay_on_the_route_and_cookies_outside(authority: Authority) -> None:
    answer = (
        b"HTTP/1.1 302 Found\r\nLocation: https://files.example/team/b\r\nSet-Cookie: session=1\r\n"
        b"Content-Length: 0\r\n\r\n"
    )
    async with (
        far_end(FarEnd(answer), authority.server()) as end,
        lab([], world={"files.example": [("127.0.0.1", end.port)]}, routes=(route(),), trust=authority.client()) as job,
    ):
        heard = await job.say(GET + b"\r\n")
        assert b"Location: http://pip.midwatch.internal/b\r\n" in heard
        assert b"Cookie" not in heard


async def test_a_registry_at_a_private_address_needs_the_houses_word() -> None:
    async with lab([], world={"files.example": [("10.0.0.1", 443)]}, routes=(route(),), exempt=set()) as job:
        assert (await job.say(GET + b"\r\n")).startswith(b"HTTP/1.1 403")
        assert (await job.record()).why == "files.example leads to 10.0.0.1, a private address."


@pytest.mark.parametrize(
    ("name", "upstream"),
    [
        (NAME, "ftp://files.example/"),
        (NAME, "https://10.0.0.1/"),
        (NAME, "https://me@files.example/"),
        (NAME, "https://files.example:99999/"),
        (NAME, "https://files.example/?q"),
        ("pip", "https://files.example/"),
        ("evil.example", "https://files.example/"),
        ("files.example", "https://files.example/"),
    ],
)
def test_a_route_that_cannot_work_is_misuse(name: str, upstream: str) -> None:
    with pytest.raises(Misuse) as problem:
        RegistryRoute(name, upstream)
    assert problem.value.hint


def test_a_scoped_package_is_no_climb() -> None:
    assert path_on(route(), "/@scope%2fname") == "/team/@scope%2fname"
    with pytest.raises(EgressRefused):
        path_on(route(), "/a/%2e%2e/b")
