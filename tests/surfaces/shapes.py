"""A page read strictly, and held against another."""

import html
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from midwatch.surfaces.web.site.safe import TAGS
from tests.views.test_plain import assert_nothing_hides

PIECE = re.compile(
    r"(?P<text>[^<>&]+)|&(?:lt|gt|amp|quot|middot|minus|nbsp|#39|#34);|<!doctype html>"
    r"|<(?P<end>/)?(?P<tag>[a-zA-Z][a-zA-Z0-9-]*)(?P<rest>(?:\s+[a-zA-Z][\w:.-]*(?:=(?:\"[^\"<>]*\"|'[^'<>]*'))?)*)\s*/?>"
)
ATTRIBUTE = re.compile(r"([a-zA-Z][\w:.-]*)(?:=(?:\"([^\"]*)\"|'([^']*)'))?")
VOID = {"meta", "link", "input", "br", "hr"}
DRAWN = {"path", "rect", "line", "circle", "use"}
WITH_URL = {"href", "src", "action", "formaction", "xlink:href", "hx-get", "hx-post", "hx-sse:connect"}
MARKDOWN = {(tag, (), ()) for tag in TAGS} | {("ol", ("start",), ())}
IN_DIFF = {"section", "header", "p", "span", "label", "input", "details", "summary", "nav", "div", "code", "mark"} | {
    "ul",
    "li",
    "a",
}
IN_DIFF_ATTRIBUTES = {"class", "aria-label", "type", "form", "autocomplete", "open", "id", "tabindex", "role"} | {
    "data-old",
    "data-new",
    "aria-hidden",
    "title",
    "href",
}


@dataclass
class Shape:
    """A page read strictly: every element with the names of its attributes and the schemes of its addresses."""

    text: str
    seen: Counter[tuple[str, tuple[str, ...], tuple[str, ...]]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        at, opened = 0, list[str]()
        while at < len(self.text):
            found = PIECE.match(self.text, at)
            assert found, f"neither text, entity nor element: {self.text[max(0, at - 60) : at + 60]!r}"
            at = found.end()
            if not (tag := found["tag"]):
                continue
            if found["end"]:
                assert opened.pop().partition(" ")[0] == tag, self.text[at - 200 : at]
                continue
            self._meet(tag, found["rest"], within="section diff" in opened)
            if tag not in VOID | DRAWN:
                opened.append("section diff" if 'class="diff"' in found["rest"] else tag)
        assert not opened

    def _meet(self, tag: str, rest: str, *, within: bool) -> None:
        given = {name: one or other for name, one, other in ATTRIBUTE.findall(rest)}
        if within:  # its elements depend on its lines: they are held to a list
            assert tag in IN_DIFF
            assert given.keys() <= IN_DIFF_ATTRIBUTES
            assert given.get("href", "#").startswith("#")
            return
        schemes = tuple(sorted(urlsplit(html.unescape(given[name])).scheme for name in WITH_URL & given.keys()))
        self.seen[tag, tuple(sorted(given)), schemes] += 1


def differences(hostile: str, calm: str, *, marked_down: bool) -> set[Any]:
    """Name what one page has more or fewer of than the other."""
    one, other = Shape(hostile).seen, Shape(calm).seen
    found = set((one - other) + (other - one))
    if not marked_down:
        return found
    links = {("a", ("href", "rel"), (scheme,)) for scheme in ("http", "https", "mailto")} | {("a", ("rel",), ())}
    return found - MARKDOWN - links


def assert_nothing_is_raw(text: str) -> None:
    assert_nothing_hides(text, besides="\n\t")
    if "<" in text:
        assert_nothing_hides(html.unescape(text), besides="\n\t")
