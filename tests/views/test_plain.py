"""Text from anywhere: what hides, turns around or spills is gone, and what people write in any script stays."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.terms.visible import visible
from midwatch.views.text.plain import MOST_MARKS, clean, harmless
from tests.surfaces.payloads import ALL

UNSEEN = [
    *(chr(one) for one in (0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x200D, 0x200E, 0x202E)),
    *(chr(one) for one in (0x2060, 0x2066, 0x2069, 0x2800, 0x3164, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0x16FE4)),
    *(chr(one) for one in (0x1D159, 0x1D173, 0xE0001, 0xE0041, 0xE0100, 0xE01EF, 0xE000, 0x10FFFF, 0xD800)),
    *(chr(one) for one in (0, 7, 8, 0x1B, 0x7F, 0x85, 0x9B)),
]
MARKS = "\u0300\u0489\u0334\u064b\u20dd"
READABLE = [
    "Tidy up: 3 files, 100% done (really).",
    "Größe geändert, Straße gefegt",
    "これは日本語です。がぎぐ",  # in whole letters, as people type it
    "か\u3099き\u3099",  # and taken apart, as some file systems write it
    "السَّلامُ عَلَيْكُمْ",
    "हिन्दी में क्षत्रिय",
    "שָׁלוֹם",
    "Tiếng Việt",
    "👍🏽 👩🏿 🚀",
]
texts = st.one_of(
    st.text(),
    st.sampled_from(ALL),
    st.lists(st.sampled_from([*UNSEEN, *MARKS, "a", "\u0627", "\n", "\t", "\x1b[31m", "\x1b]0;", "["])).map("".join),
    st.lists(st.sampled_from(ALL), max_size=3).map("".join),
)


def assert_nothing_hides(text: str, besides: str = "") -> None:
    """Know by itself, not by the code's own list, what must not come out."""
    marks = ""
    for one in set(text):
        category = unicodedata.category(one)
        assert one in besides or category not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}, hex(ord(one))
        assert one not in UNSEEN, hex(ord(one))
        assert not 0xFE00 <= ord(one) <= 0xFE0F
        assert not 0xE0000 <= ord(one) <= 0xE0FFF
        marks += one if category in {"Mn", "Me"} else ""
    assert not marks or not re.search(f"[{re.escape(marks)}]{{5}}", text), "a pile of marks"


@given(texts, st.integers(2, 300))
def test_one_line_comes_out_and_nothing_hides_in_it(text: str, most: int) -> None:
    line = clean(text, most)
    assert_nothing_hides(line)
    assert len(line) <= most
    assert clean(line, most) == line
    assert line == line.strip()


@given(texts)
def test_lines_and_tabs_stay_and_nothing_hides_between_them(text: str) -> None:
    told = harmless(text)
    assert_nothing_hides(told, besides="\n\t")
    assert harmless(told) == told


@pytest.mark.parametrize("one", UNSEEN, ids=[f"U+{ord(one):04X}" for one in UNSEEN])
def test_an_unseen_character_is_gone(one: str) -> None:
    assert one not in harmless(f"é-{one}-b")
    assert one not in harmless(f"a{one}b")
    assert one not in clean(f"a{one}b")


@pytest.mark.parametrize("text", READABLE)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text
    assert clean(text) == text


def test_a_selector_behind_an_emoji_may_go() -> None:
    assert clean("⚠\ufe0f careful") == "⚠ careful"


@pytest.mark.parametrize("between", ["", "\u200b", "\ufe0f", "\u034f", "\u3164"])
def test_a_tower_of_marks_is_cut_whatever_stands_between_them(between: str) -> None:
    tower = "Z" + between.join(MARKS * 20) + "algo"
    assert harmless(tower) == clean(tower) == "Z" + MARKS[:MOST_MARKS] + "algo"


def test_an_escape_that_never_ends_hides_nothing_after_it() -> None:
    assert clean("\x1b]0;title and then rm -rf") == "0;title and then rm -rf"
    assert harmless("\x1b]0;one\ntwo\x07") == "0;one\ntwo"
    assert clean("\x1b]8;;http://x.example\x1b\\shown\x1b]8;;\x1b\\") == "shown"


def test_every_way_to_break_a_line_is_one_line_break() -> None:
    assert harmless("a\r\nb\rc\u2028d\u2029e\x0bf\x85g") == "a\nb\nc\nd\ne\nf\ng"
    assert clean("a\r\nb\rc\u2028d\u2029e\x0bf\x85g") == "a b c d e f g"


def test_what_a_page_leaves_out_is_visible_to_whoever_decides_about_a_tool_call() -> None:
    letters = [chr(code) for code in (*range(0x1E000), *range(0xE0000, 0xE0200)) if chr(code) not in "\n\t"]
    left_out = [one for one in letters if clean(f"a{one}b") == "ab"]
    assert "\U0001d159" in left_out
    assert [one for one in left_out if visible(one) == one] == []
