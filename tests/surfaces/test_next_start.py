"""What is applied can be read by the next start: hostile values of every key, over the owner's socket."""

from pathlib import Path
from typing import Any

import httpx
from pydantic import JsonValue

from midwatch.compose.house import Parts
from midwatch.compose.opening import open_house
from midwatch.engine.inline import InlineEngine
from midwatch.errors import Misuse
from midwatch.settings import KEYS, load_settings
from midwatch.surfaces.api.app import make_app
from tests.nights.house import a_house

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
