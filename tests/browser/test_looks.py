"""Every page in every state that matters, in both themes, wide and on a phone: readable, reachable, calm and small."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Householder, shot
from tests.browser.looker import Looker, Seen
from tests.nights.house import CHECK, sample_repository
from tests.patience import PATIENCE_MS
from tests.store.processes import run_module
from tests.surfaces.doings import COMMAND, PROMPT

pytestmark = pytest.mark.slow

PASSWORD = "a quiet night of work"
MOST_BYTES = 100_000
SCHEME = "getComputedStyle(document.documentElement).colorScheme"
BROKEN = "addEventListener('securitypolicyviolation', e => console.error(`policy: ${e.violatedDirective}`))"


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=pytest.mark.sweep)], ids=["sampled", "whole"])
def seen(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Seen]:
    """One house goes through one day, and somebody looks at everything."""
    folder = Path(tempfile.mkdtemp(prefix="mw", dir="/tmp"))
    ann, seen = Householder(folder), Seen(everything=request.param)
    try:
        source = sample_repository(ann.repo)
        link = ann.starts()
        address = link.partition("/welcome")[0]
        looker = Looker(browser, address, seen, bypass_csp=True)
        by_day(looker, link)
        stranger(browser, looker)
        orders(looker, str(source))
        by_night(browser, looker, ann)
        strictly(browser, looker)
        in_the_morning(looker)
        yield seen
    finally:
        with suppress(Exception):
            shot(looker.page, "last")
            looker.context.close()
        ann.types("down", expect=None)
        shutil.rmtree(folder, ignore_errors=True)


def enter(page: Page, name: str) -> None:
    """Choose a name and a password."""
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Log out")).to_be_visible(timeout=PATIENCE_MS)


def by_day(looker: Looker, link: str) -> None:
    """An empty house."""
    looker.page.goto(link)
    looker.looks("welcome")
    enter(looker.page, "ann")
    looker.looks("tonight-empty")
    looker.opens("/live")
    looker.looks("live-none")
    looker.opens("/morning")
    looker.looks("morning-none")
    looker.opens("/nowhere")
    looker.looks("problem")


def stranger(browser: Browser, looker: Looker) -> None:
    """Somebody without a login."""
    other = Looker(browser, looker.address, looker.seen, bypass_csp=True)
    other.opens("/live")
    other.looks("login")
    other.page.get_by_label("Name").fill("ann")
    other.page.get_by_label("Password").fill("not the password")
    other.page.keyboard.press("Enter")
    expect(other.page.locator(".problem")).to_be_visible()
    other.looks("login-wrong")
    other.context.close()


def orders(looker: Looker, path: str) -> None:
    """A project, a sheet, a mistake in it, a signature."""
    page = looker.opens("/tonight")
    page.get_by_label("Folder on this machine").fill(path)
    page.get_by_label("Checks").fill(CHECK)
    page.get_by_role("button", name="Add the project").click()
    expect(page.get_by_text("1 project: ")).to_be_visible()
    looker.looks("tonight-project")
    page.get_by_label("Goals").fill("Keep the code tidy without changing what it does")
    page.get_by_label("What to do").fill("Tidy up")
    page.get_by_role("button", name="Save draft").click()
    sign = page.get_by_role("button", name="Sign and start the night")
    expect(sign).to_be_enabled()
    looker.looks("tonight-sheet")
    page.get_by_role("button", name="Change limits").click()
    page.get_by_label("Minutes").fill("soon")
    page.locator("#orders-limits").get_by_role("button", name="Save").click()
    expect(page.locator("#orders-limits .wrong").first).to_be_visible()
    looker.looks("tonight-wrong")
    page.locator("#orders-limits").get_by_role("button", name="Cancel").click()
    expect(page.locator("#orders-limits form")).to_have_count(0)
    sign.click()
    page.wait_for_url("**/live")


def by_night(browser: Browser, looker: Looker, ann: Householder) -> None:
    """A question, a pause, an answer, an end."""
    page = looker.page
    expect(page.locator("details.ask").first).to_be_visible()
    expect(page.locator(".jobs .wanted").first).to_be_visible()
    looker.looks("live-ask")
    guest(browser, looker, ann)
    agent(looker, ann)
    looker.opens("/tonight")
    looker.looks("tonight-running")
    looker.opens("/morning")
    looker.looks("morning-running")
    looker.opens("/jobs/1")
    looker.looks("job-waiting")
    looker.opens("/live")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".paused")).to_be_visible()
    looker.looks("live-paused")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".paused")).to_have_count(0)
    page.locator("details.ask").first.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("link", name="Review the results")).to_be_visible(timeout=PATIENCE_MS)
    looker.opens("/live")
    looker.looks("live-over", pictured=True)
    page.locator("#feed li:not(.engine) a").first.click()
    page.wait_for_url("**/why/*")
    looker.looks("why")
    looker.opens("/jobs/1")
    expect(page.locator("#kept h2")).to_be_visible()
    looker.looks("job-done")
    page.locator(".step-list a").filter(has_text="verify").first.click()
    page.wait_for_url("**/steps/*")
    expect(page.locator("#proof-head")).to_be_visible()
    looker.looks("step")
    kept(looker, ann)


def agent(looker: Looker, ann: Householder) -> None:
    """An agent that asks a model spends, is refused, meets a limit, and is held in the middle of a call."""
    ann.types("down")
    assert run_module("tests.browser.crew_at_work", str(ann.home))[0] == 0
    ann.starts()
    page = looker.opens("/live")
    held = page.locator("details.ask", has_text="Allow job 1 to use Bash?")
    expect(held.locator("pre")).to_have_text(COMMAND)
    looker.looks("live-held")
    page = looker.opens("/jobs/1")
    page.get_by_text("Its prompt").first.click()
    expect(page.locator("details.prompt pre")).to_have_text(PROMPT)
    looker.looks("job-agent")
    began, *_ = (one["seq"] for one in ann.types("replay", "--json").json if one.get("kind") == "agent.began")
    looker.opens(f"/why/{began}")
    looker.looks("why-told")
    page = looker.opens("/live")
    held.get_by_role("button", name="No").click()
    expect(held).to_have_count(0)


def kept(looker: Looker, ann: Householder) -> None:
    """A job that reached out and left work that is nowhere else; the server is away while the journal is written."""
    tree = Path(ann.types("job", "open", "1", "--json").json[-1]["tree"])
    (tree / "an unfinished thought.txt").write_text("x\n")
    ann.types("down")
    assert run_module("tests.browser.reaching_out", str(ann.home))[0] == 0
    ann.starts()
    page = looker.opens("/jobs/1")
    expect(page.locator("#kept form")).to_be_attached()
    looker.looks("job-tried")
    page.get_by_text("Discard it").click()
    page.get_by_role("button", name="Discard the checkout").click()
    expect(page.locator("#kept .problem")).to_be_visible()
    looker.looks("job-discard-refused")
    page.get_by_label("Delete it anyway").check()
    page.get_by_role("button", name="Discard the checkout").click()
    expect(page.get_by_text("It was deleted;")).to_be_visible()
    looker.looks("job-discarded")


def guest(browser: Browser, looker: Looker, ann: Householder) -> None:
    """Somebody who may only look on finds nothing to press."""
    viewer = Looker(browser, looker.address, looker.seen, bypass_csp=True)
    viewer.page.goto(ann.types("person", "link", "--role", "viewer", "--json").json["url"])
    enter(viewer.page, "vera")
    for name in ("tonight", "live"):
        viewer.opens(f"/{name}")
        viewer.looks(f"viewer-{name}")
        looker.seen.controls += [f"{name}: {one}" for one in viewer.page.evaluate("looks.controls()")]
    viewer.context.close()


def strictly(browser: Browser, looker: Looker) -> None:
    """The same pages under the policy we send, in a browser that has never been here."""
    for name in ("live", "tonight", "morning", "jobs/1", "why/1"):
        cold = Looker(browser, looker.address, looker.seen, storage_state={"cookies": looker.context.cookies()})
        cold.page.add_init_script(BROKEN)
        sizes = counted(cold)
        answer = cold.page.goto(f"{looker.address}/{name}")
        assert answer is not None
        looker.seen.policies.append(answer.headers["content-security-policy"])
        cold.page.evaluate("document.fonts.ready.then(() => 0)")
        looker.seen.bytes[name] = int(sum(sizes.values()))
        before = cold.page.evaluate(SCHEME)
        cold.page.get_by_title("Switch between light and dark").click()
        cold.page.reload()
        looker.seen.themes.append(f"{name}: {before}, then {cold.page.evaluate(SCHEME)}")
        cold.context.close()


def counted(cold: Looker) -> dict[str, float]:
    """Count every byte on the wire from now on, and keep every complaint of the browser."""
    sizes: dict[str, float] = {}
    complaints = cold.seen.complaints
    watched = cold.context.new_cdp_session(cold.page)
    watched.send("Network.enable")
    watched.on("Network.loadingFinished", lambda one: sizes.update({one["requestId"]: one["encodedDataLength"]}))
    cold.page.on("console", lambda said: complaints.append(said.text) if said.type in {"error", "warning"} else None)
    cold.page.on("pageerror", lambda error: complaints.append(str(error)))
    return sizes


def in_the_morning(looker: Looker) -> None:
    """To read, to reject with a word, to hand in."""
    page = looker.opens("/morning")
    items = page.locator("article.item")
    expect(items.first).to_be_visible()
    looker.looks("morning")
    page.locator(".place").first.click()
    page.keyboard.press("r")
    expect(page.locator(".why-field textarea").first).to_be_visible()
    looker.looks("morning-reject")
    page.locator(".place").first.click()
    for _ in range(items.count()):
        page.keyboard.press("a")
    for name in ("usefulness", "trust", "brevity"):
        page.locator(f"input[name={name}][value='4']").check()
    page.get_by_role("button", name="Submit the review").click()
    expect(page.locator("#changed")).to_be_visible()
    looker.looks("morning-reviewed")


def test_axe_finds_nothing_wrong_on_any_page(seen: Seen) -> None:
    assert not seen.axe, "\n".join(seen.axe)


def test_no_page_scrolls_sideways(seen: Seen) -> None:
    assert not seen.sideways, "\n".join(seen.sideways)


def test_the_tab_key_reaches_everything_and_the_focus_is_seen(seen: Seen) -> None:
    assert not seen.focus, "\n".join(seen.focus)


def test_only_what_wants_a_person_is_amber(seen: Seen) -> None:
    assert not seen.amber, "\n".join(seen.amber)
    for name in ("live-ask", "tonight-sheet", "job-waiting", "morning"):
        assert seen.lit[name], f"{name} wants somebody and does not say so"
    for name in ("live-none", "morning-none", "morning-reviewed", "job-done", "why", "viewer-live", "viewer-tonight"):
        assert not seen.lit[name], f"{name} wants nobody"


def test_a_viewer_has_nothing_to_press(seen: Seen) -> None:
    assert not seen.controls, "\n".join(seen.controls)


def test_no_request_leaves_the_house(seen: Seen) -> None:
    assert not seen.strangers, "\n".join(seen.strangers)


def test_the_policy_allows_nothing_inline_and_nothing_breaks_it(seen: Seen) -> None:
    assert seen.policies
    for policy in seen.policies:
        assert "unsafe-inline" not in policy
        assert "unsafe-eval" not in policy
    assert not seen.complaints, "\n".join(seen.complaints)


def test_night_is_ink_and_morning_is_paper_until_somebody_chooses(seen: Seen) -> None:
    assert seen.themes == [
        "live: dark, then light",
        "tonight: dark, then light",
        "morning: light, then dark",
        "jobs/1: dark, then light",
        "why/1: dark, then light",
    ]


def test_a_cold_page_is_small(seen: Seen, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\ncold pages: " + ", ".join(f"/{name} {size:,} bytes" for name, size in seen.bytes.items()))
    for name, size in seen.bytes.items():
        assert 30_000 < size < MOST_BYTES, f"/{name} takes {size:,} bytes"
