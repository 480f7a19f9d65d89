"""A house fetches its secrets when it opens, says which it could not have, and takes them out of all it writes."""

import logging
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from midwatch.compose.house import Parts
from midwatch.compose.opening import open_house
from midwatch.engine.inline import InlineEngine
from midwatch.evening import projects as by_day
from midwatch.surfaces.api.app import make_app
from midwatch.terms.records import SettingsRow
from tests.surfaces.visitor import visiting, welcome

VALUE = "the-owl-flies-at-0400"
MISSING = "MIDWATCH_TEST_NOT_THERE"


def written(home: Path, text: str) -> Path:
    home.mkdir()
    (home / "midwatch.toml").write_text(text)
    return home


def kept(folder: Path) -> Path:
    path = folder / "token"
    path.write_text(VALUE)
    path.chmod(0o600)
    return path


async def test_a_house_opens_without_a_secret_it_cannot_have_and_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home = written(tmp_path / "house", f'[secrets]\nowl = "file:{kept(tmp_path)}"\nhawk = "env:{MISSING}"\n')
    with caplog.at_level(logging.WARNING):
        async with open_house(home, parts=Parts(engine=InlineEngine())) as house:
            await house.reload_settings()
            assert house.redactor.redact(VALUE) == "[secret:owl]"
            assert house.vault.known() == {"owl": VALUE}
    assert [record.message for record in caplog.records if "secret" in record.message] == [
        (
            f"The secret hawk should be in ${MISSING}, which is not set in the server's environment. "
            f"Set it where the server is started, then start it again there: export {MISSING}=...; "
            "midwatch down; midwatch up --detach"
        )
    ]
    assert VALUE not in caplog.text


async def test_a_secret_named_in_an_applied_version_is_known_from_then_on(tmp_path: Path) -> None:
    async with open_house(tmp_path / "house", parts=Parts(engine=InlineEngine())) as house, visiting(house) as visitor:
        await welcome(house, visitor)
        changes = {"secrets.owl": f"file:{kept(tmp_path)}"}
        refused = await visitor.api("POST", "/settings/proposals", {"changes": {"secrets.owl": VALUE}, "note": ""})
        assert refused.status_code == 400
        assert VALUE not in refused.text
        socket = httpx.AsyncClient(transport=httpx.ASGITransport(make_app(house)), base_url="http://localhost")
        await socket.post("/api/v1/settings/proposals", json={"changes": changes, "note": ""})
        await socket.post("/api/v1/settings/proposals/1/apply")
        assert [row.changes for row in await house.records.find(SettingsRow)] == [changes]
        listed = (await visitor.api("GET", "/settings")).json()
        assert [row["value"] for row in listed if row["key"] == "secrets.owl"] == list(changes.values())
        stated = await by_day.propose_settings(house.books, {}, by="ann", note=f"since {VALUE} leaked")
        assert stated.note == "since [secret:owl] leaked"


def test_the_doctor_says_which_secrets_can_be_fetched(tmp_path: Path) -> None:
    home = written(tmp_path / "house", f'[secrets]\nowl = "file:{kept(tmp_path)}"\nhawk = "env:{MISSING}"\n')
    done = subprocess.run(
        [sys.executable, "-m", "midwatch", "doctor"],
        env={"MIDWATCH_HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "secrets that can be fetched: owl" in done.stdout
    assert f"The secret hawk should be in ${MISSING}" in done.stdout
    assert VALUE not in done.stdout + done.stderr
