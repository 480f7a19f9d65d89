"""An agent's words on a forge: read, and nothing else."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from midwatch.views.text.markdown_safe import closes, quoted, tamed, titled, unlinked, unreferring

SOUP = st.lists(
    st.sampled_from(
        [
            *[
                "@",
                "#",
                "&",
                "&#",
                "&commat;",
                "&#x40;",
                "&num;",
                "&lbrack;",
                ";",
                "\\",
                "[",
                "](https://evil.example)",
                "![",
                "<",
                ">",
                "`",
                "*",
                "1",
                "ada",
                "fixes",
            ],
            " ",
        ]
    ),
    max_size=12,
).map("".join)
ANYTHING = st.text() | st.text(alphabet="@#aG H-12!/[]<>`\n\r\tissuepl", max_size=40) | SOUP


def rendered(text: str) -> str:
    return str(MarkdownIt("commonmark").render(f"- {text}"))


@given(ANYTHING)
def test_nobody_is_called_and_no_issue_named_and_nothing_begins_a_line(text: str) -> None:
    for said in (tamed(text), titled(text)):
        assert not re.search(r"@[A-Za-z0-9_]", said)
        assert not re.search(r"#\d|\bGH-\d|issues/\d|pull/\d", said, re.IGNORECASE)
        assert len(said.splitlines()) <= 1
    assert not re.search(r"<|!\[|(?<!\\)\[", tamed(text))


@given(ANYTHING)
def test_what_a_forge_renders_calls_nobody_names_nothing_and_links_nowhere(text: str) -> None:
    shown = rendered(tamed(text))
    assert not re.search(r"<a |<img ", shown)
    read = html.unescape(re.sub(r"<[^>]*>", "", shown))
    assert not re.search(r"@[A-Za-z0-9_]|#\d", read)


@pytest.mark.parametrize(
    "said",
    [
        "&commat;octocat",
        "&#x40;octocat",
        "&#64;octocat",
        "Fixes &num;12",
        "Fixes &#35;12",
        "\\[click](https://evil.example)",
        "\\![x](https://evil.example)",
        "&lt;img src=x>",
    ],
)
def test_escapes_and_entities_of_theirs_are_shown_as_they_were_written(said: str) -> None:
    shown = rendered(tamed(said))
    assert not re.search(r"<a |<img ", shown)
    read = html.unescape(re.sub(r"<[^>]*>", "", shown)).strip().replace("\u200b", "").replace("! [", "![")
    assert read == said


@given(ANYTHING)
def test_code_ends_where_we_say(text: str) -> None:
    assert quoted(text).count("`") == 2


def test_plain_words_stay_as_they_are() -> None:
    said = "Rename `greet` in app.py (3 files), see docs; 50% faster & e-mail a@ b."
    assert tamed(said) == said


@pytest.mark.parametrize(
    "said",
    [
        "Thanks @ada!",
        "fixes #12",
        "Closes: ada/shop#3",
        "resolved https://github.com/ada/shop/issues/3",
        "GH-7",
        "Done\n\nSigned-off-by: Ada <ada@example.org>",
        '<img src="https://spy.example/x">',
        "![x](https://spy.example/x)",
        "[click](https://evil.example)",
    ],
)
def test_what_would_do_something_is_changed(said: str) -> None:
    assert tamed(said) != said


@pytest.mark.parametrize(
    "said",
    [
        "see https://evil.example/?k=secret",
        "see evil.example/secret",
        "see 10.0.0.1/secret",
        "[x](https://evil.example)",
        "[x][y]\n[y]: //evil.example",
        "<https://evil.example|x> <!channel> <@U1> <img src=x>",
        "@everyone @here",
        "evil&period;example &commat;here",
    ],
)
def test_a_messenger_finds_no_link_and_nobody_to_call(said: str) -> None:
    shown = MarkdownIt("commonmark").render(unlinked(said))
    assert not re.search(r"<a |<img ", shown)
    for text in (unlinked(said), html.unescape(re.sub(r"<[^>]*>", "", shown))):
        assert not re.search(r"://|evil\.example|10\.0\.0\.1|@\w|<", text)
    assert unlinked(said).replace("\u200b", "").replace("\u2039", "<") == said


def test_only_the_forges_own_link_stays_a_link() -> None:
    link = "https://github.com/ada/shop/pull/1"
    assert unlinked(f"PR ready\n{link}\n3 files", [link, ""]) == f"PR ready\n{link}\n3 files"
    for longer in (f"{link}.evil", f"x{link}", f"{link}2"):
        assert "://" not in unlinked(longer, [link])
    assert unlinked("Cost $0.12. It took 3 minutes; a < b.") == "Cost $0.12. It took 3 minutes; a \u2039 b."


def test_what_a_commit_would_close_is_told() -> None:
    assert closes("Fixes #12") == ("#12",)
    assert closes("Greet, and resolves ada/shop#3 too") == ("ada/shop#3",)
    assert closes("Prefixes #12 with zeros") == ()
    url = "https://github.com/ada/shop/issues/4"
    assert closes(f"Greet\n\nCloses: #1\nfixed GH-2, fixes #1\nresolve {url}") == ("#1", "GH-2", url)
    assert len(closes("fixes #1 " + " ".join(f"fixes #{number}" for number in range(100)))) == 10
    assert unreferring("#x") == "#x"
