"""Text that an agent, a tool or a repository wrote, made safe to show: nothing in it runs, loads or hides."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

from midwatch.views.text.plain import harmless

MOST = 100_000
"""Longer text is cut before it is parsed, so that parsing stays quick."""
TAGS = frozenset(
    "p br hr strong em s code pre blockquote ul ol li h4 h5 h6 table thead tbody tr th td a".split()  # noqa: SIM905
)
ATTRIBUTES: dict[str, set[str]] = {"a": {"href"}, "ol": {"start"}}
SCHEMES = frozenset({"http", "https", "mailto"})
REL = "noopener noreferrer nofollow"

_ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s\\]+\Z", re.IGNORECASE)


def plain(text: str) -> Markup:
    return escape(" ".join(harmless(_cut(text)).split()))


def block(text: str) -> Markup:
    """Make escaped text whose lines are kept, for inside a pre element."""
    return escape(harmless(_cut(text)))


def markdown(text: str) -> Markup:
    """Render Markdown with a short list of elements; no image, no raw HTML, links only to the web and to mail."""
    # Stripped twice: a character reference such as &#x202E; becomes the character only when parsed.
    html = harmless(_parser().render(harmless(_cut(text))))
    return Markup(  # noqa: S704  the one place where untrusted HTML is marked safe, after an allowlist
        nh3.clean(
            html,
            tags=set(TAGS),
            attributes=ATTRIBUTES,
            attribute_filter=_attribute,
            url_schemes=set(SCHEMES),
            link_rel=REL,
        )
    )


def _cut(text: str) -> str:
    return text if len(text) <= MOST else f"{text[:MOST]}\n… {len(text) - MOST} more characters are not shown."


def _may_link(target: str) -> bool:
    if not _ADDRESS.match(target):
        return False
    try:
        parts = urlsplit(target)
    except ValueError:
        return False
    # A name before the host makes https://bank.example@evil.example look like the bank.
    return parts.scheme.lower() in SCHEMES and (parts.scheme.lower() == "mailto" or "@" not in parts.netloc)


def _attribute(tag: str, name: str, value: str) -> str | None:
    if tag == "ol":
        return value if value.isdecimal() and len(value) < 10 else None
    if name == "rel":
        return REL
    return value if name == "href" and _may_link(value) else None


class _Careful(MarkdownIt):
    """A parser that makes links only of addresses that may be linked to."""

    def validateLink(self, url: str) -> bool:  # noqa: N802  the parser's name for it
        return _may_link(url)


@cache
def _parser() -> MarkdownIt:
    made = _Careful("commonmark", {"html": False}).enable(["table", "strikethrough"])
    made.add_render_rule("image", _image)
    made.add_render_rule("heading_open", _heading)
    made.add_render_rule("heading_close", _heading)
    return made


def _image(_: RendererHTML, tokens: Sequence[Token], at: int, *__: Any) -> str:
    """An image would report to its server that it is being viewed: show its text and address instead."""
    token = tokens[at]
    return str(escape(f"[image: {token.content} {token.attrGet('src') or ''}]"))


def _heading(_: RendererHTML, tokens: Sequence[Token], at: int, *__: Any) -> str:
    """A heading in agent text ranks below every heading of the page."""
    token = tokens[at]
    level = min(6, int(token.tag[1]) + 3)
    return f"<h{level}>" if token.nesting > 0 else f"</h{level}>\n"
