"""How many tests ran, passed, failed and were skipped, as the tools' own summaries say it."""

import re
from collections.abc import Callable

from midwatch.terms.jobs import SuiteCount

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# A check's output is untrusted: no pattern reads a blank line twice, and the length of a number is bounded.
_PYTEST = re.compile(r"^=*[ \t]*((?:\d{1,9} [a-z]+(?:, )?)+) in [\d.]+s", re.MULTILINE)
_PYTEST_NONE = re.compile(r"^=*[ \t]*no tests ran in [\d.]+s", re.MULTILINE)
_UNITTEST = re.compile(
    r"^Ran (\d{1,9}) tests? in .*\n[ \t\r]*\n?(?:FAILED|OK|NO TESTS RAN)(?: \((.*)\))?$", re.MULTILINE
)
_NODE = re.compile(r"^(?:#|\u2139) (tests|pass|fail|cancelled|skipped|todo) {1,9}(\d{1,9})$", re.MULTILINE)
_JEST = re.compile(
    r"^[ \t]*Tests:?[ \t]+((?:\d{1,9} [a-z]+(?:, | \| )?)+)[ \t\r]*(?:\(\d{1,9}\)[ \t\r]*)?$", re.MULTILINE
)
_CARGO = re.compile(r"^test result: \w+\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored", re.MULTILINE)
_WORDS = re.compile(r"(\d{1,9}) ([a-z]+)")
_PAIRS = re.compile(r"\b([a-z][a-z ]{0,40})=(\d{1,9})")
_MEANS = {
    **dict.fromkeys(("passed", "xpassed", "pass"), "passed"),
    **dict.fromkeys(("failed", "error", "errors", "fail", "cancelled", "failures"), "failed"),
    **dict.fromkeys(("skipped", "deselected", "todo", "pending", "ignored"), "skipped"),
    "xfailed": "expected",
}


def count_tests(output: str) -> SuiteCount | None:
    """Read the last summary of pytest, unittest, node, tape, jest, vitest or cargo; None where there is none."""
    plain = _COLOURS.sub("", output)
    for read in _READERS:
        if (found := read(plain)) is not None:
            return found
    return None


def _named(pairs: list[tuple[str, str]]) -> SuiteCount:
    sums = dict.fromkeys(("passed", "failed", "skipped", "expected"), 0)
    for number, word in pairs:
        if word in _MEANS:
            sums[_MEANS[word]] += int(number)
    return SuiteCount.model_validate(sums)


def _pytest(text: str) -> SuiteCount | None:
    found = _PYTEST.findall(text)
    if found:
        return _named(_WORDS.findall(found[-1]))
    return SuiteCount() if _PYTEST_NONE.search(text) else None


def _unittest(text: str) -> SuiteCount | None:
    found = _UNITTEST.findall(text)
    if not found:
        return None
    ran, said = found[-1]
    marks = {word.strip(): int(number) for word, number in _PAIRS.findall(said)}
    failed = marks.get("failures", 0) + marks.get("errors", 0) + marks.get("unexpected successes", 0)
    skipped, expected = marks.get("skipped", 0), marks.get("expected failures", 0)
    passed = max(0, int(ran) - failed - skipped - expected)
    return SuiteCount(passed=passed, failed=failed, skipped=skipped, expected=expected)


def _node(text: str) -> SuiteCount | None:
    found = dict(_NODE.findall(text))
    if "tests" not in found:
        return None
    return _named([(number, word) for word, number in found.items()])


def _jest(text: str) -> SuiteCount | None:
    found = _JEST.findall(text)
    return _named(_WORDS.findall(found[-1])) if found else None


def _cargo(text: str) -> SuiteCount | None:
    found = _CARGO.findall(text)
    if not found:
        return None
    passed, failed, skipped = (sum(int(one[place]) for one in found) for place in range(3))
    return SuiteCount(passed=passed, failed=failed, skipped=skipped)


_READERS: tuple[Callable[[str], SuiteCount | None], ...] = (_pytest, _unittest, _node, _jest, _cargo)
