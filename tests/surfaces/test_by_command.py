"""What is done by command is no night and has no number: every surface names it by its time (B7 of title 7)."""

import re
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from midwatch.night.asks import settlement
from midwatch.night.commands.code_command import Commanded
from midwatch.surfaces.queries.names import NameBook
from midwatch.terms.projects import SessionState
from midwatch.terms.records import NoticeRow, PullRequestRow, SessionRow
from tests.nights.house import TestHouse, orders, sample_repository
from tests.nights.scripted import GOOD, ScriptedAgent, a_scripted_house, write
from tests.nights.test_commands import commanded, session_of
from tests.nights.test_first_night import all_is_well
from tests.surfaces.visitor import Visitor, visiting, welcome

pytestmark = pytest.mark.asyncio(loop_scope="module")
TOKYO = {"server.time_zone": "Asia/Tokyo"}
GIVEN = re.compile(r"[Cc]ommand of 0[12] Mar \d\d:\d\d")
RATED = {"usefulness": 4, "trust": 4, "brevity": 5}


def wanted(project: str, sentence: str = "Tidy up") -> Commanded:
    return Commanded(sentence=sentence, projects=(project,), yes=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def day(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TestHouse]:
    """Two commands, then a draft that is replaced, then a night with a third command beside it, to its brief."""
    folder = tmp_path_factory.mktemp("day")
    async with a_scripted_house(folder / "home", flags=TOKYO) as house:
        for name in ("one", "two", "three", "sample"):
            await house.project(sample_repository(folder / name), name=name)
        for name in ("one", "two"):
            await commanded(house, wanted(name))
            await house.settle()
        await house.begin(orders("Tidy up"))
        await commanded(house, wanted("three"))
        await house.settle()
        for _ in range(20):
            await house.pass_time(minutes=30)
        yield house


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ann(day: TestHouse) -> AsyncIterator[Visitor]:
    async with visiting(day.house) as visitor:
        await welcome(day.house, visitor)
        yield visitor


async def read(ann: Visitor, path: str) -> Any:
    answer = await ann.api("GET", path)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_the_first_night_after_commands_is_night_1(day: TestHouse, ann: Visitor) -> None:
    rows = await read(ann, "/sessions")
    assert [(row["ad_hoc"], row["number"]) for row in rows] == [(True, 0), (True, 0), (False, 1), (True, 0)]
    assert (await read(ann, "/status"))["night"]["number"] == 1
    brief = await read(ann, "/morning")
    assert (brief["night"], brief["called"]) == (1, "Night 1")
    assert brief["brief"]["headline"].startswith("Night 1: 1 of 1 delivered")
    told = [row.text for row in await day.house.records.find(NoticeRow)]
    assert {night for text in told for night in re.findall(r"[Nn]ight \d+", text)} == {"Night 1"}
    await all_is_well(day)


async def test_a_command_is_reached_by_its_session_and_by_no_number(ann: Visitor) -> None:
    (command, *_) = await read(ann, "/sessions")
    assert (await read(ann, f"/sessions/{command['id']}"))["id"] == command["id"]
    assert (await read(ann, "/sessions/1"))["ad_hoc"] is False
    for path in ("/sessions/0", "/morning?night=0", "/replay?night=0", "/sessions/2"):
        assert (await ann.api("GET", path)).status_code == 404, path


async def test_the_list_of_sessions_has_every_one_once_page_by_page(ann: Visitor) -> None:
    whole, found, path = await read(ann, "/sessions"), [], "/sessions?limit=1"
    while path:
        answer = await ann.api("GET", path)
        found += answer.json()
        link = answer.headers.get("link", "")
        path = link[1 : link.index(">")].removeprefix("/api/v1") if link else ""
    assert found == whole


async def test_the_brief_of_a_command_says_when_it_was_given_and_speaks_of_no_night(ann: Visitor) -> None:
    (command, *_) = await read(ann, "/sessions")
    shown = await read(ann, f"/morning?night={command['id']}")
    assert shown["night"] == 0
    assert GIVEN.search(shown["called"])
    assert shown["brief"]["headline"] == f"{shown['called']}: 1 of 1 delivered as pull requests."
    lines = [line for section in shown["brief"]["sections"] for line in section["lines"]]
    assert not [line for line in lines if "night" in line.lower()]


async def test_its_entries_and_its_review_name_it_too(ann: Visitor) -> None:
    (command, *_) = await read(ann, "/sessions")
    given = await ann.api("POST", f"/morning/review?night={command['id']}", RATED)
    assert GIVEN.fullmatch(given.json()["called"].removeprefix("The ")), given.text
    rows = await read(ann, "/replay?limit=1000")
    mine = "\n".join(GIVEN.sub("COMMAND", row.get("text", "")) for row in rows)
    for text in ("The COMMAND began at level full", "The COMMAND is over: every job", "ann reviewed the COMMAND: use"):
        assert f"\n{text}" in mine
    assert not [row["text"] for row in rows if re.search(r"[Cc]ommand \d", row.get("text", ""))]
    (started, *_) = [row for row in rows if "Gate: start in one" in row.get("text", "")]
    why = await read(ann, f"/why/{started['seq']}")
    assert "night" not in str(why).lower()


async def test_a_pull_request_says_who_ordered_it(day: TestHouse) -> None:
    bodies = [row.body.splitlines()[0] for row in await day.house.records.find(PullRequestRow)]
    said = Counter(one.partition(": ")[0] for one in bodies)
    assert said == {"**Why.** Ordered by ann": 3, "**Why.** Ordered for tonight": 1}


async def test_the_morning_page_lists_nights_by_number_and_commands_by_time(ann: Visitor) -> None:
    page = (await ann.get("/morning")).text
    links = re.findall(r'<a href="/morning\?night=([^"]+)"[^>]*>([^<]+)</a>', page)
    assert [name for _, name in links if not GIVEN.fullmatch(name)] == ["Night 1"]
    assert len(links) == 4
    (key, _) = links[1]
    shown = (await ann.get(f"/morning?night={key}")).text
    head = shown[shown.index('<header class="head">') :]
    assert re.search(r"<p>\s*Command ·", head)
    assert f'name="night" value="{key}"' in shown or "Reviewed" in shown
    assert "The night" not in shown


async def test_live_shows_a_command_by_its_time_and_offers_no_control_of_a_night(tmp_path: Path) -> None:
    agents = {"housekeeper": ScriptedAgent(GOOD)}
    async with a_scripted_house(tmp_path / "home", flags=TOKYO, agents=agents) as house, visiting(house.house) as ann:
        await welcome(house.house, ann)
        await house.project(sample_repository(tmp_path / "sample"))
        (job,) = await commanded(house, wanted("sample").model_copy(update={"yes": False}))
        await house.settle()
        page = (await ann.get("/live")).text
        (title,) = re.findall(r"<h1>([^<]+)</h1>", page)
        assert GIVEN.search(title)
        assert title.endswith("is under way")
        assert "/live/pause" not in page
        assert "The night so far" not in page
        await settlement.debrief(house.house.books, job.session, "stopped by ann", actor="ann")
        await house.settle()
        assert (await session_of(house, job)).state is SessionState.DEBRIEF
        told = [row.text for row in await house.house.records.find(NoticeRow)]
        assert "The command “Tidy up” is over: stopped by ann." in told
        assert not [text for text in told if "night" in text.lower()]
        page = (await ann.get("/live")).text
        assert f'href="/morning?night={job.session}"' in page
        assert "How the command went" in page
        assert re.search(r"<h1>The command of [^<]+ is over\.</h1>", page)


async def test_a_draft_has_no_number_until_it_is_signed_and_replaced_ones_never_had(tmp_path: Path) -> None:
    async with a_scripted_house(tmp_path / "home") as house, visiting(house.house) as ann:
        await welcome(house.house, ann)
        await house.project(sample_repository(tmp_path / "sample"))
        names, toml = NameBook(house.house), 'goals = ["{}"]\nwork = [{{project = "sample", title = "Tidy up"}}]'
        drafts = [(await ann.api("PUT", "/orders", {"toml": toml.format(goal)})).json() for goal in ("First", "Second")]
        assert [one["number"] for one in drafts] == [0, 0]
        assert "Orders for tonight" in (await ann.get("/tonight")).text
        await names.of(await house.house.journal.entries(limit=1000))
        assert (await read(ann, "/status"))["night"]["goals"] == ["Second"], "the newest draft"
        signed = await ann.api("POST", "/sessions/start", {"shown_hash": drafts[-1]["shown_hash"]})
        assert signed.json()["number"] == 1
        assert "Orders for night 1" in (await ann.get("/tonight")).text
        entries = await house.house.journal.entries(limit=1000)
        assert (await names.of(entries)).of(signed.json()["id"], "") == "night 1", "a page that was open learns it"


async def test_a_stack_that_was_asked_for_among_commands_is_shown_on_their_page(tmp_path: Path) -> None:
    agents = {
        "first": ScriptedAgent(write("a.txt", "a\n"), files=("a.txt",)),
        "second": ScriptedAgent(write("b.txt", "b\n"), files=("b.txt",)),
    }
    async with a_scripted_house(tmp_path / "home", agents=agents) as house, visiting(house.house) as ann:
        await welcome(house.house, ann)
        await house.project(sample_repository(tmp_path / "sample"))
        for agent in agents:
            await commanded(house, wanted("sample", agent).model_copy(update={"agent": agent}))
            await house.settle()
        made = (await ann.api("POST", "/stacks", {"project": "sample"})).json()
        await house.settle()
        shown = await ann.get(f"/morning/stack/{made['id']}")
        assert shown.status_code == 200, shown.text
        (last,) = (await house.house.records.find(SessionRow))[-1:]
        assert made["session"] == last.id
