"""Two tabs and a closed page: nobody signs what they were not shown, and a signature needs no open page (X7, N25)."""

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Householder
from tests.browser.looker import Looker, Seen
from tests.browser.test_a_day import enters
from tests.nights.house import CHECK, sample_repository

SIGN = "Sign and start the night"


def adds_work(page: Page, title: str) -> None:
    page.get_by_role("button", name="add work").click()
    page.get_by_label("What to do").fill(title)
    page.locator(".work-form").get_by_role("button", name="Save").click()
    expect(page.locator("#orders-work ol")).to_contain_text(title)


def test_two_tabs_and_a_closed_page(browser: Browser, ann: Householder) -> None:
    sample_repository(ann.repo)
    link, seen = ann.starts(), Seen()
    ann.types("project", "add", "repo", "--check", f"sleep 2 && {CHECK}")
    ann.orders()
    looker = Looker(browser, link.partition("/welcome")[0], seen, bypass_csp=True)
    mine = looker.page
    enters(mine, link)
    other = looker.context.new_page()
    other.goto(mine.url)
    adds_work(other, "Delete the database")

    mine.get_by_role("button", name="Change goals and criteria").click()
    mine.locator("#goals-goals").fill("Stay green")
    mine.get_by_role("button", name=SIGN).click()
    sign = mine.locator("#orders-sign")
    expect(sign).to_contain_text("Goals are open for changes. Save or cancel, then sign.")
    expect(mine.locator("#goals-goals")).to_have_value("Stay green")
    looker.looks("tonight-unsaved")
    mine.locator("#orders-goals").get_by_role("button", name="Cancel").click()
    expect(mine.locator("#goals-goals")).to_have_count(0)

    mine.get_by_role("button", name=SIGN).click()
    expect(sign).to_contain_text("The orders have changed since you were shown them.")
    expect(sign).to_contain_text("Work added: Delete the database (repo)")
    expect(mine.locator("#orders-work ol")).to_contain_text("Delete the database")
    looker.looks("tonight-changed")

    mine.get_by_role("button", name=SIGN).click()
    expect(sign).to_contain_text("You can close this page.")
    looker.looks("tonight-signing")
    mine.close()
    other.close()
    ann.kills()
    ann.ups()
    page = looker.context.new_page()
    page.goto(f"{looker.address}/tonight")
    page.wait_for_url("**/live")
    looker.context.close()
    assert (seen.axe, seen.sideways, seen.amber, seen.focus, seen.strangers) == ([], [], [], [], [])
