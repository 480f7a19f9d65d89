"""Every route with who may use it: a new one has to be written down in routes.txt, or it does not get in."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute

from midwatch.surfaces.api.access import Needs
from midwatch.surfaces.web.site.app import Site
from midwatch.surfaces.web.site.guard import PUBLIC
from midwatch.terms.people import LOWEST_ROLE, Role
from tests.nights.house import TestHouse, a_house
from tests.surfaces.visitor import PORT, Visitor, visiting, welcome

LISTED = Path(__file__).with_name("routes.txt")
OPEN = {"/healthz", "/readyz", "/login", "/welcome", "/logout", "/favicon.ico"}
"""For everybody: they show nothing of the house."""
SIGNED = {"/hooks/github/{forge}"}
"""For whoever knows the secret: each call is signed, and shown nothing either."""
NEVER_ENDING = {"/events", "/jobs/{name}/log/stream"}


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[TestHouse]:
    async with a_house(tmp_path / "home") as opened:
        yield opened


def walk(routes: list[Any], prefix: str = "") -> Iterator[tuple[str, str, APIRoute]]:
    """Every route of an application, with its whole path."""
    for route in routes:
        if isinstance(route, APIRoute):
            for method in sorted(route.methods or ()):
                yield method, prefix + route.path, route
        elif hasattr(route, "original_router"):
            yield from walk(route.original_router.routes, prefix + route.include_context.prefix)


def who(route: APIRoute) -> str:
    """The lowest role that may use it, by the one need it states."""
    needs = [one.call.scope for one in route.dependant.dependencies if isinstance(one.call, Needs)]
    assert len(needs) <= 1, f"{route.path} states more than one need"
    return LOWEST_ROLE[needs[0]].value if needs else "everybody"


def routes(house: TestHouse) -> list[tuple[str, str, str]]:
    site = Site(house.house, port=PORT)
    return sorted((path, method, who(route)) for method, path, route in walk(site.app.routes))


async def test_every_route_is_written_down_with_its_role(house: TestHouse) -> None:
    found = [f"{role:9} {method:6} {path}" for path, method, role in routes(house)]
    assert found == LISTED.read_text().splitlines()


async def test_only_the_door_is_open_to_everybody(house: TestHouse) -> None:
    assert {path for path, _, role in routes(house) if role == "everybody"} == OPEN | SIGNED
    assert PUBLIC | {"/logout"} == OPEN


async def test_reading_is_for_viewers_and_nothing_else_is(house: TestHouse) -> None:
    for path, method, role in routes(house):
        if role == "viewer":
            assert method == "GET", path
        if method != "GET" and path not in OPEN | SIGNED:
            assert role != "viewer", path


@pytest.mark.parametrize("role", Role)
async def test_each_role_gets_as_far_as_its_role_and_no_further(house: TestHouse, role: Role) -> None:
    async with visiting(house.house) as owner, visiting(house.house) as visitor:
        await welcome(house.house, owner)
        await welcome(house.house, visitor, role.value, role)
        for path, method, lowest in routes(house):
            if path in OPEN | SIGNED | NEVER_ENDING:
                continue
            status, said = await tried(visitor, method, path)
            assert status < 500, (method, path)
            turned_away = status == 403 and "needs the role" in said
            assert turned_away == (list(Role).index(role) < list(Role).index(Role(lowest))), (method, path)


async def tried(visitor: Visitor, method: str, path: str) -> tuple[int, str]:
    """Knock with an empty hand; whoever may not, is told so before anything is read."""
    address = path.replace("{", "").replace("}", "")
    sent = {"origin": "http://127.0.0.1:8484", "x-csrf": visitor.csrf, "accept": "application/json"}
    answer = await visitor.http.request(method, address, json={} if path.startswith("/api") else None, headers=sent)
    return answer.status_code, answer.text
