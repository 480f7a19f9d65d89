"""Coverage of changed lines is read from whatever the project's own tool left (X8)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.checks.coverage import REPORTS, covered_of

CHANGED = {"src/a.py": frozenset({1, 2, 3, 9})}
COVERAGE_PY = json.dumps({"files": {"src/a.py": {"executed_lines": [1, 2, 50], "missing_lines": [3]}}})
ISTANBUL = json.dumps(
    {
        "/work/src/a.py": {
            "statementMap": {"0": {"start": {"line": 1}}, "1": {"start": {"line": 3}}},
            "s": {"0": 4, "1": 0},
        }
    }
)
LCOV = "TN:\nSF:/somewhere/src/a.py\nDA:1,1\nDA:2,0\nDA:40,0\nend_of_record\n"
COBERTURA = (
    '<?xml version="1.0"?><coverage><class name="a" filename="src/a.py"><lines>'
    '<line number="1" hits="1"/><line number="3" hits="0"/></lines></class></coverage>'
)


@pytest.mark.parametrize(
    ("report", "text", "counted"),
    [
        ("coverage.json", COVERAGE_PY, (2, 3)),
        ("coverage/coverage-final.json", ISTANBUL, (1, 2)),
        ("lcov.info", LCOV, (1, 2)),
        ("coverage.xml", COBERTURA, (1, 2)),
    ],
)
def test_changed_lines_are_counted(report: str, text: str, counted: tuple[int, int]) -> None:
    found = covered_of(CHANGED, report, text)
    assert found is not None
    assert (found.covered, found.measurable, found.by) == (*counted, report)


def test_lines_that_nobody_measures_are_not_counted() -> None:
    assert covered_of({"src/b.py": frozenset({1})}, "coverage.json", COVERAGE_PY) is None


@given(st.sampled_from(REPORTS), st.text(max_size=200))
def test_a_report_that_cannot_be_read_says_nothing(report: str, text: str) -> None:
    assert covered_of(CHANGED, report, text) is None
