"""The morning's page as people use it: read, judge by keys or by thumb, merge, hand in, see what changed."""

import asyncio
import os
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import httpx
import pytest
import uvicorn
from fastapi import FastAPI, Request, Response
from playwright.async_api import Page, async_playwright, expect
from starlette.staticfiles import StaticFiles

from midwatch.compose.house import House
from midwatch.errors import MidwatchError, Unknown
from midwatch.journal.events.morning import ReviewSubmitted
from midwatch.morning import review
from midwatch.night.asks import settlement
from midwatch.surfaces.api.access import Caller, WithState
from midwatch.surfaces.queries.replay import every_entry
from midwatch.surfaces.web.pages import live, morning
from midwatch.surfaces.web.site.app import error_page
from midwatch.surfaces.web.site.page import STATIC
from midwatch.terms.people import Role
from midwatch.terms.projects import SessionState
from midwatch.terms.records import OutcomeRow, PullRequestRow, ReportRow, SessionRow
from midwatch.terms.report import Review
from tests.chromium import FLAGS, chromium
from tests.nights.house import TestHouse, a_house, git, orders, sample_repository
from tests.nights.kept import KeptNight

CSP = (
    "default-src 'none'; script-src 'nonce-X'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
RATED = {"usefulness": "4", "trust": "4", "brevity": "5"}
EVIL = "<img src=x onerror=alert(1)>\u202e"


def app_for(house: House, role: Role = Role.OWNER) -> WithState:
    """The page alone, with somebody already let in."""
    return WithState(pages(), house=house, caller=Caller("ann", role, role.scopes, "login", "csrf"), nonce="X")


@cache
def pages() -> FastAPI:
    app = FastAPI()

    @app.middleware("http")
    async def guard(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        answer = await call(request)
        answer.headers["Content-Security-Policy"] = CSP
        return answer

    @app.exception_handler(MidwatchError)
    async def in_words(request: Request, error: MidwatchError) -> Response:
        return error_page(request, error)

    app.include_router(live.router)
    app.include_router(morning.router)
    app.mount("/static", StaticFiles(directory=STATIC))
    return app


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> KeptNight:
    """One ordinary night; each test has the morning after it for itself."""
    return KeptNight(tmp_path_factory.mktemp("night"))


@asynccontextmanager
async def a_night(home: Path, title: str = "Tidy up") -> AsyncIterator[TestHouse]:
    async with a_house(home / "home") as house:
        await house.project(sample_repository(home / "sample"))
        await house.begin(orders(title))
        await house.to_the_brief()
        await house.settle()
        yield house


def client(house: TestHouse, role: Role = Role.OWNER) -> httpx.AsyncClient:
    way = httpx.ASGITransport(app_for(house.house, role))
    return httpx.AsyncClient(transport=way, base_url="http://house", headers={"Accept": "text/html"})


async def recommended(house: TestHouse) -> list[str]:
    return [one.id for one in (await house.house.records.find(ReportRow))[-1].recommendations]


async def test_before_the_first_night_the_page_says_what_to_do(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home") as house, client(house) as web:
        answer = await web.get("/morning")
        assert answer.status_code == 200
        assert "No night has ended yet" in answer.text
        await house.project(sample_repository(tmp_path / "sample"))
        await house.begin(orders("Tidy up"))
        assert "The night is not over" in (await web.get("/morning")).text
        assert (await web.get("/morning?night=7")).status_code == 404


async def test_an_older_night_is_not_judged_while_the_brief_of_the_newest_is_written(tmp_path: Path) -> None:
    """A4: `morning` and `review` are about the newest night; they used to take the one before without a word."""
    async with a_house(tmp_path / "home") as house, client(house) as web:
        await house.project(sample_repository(tmp_path / "sample"))
        await house.begin(orders("Tidy up"))
        await house.to_the_brief()
        await house.begin(orders("Again"))
        assert (await review.last_report(house.house.records))[0].number == 1, "the newest that is over"
        session = (await house.house.records.find(SessionRow))[-1]
        await settlement.debrief(house.house.books, session.id, "enough")
        with pytest.raises(Unknown, match="Night 2 is over, and its brief is being written"):
            await review.submit(house.house.books, Review(usefulness=5, trust=5, brevity=5), by="ann")
        assert "Nothing to review yet" in (await web.get("/morning")).text
        assert "Night 1" in (await web.get("/morning?night=1")).text
        await house.to_the_brief()
        assert (await review.last_report(house.house.records))[0].number == 2
        assert "Night 2" in (await web.get("/morning")).text


async def test_the_page_has_everything_a_verdict_needs(night: KeptNight) -> None:
    async with night.opened() as house, client(house) as web:
        text = (await web.get("/morning")).text
        assert "<h1>The one thing ordered is done.</h1>" in text
        assert "Merge into main" in text
        assert "green before, green now" in text
        assert "return summ(items)" in text
        assert '<span class="k">import</span> os' in text
        assert text.count("made for you") == 1
        assert re.search(r'href="/why/\d+"', text)
        assert text.count("<h3>") >= 9
        assert " style=" not in text
        assert not re.search(r"\son[a-z]+=", text)


async def test_a_viewer_may_look_and_nothing_else(night: KeptNight) -> None:
    async with night.opened() as house, client(house, Role.VIEWER) as web:
        assert (await web.get("/morning")).status_code == 200
        assert (await web.post("/morning/review", data=RATED)).status_code == 403
        assert (await web.post("/morning/merge/1")).status_code == 403


async def test_an_approver_may_review_and_not_merge(night: KeptNight) -> None:
    async with night.opened() as house, client(house, Role.APPROVER) as web:
        assert (await web.post("/morning/merge/1")).status_code == 403
        assert (await web.post("/morning/review", data=RATED)).status_code == 200


async def test_merging_is_done_once_and_tells_its_undo(night: KeptNight) -> None:
    async with night.opened() as house, client(house) as web:
        answer = await web.post("/morning/merge/1", headers={"HX-Request": "true"})
        assert "is merged into" in answer.text
        (row,) = await house.house.records.find(PullRequestRow)
        assert row.state == "merged"
        assert row.undo[0].split("'")[0] in answer.text
        assert "import os" not in git(night.sample, "show", "main:sample/greet.py")
        assert (await web.post("/morning/merge/1", headers={"HX-Request": "true"})).status_code == 404
        assert "is merged into" in (await web.get("/morning")).text
        back = await web.post("/morning/unmerge/1", headers={"HX-Request": "true"})
        assert "Pull request 1 is open" in back.text
        assert "import os" in git(night.sample, "show", "main:sample/greet.py")
        assert "Merge into main" in (await web.get("/morning")).text
        assert (await web.post("/morning/unmerge/1", headers={"HX-Request": "true"})).status_code == 404


async def test_a_review_is_recorded_whole_and_shows_what_it_changed(night: KeptNight) -> None:
    async with night.opened() as house, client(house) as web:
        first, second = await recommended(house)
        said = RATED | {
            f"outcome:{first}": "accepted",
            f"outcome:{second}": "rejected",
            f"reason:{second}": f"known already {EVIL}",
            "flag": "wrong_fact",
            "notes": EVIL,
        }
        answer = await web.post("/morning/review", data=said)
        assert "What your review changed" in answer.text
        assert re.search(r"0\.\d\d before, <b>0\.\d\d</b> after", answer.text)
        rows = {row.id: row for row in await house.house.records.find(OutcomeRow)}
        assert (rows[first].outcome, rows[second].outcome) == ("accepted", "rejected")
        (session,) = await house.house.records.find(SessionRow)
        assert session.state is SessionState.ENDED
        again = (await web.get("/morning?night=1")).text
        assert "Your verdict: <b>rejected</b>" in again
        assert 'id="review"' not in again
        assert "<img" not in again
        assert "\u202e" not in again


async def test_a_review_without_ratings_is_refused_in_words(night: KeptNight) -> None:
    async with night.opened() as house, client(house) as web:
        answer = await web.post("/morning/review", data={"trust": "4"}, headers={"HX-Request": "true"})
        assert answer.status_code == 400
        assert "The rating for usefulness is missing." in answer.text
        assert not [one for one in await every_entry(house.house) if isinstance(one.event, ReviewSubmitted)]


async def test_titles_that_people_or_agents_wrote_stay_text(tmp_path: Path) -> None:
    async with a_night(tmp_path, f"Tidy {EVIL}") as house, client(house) as web:
        text = (await web.get("/morning")).text
        assert "&lt;img src=x" in text
        assert "<img" not in text
        assert "\u202e" not in text


async def test_a_long_diff_comes_when_it_is_asked_for(night: KeptNight, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(morning, "MOST_INLINE", 10)
    async with night.opened() as house, client(house) as web:
        assert 'hx-get="/morning/diff/1"' in (await web.get("/morning")).text
        assert 'class="diff"' in (await web.get("/morning/diff/1")).text


@asynccontextmanager
async def served(house: TestHouse) -> AsyncIterator[str]:
    """The same page on a port."""
    door = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app_for(house.house), log_level="error", ws="none"))
    running = asyncio.create_task(server.serve(sockets=[door]))
    try:
        yield f"http://127.0.0.1:{door.getsockname()[1]}/morning"
    finally:
        server.should_exit = True
        await running


@asynccontextmanager
async def browsed(address: str, width: int) -> AsyncIterator[tuple[Page, list[str]]]:
    """A real browser on the page, with everything it complains about."""
    async with async_playwright() as play:
        browser = await play.chromium.launch(executable_path=chromium(), args=FLAGS)
        view = await browser.new_page(viewport={"width": width, "height": 844})
        wrong: list[str] = []
        view.on("console", lambda message: wrong.append(message.text))
        view.on("pageerror", lambda error: wrong.append(str(error)))
        await view.goto(address)
        yield view, wrong
        await browser.close()


@pytest.mark.slow
async def test_a_night_is_reviewed_by_keyboard_alone(night: KeptNight) -> None:
    async with night.opened() as house, served(house) as address, browsed(address, 1280) as (view, wrong):
        first, second = await recommended(house)
        await expect(view.locator(".item:visible")).to_have_count(1)
        await view.keyboard.press("?")
        await expect(view.locator("#keys")).to_be_visible()
        await view.keyboard.press("j")
        await expect(view.locator("#at")).to_have_text("2")
        await view.keyboard.press("k")
        await view.keyboard.press("s")
        await expect(view.locator(".item:visible .twin").first).to_be_visible()
        await view.keyboard.press("a")
        await expect(view.locator("#at")).to_have_text("2")
        await view.keyboard.press("r")
        await view.keyboard.type("jar: a known one")
        await expect(view.locator("#at")).to_have_text("2")
        await view.reload()
        await expect(view.locator("#given")).to_have_text("2")
        await view.keyboard.press("j")
        await view.keyboard.press("r")
        await view.keyboard.press("Enter")
        await view.keyboard.press("Space")
        for _ in range(2):
            await view.keyboard.press("Tab")
            await view.keyboard.press("Space")
        await view.locator("button.primary").focus()
        await view.keyboard.press("Enter")
        await expect(view.locator("#changed")).to_contain_text("What your review changed")
        await expect(view.locator("#changed")).to_be_focused()
        rows = {row.id: row for row in await house.house.records.find(OutcomeRow)}
        assert rows[first].outcome == "accepted"
        assert (rows[second].outcome, rows[second].reason) == ("rejected", "jar: a known one")
        assert wrong == []


LOOK = """() => [...document.querySelectorAll(".item.here .choice")].map((one) => {
  const style = getComputedStyle(one), input = one.querySelector("input");
  const drawn = [style.backgroundColor, style.borderColor, style.color, style.boxShadow, style.fontWeight].join(" ");
  return [input.checked, drawn];
})"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
async def test_only_a_picked_verdict_looks_picked(night: KeptNight, width: int) -> None:
    async with night.opened() as house, served(house) as address, browsed(address, width) as (view, wrong):
        for theme in ("light", "dark"):
            await view.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
            await view.reload()
            await view.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
            choices = view.locator(".item.here .choice")
            await expect(choices).to_have_count(4)
            await view.evaluate("for (const one of document.querySelectorAll('.choice input')) one.checked = false")
            unpicked = await view.evaluate(LOOK)
            assert not any(checked for checked, _ in unpicked)
            assert len({drawn for _, drawn in unpicked}) == 1, "no verdict stands out before one is given"
            for place in range(4):
                await choices.nth(place).click()
                shown = await view.evaluate(LOOK)
                assert [checked for checked, _ in shown] == [one == place for one in range(4)]
                for one, (_, drawn) in enumerate(shown):
                    assert (drawn == unpicked[0][1]) is (one != place), (theme, one)
                if "REVIEW_SHOTS" in os.environ:
                    await view.screenshot(path=f"{os.environ['REVIEW_SHOTS']}/picked-{place}-{theme}-{width}.png")
        assert wrong == []


@pytest.mark.slow
async def test_a_thumb_can_do_it_too(night: KeptNight) -> None:
    async with night.opened() as house, served(house) as address, browsed(address, 390) as (view, wrong):
        first, _ = await recommended(house)
        await expect(view.locator(".choice.accepted:visible")).to_be_in_viewport()
        await expect(view.get_by_text("Side by side").first).to_be_hidden()
        await view.locator(".choice.modified:visible").click()
        await view.locator("textarea:visible").first.fill("only the imports")
        await view.get_by_role("button", name="Merge into main").click()
        await expect(view.locator("#pull-1")).to_contain_text("is merged into")
        for name in ("usefulness", "trust", "brevity"):
            await view.locator(f"input[name={name}][value='4']").check()
        await view.get_by_role("button", name="Submit the review").click()
        await expect(view.locator("#changed")).to_be_visible()
        rows = {row.id: row for row in await house.house.records.find(OutcomeRow)}
        assert (rows[first].outcome, rows[first].reason) == ("modified", "only the imports")
        assert await view.evaluate("document.documentElement.scrollWidth") == 390
        assert wrong == []
