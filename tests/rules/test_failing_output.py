"""Of a long output, what failed is found: its line and its part, for each tool, in hostile texts too (B11)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.recovery.failing_output import (
    EACH_END,
    LONGEST_HEAD,
    PART_CHARACTERS,
    FailingOutput,
    failing_output,
    two_ends,
)

REAL = Path(__file__).parent / "failures"
MIB = 1024**2
NOISE = "".join(f"downloading piece {number} of many\n" for number in range(3_000))
SAID = {
    "logic/cargo-compile-error": "error[E0308]: mismatched types",
    "logic/cargo-test-fails": "assertion `left == right` failed",
    "logic/doctest": "Failed example: 1+1",
    "logic/gcc-error": "a.c:1:24: error: \u2018x\u2019 undeclared (first use in this function)",
    "logic/go-panic": "panic: assignment to entry in nil map",
    "logic/go-test-fails": "a_test.go:3: got 2, want 3",
    "logic/go-undefined": "./main.go:2:15: undefined: serve",
    "logic/javac": "A.java:1: error: incompatible types: String cannot be converted to int",
    "logic/make-error": "AssertionError",
    "logic/make-test-target": "AssertionError: assert '404' == '403'",
    "logic/mypy-many": "a.py:1: error: Function is missing a type annotation [no-untyped-def]",
    "logic/node-type-error": "TypeError: Cannot read properties of undefined (reading 'y')",
    "logic/noise-go-passing-names": "a_test.go:5: sum is off by one",
    "logic/noise-node-tests": "1 == 2",
    "logic/npm-missing-script": 'npm error Missing script: "build"',
    "logic/npm-test-fails": "Expected values to be strictly equal: 2 !== 3",
    "logic/pytest-collection-syntax": "SyntaxError: invalid syntax",
    "logic/pytest-fixture-error": "fixture 'nonesuch_fixture' not found",
    "logic/pytest-raises-value-error": "ValueError: invalid literal for int() with base 10: 'connection refused'",
    "logic/pytest-xdist-crash": "worker 'gw0' crashed while running 't.py::test_x'",
    "logic/python-custom-exception": "OrderInvalid: total is negative",
    "logic/python-recursion": "RecursionError: maximum recursion depth exceeded",
    "logic/ruff-errors": "F401 [*] `os` imported but unused",
    "logic/unittest-fails": "AssertionError: 1 != 2",
    "dependency/linker-missing-library": "/usr/bin/ld: cannot find -lnonesuch: No such file or directory",
    "dependency/make-command-missing": "make: nonesuch-tool: No such file or directory",
    "dependency/sh-dash-not-found": "sh: 1: nonesuch-compiler: not found",
}
WRITTEN = {
    "jest": (
        (
            "FAIL ./sum.test.js\n  \u25cf adds\n\n    expect(received).toBe(expected) // Object.is equality\n\n"
            "    Expected: 3\n    Received: 2\n\n      at Object.<anonymous> (sum.test.js:3:13)\n\nTests: 1 failed\n"
        ),
        "expect(received).toBe(expected) // Object.is equality",
    ),
    "mocha": (
        (
            "  0 passing (3ms)\n  1 failing\n\n  1) sums\n       adds:\n\n      AssertionError: expected 2 to equal 3\n"
            "      at Context.<anonymous> (test.js:4:5)\n"
        ),
        "AssertionError: expected 2 to equal 3",
    ),
    "node spec": (
        (
            "\u2716 adds (1ms)\n\u2139 tests 1\n\u2139 fail 1\n\n\u2716 failing tests:\n\ntest at a.test.js:1:1\n"
            "\u2716 adds (1ms)\n  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n  2 !== 3\n"
        ),
        "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 2 !== 3",
    ),
    "tsc": (
        "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\n",
        "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
    ),
    "eslint": (
        "\n/work/src/a.js\n  3:7  error  'x' is assigned a value but never used  no-unused-vars\n\n\u2716 1 problem\n",
        "/work/src/a.js:3:7 error 'x' is assigned a value but never used no-unused-vars",
    ),
    "chained": (
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'a'\n\n"
            "During handling of the above exception, another exception occurred:\n\n"
            'Traceback (most recent call last):\n  File "a.py", line 3\n'
            "ValueError: no such key\n"
        ),
        "ValueError: no such key",
    ),
    "handled before": (
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'handled'\n"
            "=== FAILURES ===\n____ test_a ____\n>  assert f()\nE  ValueError: x\n\na.py:1: ValueError\n"
        ),
        "ValueError: x",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_what_a_real_tool_printed_is_led_by_its_failure(name: str) -> None:
    text = (REAL / f"{name}.txt").read_text()
    found = failing_output(text)
    assert found.line == SAID[name]
    assert found.line.split(": ")[0][:20] in " ".join(found.part.split())
    assert failing_output(f"{NOISE}{text}").line == found.line, "what came before it does not matter"


@pytest.mark.parametrize("name", WRITTEN)
def test_each_other_form_is_known_too(name: str) -> None:
    text, line = WRITTEN[name]
    assert failing_output(text).line == line
    assert failing_output(f"{text}\n{NOISE}").line == line, "nor what came after it"


def test_without_a_failure_that_is_known_the_last_lines_are_shown() -> None:
    found = failing_output(NOISE + "all done\n")
    assert found.line == "all done"
    assert found.part.endswith("all done")
    assert failing_output("") == FailingOutput()
    assert failing_output("\n \n") == FailingOutput()


def test_the_line_is_no_row_of_a_table() -> None:
    table = (
        "----------|---------|--------\nFile      | % Stmts | % Lines | Uncovered\n----------|---------|--------|----\n"
    )
    found = failing_output(f"  \u2716 Couldn't find any files to test\n{table}")
    assert found.line == "\u2716 Couldn't find any files to test"
    assert "% Stmts" in found.part
    assert failing_output(table).line.startswith("---"), "there is nothing better"


def test_what_could_move_a_terminal_or_hide_text_is_removed() -> None:
    found = failing_output("\x1b[31mValueError: \u202ex\x07\x1b]0;title\x07 \x1b[2Jy\x1b[0m\r\n")
    assert found.line == "ValueError: x y"
    assert "\x1b" not in found.part


def test_the_gap_between_two_ends_is_said() -> None:
    assert two_ends(b"a", b"b", 0) == "ab"
    assert two_ends(b"a\xc3", b"\xa4b", 3_000) == "a\ufffd\n[3,000 bytes are left out here]\n\ufffdb"


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "piece",
    [
        "x", "\n", " ", "=", "_ ", "E ", "E  x\n", "Traceback (most recent call last):\n", "  File x\n", "error: \n",
        "not ok\n  ---\n", "not ok 1\n  ---\n  error: 2 subtests failed\n", "--- FAIL: \n", "    a.go:1: x\n", "a:1:1",
        "a:", "\u25cf x\n", "1 failing\n", "npm error ", "ERROR: x\n-----------------------\n", "\x1b[", "\x1b]0;",
        "\r", "\0", "thread 'a' panicked at x:\n", "aError", "AError: x\n", "(1,1): ", "  1:1  error x\n",
        "E001 x\n --> y\n",
    ],
)  # fmt: skip
def test_an_output_of_any_shape_is_read_to_its_end(piece: str) -> None:
    """Read quadratically, each of these takes minutes or hours."""
    for start in ("", "=== FAILURES ===\n", "=" * 30 + "\nFAIL: x\n" + "-" * 30 + "\n"):
        found = failing_output(start + piece * (4 * MIB // len(piece)))
        assert len(found.part) <= PART_CHARACTERS + 20
        assert len(found.line) <= LONGEST_HEAD


@given(st.text(alphabet=st.sampled_from("aE_=-:.1 \n\r\t\x1b[]()>|\u25cf\u2716FAILERORtraceback"), max_size=400))
def test_whatever_is_printed_gives_one_bounded_line_and_part(text: str) -> None:
    found = failing_output(text)
    assert "\n" not in found.line
    assert len(found.line) <= LONGEST_HEAD
    assert len(found.part) <= PART_CHARACTERS + 20
    assert bool(found.line) == bool(found.part.strip())


@given(st.sampled_from(sorted(SAID)), st.integers(0, 3 * EACH_END))
def test_a_failure_at_the_end_is_found_however_much_came_before(name: str, before: int) -> None:
    text = (REAL / f"{name}.txt").read_text()
    assert failing_output("x" * before + "\n" + text).line == SAID[name]
