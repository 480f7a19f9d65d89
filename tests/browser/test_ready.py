"""The panel that says whether tonight is ready, in a real browser: both themes, wide and on a phone (X10)."""

from functools import partial

from playwright.sync_api import Browser, Route, expect

from tests.browser.conftest import Householder, shot
from tests.browser.looker import Looker, Seen
from tests.browser.test_a_day import enters
from tests.nights.house import CHECK, sample_repository


def test_one_press_looks_first_and_signs_only_when_nothing_is_bad(browser: Browser, ann: Householder) -> None:
    sample_repository(ann.repo)
    link, seen = ann.starts(), Seen()
    ann.types("project", "add", "repo", "--check", CHECK, "--check", "nosuchtool --all")
    ann.orders()
    looker = Looker(browser, link.partition("/welcome")[0], seen, bypass_csp=True)
    page = looker.page
    enters(page, link)
    anyway = page.get_by_role("button", name="Sign anyway")
    page.get_by_role("button", name="Sign and start the night").click()
    expect(anyway).to_be_visible()
    panel = page.locator("#orders-ready")
    expect(panel.locator("li.line-bad")).to_contain_text("`nosuchtool --all` cannot run: nosuchtool is not there.")
    expect(panel.locator("li.line-bad .fix")).to_contain_text("apt install nosuchtool")
    assert page.url.endswith("/tonight"), "nothing is signed over a red line"
    looker.looks("tonight-not-ready")
    ann.types("project", "change", "repo", "--check", CHECK)
    page.reload()
    expect(panel).to_contain_text("Not checked yet")
    page.get_by_role("button", name="check now").click()
    expect(panel).to_contain_text("Everything is ready.")
    looker.looks("tonight-ready")
    page.get_by_role("button", name="Sign and start the night").click()
    page.wait_for_url("**/live")
    looker.opens("/tonight")
    expect(panel).to_contain_text("Preflight")
    looker.looks("tonight-signed")
    looker.context.close()
    assert (seen.axe, seen.sideways, seen.amber, seen.focus, seen.strangers) == ([], [], [], [], [])


def test_a_press_that_finds_everything_ready_signs_by_itself(browser: Browser, ann: Householder) -> None:
    sample_repository(ann.repo)
    link = ann.starts()
    ann.types("project", "add", "repo", "--check", f"sleep 3 && {CHECK}")  # long enough to be seen
    ann.orders()
    page = browser.new_page()
    enters(page, link)
    page.get_by_role("button", name="Sign and start the night").click()
    expect(page.locator("#orders-ready progress")).to_be_visible()
    page.wait_for_url("**/live")
    page.close()


def test_a_press_made_while_the_page_still_loads_is_kept(browser: Browser, ann: Householder) -> None:
    """The last script comes late, so the button is there well before htmx has taken the page in."""
    sample_repository(ann.repo)
    link = ann.starts()
    ann.types("project", "add", "repo", "--check", CHECK)
    ann.orders()
    page = browser.new_page()
    enters(page, link)
    page.route("**/static/htmx-*.js", lambda route: route.abort())
    page.reload()
    page.get_by_role("button", name="check now").click(no_wait_after=True)
    page.get_by_role("button", name="Sign and start the night").click(no_wait_after=True)
    page.unroute("**/static/htmx-*.js")
    expect(page.locator("#problem .problem")).to_have_text(
        "The page did not load whole, so nothing was done. Load it again."
    )
    shot(page, "tonight-not-whole")
    expect(page.locator("#orders-ready")).to_contain_text("Not checked yet")
    for name in ("check now", "Sign and start the night"):
        late: list[Route] = []
        page.route("**/static/live.js", partial(held_back, late))
        page.goto(page.url, wait_until="commit")
        page.get_by_role("button", name=name).click(no_wait_after=True)
        assert len(late) == 1, "the page is not whole yet, and was not loaded again"
        late[0].continue_()
        page.unroute("**/static/live.js")
        if name == "check now":
            expect(page.locator("#orders-ready")).to_contain_text("Everything is ready.")
    page.wait_for_url("**/live")
    page.close()


def held_back(late: list[Route], route: Route) -> None:
    late.append(route)
