"""A signature is for the sheet that this page showed, and is carried out by the server (X7, X10, N25)."""

import re
from pathlib import Path

import pytest

from midwatch.evening import accounts, sign_orders
from midwatch.evening import projects as by_day
from midwatch.terms.people import Role, Scope
from midwatch.terms.projects import SessionState
from midwatch.terms.records import NoticeRow, SessionRow
from midwatch.terms.trust import Level
from tests.nights.house import a_house, orders, sample_repository
from tests.surfaces.test_tonight_page import Browser, fresh_hash, with_a_draft
from tests.surfaces.visitor import token, visiting, welcome

BODY = 'id="tonight-body"'


async def night(browser: Browser) -> SessionRow:
    return (await browser.at.house.records.find(SessionRow))[-1]


async def test_what_another_tab_added_is_shown_before_it_is_signed(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        mine = fresh_hash(await browser.get())
        await browser.post("/tonight/orders/work?item=new", title="Delete the database", project="sample", shown=mine)
        polled = await browser.get(f"/tonight/ready?shown={mine}")
        assert fresh_hash(polled) == mine, "what the page shows has not changed, so its hash has not"
        refused = await browser.post("/tonight/start", status=409, shown=mine)
        assert "The orders have changed since you were shown them." in refused
        assert "Work added: Delete the database (sample)" in refused
        assert 'id="orders-work"' in refused, "the sheet as it is now comes with the refusal"
        assert fresh_hash(refused) != mine
        assert (await night(browser)).state is SessionState.BRIEFING


async def test_a_change_on_a_page_that_is_behind_brings_the_whole_sheet(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        mine = fresh_hash(await browser.get())
        await browser.post("/tonight/orders/work?item=new", title="Delete the database", project="sample", shown=mine)
        saved = await browser.post("/tonight/orders/goals", goals="Stay green", shown=mine, open="goals")
        assert "Work added: Delete the database (sample)" in saved
        assert 'id="orders-work"' in saved
        assert fresh_hash(saved) == fresh_hash(await browser.get())


async def test_signing_keeps_what_is_typed_and_not_saved(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        mine = fresh_hash(await browser.get())
        refused = await browser.post("/tonight/start", status=409, shown=mine, open=["goals", "limits"])
        assert "Goals and limits are open for changes." in refused
        assert BODY not in refused
        assert 'id="orders-goals"' not in refused, "the open form stays as it is"
        assert (await night(browser)).state is SessionState.BRIEFING


async def test_a_closed_page_does_not_stop_a_signature(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        pressed = await browser.post("/tonight/start", shown=fresh_hash(await browser.get()))
        assert "You can close this page." in pressed
        assert "Do not sign yet" in pressed
        await browser.at.settle()
        signed = await night(browser)
        assert (signed.state, signed.signed_by) == (SessionState.AUTONOMOUS, "ann")
        assert signed.preflight


async def test_a_signature_is_dropped_when_something_is_bad_and_the_person_is_told(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        await by_day.change_project(browser.at.house.books, "sample", by="ann", checks=("nosuchtool --all",))
        await browser.post("/tonight/start", shown=fresh_hash(await browser.get()))
        await browser.at.settle()
        assert (await night(browser)).state is SessionState.BRIEFING
        assert "The orders were not signed: 1 thing is not ready." in await browser.get()
        told = [one.text for one in await browser.at.house.records.find(NoticeRow)]
        assert "The night has not begun: 1 thing is not ready." in told


async def test_a_pending_signature_can_be_taken_back_and_does_not_cover_a_later_change(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        await browser.post("/tonight/start", shown=fresh_hash(await browser.get()))
        taken = await browser.post("/tonight/start/cancel")
        assert "Do not sign yet" not in taken
        await browser.at.settle()
        assert (await night(browser)).state is SessionState.BRIEFING
        await by_day.change_project(browser.at.house.books, "sample", by="ann", checks=("true",))
        mine = fresh_hash(await browser.get())
        await browser.post("/tonight/start", shown=mine)
        await browser.post("/tonight/orders/goals", goals="Something else", shown=mine)
        await browser.at.settle()
        assert (await night(browser)).state is SessionState.BRIEFING
        assert "The orders were not signed: they were changed after ann pressed Sign." in await browser.get()


async def test_the_page_that_pressed_goes_to_live_when_the_night_began(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        text = await browser.get()
        pressed = await browser.post("/tonight/start", shown=fresh_hash(text))
        assert re.search(r'hx-get="/tonight/ready"', pressed)
        await browser.at.settle()
        got = await browser.client.get(f"/tonight/ready?shown={fresh_hash(text)}", headers={"x-role": "owner"})
        assert got.headers["HX-Redirect"] == "/live"


async def test_the_api_signs_only_what_it_is_told_was_shown(tmp_path: Path) -> None:
    async with a_house(tmp_path / "home") as at:
        await at.project(sample_repository(tmp_path / "sample"))
        async with visiting(at.house) as ann:
            await welcome(at.house, ann)
            await sign_orders.draft(at.house.evening, orders(), by="ann")
            seen = (await ann.api("GET", "/orders")).json()["shown_hash"]
            await sign_orders.draft(at.house.evening, orders("Tidy up", "Delete the database"), by="bob")
            unbound = await ann.api("POST", "/sessions/start", {})
            assert unbound.status_code == 400
            refused = await ann.api("POST", "/sessions/start", {"shown_hash": seen})
            assert refused.status_code == 409
            assert refused.json()["error"]["because"][1:] == ["Work added: Delete the database (sample)"]
            seen = (await ann.api("GET", "/orders")).json()["shown_hash"]
            assert (await ann.api("POST", "/sessions/start", {"shown_hash": seen})).status_code == 200


async def test_what_the_sheet_says_of_a_project_is_signed_too(tmp_path: Path) -> None:
    """A4: a path that the sheet shows as never touched must not be opened behind the person's back."""
    async with with_a_draft(tmp_path) as browser:
        books = browser.at.house.books
        await by_day.change_project(books, "sample", by="ann", do_not_touch=("secrets/**",))
        text = await browser.get()
        assert "secrets/**" in text
        mine = fresh_hash(text)
        await by_day.change_project(books, "sample", by="bob", do_not_touch=())
        assert "The orders have changed since you were shown them." in await browser.get(f"/tonight/ready?shown={mine}")
        refused = await browser.post("/tonight/start", status=409, shown=mine)
        assert "Project sample: " in refused
        assert "never touched nothing" in refused
        assert (await night(browser)).state is SessionState.BRIEFING
        # A change in the moment between the press and the signature counts as well.
        await browser.post("/tonight/start", shown=fresh_hash(refused))
        await by_day.change_project(books, "sample", by="bob", tools=("Read",))
        await browser.at.settle()
        assert (await night(browser)).state is SessionState.BRIEFING
        assert "The orders have changed since you were shown them." in (await night(browser)).unsigned_because


async def test_a_change_of_a_project_on_this_page_comes_with_all_that_it_changes(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        mine = fresh_hash(await browser.get())
        saved = await browser.post("/tonight/projects/sample", do_not_touch="secrets/**", shown=mine)
        assert 'id="orders-permissions"' in saved, "the protected paths are on this part of the sheet"
        assert "somewhere else" not in saved
        assert fresh_hash(saved) == fresh_hash(await browser.get()) != mine
        pressed = await browser.post("/tonight/start", shown=fresh_hash(saved))
        assert "You can close this page." in pressed
        await browser.at.settle()
        assert (await night(browser)).state is SessionState.AUTONOMOUS


async def test_a_setting_that_the_sheet_shows_is_signed_too(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path) as browser:
        mine = fresh_hash(await browser.get())
        row = await by_day.propose_settings(
            browser.at.house.books, {"execution.max_files_changed": 999}, by="bob", note="more"
        )
        await by_day.apply_settings(browser.at.house.books, row.id, by="bob")
        await browser.at.house.reload_settings()
        refused = await browser.post("/tonight/start", status=409, shown=mine)
        assert "a job changes at most 999 files" in refused


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (None, "bob, who signed, was removed since."),
        (Role.APPROVER, "bob, who signed, is approver now and may not start a night."),
    ],
)
async def test_a_signature_ends_with_the_right_to_sign(tmp_path: Path, now: Role | None, why: str) -> None:
    async with with_a_draft(tmp_path, level=Level.OBSERVE) as browser, visiting(browser.at.house) as bob:
        await welcome(browser.at.house, bob, "bob", Role.OPERATOR)
        pressed = await bob.post("/tonight/start", {"shown": fresh_hash(await browser.get())})
        assert "You can close this page." in pressed.text
        entrance = browser.at.house.entrance
        await (accounts.set_role(entrance, "bob", now, by="ann") if now else accounts.remove(entrance, "bob", by="ann"))
        await browser.at.settle()
        draft = await night(browser)
        assert (draft.state, draft.signing_by, draft.unsigned_because) == (SessionState.BRIEFING, "", why)
        assert f"The night has not begun: {why}" in [one.text for one in await browser.at.house.records.find(NoticeRow)]


async def test_a_signature_by_an_owners_token_stays_a_programs_while_it_waits(tmp_path: Path) -> None:
    async with with_a_draft(tmp_path, level=Level.OBSERVE) as browser, visiting(browser.at.house) as ann:
        house = browser.at.house
        await welcome(house, ann)
        program = await token(house, "ann", *Scope)
        shown = fresh_hash(await browser.get())
        async with visiting(house) as there:
            pressed = await there.post("/tonight/start", {"shown": shown}, **program)
        assert "You can close this page." in pressed.text
        assert (await night(browser)).signing_capped
        row = await by_day.propose_settings(house.books, {"ceilings.tools": ["Read"]}, by="ann")
        await by_day.apply_settings(house.books, row.id, by="ann")
        await house.reload_settings()
        await browser.at.settle()
        draft = await night(browser)
        assert (draft.state, draft.signing_capped) == (SessionState.BRIEFING, False)
        assert "among the tools that an owner granted (Read)" in draft.unsigned_because
