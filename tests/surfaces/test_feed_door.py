"""A stream ends when its reader may no longer read, and only those who still may come back."""

import asyncio
import socket
from pathlib import Path

from midwatch.evening import accounts
from midwatch.surfaces.web.site.app import Site
from midwatch.terms.people import Role, Scope
from tests.nights.house import a_house
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
