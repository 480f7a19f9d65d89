"""Which of the changed lines ran, as the files say that coverage tools leave behind."""

import json
import re
from collections.abc import Callable, Iterator, Mapping

from midwatch.terms.jobs import Coverage

REPORTS = (
    *(".midwatch-coverage.json", "coverage.json", "coverage/coverage-final.json", "lcov.info", "coverage/lcov.info"),
    *("coverage.lcov", "coverage.xml", "cobertura.xml", "coverage/cobertura-coverage.xml"),
)
"""Where coverage tools leave what they measured, from the top of the checkout."""

MOST_NAME = 1000
"""Characters of a file's name in a report."""

# A tag is found first, and then looked into: a tag that never ends would be read again from each of its places.
_CLASS = re.compile(r"[^<>]{0,3000}>")
_LINE = re.compile(r"<line\b[^<>]{0,300}>")
_NAMED = re.compile(r"\bfilename=\"([^\"]{1,1000})\"")
_NUMBER, _HITS = re.compile(r"\bnumber=\"(\d{1,9})\""), re.compile(r"\bhits=\"(\d{1,15})\"")

Lines = dict[str, dict[int, bool]]
"""By file: each line that can be measured, and whether it ran."""


def covered_of(changed: Mapping[str, frozenset[int]], report: str, text: str) -> Coverage | None:
    """Count the changed lines that a report measures and that ran; None where it measures none of them."""
    try:
        measured = _reader(report, text)(text)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    found = _found(measured, changed)
    ran = [found[path][line] for path, lines in changed.items() if path in found for line in lines & found[path].keys()]
    return Coverage(covered=sum(ran), measurable=len(ran), by=report.removeprefix(".midwatch-")) if ran else None


def _found(measured: Lines, changed: Mapping[str, frozenset[int]]) -> Lines:
    """Find each file under its own path, or under the first that ends with it, as absolute paths do."""
    found = {path: measured[path] for path in changed if path in measured}
    for name, lines in measured.items():
        rest = name if len(name) <= MOST_NAME else ""
        while rest := rest.partition("/")[2]:
            if rest in changed:
                found.setdefault(rest, lines)
    return found


def _reader(report: str, text: str) -> Callable[[str], Lines]:
    if report.endswith(".json"):
        return _json
    return _cobertura if text.lstrip().startswith("<") else _lcov


def _json(text: str) -> Lines:
    result = json.loads(text)
    if "files" in result:
        return {
            path: {**dict.fromkeys(one["executed_lines"], True), **dict.fromkeys(one["missing_lines"], False)}
            for path, one in result["files"].items()
        }
    return {path: dict(_statements(one)) for path, one in result.items()}


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
        tag = _CLASS.match(piece)
        if tag and (named := _NAMED.search(tag[0])):
            found.setdefault(named[1], {}).update(_hits(piece))
    return found


def _hits(piece: str) -> Iterator[tuple[int, bool]]:
    for tag in _LINE.findall(piece):
        number, hits = _NUMBER.search(tag), _HITS.search(tag)
        if number and hits:
            yield int(number[1]), int(hits[1]) > 0
