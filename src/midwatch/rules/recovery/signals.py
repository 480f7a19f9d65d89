"""How an agent's signal file is read: strictly, bounded, and as nothing but text."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from midwatch.terms.agents import Signal, SignalKind, Unreadable

MOST_BYTES: Final = 64 * 1024
LONGEST_TEXT: Final = 2_000
LONGEST_DETAIL: Final = 8_000
LONGEST_OPTION: Final = 200
MOST_OPTIONS: Final = 8
MOST_SIGNALS: Final = 40
"""Of one job; further ones are not read."""
MOST_QUESTIONS: Final = 10
"""Of one job; more would take too much of a person's time."""

_FIELDS: Final = {
    SignalKind.NEEDS_INPUT: ("question", "context"),
    SignalKind.ERROR: ("error", "detail"),
    SignalKind.COMPLETED: ("summary", ""),
}


def read_signal(kind: SignalKind, raw: bytes) -> Signal | Unreadable:
    """Read a signal; unknown fields are ignored, any other fault refuses it."""
    if len(raw) > MOST_BYTES:
        return _wrong(kind, f"it has more than {MOST_BYTES // 1024} KiB")
    try:
        given = json.loads(raw.decode())
    except (ValueError, RecursionError):
        return _wrong(kind, "it is not JSON")
    if not isinstance(given, dict):
        return _wrong(kind, "it is not a JSON object")
    main, more = _FIELDS[kind]
    fault = _fault(given, main, LONGEST_TEXT) or (more and _fault(given, more, LONGEST_DETAIL)) or _options(kind, given)
    if not fault and not (given.get(main) or "").strip():
        fault = f"{main} is missing"
    if fault:
        return _wrong(kind, fault)
    options = tuple(given.get("options") or ()) if kind is SignalKind.NEEDS_INPUT else ()
    return Signal(kind=kind, text=given[main].strip(), detail=(given.get(more) or "").strip(), options=options)


def _fault(given: Mapping[str, Any], name: str, longest: int) -> str:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        return f"{name} is not a text"
    return f"{name} has more than {longest:,} characters" if value and len(value) > longest else ""


def _options(kind: SignalKind, given: Mapping[str, Any]) -> str:
    options = given.get("options") or []
    if kind is not SignalKind.NEEDS_INPUT:
        return ""
    if not isinstance(options, list) or not all(isinstance(one, str) and one.strip() for one in options):
        return "options is not a list of texts"
    if len(options) > MOST_OPTIONS:
        return f"options has more than {MOST_OPTIONS} items"
    return "an option is too long" if max(map(len, options), default=0) > LONGEST_OPTION else ""


def _wrong(kind: SignalKind, why: str) -> Unreadable:
    return Unreadable(kind=kind, why=f"{kind.file} was refused: {why}.")


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
