"""Whatever an agent writes, nothing of it runs, loads or hides, in our own strict reading and in a real browser."""

import re
import unicodedata
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.async_api import Dialog, Page, Route, async_playwright

from midwatch.surfaces.web.site.diffs import diff_html
from midwatch.surfaces.web.site.safe import (
    ATTRIBUTES,
    MOST,
    REL,
    SCHEMES,
    TAGS,
    block,
    markdown,
    plain,
)
from midwatch.views.text.plain import marked
from tests.chromium import FLAGS, chromium
from tests.surfaces.payloads import ALL, HIDDEN, XSS

CSP = (
    "default-src 'none'; script-src 'nonce-abc'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PIECE = re.compile(
    r"(?P<text>[^<>&]+)|&(?:lt|gt|amp|quot|nbsp|#39|#34);"
    r"|<(?P<end>/)?(?P<tag>[a-z][a-z0-9]*)(?P<rest>(?: [a-z]+=\"[^\"<>]*\")*)>"
)
ATTRIBUTE = re.compile(r' ([a-z]+)="([^"]*)"')
FRAGMENTS = st.sampled_from(ALL)
MIXED = st.lists(
    st.one_of(
        FRAGMENTS,
        FRAGMENTS.flatmap(lambda one: st.integers(0, len(one)).map(lambda cut: one[cut:])),
        st.text(max_size=12),
        st.sampled_from(
            ["\n", "\n\n", " ", "`", "```\n", "> ", "- ", "|", "![", "](", "<", ">", '"', "&#x", ";", "\\"]
        ),
    ),
    max_size=8,
).map("".join)


def strictly(html: str) -> str:
    """Read HTML as nothing but our own list of elements, balanced; give the text back."""
    at = 0
    said: list[str] = []
    opened: list[str] = []
    while at < len(html):
        found = PIECE.match(html, at)
        assert found, f"neither text, entity nor element at {at}: {html[at : at + 60]!r}"
        at = found.end()
        tag = found["tag"]
        if not tag:
            said.append(found["text"] or found[0])
            continue
        assert tag in TAGS
        if found["end"]:
            assert not found["rest"]
            assert opened.pop() == tag
        elif tag not in {"br", "hr"}:
            opened.append(tag)
        for name, value in ATTRIBUTE.findall(found["rest"]):
            assert name in ATTRIBUTES.get(tag, ()) or (tag, name, value) == ("a", "rel", REL)
            if name == "href":
                assert urlsplit(value).scheme.lower() in SCHEMES
                assert value.lower().startswith(("http://", "https://", "mailto:"))
                assert f'rel="{REL}"' in found["rest"]
    assert not opened
    return "".join(said)


def assert_nothing_hides(text: str) -> None:
    for one in text:
        assert one in "\n\t" or unicodedata.category(one) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}, hex(
            ord(one)
        )
        assert not 0xFE00 <= ord(one) <= 0xFE0F
        assert not 0xE0000 <= ord(one) <= 0xE0FFF
        assert ord(one) not in {0x34F, 0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800}
    assert not re.search("[\u0300-\u036f\u0489]{5}", text)


@pytest.mark.parametrize("text", ALL)
def test_markdown_lets_only_the_list_through(text: str) -> None:
    html = markdown(text)
    strictly(html)
    assert_nothing_hides(html)


@pytest.mark.parametrize("text", ALL)
def test_plain_and_block_have_no_element_at_all(text: str) -> None:
    for html in (plain(text), block(text)):
        assert "<" not in html
        assert ">" not in html
        assert '"' not in html
        assert "'" not in html
        assert_nothing_hides(html)
    assert "\n" not in plain(text)


@given(MIXED)
def test_mixtures_come_out_as_strict(text: str) -> None:
    strictly(markdown(text))
    assert_nothing_hides(markdown(text))
    assert_nothing_hides(block(text))
    assert "<" not in plain(text)


@given(MIXED)
def test_a_diff_of_anything_shows_every_hidden_character(text: str) -> None:
    lines = [f"+{line}" for line in text.split("\n")]
    diff = f"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -0,0 +1,{len(lines)} @@\n" + "\n".join(lines) + "\n"
    html = diff_html(diff)
    assert_nothing_hides(html)
    assert "<script" not in html
    assert "<img" not in html


def test_good_markdown_still_reads_well() -> None:
    html = markdown("# Done\n\nSee **[the docs](https://x.example/a?b=1&c=2)**, ~~old~~.\n\n|a|\n|-|\n|1|\n\n3. three")
    assert "<h4>Done</h4>" in html
    assert f'<a href="https://x.example/a?b=1&amp;c=2" rel="{REL}">the docs</a>' in html
    assert "<s>old</s>" in html
    assert "<td>1</td>" in html
    assert '<ol start="3">' in html


def test_an_image_is_told_and_never_loaded() -> None:
    html = markdown("![a cat](https://x.example/cat.png)")
    assert "<img" not in html
    assert "[image: a cat https://x.example/cat.png]" in html


def test_a_link_with_a_name_before_its_host_is_no_link() -> None:
    assert "<a" not in markdown("[x](https://bank.example@evil.example/)")
    assert '<a href="https://x.example/a"' in markdown("[x](https://x.example/a)")


def test_letters_of_the_world_stay() -> None:
    assert plain("שלום مرحبا é 漢字 ñ ⚠") == "שלום مرحبا é 漢字 ñ ⚠"


def test_hidden_characters_are_named_where_a_reviewer_looks() -> None:
    assert marked("a\u202eb\u200b\x1b[31m\ttab") == "a⟨U+202E⟩b⟨U+200B⟩⟨U+001B⟩[31m\ttab"
    for text in HIDDEN:
        assert_nothing_hides(marked(text))


def test_long_text_is_cut_and_says_so() -> None:
    assert "5 more characters are not shown." in plain("x" * (MOST + 5))
    assert len(markdown("> " * MOST)) < 3 * MOST


async def _dismissed(seen: list[str], dialog: Dialog) -> None:
    seen.append("dialog")
    await dialog.dismiss()


async def _open(page: Page, html: str, headers: dict[str, str]) -> list[str]:
    """Open one page, note everything that happens beside it."""
    seen: list[str] = []

    async def answer(route: Route) -> None:
        if route.request.url == "http://midwatch.test/":
            await route.fulfill(body=html, content_type="text/html; charset=utf-8", headers=headers)
        else:
            seen.append(f"request {route.request.url}")
            await route.abort()

    await page.route("**/*", answer)
    page.on("console", lambda message: seen.append(f"console {message.text}"))
    page.on("pageerror", lambda error: seen.append(f"error {error}"))
    page.on("dialog", lambda dialog: _dismissed(seen, dialog))
    await page.goto("http://midwatch.test/")
    await page.mouse.move(200, 200)
    await page.keyboard.press("Tab")
    return seen


def _shown() -> str:
    parts = [f"<div>{markdown(text)}</div><p>{plain(text)}</p><pre>{block(text)}</pre>" for text in ALL]
    lines = [f"+{line}" for text in ALL for line in text.split("\n")]
    for name in ("x.py", "<img src=x onerror=alert(1)>.html"):
        head = f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -0,0 +1,{len(lines)} @@ <script>alert(1)"
        parts.append(diff_html("\n".join((head, *lines, ""))))
    body = "".join(parts).encode("utf-8", "replace").decode()
    return f'<!doctype html><html lang="en"><title>x</title><link rel="icon" href="data:,"><body>{body}</body></html>'


@pytest.mark.slow
async def test_in_a_real_browser_nothing_runs_and_nothing_is_asked_for() -> None:
    async with async_playwright() as play:
        browser = await play.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            page = await browser.new_page()
            seen = await _open(page, _shown(), {"Content-Security-Policy": CSP})
            assert seen == []
            found = await page.evaluate("[...new Set([...document.body.querySelectorAll('*')].map(e => e.localName))]")
            allowed = TAGS | {"div", "section", "header", "label", "input", "details", "summary", "nav", "span", "mark"}
            assert set(found) <= allowed
            # The trap snaps: the same payloads, not made safe, are noticed.
            bare = await browser.new_page()
            assert await _open(bare, "<title>x</title><body>" + "".join(XSS[30:36]), {})
        finally:
            await browser.close()
