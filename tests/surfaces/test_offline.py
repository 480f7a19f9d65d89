"""Reading without a server: the same answers as the server's, and little is loaded for them."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from midwatch.compose.house import House
from midwatch.surfaces.api.app import PREFIX, make_app
from midwatch.surfaces.cli.shell.offline import read_offline
from midwatch.surfaces.queries.reads import MODULES, reads_of
from tests.nights.house import a_house, orders, sample_repository

pytestmark = pytest.mark.asyncio(loop_scope="module")
NAMED = {"projects": "sample", "why": "20"}
PATHS = [
    read.path.replace("{name}", NAMED.get(read.path.split("/")[1], "1")).replace("{epoch}", "1")
    for module in dict.fromkeys(MODULES.values())
    for read in reads_of(module)
]
ASKED = (
    *("/rehearse?level=full", "/rehearse?level=loud", "/replay?limit=5", "/replay?limit=5&after=40&tag=gate"),
    *("/replay?tag=loud", "/replay?night=1&limit=3", "/jobs?limit=0", "/asks?all=true", "/asks?all=perhaps"),
    *("/entries?limit=5&after=3", "/entries?after=-1", "/jobs/1/log?from=0", "/jobs/1/log?from=-1", "/jobs/nope"),
    *("/work?project=sample&limit=1", "/goals?project=nope", "/why/nope", "/why/99999999999999999999"),
    *("/jobs/1/prompts/x", "/jobs/1%2Fdiff", "/jobs/a%20b", "/morning?night=1", "/nothing", "/jobs/1/nothing"),
)
READING_VERBS = (
    *(["status"], ["asks"], ["project"], ["goal"], ["work"], ["run"], ["level"], ["person"], ["settings", "proposals"]),
    *(["job", "list"], ["job", "show", "1"], ["job", "log", "1"], ["job", "diff", "1"], ["job", "steps", "1"]),
    *(["morning"], ["why", "20"], ["replay"], ["rehearse", "--level", "full"], ["stack"]),
)
SERVER_ONLY = {"fastapi", "starlette", "uvicorn", "httpx", "alembic", "psycopg", "apprise", "jinja2", "nh3"}
SERVER_ONLY |= {"markdown_it", "psutil", "sqlalchemy.orm", "sqlalchemy.ext.asyncio"}
SERVER_ONLY |= {f"midwatch.{name}" for name in ("night", "workshop", "gateway", "forges", "channels", "brains")}
SERVER_ONLY |= {f"midwatch.crew.{name}" for name in ("roster", "model_agent", "programs", "prompting", "housekeeping")}
SERVER_ONLY |= {"midwatch.compose.house", "midwatch.surfaces.web", "midwatch.store.projectors"}
AFTER_EACH = """
import json, sys
from midwatch.surfaces.cli.main import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["midwatch", *words]
    try:
        main()
    except SystemExit:
        pass  # there is no stack yet
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
MOST_MODULES = 700
"""The whole server is 1,250 modules; what reading needs of SQLAlchemy, pydantic and Midwatch is about 550."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Path]:
    """The data folder of one night, without its server."""
    folder = tmp_path_factory.mktemp("offline")
    async with a_house(folder / "home") as opened:
        await opened.project(sample_repository(folder / "sample"))
        await opened.begin(orders("Tidy up"))
        await opened.to_the_brief()
        await opened.settle()
    yield folder / "home"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(home: Path) -> AsyncIterator[httpx.AsyncClient]:
    house = House(home)
    await house.reload_settings()
    transport = httpx.ASGITransport(make_app(house))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client
    await house.dispose()


def timeless(body: Any) -> Any:
    """Leave out the time of the answer."""
    if isinstance(body, dict):
        body.pop("now", None)
    return body


@pytest.mark.parametrize("path", [*PATHS, *ASKED])
async def test_an_answer_without_a_server_is_the_servers(home: Path, server: httpx.AsyncClient, path: str) -> None:
    told = await server.get(PREFIX + path)
    status, headers, body = await asyncio.to_thread(read_offline, home, PREFIX + path)
    assert status == told.status_code
    assert {name: headers.get(name) for name in ("link", "midwatch-next", "midwatch-over")} == {
        name: told.headers.get(name) for name in ("link", "midwatch-next", "midwatch-over")
    }
    if told.headers["content-type"] == "application/json":
        assert timeless(json.loads(body)) == timeless(told.json())
    else:
        assert body.decode() == told.text


def loaded_by(home: Path, verbs: Iterable[list[str]]) -> list[set[str]]:
    """Type verbs in a process of their own, and return the modules that were loaded after each."""
    done = subprocess.run(
        [sys.executable, "-c", AFTER_EACH, json.dumps(list(verbs))],
        env={"MIDWATCH_HOME": str(home), "HOME": str(home), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-500:]
    return [set(json.loads(line)) for line in done.stderr.splitlines() if line.startswith('["')]


async def test_reading_verbs_without_a_server_load_no_part_of_it(home: Path) -> None:
    after = await asyncio.to_thread(loaded_by, home, READING_VERBS)
    assert len(after) == len(READING_VERBS)
    for words, loaded in zip(READING_VERBS, after, strict=True):
        assert "sqlalchemy" in loaded, f"{words} did not read the database itself"
        assert loaded & SERVER_ONLY == set(), words
    assert len(after[-1]) <= MOST_MODULES, "all of them together"
