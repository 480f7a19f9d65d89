"""Signal files are read strictly, bounded, and as text; known answers are literal; large commits are remarked on."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.checks.commit_size import is_large, remark_on
from midwatch.rules.recovery.signals import (
    LONGEST_DETAIL,
    LONGEST_TEXT,
    MOST_BYTES,
    MOST_OPTIONS,
    Earlier,
    KnownAnswer,
    known_answer,
    read_signal,
)
from midwatch.terms.agents import Signal, SignalKind, Unreadable
from midwatch.terms.jobs import Change, Commit

ASKS, FAILS, ENDS = SignalKind.NEEDS_INPUT, SignalKind.ERROR, SignalKind.COMPLETED
KINDS = st.sampled_from(SignalKind)
VALUES = st.none() | st.text(max_size=30) | st.integers() | st.lists(st.text(max_size=9) | st.integers(), max_size=10)
NAMES = st.sampled_from(["question", "options", "context", "error", "detail", "summary", "more"])
CONTENTS = st.dictionaries(NAMES, VALUES).map(lambda words: json.dumps(words).encode())
WORDS = st.text(min_size=1, max_size=40).filter(str.strip)


def raw(**words: object) -> bytes:
    return json.dumps(words).encode()


def test_each_kind_says_what_it_says_and_fields_nobody_knows_are_passed_over() -> None:
    asks = read_signal(ASKS, raw(question=" Which? ", options=["a", "b"], context="c", urgent=True, policy={"x": 1}))
    assert asks == Signal(kind=ASKS, text="Which?", detail="c", options=("a", "b"))
    assert read_signal(FAILS, raw(error="E", detail="d")) == Signal(kind=FAILS, text="E", detail="d")
    assert read_signal(ENDS, raw(summary="s", options=3)) == Signal(kind=ENDS, text="s")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 60_000, "not JSON"),
        (b'"text"', "not a JSON object"),
        (raw(context="c"), "question is missing"),
        (raw(question="  "), "question is missing"),
        (raw(question=None), "question is missing"),
        (raw(question=7), "question is not a text"),
        (raw(question="q", context=[]), "context is not a text"),
        (raw(question="q" * (LONGEST_TEXT + 1)), "more than 2,000 characters"),
        (raw(question="q", context="c" * (LONGEST_DETAIL + 1)), "more than 8,000 characters"),
        (raw(question="q", options="ab"), "options is not a list of texts"),
        (raw(question="q", options=[1]), "options is not a list of texts"),
        (raw(question="q", options=["o"] * (MOST_OPTIONS + 1)), "options has more than 8 items"),
        (raw(question="q", options=["o" * 201]), "an option is too long"),
        (b" " * (MOST_BYTES + 1), "more than 64 KiB"),
    ],
)
def test_what_is_wrong_is_refused_in_words_its_writer_can_use(content: bytes, why: str) -> None:
    read = read_signal(ASKS, content)
    assert isinstance(read, Unreadable)
    assert read.why.startswith("needs-input.json was refused: ")
    assert why in read.why


@given(KINDS, st.binary(max_size=300) | CONTENTS)
def test_whatever_is_written_is_a_bounded_signal_or_a_refusal(kind: SignalKind, content: bytes) -> None:
    read = read_signal(kind, content)
    if isinstance(read, Signal):
        assert read.text.strip()
        assert len(read.text) <= LONGEST_TEXT
        assert len(read.options) <= MOST_OPTIONS


@given(WORDS, WORDS)
def test_a_question_in_the_notes_is_answered_whatever_its_case_and_spaces(question: str, answer: str) -> None:
    question, answer = " ".join(question.split()), " ".join(answer.split())
    notes = f"Hello.\nQ: {question}\nA: {answer}\n"
    found = known_answer(f"  {question}??", (), notes, ())
    if "A: " not in question and question.rstrip("?.! "):
        assert found == KnownAnswer(answer, "the orders' notes")


def test_nothing_is_guessed() -> None:
    notes = "Q: Which colour? A: blue\nQ: Which name?\nA: LogLine"
    assert known_answer("which  COLOUR", (), notes, ()) == KnownAnswer("blue", "the orders' notes")
    assert known_answer("Which name?", ("LogLine", "Line"), notes, ()) == KnownAnswer("LogLine", "the orders' notes")
    assert known_answer("Which name?", ("A", "B"), notes, ()) is None, "an answer must be one of the options"
    assert known_answer("Which colour is best?", (), notes, ()) is None
    assert known_answer("?", (), "Q: ?\nA: yes", ()) is None
    earlier = (Earlier("Which colour?", "red", "ask 3"),)
    assert known_answer("Which colour?", (), "", earlier) == KnownAnswer("red", "ask 3")
    assert known_answer("Which colour?", (), notes, earlier) is None, "two answers that differ are none"


def change(*commits: Commit) -> Change:
    return Change(base="0" * 40, head="1" * 40, commits=commits)


SMALL = Commit(sha="1" * 40, subject="Small", files=2, insertions=20, deletions=3)
LARGE = Commit(sha="2" * 40, subject="Large", files=9, insertions=500, deletions=20)


def test_one_large_commit_is_remarked_on_where_pieces_were_asked_for() -> None:
    assert remark_on(change(LARGE), "incremental") == (
        "It came as one large commit (9 files, +500 -20), though small ones were asked for."
    )
    assert remark_on(change(SMALL, LARGE), "incremental") == "1 commit of 2 is large."
    assert remark_on(change(SMALL), "incremental") == remark_on(change(), "incremental") == ""
    assert remark_on(change(SMALL, SMALL), "single") == "It came as 2 commits, though one was asked for."
    assert remark_on(change(LARGE), "single") == ""


@given(st.integers(0, 100), st.integers(0, 2000), st.integers(0, 2000))
def test_a_larger_commit_is_never_smaller(files: int, insertions: int, deletions: int) -> None:
    one = Commit(sha="1" * 40, subject="x", files=files, insertions=insertions, deletions=deletions)
    more = one.model_copy(update={"files": files + 1, "insertions": insertions + 1})
    assert is_large(more) or not is_large(one)
