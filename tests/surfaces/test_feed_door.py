"""A stream ends when its reader may no longer read, and only those who still may come back."""

import asyncio
import socket
from datetime import timedelta
from pathlib import Path
from typing import Any

from midwatch.evening import accounts
from midwatch.surfaces.web.site.app import Site
from midwatch.terms.people import Role, Scope
from midwatch.terms.records import JobRow
from tests.nights.house import a_house, orders, sample_repository
from tests.patience import PATIENCE
from tests.surfaces.viewers import HTMX, served_by, streaming, viewing


async def test_when_a_token_is_revoked_its_stream_ends_and_the_door_stays_shut(tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE), a_house(tmp_path / "h") as made:
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        site = Site(made.house, port=port)
        entrance, read = made.house.entrance, frozenset({Scope.READ})
        link = await accounts.invite(entrance, Role.VIEWER, by="ann")
        await accounts.accept(entrance, link, "bob", "a long enough pass phrase")
        _, kept = await accounts.issue_token(entrance, "kept", read, person="bob", by="ann")
        _, lost = await accounts.issue_token(entrance, "lost", read, person="bob", by="ann")
        async with (
            served_by(site.guarded, listening, site.feed),
            viewing(port, token=kept, accept=HTMX) as good,
            viewing(port, token=lost) as bad,
        ):
            await accounts.revoke_token(entrance, "lost", by="ann")
            await bad.over()
            await good.over()
            assert bad.seqs == []
            async with viewing(port, token=lost, last=bad.told[-1].id, greeted=False) as again:
                await again.until(lambda one: one.head)
                assert " 401 " in again.head.splitlines()[0]
            async with viewing(port, token=kept, last=good.told[-1].id) as back:
                await back.until(lambda one: "token.revoked" in [told.json.get("kind") for told in one.told])


async def test_a_stream_does_not_outlive_its_login_for_long(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(PATIENCE),
        a_house(tmp_path / "h") as made,
        streaming(made.house, ping_seconds=0.01, longest_seconds=0.0) as served,
        viewing(served.port) as viewer,
    ):
        await viewer.over()


async def test_a_stream_ends_when_its_token_does_and_when_a_new_password_ends_its_login(tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE), a_house(tmp_path / "h") as made:
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        site = Site(made.house, port=port)
        site.feed._ping_seconds = 0.01
        entrance, read = made.house.entrance, frozenset({Scope.READ})
        link = await accounts.invite(entrance, Role.VIEWER, by="ann")
        await accounts.accept(entrance, link, "bob", "a long enough pass phrase")
        _, brief = await accounts.issue_token(entrance, "brief", read, person="bob", by="ann", days=1)
        _, kept = await accounts.issue_token(entrance, "kept", read, person="bob", by="ann", days=9)
        async with served_by(site.guarded, listening, site.feed), viewing(port, token=kept) as good:
            async with viewing(port, token=brief) as bad:
                made.clock.jump_to(made.clock.now() + timedelta(days=2))
                await bad.over()
            again = await accounts.invite(entrance, Role.VIEWER, by="ann", person="bob")
            await accounts.accept(entrance, again, "", "another long pass phrase")
            await good.over()  # it comes back: only logins ended


async def test_a_jobs_log_ends_with_the_right_of_its_reader(tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE), a_house(tmp_path / "h") as made:
        await made.project(sample_repository(tmp_path / "repo"))
        await made.begin(orders("Tidy up"))
        await made.settle()
        entrance = made.house.entrance
        link = await accounts.invite(entrance, Role.VIEWER, by="ann")
        await accounts.accept(entrance, link, "bob", "a long enough pass phrase")
        begun, never = asyncio.Event(), asyncio.Event()

        async def receive() -> Any:
            await never.wait()

        async def send(said: Any) -> None:
            if said["type"] == "http.response.start" and said["status"] == 200:
                begun.set()

        site = Site(made.house, port=8484)
        for path in ("/jobs/1/log/stream", "/jobs/1/log/stream?raw=true"):
            _, secret = await accounts.issue_token(entrance, path, frozenset({Scope.READ}), person="bob", by="ann")
            begun.clear()
            following = asyncio.ensure_future(site.guarded(_asking(path, secret), receive, send))
            await begun.wait()
            await accounts.revoke_token(entrance, path, by="ann")
            await following  # it ends by itself; the job goes on
        assert not (await made.house.records.find(JobRow))[0].state.over


def _asking(path: str, secret: str) -> dict[str, Any]:
    """One request as a server hands it on."""
    where, _, query = path.partition("?")
    headers = [(b"host", b"127.0.0.1:8484"), (b"authorization", f"Bearer {secret}".encode())]
    return {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": where,
        "raw_path": where.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": ("203.0.113.7", 50000),
        "server": ("127.0.0.1", 8484),
    }
