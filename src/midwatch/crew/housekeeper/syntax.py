"""Invalid JSON, TOML and YAML: reported, never fixed."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from midwatch.crew.housekeeper.bounds.scope import is_test_data
from midwatch.crew.housekeeper.findings import Seen
from midwatch.crew.housekeeper.tree import Tree

Fault = tuple[int, str]
COMMENTED = re.compile(r"^(tsconfig|jsconfig|tslint|api-extractor|\.eslintrc|\.babelrc|\.swcrc|devcontainer|typedoc).*")
TEMPLATE = ("{{", "{%", "<%", "${{")
COMMENT_LINE = re.compile(r"^\s*(//|/\*)", re.MULTILINE)


def sightings(tree: Tree) -> Iterator[Seen]:
    """The first fault of every data file that has one."""
    for path in tree.mine:
        check = _CHECKS.get(PurePosixPath(path).suffix)
        if check is None or is_test_data(path) or "{{" in path:
            continue
        text = tree.read(path).decode("utf-8-sig")
        if not text.strip() or any(mark in text for mark in TEMPLATE):
            continue
        fault = check(path, text)
        if fault:
            kind = PurePosixPath(path).suffix.lstrip(".").replace("yml", "yaml")
            yield Seen(f"{kind}-syntax", path, fault[0], fault[1], "housekeeper")


def _json(path: str, text: str) -> Fault | None:
    place = PurePosixPath(path)
    if COMMENTED.match(place.name) or {".vscode", ".devcontainer"} & set(place.parts) or COMMENT_LINE.search(text):
        return None
    try:
        json.loads(text)
    except json.JSONDecodeError as wrong:
        return None if _is_one_per_line(text) else (wrong.lineno, f"Not valid JSON: {wrong.msg}")
    except RecursionError:
        return None
    return None


def _is_one_per_line(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return len(lines) > 1 and all(isinstance(json.loads(line), dict | list) for line in lines)
    except ValueError:
        return False


def _toml(_path: str, text: str) -> Fault | None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        said = str(wrong)
        at = re.search(r"at line (\d+)", said)
        line = int(at.group(1)) if at else text.count("\n") + 1
        return line, "Not valid TOML: " + re.sub(r" \(at .*\)$", "", said)
    return None


def _yaml(_path: str, text: str) -> Fault | None:
    import yaml  # noqa: PLC0415 - a tenth of the start, and few files are YAML

    try:
        # Composing follows anchors and documents but ignores tags, so an unknown tag is not a fault.
        for _ in yaml.compose_all(text, Loader=yaml.SafeLoader):
            pass
    except yaml.MarkedYAMLError as wrong:
        mark = wrong.problem_mark or wrong.context_mark
        return (mark.line + 1 if mark else 1), f"Not valid YAML: {wrong.problem or wrong.context or 'cannot be read'}"
    except yaml.reader.ReaderError as wrong:
        return text.count("\n", 0, wrong.position) + 1, f"Not valid YAML: {wrong.reason}"
    except RecursionError:
        return None
    return None


_CHECKS: dict[str, Callable[[str, str], Fault | None]] = {".json": _json, ".toml": _toml, ".yml": _yaml, ".yaml": _yaml}
