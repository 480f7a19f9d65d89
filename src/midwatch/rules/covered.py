"""Which of the changed lines ran, as the files say that coverage tools leave behind."""

import json
import re
from collections.abc import Callable, Iterator, Mapping

from midwatch.terms.proof import Coverage

REPORTS = (
    *(".midwatch-coverage.json", "coverage.json", "coverage/coverage-final.json", "lcov.info", "coverage/lcov.info"),
    *("coverage.lcov", "coverage.xml", "cobertura.xml", "coverage/cobertura-coverage.xml"),
)
"""Where coverage tools leave what they measured, from the top of the checkout."""

_CLASS = re.compile(r"<class\b[^>]{0,2000}?\bfilename=\"([^\"]{1,1000})\"")
_LINE = re.compile(r"<line\b[^>]{0,300}?\bnumber=\"(\d+)\"[^>]{0,300}?\bhits=\"(\d+)\"")

Lines = dict[str, dict[int, bool]]
"""By file: each line that can be measured, and whether it ran."""


def covered_of(changed: Mapping[str, frozenset[int]], report: str, text: str) -> Coverage | None:
    """Count the changed lines that a report measures and that ran; None where it measures none of them."""
    try:
        measured = _reader(report, text)(text)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    ran = [hit for path, lines in changed.items() for line, hit in _of(measured, path).items() if line in lines]
    return Coverage(covered=sum(ran), measurable=len(ran), by=report.removeprefix(".midwatch-")) if ran else None


def _of(measured: Lines, path: str) -> dict[int, bool]:
    """Find a file under its own path, or under one that ends with it, as absolute paths do."""
    if path in measured:
        return measured[path]
    return next((lines for name, lines in measured.items() if name.endswith(f"/{path}")), {})


def _reader(report: str, text: str) -> Callable[[str], Lines]:
    if report.endswith(".json"):
        return _json
    return _cobertura if text.lstrip().startswith("<") else _lcov


def _json(text: str) -> Lines:
    told = json.loads(text)
    if "files" in told:
        return {
            path: {**dict.fromkeys(one["executed_lines"], True), **dict.fromkeys(one["missing_lines"], False)}
            for path, one in told["files"].items()
        }
    return {path: dict(_statements(one)) for path, one in told.items()}


def _statements(one: dict[str, dict[str, dict[str, dict[str, int]]]]) -> Iterator[tuple[int, bool]]:
    """Read Istanbul's shape, which node's tools write."""
    for name, place in one["statementMap"].items():
        yield int(place["start"]["line"]), bool(one["s"][name])


def _lcov(text: str) -> Lines:
    found: Lines = {}
    path = ""
    for line in text.splitlines():
        if line.startswith("SF:"):
            path = line[3:].strip()
        elif line.startswith("DA:") and path:
            number, hits = line[3:].split(",")[:2]
            found.setdefault(path, {})[int(number)] = int(hits) > 0
    return found


def _cobertura(text: str) -> Lines:
    found: Lines = {}
    for piece in text.split("<class ")[1:]:
        if named := _CLASS.match(f"<class {piece[:4000]}"):
            hits = ((int(number), int(count) > 0) for number, count in _LINE.findall(piece))
            found.setdefault(named[1], {}).update(hits)
    return found
