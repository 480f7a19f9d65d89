"""Stacks for programs and in the terminal: shown, merged, taken back, checked anew."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest
import uvicorn
from typer.testing import CliRunner, Result

from midwatch.surfaces.address import SOCKET
from midwatch.surfaces.api.app import make_app
from midwatch.surfaces.cli.jobs.jobs import app as jobs
from midwatch.surfaces.cli.jobs.jobs import pulls
from midwatch.surfaces.cli.morning.stacks import app
from midwatch.surfaces.cli.night.status import VERBS
from tests.nights.house import TestHouse, git
from tests.nights.stacked import EIGHT, a_dawn_of, ends, reviews

THREE = {name: EIGHT[name] for name in ("Alpha", "Beta", "Amend")}


async def test_the_api_shows_merges_and_takes_back(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, THREE, checks=("true",)) as (house, source):
        await ends(house)
        await reviews(house)
        way = httpx.ASGITransport(make_app(house.house))
        async with httpx.AsyncClient(transport=way, base_url="http://house/api/v1") as api:
            (row,) = (await api.get("/stacks", params={"project": "sample"})).json()
            assert (row["headline"], row["offered"], row["elsewhere"]) == (
                "2 of 3 branches merge together; checks green together.",
                True,
                False,
            )
            assert row["left_out"][0]["said"] == "Conflicts with pull request 1 in a.txt."
            assert ([one["job_number"] for one in row["order"]], row["left_out"][0]["job_number"]) == ([1, 3], 2)
            assert [(one["number"], one["job_number"]) for one in (await api.get("/pull_requests")).json()] == [
                (1, 1),
                (2, 2),
                (3, 3),
            ]
            assert (await api.get("/stacks/newest")).json()["id"] == row["id"]
            merged = (await api.post("/stacks/1/merge")).json()
            assert (merged["state"], git(source, "rev-parse", "main")) == ("merged", merged["tip"])
            again = await api.post("/stacks/1/merge")
            assert again.status_code == 403
            assert "Stack 1 is merged already" in again.json()["error"]["message"]
            assert (await api.post("/stacks/1/undo")).json()["state"] == "made"
            assert (await api.post("/stacks/1/undo")).status_code == 403
            assert (await api.post("/stacks", json={"project": "nowhere"})).status_code == 404
            begun = (await api.post("/stacks", json={"project": "sample"})).json()
            assert (begun["number"], begun["state"]) == (2, "making")
            await house.settle()
            assert (await api.get("/stacks/2")).json()["verdict"] == "green"


@asynccontextmanager
async def at_the_socket(house: TestHouse) -> AsyncIterator[None]:
    """The house at its socket, with its work carried out meanwhile."""
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(house.house.home / SOCKET))
    door.listen()
    server = uvicorn.Server(uvicorn.Config(make_app(house.house), log_level="error", ws="none"))

    async def works() -> None:
        while True:
            await house.settle()
            await asyncio.sleep(0.05)

    running, working = asyncio.create_task(server.serve(sockets=[door])), asyncio.create_task(works())
    try:
        yield
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
        server.should_exit = True
        await running


async def test_the_terminal_shows_merges_checks_and_takes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def types(*words: str) -> Result:
        return await asyncio.to_thread(CliRunner().invoke, app, words)

    monkeypatch.setenv("MIDWATCH_HOME", str(tmp_path / "home"))
    async with a_dawn_of(tmp_path, THREE, checks=("true",)) as (house, source):
        await ends(house)
        await reviews(house)
        before = git(source, "rev-parse", "main")
        async with at_the_socket(house):
            shown = (await types()).output
            assert "2 of 3 branches merge together; checks green together." in shown
            assert "✕ 2 Beta (job 2): Conflicts with pull request 1 in a.txt." in shown
            assert "● 1 Alpha (job 1, 2 lines)" in shown
            listed = await asyncio.to_thread(CliRunner().invoke, pulls)
            assert re.search(r"^ *1 +1 +sample .*Alpha$", listed.output, re.MULTILINE), "beside its job and project"
            assert (
                "pull request 1 of job 1 in sample: Alpha"
                in (await asyncio.to_thread(CliRunner().invoke, VERBS["status"])).output
            )
            assert "midwatch stack merge --project sample" in shown
            assert isinstance((await types("merge")).exception, Exception)  # no terminal, and no --yes
            assert git(source, "rev-parse", "main") == before
            merged = (await types("merge", "--yes")).output
            assert "Merged 2 branches into main as " in merged
            assert f"reset --keep {before}" in merged
            assert "2 pull requests are open again" in (await types("undo", "--project", "sample")).output
            assert git(source, "rev-parse", "main") == before
            await asyncio.to_thread(CliRunner().invoke, jobs, ["merge", "1"])
            outdated = (await types()).output
            assert "Pull request 1 was merged since the stack was made." in " ".join(outdated.split())
            assert "Check again which open branches go together: midwatch stack check --project sample" in " ".join(
                outdated.split()
            )
            assert "Your verdicts" not in " ".join(outdated.split())
            checked = await types("check", "--json")
            assert json.loads(checked.output)["number"] == 2
