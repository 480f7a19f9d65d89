"""Somebody with a browser's manners before a real site: cookies, Origin, the page's token."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from midwatch.compose.house import House
from midwatch.evening import accounts as door
from midwatch.surfaces.web.site.app import Site
from midwatch.terms.people import Role, Scope

PORT = 8484
HERE = f"http://127.0.0.1:{PORT}"
PASSWORD = "a quiet night of work"


async def still_reads() -> bool:
    """Answer for a reader whose right does not end."""
    return True


class Visitor:
    """One browser."""

    def __init__(self, site: Site, address: str = "203.0.113.7") -> None:
        transport = httpx.ASGITransport(site.guarded, client=(address, 50000), raise_app_exceptions=False)
        self.http = httpx.AsyncClient(transport=transport, base_url=HERE, headers={"accept": "text/html"})
        self.csrf = ""

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self.http.get(path, headers=headers)

    async def post(self, path: str, data: Any = None, **headers: str) -> httpx.Response:
        sent = {"origin": HERE, "sec-fetch-site": "same-origin", "x-csrf": self.csrf} | headers
        return await self.http.post(path, data=data, headers=sent)

    async def api(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        sent = {"origin": HERE, "x-csrf": self.csrf, "accept": "application/json"} | headers
        return await self.http.request(method, f"/api/v1{path}", json=body, headers=sent)


@asynccontextmanager
async def visiting(house: House, address: str = "203.0.113.7") -> AsyncIterator[Visitor]:
    """Stand before the house."""
    visitor = Visitor(Site(house, port=PORT), address)
    async with visitor.http:
        yield visitor


async def welcome(house: House, visitor: Visitor, name: str = "ann", role: Role = Role.OWNER) -> None:
    """Come in by a one-time link."""
    key = await door.invite(house.entrance, role, by="midwatch")
    answer = await visitor.post("/welcome", {"key": key, "name": name, "password": PASSWORD})
    assert answer.status_code == 303, answer.text
    known = await door.by_cookie(house.entrance, visitor.http.cookies["midwatch"])
    assert known
    visitor.csrf = known[1].csrf


async def token(house: House, person: str, *scopes: Scope) -> dict[str, str]:
    """Make a token and give the header that carries it."""
    _, secret = await door.issue_token(house.entrance, "program", frozenset(scopes), person=person, by="ann")
    return {"authorization": f"Bearer {secret}"}
