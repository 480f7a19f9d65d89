"""The page Tonight on a real house: from nothing to a signed night, every part changed where it stands."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from starlette.middleware.base import RequestResponseEndpoint

from midwatch.errors import MidwatchError, Unknown
from midwatch.evening import projects as by_day
from midwatch.evening import sign_orders
from midwatch.journal.events.projects import ToolAlwaysAllowed
from midwatch.journal.events.session import AskOpened
from midwatch.surfaces.api.access import Caller, WithState
from midwatch.surfaces.web.pages import tonight
from midwatch.terms.asks import AskDraft, AskKind, Silence
from midwatch.terms.orders import Limits, Orders
from midwatch.terms.people import Role
from midwatch.terms.projects import Flag, SessionState
from midwatch.terms.records import GoalRow, PreflightRow, ProjectRow, SessionRow, WorkRow
from midwatch.terms.trust import Level
from tests.nights.house import EVENING, TestHouse, a_house, git, orders, sample_repository

WRITES = [
    ("GET", "/tonight/orders/goals/edit"),
    ("GET", "/tonight/orders/text/example"),
    ("POST", "/tonight/begin"),
    ("POST", "/tonight/start"),
    ("POST", "/tonight/ready"),
    ("POST", "/tonight/ready/setting"),
    ("POST", "/tonight/orders/goals"),
    ("POST", "/tonight/orders/work/0/drop"),
    ("POST", "/tonight/work/1/take"),
    ("POST", "/tonight/projects"),
    ("POST", "/tonight/projects/sample"),
    ("POST", "/tonight/projects/sample/flags"),
    ("POST", "/tonight/projects/sample/tools/take-back"),
    ("POST", "/tonight/projects/sample/goals"),
    ("POST", "/tonight/projects/sample/work"),
    ("GET", "/tonight/level/edit"),
    ("POST", "/tonight/level"),
]


class Browser:
    """A person at the page, as far as requests go."""

    def __init__(self, at: TestHouse, client: httpx.AsyncClient) -> None:
        self.at = at
        self.client = client

    async def get(self, path: str = "/tonight", role: Role = Role.OWNER, status: int = 200) -> str:
        return await self._ask("GET", path, role, status)

    async def post(self, path: str, /, role: Role = Role.OWNER, status: int = 200, **sent: Any) -> str:
        return await self._ask("POST", path, role, status, sent)

    async def _ask(self, method: str, path: str, role: Role, status: int, sent: dict[str, Any] | None = None) -> str:
        got = await self.client.request(method, path, data=sent, headers={"x-role": role.value})
        assert got.status_code == status, got.text
        return got.text

    async def draft(self) -> Orders:
        return (await sign_orders.current_draft(self.at.house.records)).orders


@cache
def application() -> FastAPI:
    app = FastAPI()
    app.include_router(tonight.router)

    @app.middleware("http")
    async def door(request: Request, go_on: RequestResponseEndpoint) -> Response:
        role = Role(request.headers["x-role"])
        request.state.caller = Caller("ann", role, role.scopes, "login", "csrf")
        return await go_on(request)

    @app.exception_handler(MidwatchError)
    async def problem(_: Request, error: MidwatchError) -> HTMLResponse:
        return HTMLResponse(f"{error.message} {error.hint}", status_code=error.status)

    return app


@asynccontextmanager
async def browsing(folder: Path) -> AsyncIterator[Browser]:
    async with a_house(folder / "home") as at:
        transport = httpx.ASGITransport(app=WithState(application(), house=at.house))
        async with httpx.AsyncClient(transport=transport, base_url="http://house") as client:
            yield Browser(at, client)


@asynccontextmanager
async def with_a_draft(folder: Path, **more: Any) -> AsyncIterator[Browser]:
    async with browsing(folder) as browser:
        await browser.at.project(sample_repository(folder / "sample"))
        await sign_orders.draft(browser.at.house.evening, orders(**more), by="ann")
        yield browser


def fresh_hash(text: str) -> str:
    found = re.search(r'name="shown" value="(\w+)"', text)
    assert found
    return found[1]


def signing_button(text: str) -> str:
    found = re.search(r'<button class="primary[^>]*>Sign and start the night', text)
    assert found
    return found[0]


async def test_a_fresh_house_shows_three_steps_in_order(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        text = await browser.get()
        places = [text.index(words) for words in (">Add a project<", ">Say what tonight is for<", ">Sign<")]
        assert places == sorted(places)
        assert 'hx-post="/tonight/projects"' in text
        assert 'hx-post="/tonight/begin"' in text
        assert "disabled" in signing_button(text)


async def test_from_an_empty_house_to_a_started_night(tmp_path: Path) -> None:
    repository = sample_repository(tmp_path / "shop")
    async with browsing(tmp_path) as browser:
        await browser.post("/tonight/projects", path=str(repository), purpose="A shop", checks="python3 check.py")
        goals = "Keep it tidy\n\nStay green"
        await browser.post("/tonight/begin", goals=goals, level="cautious", silence_approves="yes")
        assert (await browser.draft()).permissions.silence_approves
        await browser.post("/tonight/projects/shop/work", title="Tidy up")
        await browser.post("/tonight/work/1/take")
        text = await browser.get()
        assert "disabled" not in signing_button(text)
        refused = await browser.post("/tonight/start", role=Role.OPERATOR, status=403, shown=fresh_hash(text))
        assert "The level cautious is above what an owner granted (observe)." in refused
        await by_day.set_level(
            browser.at.house.books, Level.CAUTIOUS, by="ann", forced=True, reason="we know each other"
        )
        text = await browser.get()
        looked = await browser.post("/tonight/start", role=Role.OPERATOR, shown=fresh_hash(text))
        assert 'hx-get="/tonight/ready"' in looked
        assert "Do not sign yet" in looked
        await browser.at.settle()
        night = (await browser.at.house.records.find(SessionRow))[-1]
        assert night.state is SessionState.AUTONOMOUS
        assert night.signed_by == "ann"
        assert night.orders.goals == ("Keep it tidy", "Stay green")
        assert [one.title for one in night.orders.work] == ["Tidy up"]
        assert len(await browser.at.house.records.find(WorkRow)) == 1


async def test_a_folder_that_is_no_repository_is_said_beside_its_field(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        text = await browser.post("/tonight/projects", path="/nowhere/at/all", purpose="My shop", status=400)
        assert re.search(r'id="project-path-wrong">[^<]*/nowhere/at/all', text)
        assert 'value="My shop"' in text
        text = await browser.post("/tonight/projects", path="shop", status=400)
        assert "whole path" in text
        assert await browser.at.house.records.find(ProjectRow) == ()


@pytest.mark.parametrize("path", WRITES, ids=lambda one: f"{one[0]} {one[1]}")
async def test_who_may_only_answer_changes_nothing_here(tmp_path: Path, path: tuple[str, str]) -> None:
    async with browsing(tmp_path) as browser:
        before = await browser.at.house.records.head()
        got = await browser.client.request(path[0], path[1], headers={"x-role": Role.APPROVER.value})
        assert got.status_code == 403
        assert await browser.at.house.records.head() == before
        await browser.get(role=Role.VIEWER)


async def test_only_an_owner_changes_the_level(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        await browser.post("/tonight/level", role=Role.OPERATOR, status=403, level="observe")
        text = await browser.post("/tonight/level", status=403, level="full")
        assert "needs 12 valid rounds" in text
        assert 'id="level-reason-wrong"' in text
        text = await browser.post("/tonight/level", level="full", reason="I know this house")
        assert "Standing level: full" in text
        assert await by_day.current_level(browser.at.house.records, browser.at.house.loaded.settings) is Level.FULL


async def test_one_part_changes_and_the_others_stay(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path, limits=Limits(minutes=90), do_not_touch=("data/**",)) as browser:
        before = await browser.draft()
        opened = await browser.get("/tonight/orders/goals/edit")
        assert "Keep it tidy</textarea>" in opened
        text = await browser.post("/tonight/orders/goals", goals="First\nSecond", success_criteria="Green", notes="So")
        assert 'hx-target="#orders-goals"' in text
        assert 'hx-target="#orders-sign"' in text
        expected = {"goals": ("First", "Second"), "success_criteria": ("Green",), "notes": "So"}
        assert await browser.draft() == before.model_copy(update=expected)


async def test_what_shows_that_work_is_done_is_typed_and_read_on_the_page(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        (work, *_) = (await browser.draft()).work
        assert 'name="done_when"' in await browser.get("/tonight/orders/work/edit?item=0")
        name, commands = work.title, "make docs\nmake site"
        text = await browser.post(
            "/tonight/orders/work?item=0", project=work.project, title=name, was=name, done_when=commands
        )
        assert (await browser.draft()).work[0].done_when == ("make docs", "make site")
        assert "done when <code>make docs</code>, <code>make site</code> pass" in text


async def test_permissions_change_and_what_will_not_happen_follows(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        text = await browser.post(
            "/tonight/orders/permissions", level="moderate", tools=["repo_read"], do_not_touch="migrations/**"
        )
        assert "Touch migrations/**." in text
        now = await browser.draft()
        assert now.level is Level.MODERATE
        assert now.permissions.tools == ("repo_read",)
        assert now.permissions.external == ()
        assert not now.permissions.silence_approves


async def test_a_wrong_limit_is_named_beside_its_field_and_nothing_is_saved(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        before = await browser.draft()
        text = await browser.post("/tonight/orders/limits", status=400, minutes="soon", rounds="0", usd="5", tokens="9")
        assert 'id="limits-minutes-wrong">Minutes: write a whole number.' in text
        assert 'id="limits-rounds-wrong">Rounds: must be greater than 0.' in text
        assert 'value="soon"' in text
        assert await browser.draft() == before


async def test_a_limit_left_empty_becomes_the_usual_one(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        await browser.post("/tonight/orders/limits", minutes="90", rounds="", usd="1,000", tokens="")
        usual = browser.at.house.loaded.settings.limits
        now = (await browser.draft()).limits
        assert (now.minutes, now.usd, now.rounds) == (90, 1000, usual.session_rounds)


async def test_until_is_on_the_readers_own_clock(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        await browser.post("/tonight/orders/limits", minutes="90", until="2026-03-02T07:00", zone="America/New_York")
        assert (await browser.draft()).until == datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
        past = (EVENING - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")
        text = await browser.post("/tonight/orders/limits", status=400, minutes="90", until=past, zone="UTC")
        assert "The orders end in the past." in text
        text = await browser.post("/tonight/orders/limits", status=400, minutes="90", until="soon", zone="Mars/Phobos")
        assert "write a date and a time" in text


async def test_text_with_a_mistake_names_its_line_and_changes_nothing(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        before = await browser.draft()
        text = await browser.post("/tonight/orders/text", status=400, toml='goals = ["x"]\nlevle = "full"\n')
        assert "line 2" in text
        assert "levle" in text
        assert await browser.draft() == before
        await browser.post("/tonight/orders/text", toml='goals = ["x"]\nlevel = "moderate"\n')
        assert (await browser.draft()).level is Level.MODERATE
        sheet = unescape(await browser.get())
        assert "Silence approves nothing: a plan waits for your yes" in sheet
        assert sheet.count("(default)") == 8  # all but the level
        assert "$5 <span" in sheet
        await browser.post("/tonight/orders/limits", minutes="90", usd="7", tokens="1000", rounds="")
        assert [one for one in (await browser.draft()).unsaid if one.startswith("limits")] == ["limits.rounds"]
        assert (await browser.draft()).limits.rounds == 500


async def test_the_example_is_about_a_project_that_exists_and_can_be_saved(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        text = await browser.get("/tonight/orders/text/example")
        found = re.search(r"<textarea[^>]*>\n(.*)</textarea>", text, re.DOTALL)
        assert found
        await browser.post("/tonight/orders/text", toml=found[1].replace("&#34;", '"').replace("&amp;", "&"))
        assert (await browser.draft()).work[0].project == "sample"


async def test_the_page_refuses_exactly_what_signing_refuses(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path, goals=()) as browser:
        text = await browser.get()
        assert "disabled" in signing_button(text)
        assert "The orders have no goals, so the night cannot start." in text
        refused = await browser.post("/tonight/start", status=403, shown=fresh_hash(text))
        assert "The orders have no goals, so the night cannot start." in refused
        await browser.post("/tonight/orders/goals", goals="Keep it tidy")
        (tmp_path / "sample").rename(tmp_path / "moved")
        text = await browser.get()
        assert "disabled" in signing_button(text)
        with pytest.raises(MidwatchError) as raised:
            await sign_orders.start(browser.at.house.evening, by="ann")
        assert raised.value.message in text


async def test_over_a_red_line_a_signature_takes_a_second_press_of_another_button(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        await by_day.change_project(browser.at.house.books, "sample", by="ann", checks=("nosuchtool --all",))
        shown = fresh_hash(await browser.get())
        await browser.post("/tonight/start", shown=shown)
        await browser.at.settle()
        text = await browser.get(f"/tonight/ready?shown={shown}")
        assert "1 thing is not ready. Fix it and check again, or sign anyway." in text
        assert ">Sign anyway<" in text
        await browser.post("/tonight/start", shown=shown)  # not the button that was shown: it is looked at again
        assert (await browser.at.house.records.find(SessionRow))[-1].state is SessionState.BRIEFING
        await browser.at.settle()
        found = re.search(r'name="anyway" value="(\w+)"', await browser.get())
        assert found
        await browser.post("/tonight/start", shown=shown, anyway=found[1])
        night = (await browser.at.house.records.find(SessionRow))[-1]
        assert (night.state, night.preflight) == (SessionState.AUTONOMOUS, found[1])


async def test_the_page_changes_only_settings_that_let_nothing_out(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        house = browser.at.house
        (tmp_path / "sample" / "package-lock.json").write_text("{}")
        git(tmp_path / "sample", "add", "-A")
        git(tmp_path / "sample", "commit", "-qm", "Lock")
        await by_day.change_project(house.books, "sample", by="ann", checks=("sleep 600",))
        short = await by_day.propose_settings(house.books, {"preflight.max_minutes": 0.02}, by="ann")
        await by_day.apply_settings(house.books, short.id, by="ann")
        await browser.post("/tonight/ready")
        await browser.at.settle()
        text = await browser.get("/tonight/ready")
        assert "preflight.max_minutes: 0.02 → 60" in text
        assert "sandbox.setup_domains: nothing → npm" in text
        assert (text.count('hx-post="/tonight/ready/setting"'), text.count("Changed on the machine itself")) == (1, 1)
        out = {"key": "sandbox.setup_domains", "value": "npm"}
        refused = await browser.post("/tonight/ready/setting", status=409, key=out["key"], value=out["value"])
        assert "This setting cannot be changed here." in refused
        await browser.post("/tonight/ready/setting", status=409, key="preflight.max_minutes", value="90")
        await browser.post("/tonight/ready/setting", Role.OPERATOR, 403, key="preflight.max_minutes", value="60")
        assert house.loaded.settings.sandbox.setup_domains == ()
        begun = await house.records.find(PreflightRow)
        await browser.post("/tonight/ready/setting", key="preflight.max_minutes", value="60")
        assert house.loaded.settings.preflight.max_minutes == 60
        assert len(await house.records.find(PreflightRow)) == len(begun) + 1, "it checks again"
        await by_day.change_project(house.books, "sample", by="ann", checks=("true",))


async def test_what_was_not_shown_is_not_signed(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        seen = fresh_hash(await browser.get())
        await browser.post("/tonight/orders/goals", goals="Something else")
        text = await browser.post("/tonight/start", status=409, shown=seen)
        assert "have changed since you were shown them" in text
        await browser.post("/tonight/start", status=409)
        assert (await browser.at.house.records.find(SessionRow))[-1].state is SessionState.BRIEFING


async def test_work_is_added_changed_and_taken_out(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        await browser.post("/tonight/orders/work?item=new", title="Docs", project="sample", agent="housekeeper")
        await browser.post("/tonight/orders/work?item=0", was="Tidy up", title="Tidy", project="sample", paths="src/**")
        assert [(one.title, one.paths) for one in (await browser.draft()).work] == [("Tidy", ("src/**",)), ("Docs", ())]
        await browser.post("/tonight/orders/work/0/drop", status=409, was="Tidy up")
        await browser.post("/tonight/orders/work/0/drop", was="Tidy")
        assert [one.title for one in (await browser.draft()).work] == ["Docs"]
        text = await browser.post("/tonight/orders/work?item=new", status=400, title=" ", project="sample")
        assert 'id="work-title-wrong">A piece of work needs a title' in text
        await browser.get("/tonight/orders/work/edit?item=7", status=409)


async def test_a_project_is_flagged_changed_and_given_a_goal(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        text = await browser.post("/tonight/projects/sample/flags", flag="protected", on="true")
        assert "sample is protected: its work will be refused." in text
        await browser.post("/tonight/projects/sample/flags", flag="wild", on="true", status=400)
        await browser.post("/tonight/projects/sample", purpose="Greets", checks="make a\nmake b", priority="1")
        text = await browser.post("/tonight/projects/sample", purpose="x", checks="", priority="9", status=400)
        assert "Priority: " in text
        await browser.post("/tonight/projects/sample/goals", statement="Fewer warnings", horizon="long")
        text = await browser.post("/tonight/projects/sample/goals", statement=" ", status=400)
        assert "A goal needs a statement." in text
        row = await browser.at.house.records.get(ProjectRow, "sample")
        assert (row.flags, row.purpose, row.checks, row.priority) == (
            (Flag.PROTECTED,),
            "Greets",
            ("make a", "make b"),
            1,
        )
        assert [goal.statement for goal in await browser.at.house.records.find(GoalRow)] == ["Fewer warnings"]


async def test_a_project_s_tools_are_set_and_what_is_always_allowed_is_taken_back(tmp_path: Path) -> None:
    always = ToolAlwaysAllowed(project="", tools=("Bash(npm run *)", "mcp__db__read"))
    async with with_a_draft(tmp_path) as browser:
        house = browser.at.house
        given: dict[str, Any] = {"purpose": "x", "checks": "", "priority": "1"}
        text = await browser.post("/tonight/projects/sample", tools="no tool", status=400, **given)
        assert "&#39;no tool&#39; is not a tool." in text
        text = await browser.post("/tonight/projects/sample", tools="Read\nBash(npm test)", **given)
        assert "only <code>Read</code>, <code>Bash(npm test)</code>" in text
        row = await house.records.get(ProjectRow, "sample")
        await house.journal.record(always.model_copy(update={"project": row.id}), actor="ann")
        assert "<code>mcp__db__read</code>" in await browser.get()
        text = await browser.post("/tonight/projects/sample/tools/take-back", tool="mcp__db__read")
        assert "mcp__db__read" not in text
        row = await house.records.get(ProjectRow, "sample")
        assert (row.tools, row.always_tools) == (("Read", "Bash(npm test)"), ("Bash(npm run *)",))


async def test_while_a_night_is_under_way_its_sheet_can_only_be_read(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        await sign_orders.start(browser.at.house.evening, by="ann")
        text = await browser.get()
        assert "Night 1 is under way" in text
        assert 'href="/live"' in text
        assert "Never done" in text
        assert "Sign and start" not in text
        assert "/tonight/orders/" not in text
        refused = await browser.post("/tonight/orders/goals", goals="Other", status=403)
        assert "Night 1 is under way." in refused
        with pytest.raises(Unknown):
            await browser.draft()


async def test_a_level_changed_under_way_changes_what_the_sheet_says(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        await sign_orders.start(browser.at.house.evening, by="ann")
        assert "nothing is written" not in await browser.get()
        await browser.post("/tonight/level", level="observe")
        text = await browser.get()
        assert "Write anything: at observe nothing is written." in text
        assert "Signed as cautious." in text


async def test_the_standing_level_lowers_a_running_night_and_never_raises_it(tmp_path: Path) -> None:
    """C2."""
    async with with_a_draft(tmp_path) as browser:
        await sign_orders.start(browser.at.house.evening, by="ann")
        await browser.post("/tonight/level", level="full", reason="I trust it")
        text = await browser.get()
        assert "Standing level: full" in text
        assert "This night runs at cautious." in text
        await browser.post("/tonight/level", level="observe")
        text = await browser.get()
        assert "Standing level: observe" in text
        assert "This night runs at" not in text
        assert "Signed as cautious." in text


async def test_asks_outside_a_night_are_shown_with_what_silence_means(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        draft = AskDraft(kind=AskKind.MEMORY, question="Keep <b>this</b>\u202e?", silence=Silence.KEPT)
        due = EVENING + timedelta(days=7)
        await browser.at.house.journal.record(AskOpened(ask="ask_1", session="", draft=draft, due_at=due))
        text = await browser.get()
        assert "1 waiting for you" in text
        assert "Keep &lt;b&gt;this&lt;/b&gt;?" in text
        assert "If you do not answer, things stay as they are." in text
        assert f'datetime="{due.isoformat()}" data-as="countdown"' in text


async def test_nothing_a_person_writes_runs_or_hides(tmp_path: Path) -> None:
    hostile = '</textarea><script>alert(1)</script>"\u202e\x1b[31m'
    async with with_a_draft(tmp_path) as browser:
        await browser.post("/tonight/orders/goals", goals=hostile, success_criteria=hostile, notes=hostile)
        await browser.post("/tonight/orders/work?item=new", title=hostile, project="sample", checks=hostile)
        await browser.post("/tonight/projects/sample", purpose=hostile, checks=hostile, priority="3")
        await browser.post("/tonight/projects/sample/work", title=hostile)
        text = await browser.get()
        assert "<script>alert" not in text
        for part in ("goals", "text", "permissions", "limits"):
            assert "<script>alert" not in await browser.get(f"/tonight/orders/{part}/edit")
        sheet = text[text.index('id="tonight-body"') :]
        assert "\u202e" not in re.sub(r'value="[^"]*"|<textarea.*?</textarea>', "", sheet, flags=re.DOTALL)
        assert not re.search(r"\sstyle=|\son\w+=", sheet)


async def test_what_a_project_protects_is_changed_on_its_card_and_stands_on_the_sheet(tmp_path: Path) -> None:
    """A6: every night's sheet shows it, beside what the orders of tonight add."""
    async with with_a_draft(tmp_path, do_not_touch=("docs/**",)) as browser:
        given: dict[str, Any] = {"purpose": "", "checks": "", "priority": "3"}
        await browser.post("/tonight/projects/sample", **given, do_not_touch="migrations/**\nsecrets/")
        text = await browser.get()
        assert "Touch migrations/**, secrets/ in sample." in text
        assert "in sample: <code>migrations/**</code>, <code>secrets/</code>" in text
        assert "Do not touch, on any night" in text
        refused = await browser.post("/tonight/projects/sample", **given, do_not_touch="!", status=400)
        assert 'class="wrong"' in refused


async def test_the_level_of_a_night_is_told_apart_from_the_standing_one(tmp_path: Path) -> None:
    """RULES 1, A6."""
    async with with_a_draft(tmp_path, level=Level.FULL) as browser:
        text = await browser.get()
        assert "The level full is for this night only; the standing level stays observe. Earlier nights" in text
        await sign_orders.start(browser.at.house.evening, by="ann")
        text = await browser.get()
        assert "Standing level: observe" in text
        assert "This night runs at full." in text
