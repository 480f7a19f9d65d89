"""The brief: nine sections, few lines, four hundred words, decisions always."""

from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.morning.brief import SECTIONS, compose_brief, count_words, cut_line

MOST = {
    "objective": 1,
    "completed": 3,
    "evidence": 3,
    "recommendations": 3,
    "decisions": 3,
    "assumptions": 3,
    "risks": 3,
    "authority": 1,
    "next": 1,
}
long_lines = st.integers(0, 60).map(lambda count: " ".join(f"w{n}" for n in range(count)))
lines = st.lists(long_lines | st.text(max_size=40), max_size=6)
contents = st.fixed_dictionaries({}, optional=dict.fromkeys(MOST, lines))
headlines = long_lines | st.text(max_size=40)
FULL = {name: [" ".join(f"{name}{n}" for n in range(50))] * 5 for name in MOST}


@given(headlines, contents)
def test_any_brief_is_read_with_one_coffee(headline: str, sections: dict[str, list[str]]) -> None:
    brief = compose_brief(headline, sections, most_words=400)
    assert brief.words <= 400
    assert brief.words == sum(
        len(text.split()) for text in (brief.headline, *(part for s in brief.sections for part in (s.title, *s.lines)))
    )
    assert [rule.name for rule in SECTIONS] == list(MOST)
    assert [section.title for section in brief.sections] == [rule.title for rule in SECTIONS]
    for section, most in zip(brief.sections, MOST.values(), strict=True):
        assert 1 <= len(section.lines) <= most
        assert all(line.strip() and len(line.split()) <= 40 for line in section.lines)
    assert brief.headline.strip()


@given(headlines, contents)
def test_what_needs_a_decision_always_survives(headline: str, sections: dict[str, list[str]]) -> None:
    asked = [line for line in sections.get("decisions", []) if line.split()][:3]
    shown = compose_brief(headline, sections, most_words=400).sections[list(MOST).index("decisions")].lines
    assert [line.split()[0].removesuffix("…") for line in asked] == [
        line.split()[0].removesuffix("…") for line in shown if asked
    ]


@given(headlines, contents)
def test_every_line_left_out_is_counted(headline: str, sections: dict[str, list[str]]) -> None:
    brief = compose_brief(headline, sections, most_words=400)
    given_lines = sum(bool(line.split()) for lines in sections.values() for line in lines)
    empty = {name for name in MOST if not any(line.split() for line in sections.get(name, []))}
    shown = sum(len(s.lines) for name, s in zip(MOST, brief.sections, strict=True) if name not in empty)
    assert brief.cut == given_lines - shown


def test_a_full_night_still_fits_and_keeps_its_decisions_readable() -> None:
    brief = compose_brief("A " * 60, FULL, most_words=400)
    assert brief.words <= 400
    decisions = brief.sections[4].lines
    assert len(decisions) == 3
    assert all(len(line.split()) == 40 for line in decisions)
    assert all(len(section.lines) >= 1 for section in brief.sections)


def test_nothing_is_shortened_that_fits() -> None:
    brief = compose_brief("All well.", {"completed": ["One  thing."], "decisions": ["Merge it?"]}, most_words=400)
    assert brief.sections[1].lines == ("One thing.",)
    assert brief.sections[2].lines == ("None.",)
    assert brief.cut == 0
    assert brief.words == count_words(brief.headline, brief.sections)


def test_the_least_important_lines_go_first() -> None:
    line = " ".join("w" * 30)
    brief = compose_brief(
        "Head.",
        {name: [line] * 3 for name in ("completed", "evidence", "decisions", "assumptions", "risks")},
        most_words=400,
    )
    kept = {name: len(section.lines) for name, section in zip(MOST, brief.sections, strict=True)}
    assert kept["decisions"] == kept["completed"] == 3
    assert kept["assumptions"] <= kept["evidence"] <= kept["risks"] <= kept["completed"]
    assert brief.cut > 0


def test_a_line_under_an_unknown_heading_is_counted_as_left_out() -> None:
    assert compose_brief("Head.", {"gossip": ["a", "b", " "]}, most_words=400).cut == 2


@given(st.text(max_size=300), st.integers(1, 50))
def test_a_long_line_ends_at_a_word_and_shows_it(line: str, most: int) -> None:
    cut, words = cut_line(line, most), line.split()
    assert cut == (" ".join(words) if len(words) <= most else " ".join(words[:most]) + "…")


@given(headlines, contents, st.integers(100, 500))
def test_a_brief_keeps_to_any_number_of_words(headline: str, sections: dict[str, list[str]], most: int) -> None:
    assert compose_brief(headline, sections, most_words=most).words <= most


def test_a_full_brief_fits_the_fewest_words_and_still_names_each_decision() -> None:
    brief = compose_brief("A " * 60, FULL, most_words=1)
    assert brief.words <= 100
    assert len(brief.sections[list(MOST).index("decisions")].lines) == 3
