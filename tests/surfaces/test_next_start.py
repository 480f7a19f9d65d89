"""What is applied can be read by the next start: hostile values of every key, over the owner's socket."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import JsonValue

from midwatch.compose.house import House, Parts
from midwatch.compose.opening import open_house
from midwatch.engine.inline import InlineEngine
from midwatch.errors import Misuse
from midwatch.settings import KEYS, load_settings
from midwatch.surfaces.api.app import make_app
from midwatch.surfaces.queries.status import status
from tests.nights.house import a_house

PROPOSALS = "/api/v1/settings/proposals"
ODD: tuple[Any, ...] = (
    *(0, -1, 1e308, 10**9, True, "", "~nobody-here/x", "../../etc/passwd", "192.0.2.1", "no such name", "full"),
    *(["~nobody-here/x"], ["/nonexistent"], ["/a\0b"], ["/"], ["~/.ssh"], ["*"], ["a b"], ["::1"], ["http://x"]),
    *(["x=https://h:99999/"], ["pip=https://[/x"], ["pip=https://h/#bearer:none"], ["Bash(("], [0, 0]),
)
BREAKS_A_START = {"sandbox.toolchains", "server.host"}
BREAKS_A_JOB = {"sandbox.domains", "sandbox.setup_domains", "sandbox.registries", "ceilings.domains"}


async def test_what_the_next_start_could_not_read_is_not_applied(tmp_path: Path) -> None:
    refused = set()
    async with a_house(tmp_path / "home") as at:
        transport = httpx.ASGITransport(make_app(at.house))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as owner:
            for name, value in ((name, value) for name in KEYS for value in ODD):
                if not _accepted(tmp_path, name, value):
                    continue
                answer = await owner.post("/api/v1/settings/proposals", json={"changes": {name: value}})
                assert answer.status_code < 500, (name, value, answer.text)
                if answer.status_code != 200:
                    refused.add(name)
    assert refused == BREAKS_A_START | BREAKS_A_JOB


def _accepted(home: Path, name: str, value: JsonValue) -> bool:
    """Whether the setting's own type takes it, and it contradicts no other."""
    try:
        KEYS[name].accept(value)
        load_settings(home, stored=[{name: value}], environ={})
    except Misuse:
        return False
    return KEYS[name].storable


async def test_a_proposal_is_tried_again_when_it_is_applied(tmp_path: Path) -> None:
    home, tools = tmp_path / "home", tmp_path / "tools"
    tools.mkdir()
    async with open_house(home, parts=Parts(engine=InlineEngine())) as house:
        transport = httpx.ASGITransport(make_app(house))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as owner:
            sent = {"changes": {"sandbox.toolchains": [str(tools)]}}
            assert (await owner.post("/api/v1/settings/proposals", json=sent)).status_code == 200
            tools.rmdir()
            assert (await owner.post("/api/v1/settings/proposals/1/apply")).status_code == 400
    async with open_house(home, parts=Parts(engine=InlineEngine())) as house:
        assert house.loaded.settings.sandbox.toolchains == ()


async def _sends(house: House, changes: dict[str, Any]) -> httpx.Response:
    transport = httpx.ASGITransport(make_app(house))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as owner:
        sent = await owner.post(PROPOSALS, json={"changes": changes})
        return await owner.post(f"{PROPOSALS}/{sent.json()['number']}/apply") if sent.status_code == 200 else sent


async def test_a_lent_folder_that_comes_to_hold_a_secret_is_left_out_and_said_and_can_be_corrected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    home, cargo, other = tmp_path / "home", tmp_path / "ann" / ".cargo", tmp_path / "other"
    for folder in (cargo, other):
        folder.mkdir(parents=True)
    async with open_house(home, parts=Parts(engine=InlineEngine())) as house:
        assert (await _sends(house, {"sandbox.toolchains": [str(cargo)]})).status_code == 200
        (cargo / "credentials.toml").touch()
        await house.reload_settings()
        assert cargo not in house.workshop.enclosure.toolchains
    async with open_house(home, parts=Parts(engine=InlineEngine())) as house:
        (trouble,) = (await status(house)).troubles
        assert all(said in trouble for said in (str(cargo), "sandbox.toolchains=", "MIDWATCH_SANDBOX__TOOLCHAINS"))
        assert (await _sends(house, {"limits.session_usd": 7})).status_code == 200, "it is no fault of this change"
        (other / ".env").touch()
        assert (await _sends(house, {"sandbox.toolchains": [str(cargo), str(other)]})).status_code == 400
        assert (await _sends(house, {"sandbox.toolchains": []})).status_code == 200
        assert (await status(house)).troubles == ()


async def test_what_the_environment_covers_is_no_fault_of_another_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, tools = tmp_path / "home", tmp_path / "tools"
    tools.mkdir()
    async with open_house(home, parts=Parts(engine=InlineEngine())) as house:
        assert (await _sends(house, {"sandbox.toolchains": [str(tools)]})).status_code == 200
    tools.rmdir()
    monkeypatch.setenv("MIDWATCH_SANDBOX__TOOLCHAINS", "")
    async with open_house(home, parts=Parts(engine=InlineEngine())) as house:
        assert (await status(house)).troubles == ()
        assert (await _sends(house, {"limits.session_usd": 7})).status_code == 200
