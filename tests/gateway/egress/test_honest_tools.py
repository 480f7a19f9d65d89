"""Honest work goes through: the tools people use, over http, https and a route."""

import asyncio
import os
import shutil
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from midwatch.gateway.egress import RegistryRoute, dialer
from midwatch.gateway.egress.dialer import SystemResolver
from midwatch.gateway.room_network import QUICK_RETRIES
from tests.conftest import missing
from tests.gateway.egress.conftest import Authority
from tests.gateway.egress.lab import FarEnd, Lab, far_end, lab
from tests.patience import PATIENCE

UV = Path(sys.prefix) / "installer" / "bin"
BIG = os.urandom(3_000_000)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BIG) + BIG


async def run(*command: str | Path, more: Mapping[str, str] | None = None) -> tuple[int, bytes, bytes]:
    """Run a program with no setting of ours in its environment but these."""
    clean = {"PATH": os.environ["PATH"], **(more or {})}
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*map(str, command), stdout=pipe, stderr=pipe, env=clean)
    async with asyncio.timeout(PATIENCE):
        out, problem = await child.communicate()
    return child.returncode or 0, out, problem


async def curl(job: Lab, *arguments: str | Path) -> tuple[int, bytes, bytes]:
    if shutil.which("curl") is None:
        missing("curl", "it is the honest client")
    return await run("curl", "-sS", "-m", "20", "-x", job.proxy, *arguments)


async def test_curl_over_http() -> None:
    async with far_end(FarEnd(ANSWER)) as end, lab(world={"files.example": [("127.0.0.1", end.port)]}) as job:
        assert await curl(job, "http://FILES.example./big") == (0, BIG, b"")
        assert (await job.record()).bytes_in >= len(BIG)


async def test_curl_over_https(authority: Authority) -> None:
    async with (
        far_end(FarEnd(ANSWER), authority.server()) as end,
        lab(world={"a.packages.example": [("127.0.0.1", end.port)]}) as job,
    ):
        url = "https://a.packages.example/big"
        assert await curl(job, "--cacert", authority.root, url) == (0, BIG, b"")
        record = await job.record()
        assert (record.verdict, record.port, record.rule) == ("allowed", 443, "*.packages.example")


async def test_curl_sends_a_large_body_after_asking_whether_it_may(tmp_path: Path) -> None:
    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        end.hear(await reader.readexactly(len(BIG)))
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    body = tmp_path / "body"
    body.write_bytes(BIG)
    async with far_end(FarEnd(talk=receive)) as end, lab(world={"files.example": [("127.0.0.1", end.port)]}) as job:
        assert (await curl(job, "--data-binary", f"@{body}", "http://files.example/"))[0] == 0
        assert end.heard == [BIG]


async def test_curl_is_told_why_not(authority: Authority) -> None:
    async with lab() as job:
        assert (await curl(job, "http://evil.example/"))[1] == b"evil.example is not on the list of this job.\n"
        code, _, problem = await curl(job, "--cacert", authority.root, "https://evil.example/")
        assert code == 56
        assert b"403" in problem


async def test_curl_asking_for_another_name_inside_the_tunnel_is_told_so(authority: Authority) -> None:
    async with (
        far_end(FarEnd(), authority.server()) as end,
        lab(world={"files.example": [("127.0.0.1", end.port)]}) as job,
    ):
        trick = ("--connect-to", "a.packages.example:443:files.example:443", "https://a.packages.example/")
        code, _, problem = await curl(job, "--cacert", authority.root, *trick)
        assert code == 35
        assert b"access denied" in problem
        assert (await job.record()).why == "The tunnel to files.example asked for a.packages.example inside."
        assert not end.heard


async def test_pip_installs_from_a_route(authority: Authority, tmp_path: Path) -> None:
    """Needs only pip's own wheel reader: one pure wheel, made by hand, behind a credential."""
    wheel = tmp_path / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("tiny.py", "x = 1\n")
        made.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        made.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        made.writestr("tiny-1.0.dist-info/RECORD", "")

    async def registry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        known = b"Authorization: Bearer s3cret\r\n" in head
        page = b'<a href="../../files/tiny-1.0-py3-none-any.whl">tiny-1.0-py3-none-any.whl</a>'
        body = wheel.read_bytes() if b".whl " in head else page
        first = b"HTTP/1.1 200 OK" if known else b"HTTP/1.1 401 Unauthorized"
        kind = b"application/octet-stream" if b".whl " in head else b"text/html"
        writer.write(first + b"\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, len(body)) + body)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def token() -> dict[str, str]:
        return {"Authorization": "Bearer s3cret"}

    probe = await run("python3", "-m", "pip", "--version")
    if probe[0]:
        missing("pip", "the system's python has none")
    route = RegistryRoute("pip.midwatch.internal", "https://files.example/team/", token)
    async with (
        far_end(FarEnd(talk=registry), authority.server()) as end,
        lab([], world={"files.example": [("127.0.0.1", end.port)]}, routes=(route,), trust=authority.client()) as job,
    ):
        index = ("--index-url", "http://pip.midwatch.internal/index/", "--trusted-host", "pip.midwatch.internal")
        quiet = ("--isolated", "--disable-pip-version-check", "--no-cache-dir", "--no-deps")
        target = tmp_path / "target"
        code, _, problem = await run(
            "python3", "-m", "pip", "install", *quiet, "--proxy", job.proxy, *index, "--target", target, "tiny"
        )
        assert code == 0, problem
        assert (target / "tiny.py").read_text() == "x = 1\n"
        assert {record.verdict for record in job.records} == {"allowed"}


async def test_urllib_over_https(authority: Authority) -> None:
    script = (
        "import ssl, sys, urllib.request as u\n"
        "trust = u.HTTPSHandler(context=ssl.create_default_context(cafile=sys.argv[2]))\n"
        "opener = u.build_opener(u.ProxyHandler({'https': sys.argv[1]}), trust)\n"
        "sys.stdout.buffer.write(opener.open('https://files.example/').read())\n"
    )
    async with (
        far_end(FarEnd(), authority.server()) as end,
        lab(world={"files.example": [("127.0.0.1", end.port)]}) as job,
    ):
        assert await run(sys.executable, "-c", script, job.proxy, authority.root) == (0, b"hello", b"")


ELSEWHERE = ("--index-url", "https://evil.example/")
REFUSED = {
    "pip": ("python3", "-m", "pip", "download", "--disable-pip-version-check", "--no-cache-dir", *ELSEWHERE, "x"),
    "npm": ("npm", "view", "--registry", "https://evil.example/", "x"),
    "uv": (UV / "uv", "pip", "install", "--dry-run", "--no-cache", "--python", sys.executable, *ELSEWHERE, "x"),
}


@pytest.mark.parametrize("client", REFUSED)
async def test_package_clients_soon_believe_a_refusal(client: str, tmp_path: Path) -> None:
    """By default pip asks six times, and newer clients of npm wait a minute before the third."""
    command = REFUSED[client]
    if shutil.which(command[0]) is None:
        missing(client, "it asks for a package")
    async with lab() as job:
        quick = {**QUICK_RETRIES, "HTTPS_PROXY": job.proxy, "https_proxy": job.proxy, "HOME": str(tmp_path)}
        assert (await run(*command, more=quick))[0] != 0
        assert 1 <= len(job.records) <= 3
        assert {record.verdict for record in job.records} == {"refused"}


async def test_a_name_that_only_this_machines_list_of_hosts_has_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = tmp_path / "hosts"
    listed.write_text(
        "127.0.0.1 localhost\n10.9.8.7\tshelf Packages.invalid # in the cellar\n# 10.0.0.1 gone.invalid\n"
    )
    monkeypatch.setattr(dialer, "HOSTS_FILE", listed)
    resolver = SystemResolver()
    assert await resolver("packages.invalid", 80) == [("10.9.8.7", 80)]
    with pytest.raises(OSError, match=r"Name or service|No address|failure"):
        await resolver("gone.invalid", 80)
    resolver.close()


async def test_the_machines_own_resolver_knows_no_invalid_name() -> None:
    resolver = SystemResolver()
    with pytest.raises(OSError, match=r"Name or service|No address|failure"):
        await resolver("no-such-host.invalid", 80)
    resolver.close()
