"""Whether a job's question was answered before, literally: in the orders' notes, or to the same question in a project.

Nothing is guessed: the same words, but for case, spaces and the mark at the end, or no answer at all.
"""

from collections.abc import Iterable
from dataclasses import dataclass

_ASKED, _SAID = "q:", "a:"


@dataclass(frozen=True, slots=True)
class Earlier:
    """A question that a person has answered."""

    question: str
    answer: str
    where: str
    """What it is called, such as `ask 3`."""


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """An answer that was given before."""

    answer: str
    where: str


def known_answer(question: str, options: tuple[str, ...], notes: str, earlier: Iterable[Earlier]) -> KnownAnswer | None:
    """Find the answer; two that differ are none, and an answer must be one of the options where there are some."""
    wanted = _same(question)
    found = [one for one in (*_noted(notes), *earlier) if wanted and _same(one.question) == wanted and one.answer]
    if len({_same(one.answer) for one in found}) != 1:
        return None
    answer = found[0].answer.strip()
    if options and _same(answer) not in {_same(option) for option in options}:
        return None
    return KnownAnswer(answer, found[0].where)


def _noted(notes: str) -> Iterable[Earlier]:
    """Read `Q: ...` followed by `A: ...` in notes, on lines of their own or on one."""
    question = ""
    for line in notes.splitlines():
        text = line.strip().lstrip("-* ")
        folded = text.casefold()
        if folded.startswith(_ASKED):
            question = text[len(_ASKED) :].strip()
            asked, mark, said = question.partition(" A: ")
            if mark:
                yield Earlier(asked, said.strip(), "the orders' notes")
        elif folded.startswith(_SAID) and question:
            yield Earlier(question, text[len(_SAID) :].strip(), "the orders' notes")
            question = ""


def _same(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip("?.! ")
