"""The morning brief: nine sections, few lines, four hundred words (seed 002, section 8)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from midwatch.terms.english import say
from midwatch.terms.report import Brief, Section

FEWEST_WORDS: Final = 100
"""Nine titles, a headline and a word of each line always fit into this."""
MOST_LINE_WORDS: Final = 40
BARE_LINE_WORDS: Final = 12
"""A line keeps at least this much before lines about decisions are shortened."""
ELLIPSIS: Final = "…"


@dataclass(frozen=True, slots=True)
class SectionRule:
    """A section's place, how many lines it holds, and how early it is shortened."""

    name: str
    most: int
    keep: int
    """Sections with a low number are shortened first."""

    @property
    def title(self) -> str:
        return say(f"brief.section.{self.name}")


SECTIONS: Final = (
    SectionRule("objective", most=1, keep=5),
    SectionRule("completed", most=3, keep=6),
    SectionRule("evidence", most=3, keep=3),
    SectionRule("recommendations", most=3, keep=7),
    SectionRule("decisions", most=3, keep=9),
    SectionRule("assumptions", most=3, keep=2),
    SectionRule("risks", most=3, keep=4),
    SectionRule("authority", most=1, keep=1),
    SectionRule("next", most=1, keep=0),
)
"""In reading order."""

_DECISIONS: Final = "decisions"


def compose_brief(headline: str, sections: Mapping[str, Sequence[str]], *, most_words: int) -> Brief:
    """Say what matters in few words and count what was left out; what needs a decision always survives."""
    most = max(most_words, FEWEST_WORDS)
    given = {rule.name: _lines(sections.get(rule.name, ())) for rule in SECTIONS}
    kept = {rule.name: given[rule.name][: rule.most] for rule in SECTIONS}
    head = cut_line(headline) or say("brief.headline")
    _drop_lines(head, kept, most)
    _shorten_lines(head, kept, most)
    unknown = sum(len(_lines(lines)) for name, lines in sections.items() if name not in given)
    left_out = sum(len(given[name]) - len(kept[name]) for name in given) + unknown
    shown = _shown(kept)
    return Brief(headline=head, sections=shown, words=count_words(head, shown), cut=left_out)


def count_words(headline: str, sections: Iterable[Section]) -> int:
    """Every word a person reads counts, titles too."""
    texts = [headline]
    for section in sections:
        texts += [section.title, *section.lines]
    return sum(len(text.split()) for text in texts)


def cut_line(line: str, most: int = MOST_LINE_WORDS) -> str:
    """Cut a line that is too long after a word, and mark the cut."""
    words = line.split()
    return " ".join(words) if len(words) <= most else " ".join(words[:most]) + ELLIPSIS


PUSHED: Final = ("decisions", "completed", "risks")
MARGIN: Final = "Read it all: midwatch morning"


def push_form(brief: Brief, most: int) -> str:
    """Say the brief in few characters: its headline, what needs a decision, what was done; whole lines only."""
    titles = {rule.title: rule.name for rule in SECTIONS}
    found = {titles[one.title]: one for one in brief.sections if one.title in titles}
    text = brief.headline if len(brief.headline) < most else f"{brief.headline[: most - 1]}{ELLIPSIS}"
    for name in PUSHED:
        section = found.get(name)
        lines = [line for line in section.lines if line != say("brief.none")] if section else []
        for line in [f"{section.title}:", *(f"- {line}" for line in lines)] if section and lines else []:
            if len(text) + len(line) + len(MARGIN) + 2 < most:
                text += f"\n{line}"
    return f"{text}\n{MARGIN}" if len(text) + len(MARGIN) < most else text


def _lines(lines: Sequence[str]) -> list[str]:
    return [cut for line in lines if (cut := cut_line(line))]


def _shown(kept: Mapping[str, Sequence[str]]) -> tuple[Section, ...]:
    none = say("brief.none")
    return tuple(Section(title=rule.title, lines=tuple(kept[rule.name]) or (none,)) for rule in SECTIONS)


def _too_long(headline: str, kept: Mapping[str, Sequence[str]], most: int) -> bool:
    return count_words(headline, _shown(kept)) > most


def _drop_lines(headline: str, kept: dict[str, list[str]], most: int) -> None:
    """Second and third lines go first, the least important section before the others."""
    for rule in sorted(SECTIONS, key=lambda one: one.keep):
        while rule.name != _DECISIONS and len(kept[rule.name]) > 1 and _too_long(headline, kept, most):
            kept[rule.name].pop()


def _shorten_lines(headline: str, kept: dict[str, list[str]], most: int) -> None:
    """When one line each is still too much, the longest line loses words until all fits."""
    while _too_long(headline, kept, most):
        name, at = max(
            ((name, at) for name, lines in kept.items() for at in range(len(lines))),
            key=lambda place: _shortens_first(place[0], kept[place[0]][place[1]]),
        )
        words = kept[name][at].removesuffix(ELLIPSIS).split()
        kept[name][at] = " ".join(words[:-1]) + ELLIPSIS


def _shortens_first(name: str, line: str) -> tuple[bool, int]:
    """Long lines lose words first, those about decisions last."""
    words = len(line.split())
    return name != _DECISIONS and words > BARE_LINE_WORDS, words
