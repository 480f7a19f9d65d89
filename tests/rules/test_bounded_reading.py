"""Texts that agents and their checks write are read in time that grows with their length and no faster (X8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.checks.cheating import FileFact, FileKind, WorkFacts, find_doubts
from midwatch.rules.checks.coverage import covered_of
from midwatch.rules.checks.test_counts import count_tests
from midwatch.rules.checks.test_source import MOST_DEEP, MOST_FUNCTIONS, read_tests
from midwatch.terms.jobs import SuiteCount

MIB = 1024**2
FILE = 200_000
"""Of one changed file, no more is read."""

pytestmark = pytest.mark.timeout(300)
"""Read quadratically, each of these takes minutes or hours."""


def filled(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        ('<class filename="a.py">', '<line number="1" '),
        ('<class filename="a.py">', "<line "),
        ('<class filename="a.py">', '<line number="'),
        ("<", '<class filename="'),
        ("<", "<class "),
        ("<class ", 'filename="a'),
        ("SF:", "/"),
        ("", "SF:b/a.py\nDA:1,1\n"),
    ],
)
def test_a_coverage_report_of_any_shape_is_read_to_its_end(start: str, piece: str) -> None:
    text = start + filled(piece, MIB)
    covered_of({"a.py": frozenset({1})}, "coverage.xml", text)


@pytest.mark.parametrize(
    ("start", "piece", "end"),
    [
        ("", "\n", ""),
        ("", " \n\t\n", ""),
        ("", "=", ""),
        ("", "= ", ""),
        ("Tests 1 passed", " ", "x"),
        ("Tests", "\n", "x"),
        ("Ran 1 test in 1s\n", "\n", "x"),
        ("Ran 1 test in 1s\n\nOK (", "a", ")"),
        ("", "1 a", ""),
        ("", "1", " passed in 1s"),
        ("", "\x1b[", ""),
    ],
)
def test_an_output_of_any_shape_is_counted_to_its_end(start: str, piece: str, end: str) -> None:
    count_tests(start + filled(piece, MIB) + end)


def test_a_number_nobody_counts_to_is_no_count() -> None:
    assert count_tests("9" * 5_000 + " passed in 1s\n") is None
    assert count_tests("\n\n   Tests: 1 passed, 1 total\r\n\n") == SuiteCount(passed=1)


@pytest.mark.parametrize(
    ("path", "start", "piece"),
    [
        ("tests/test_a.py", "", "def a(\n"),
        ("tests/test_a.py", "", "def test_a(\n"),
        ("tests/test_a.py", "def ", "a"),
        ("tests/a.test.js", "", "test('a"),
        ("tests/a.test.js", "", "assert."),
        ("tests/a_test.go", "", "func a(\n"),
        ("tests/a.rs", "", "#[test] fn "),
        ("tests/a.rs", "", "#[test]\nfn a() {}\n"),
        ("check.py", 'print("OK")', " "),
        ("check.sh", "", "||"),
    ],
)
def test_a_changed_file_of_any_shape_is_judged_to_its_end(path: str, start: str, piece: str) -> None:
    text = start + filled(piece, FILE)
    for kind in (FileKind.TEST, FileKind.CONFIG):
        find_doubts(WorkFacts((FileFact(path, kind, text[1:], text),)))


def test_functions_inside_functions_are_read_as_part_of_those_around_them() -> None:
    nested = "".join(f"{' ' * depth}def f{depth}():\n" for depth in range(600))
    found = read_tests("tests/test_a.py", nested)
    assert len(found.others) == MOST_DEEP
    assert "f599" in found.others["f0"]


def test_a_file_is_judged_by_its_first_functions() -> None:
    found = read_tests("tests/test_a.py", "".join(f"def test_{n}():\n    pass\n" for n in range(MOST_FUNCTIONS + 9)))
    assert len(found.tests) == MOST_FUNCTIONS


@given(st.lists(st.integers(0, 4), max_size=20))
def test_a_function_ends_before_the_next_that_is_not_inside_it(indents: list[int]) -> None:
    lines = [f"{' ' * indent}def test_{place}(): x{place}\n" for place, indent in enumerate(indents)]
    wanted = {}
    for place, indent in enumerate(indents):
        later = [at for at in range(place + 1, len(indents)) if indents[at] <= indent]
        inside = "".join(lines[place : later[0] if later else None])
        wanted[f"test_{place}"] = " ".join(inside.replace(f"test_{place}", "", 1).split())
    assert read_tests("tests/test_a.py", "".join(lines)).tests == wanted
