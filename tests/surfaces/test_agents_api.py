"""The agents' routes: what may be changed from afar, and that a new credential is in force at once (N27, A3)."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from midwatch.compose.house import House, Parts
from midwatch.compose.opening import open_house
from midwatch.engine.inline import InlineEngine
from midwatch.journal.events.projects import SettingsApplied
from midwatch.surfaces.api.app import make_app
from midwatch.terms.records import SettingsRow
from tests.agents.model import Fault, Model, Say, scripted_model
from tests.surfaces.visitor import visiting, welcome


@pytest.fixture
async def model() -> AsyncIterator[Model]:
    async with scripted_model() as serving:
        yield serving


@pytest.fixture
async def house(tmp_path: Path, model: Model) -> AsyncIterator[House]:
    home = tmp_path / "house"
    home.mkdir()
    (home / "midwatch.toml").write_text(f'[agents.claude]\nprogram = "/bin/true"\nbase_url = "{model.url}"\n')
    async with open_house(home, parts=Parts(engine=InlineEngine())) as opened:
        yield opened


class Owner:
    """The owner at the machine, over the socket."""

    def __init__(self, house: House) -> None:
        self._http = httpx.AsyncClient(transport=httpx.ASGITransport(make_app(house)), base_url="http://localhost")

    async def api(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return await self._http.request(method, f"/api/v1{path}", json=body)


@pytest.fixture
def owner(house: House) -> Owner:
    return Owner(house)


def kept(folder: Path, value: str) -> str:
    path = folder / "key"
    path.touch(0o600)
    path.write_text(value)
    return f"file:{path}"


async def test_a_trial_keeps_nothing_and_hides_what_was_tried(
    house: House, owner: Owner, model: Model, tmp_path: Path
) -> None:
    key = model.play("tried", Fault(400, "no, not tried"), every=True)
    told = await owner.api("POST", "/agents/claude/trial", {"reference": kept(tmp_path, key)})
    assert (told.json()["heard"], key in told.text) == ("declined", False)
    assert await house.records.find(SettingsRow) == ()
    assert house.redactor.redact(f"it was {key}") == "it was [secret:claude]"


async def test_another_value_in_the_same_file_is_in_force_at_once(
    house: House, owner: Owner, model: Model, tmp_path: Path
) -> None:
    first, second = model.play("first", every=True), model.play("second", every=True)
    given = {"reference": kept(tmp_path, first), "model": "claude-haiku-4-5"}
    put = await owner.api("PUT", "/agents/claude/credential", given)
    assert put.json()["version"] == 1
    assert (await house.vault.secret("claude")).reveal() == first
    kept(tmp_path, second)
    assert (await owner.api("PUT", "/agents/claude/credential", given)).json()["version"] is None
    assert (await house.vault.secret("claude")).reveal() == second
    applied = [one for one in await house.journal.entries(limit=1000) if isinstance(one.event, SettingsApplied)]
    assert len(applied) == 1


async def test_a_command_is_named_in_the_data_folder_only(house: House, owner: Owner, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for method, path in (("POST", "trial"), ("PUT", "credential")):
        said = await owner.api(method, f"/agents/claude/{path}", {"reference": f"cmd:touch {mark}"})
        assert said.status_code == 400
    assert not mark.exists()
    assert await house.records.find(SettingsRow) == ()


async def test_a_credential_is_named_on_the_machine_only(house: House, model: Model, tmp_path: Path) -> None:
    model.play("first", every=True)
    async with visiting(house) as ann:
        await welcome(house, ann)
        for method, path in (("POST", "trial"), ("PUT", "credential"), ("DELETE", "credential")):
            said = await ann.api(method, f"/agents/claude/{path}", {"reference": kept(tmp_path, "sk-of-another")})
            assert (said.status_code, "on the machine itself only" in said.text) == (403, True)
    assert model.requests() == []
    assert await house.records.find(SettingsRow) == ()


async def test_a_value_in_the_place_of_a_reference_is_not_repeated(owner: Owner) -> None:
    said = await owner.api("PUT", "/agents/claude/credential", {"reference": "sk-ant-api03-oops-the-key-itself"})
    assert (said.status_code, "oops" in said.text) == (400, False)


async def test_taking_away_brings_back_what_the_file_says(
    house: House, owner: Owner, model: Model, tmp_path: Path
) -> None:
    file = house.home / "midwatch.toml"
    file.write_text(file.read_text() + 'model = "claude-opus-4-1"\n')
    model.play("first", Say("Hello."), every=True)
    given = {"reference": kept(tmp_path, model.key("first")), "model": "claude-haiku-4-5"}
    await owner.api("PUT", "/agents/claude/credential", given)
    assert house.crew.models["claude"].model == "claude-haiku-4-5"
    told = (await owner.api("DELETE", "/agents/claude/credential")).json()
    assert (told["still_from"], told["shared_with"]) == ("", [])
    row = next(row for row in (await owner.api("GET", "/agents")).json() if row["name"] == "claude")
    assert (row["model"], row["secret"], row["ready"]) == ("claude-opus-4-1", "", False)
    assert "claude" not in house.crew.models


async def test_a_credential_that_another_agent_uses_stays(house: House, owner: Owner, tmp_path: Path) -> None:
    file = house.home / "midwatch.toml"
    file.write_text(file.read_text() + '[agents.second]\nspeaks = "claude"\nsecret = "claude"\n')
    await owner.api("PUT", "/agents/claude/credential", {"reference": kept(tmp_path, "a-key-of-two")})
    told = (await owner.api("DELETE", "/agents/claude/credential")).json()
    assert told["shared_with"] == ["second"]
    assert "claude" in house.loaded.settings.secrets.by_name()


async def test_who_asks_no_model_needs_no_hello_and_strangers_are_not_known(owner: Owner) -> None:
    told = (await owner.api("POST", "/agents/housekeeper/hello")).json()
    assert (told["answers"], told["heard"]) == (True, "no_model_needed")
    assert (await owner.api("POST", "/agents/claude/hello")).json()["heard"] == "not_ready"
    assert (await owner.api("POST", "/agents/nobody/hello")).status_code == 404
