"""The stack on the morning's page: a picture of the order, one key or one button, and the way back."""

import asyncio
import os
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from playwright.async_api import Page, async_playwright, expect

from midwatch.surfaces.api.app import make_app
from midwatch.terms.people import Role
from midwatch.terms.records import OutcomeRow, PullRequestRow, StackRow
from midwatch.terms.stack import StackState
from tests.browser.looker import SCRIPTS
from tests.chromium import FLAGS, chromium
from tests.nights.house import TestHouse, git
from tests.nights.scripted import write
from tests.nights.stacked import EIGHT, a_dawn_of, ends, reviews
from tests.surfaces.test_morning_page import app_for

EVIL = "<img src=x onerror=alert(1)>"
FIVE = {name: EIGHT[name] for name in ("Alpha", "Beta", "Amend", "New name", "Old name")}


@asynccontextmanager
async def web(house: TestHouse, role: Role = Role.OWNER) -> AsyncIterator[httpx.AsyncClient]:
    app = app_for(house.house, role)
    way = httpx.ASGITransport(app)
    headers = {"Accept": "text/html", "HX-Request": "true"}
    async with httpx.AsyncClient(transport=way, base_url="http://house", headers=headers) as client:
        yield client


async def test_the_panel_names_the_order_and_every_conflict_and_merging_changes_the_pull_requests_too(
    tmp_path: Path,
) -> None:
    edits = {"Alpha": EIGHT["Alpha"], "Beta": EIGHT["Beta"], EVIL: write("c.txt", "c\n")}
    async with a_dawn_of(tmp_path, edits, checks=("true",)) as (house, source):
        await ends(house)
        async with web(house, Role.APPROVER) as approver:
            assert (await approver.post("/morning/stack/1/merge")).status_code == 403
        async with web(house) as client:
            text = (await client.get("/morning")).text
            assert "2 of 3 branches merge together; checks green together." in text
            assert "Conflicts with pull request 1 in a.txt." in text
            for number in (1, 2, 3):
                assert f'<a href="/jobs/{number}">Job {number}</a>' in text.partition('id="stack-1"')[2]
            assert "<img" not in text
            assert "Pull requests 1 and 3 have no verdict yet. Merging takes only what you accept." in text
            assert "Merge all 2 into main" not in text
            assert (await client.post("/morning/stack/1/merge")).status_code == 403
            await reviews(house)
            assert "Merge all 2 into main" in (await client.get("/morning")).text
            merged = await client.post("/morning/stack/1/merge")
            assert 'hx-target="#pull-1"' in merged.text
            assert "Merged by ann." in merged.text
            assert "reset --keep" in merged.text
            (row,) = await house.house.records.find(StackRow)
            assert git(source, "rev-parse", "main") == row.tip
            assert {one.outcome for one in await house.house.records.find(OutcomeRow)} == {"accepted"}
            assert (await client.post("/morning/unmerge/1")).status_code == 403
            assert "/morning/unmerge/1" not in (await client.get("/morning")).text
            assert "Merge all 2 into main" in (await client.post("/morning/stack/1/undo")).text
            alone = (await client.post("/morning/merge/1")).text
            assert 'hx-target="#stack-1"' in alone
            for text in (alone, (await client.get("/morning")).text):
                assert "Pull request 1 was merged since the stack was made." in text
                assert "Merge all 2 into main" not in text
            assert "Merge all 2 into main" in (await client.post("/morning/unmerge/1")).text
            again = await client.post("/morning/stack/1/check")
            assert 'hx-trigger="load delay:1s"' in again.text
            await house.settle()
            assert "Merge all 2 into main" in (await client.get("/morning/stack/2")).text


async def test_a_jobs_page_merges_takes_back_and_says_what_checks_an_outdated_stack_again(tmp_path: Path) -> None:
    edits = {"Alpha": EIGHT["Alpha"], "Beta": EIGHT["Beta"], "Other": write("c.txt", "c\n")}
    again = "“Check again” merges the branches that are still open and runs their checks together."
    async with a_dawn_of(tmp_path, edits, checks=("true",)) as (house, source):
        await ends(house)
        before = git(source, "rev-parse", "main")
        async with web(house, Role.APPROVER) as approver:
            assert (
                "needs-operate"
                in re.findall(r"<button[^>]*/morning/merge/3[^>]*>", (await approver.get("/jobs/3")).text)[0]
            )
        async with web(house) as client:
            shown = (await client.get("/jobs/3")).text
            assert "Pull request 3 is open" in shown
            assert "Merging takes only what you accept." in shown
            assert again not in shown
            assert "is merged into" in (await client.post("/morning/merge/3")).text
            assert git(source, "rev-parse", "main") != before
            for page in ("/jobs/3", "/jobs/1", "/morning"):
                text = (await client.get(page)).text
                assert "Pull request 3 was merged since the stack was made." in text, page
                assert again in text
                assert 'hx-post="/morning/stack/1/check"' in text
            assert "/morning/unmerge/3" in (await client.get("/jobs/3")).text
            assert "Check again" not in (await client.get("/jobs/2")).text, "it is not in that stack"
            assert "Pull request 3 is open" in (await client.post("/morning/unmerge/3")).text
            assert git(source, "rev-parse", "main") == before
            assert again not in (await client.get("/jobs/3")).text


async def test_what_was_rejected_is_never_merged_and_its_pages_say_so(tmp_path: Path) -> None:
    edits = {"One": write("one.txt", "1"), "Two": write("two.txt", "2")}
    async with a_dawn_of(tmp_path, edits, checks=("true",)) as (house, source):
        report = await ends(house)
        before = git(source, "rev-parse", "main")
        one, two = (entry.id for entry in report.recommendations)
        said = {f"outcome:{one}": "accepted", f"outcome:{two}": "rejected", f"keep:{two}": "yes"}
        ratings = {"usefulness": "4", "trust": "4", "brevity": "4"}
        async with web(house) as client:
            reviewed = (await client.post("/morning/review", data=ratings | said)).text
            for text in (reviewed, (await client.get("/jobs/2")).text):
                assert "You rejected it in the review" in text
                assert "/morning/merge/2" not in text
            assert "/morning/merge/1" in (await client.get("/jobs/1")).text
            refused = await client.post("/morning/merge/2")
            assert refused.status_code == 403
            assert "was rejected in the review" in refused.text
        way = httpx.ASGITransport(make_app(house.house))
        async with httpx.AsyncClient(transport=way, base_url="http://house/api/v1") as api:
            assert (await api.post("/jobs/2/merge")).status_code == 403
            assert git(source, "rev-parse", "main") == before
            assert (await api.post("/jobs/1/merge")).json()["state"] == "merged"
            again = {"outcomes": [{"recommendation": two, "outcome": "accepted"}]}
            rated = {"usefulness": 4, "trust": 4, "brevity": 4}
            assert (await api.post("/morning/review", json=again | rated)).status_code == 200
            assert (await api.post("/jobs/2/merge")).json()["state"] == "merged", "the person changed their mind"


@asynccontextmanager
async def browsed(house: TestHouse, width: int, path: str = "/morning") -> AsyncIterator[tuple[Page, list[str]]]:
    """A real browser on the page, with everything it complains about."""
    app = app_for(house.house)
    door = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
    running = asyncio.create_task(server.serve(sockets=[door]))
    wrong: list[str] = []
    try:
        async with async_playwright() as play:
            browser = await play.chromium.launch(executable_path=chromium(), args=FLAGS)
            view = await browser.new_page(
                viewport={"width": width, "height": 900}, reduced_motion="reduce", bypass_csp=True
            )
            view.on("console", lambda message: wrong.append(message.text))
            view.on("pageerror", lambda error: wrong.append(str(error)))
            await view.goto(f"http://127.0.0.1:{door.getsockname()[1]}{path}")
            yield view, wrong
            await browser.close()
    finally:
        server.should_exit = True
        await running


async def shoots(view: Page, name: str) -> None:
    """Look at it in both themes; nothing may run out of the page, be hard to read or stray into amber."""
    for script in SCRIPTS if not await view.evaluate("'looks' in window") else ():
        await view.evaluate(script.read_text())
    for theme in ("light", "dark"):
        await view.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
        assert await view.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert await view.evaluate("looks.axe()") == []
        assert (await view.evaluate("looks.amber()"))["strays"] == []
        if "STACK_SHOTS" in os.environ:
            await view.screenshot(path=f"{os.environ['STACK_SHOTS']}/{name}-{theme}.png")


@pytest.mark.slow
async def test_one_key_merges_the_verified_order(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, FIVE) as (house, source):
        await ends(house)
        await reviews(house)
        async with browsed(house, 1280) as (view, wrong):
            await expect(view.locator(".pile .chain li")).to_have_count(5)
            await shoots(view, "stack-wide")
            await view.keyboard.press("m")
            await expect(view.locator(".pile")).to_contain_text("Merged by ann.")
            await expect(view.locator(".item:visible .pull")).to_contain_text("is merged into")
            await shoots(view, "stack-merged-wide")
            (row,) = await house.house.records.find(StackRow)
            assert git(source, "rev-parse", "main") == row.tip
            assert wrong == []


@pytest.mark.slow
async def test_a_thumb_merges_and_takes_back_and_no_key_merges_what_is_unproven(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, {name: FIVE[name] for name in ("Alpha", "Beta", "Amend")}, checks=()) as (house, _):
        await ends(house)
        await reviews(house)
        async with browsed(house, 390) as (view, wrong):
            await shoots(view, "stack-narrow")
            await view.keyboard.press("m")
            button = view.get_by_role("button", name="Merge all 2 into main")
            await expect(button).to_be_focused()
            assert (await house.house.records.find(StackRow))[0].state is StackState.MADE
            await button.click()
            await expect(view.locator(".pile")).to_contain_text("Merged by ann.")
            await shoots(view, "stack-merged-narrow")
            await view.get_by_role("button", name="Undo").click()
            await expect(view.get_by_role("button", name="Merge all 2 into main")).to_be_visible()
            assert {row.state for row in await house.house.records.find(PullRequestRow)} == {"open"}
            assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
async def test_a_press_on_a_jobs_page_merges_takes_back_and_checks_again(tmp_path: Path, width: int) -> None:
    edits = {"Alpha": EIGHT["Alpha"], "Beta": EIGHT["Beta"], "Other": write("c.txt", "c\n")}
    async with a_dawn_of(tmp_path, edits, checks=("true",)) as (house, source):
        await ends(house)
        before = git(source, "rev-parse", "main")
        async with browsed(house, width, "/jobs/3") as (view, wrong):
            await shoots(view, f"job-open-{width}")
            await view.get_by_role("button", name="Merge into main").click()
            await expect(view.locator("#pull-3")).to_contain_text("is merged into")
            await expect(view.locator("#stack-1")).to_contain_text("Pull request 3 was merged since")
            await shoots(view, f"job-merged-{width}")
            await view.locator("#pull-3").get_by_role("button", name="Undo").click()
            await expect(view.locator("#pull-3")).to_contain_text("Pull request 3 is open")
            assert git(source, "rev-parse", "main") == before
            await view.get_by_role("button", name="Merge into main").click()
            await view.get_by_role("button", name="Check again").click()
            await expect(view.locator(".pile")).to_contain_text("being merged and checked together")
            await house.settle()
            await expect(view.locator(".pile")).to_contain_text("1 of 2 branches merges")
            assert wrong == []


async def test_a_rejected_recommendation_closes_its_pull_request_unless_it_is_kept(tmp_path: Path) -> None:
    edits = {name: write(f"part_{name}.txt", name) for name in ("One", "Two", "Three")}
    async with a_dawn_of(tmp_path, edits, checks=("true",)) as (house, _):
        report = await ends(house)
        async with web(house) as client:
            assert "Pull request 2 will be closed." in (await client.get("/morning")).text
            one, two, three = (entry.id for entry in report.recommendations)
            said = {f"outcome:{one}": "accepted", f"outcome:{two}": "rejected", f"outcome:{three}": "rejected"}
            ratings = {"usefulness": "4", "trust": "4", "brevity": "4"}
            answer = await client.post("/morning/review", data=ratings | said | {f"keep:{three}": "yes"})
            assert answer.status_code == 200, answer.text
        states = {row.title: row.state for row in await house.house.records.find(PullRequestRow)}
        assert sorted(states.values()) == ["closed", "open", "open"]
