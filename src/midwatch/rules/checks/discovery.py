"""Which checks a project has: named by a person, or found in its checkout.

A new check tool also has files that decide its result (a row of `steering.py`) and a summary that says how many tests
ran (`test_counts.py`).
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from midwatch.terms.jobs import CheckResult, CheckSource

NONE = "none"
"""What a person names as a project's check to say that it has none, and that none should be looked for."""
FOUND = "found"
"""The word that removes named checks."""

TELLING = (
    *("GNUmakefile", "makefile", "Makefile", "justfile", "pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg"),
    *("noxfile.py", "package.json", "Cargo.toml", "go.mod"),
)
"""Files at the top of a checkout that say how it is checked."""

_TARGET = re.compile(r"^(test|check)[ \t]*:(?!=)", re.MULTILINE)
_PYTEST_TABLES = ("[tool.pytest", "[tool:pytest]", "[pytest]")
_PYTHON_TEST = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")
_NODE_TEST = re.compile(r"(?:^|/)[^/]*[.-]test\.[cm]?js$")
_RUNNERS = {
    "pnpm-lock.yaml": "pnpm test",
    "yarn.lock": "yarn test",
    "bun.lock": "bun run test",
    "bun.lockb": "bun test",
}


@dataclass(frozen=True, slots=True)
class Looked:
    """What a checkout holds: the texts of files that say how it is checked, every path, and what the setup added."""

    texts: Mapping[str, str] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    placed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedCheck:
    """A command, and who asked for it."""

    command: str
    source: CheckSource = CheckSource.ORDERS


def propose_checks(looked: Looked) -> tuple[str, ...]:
    """Propose the commands by which a project checks itself: its own single entry, or one per kind of code."""
    single = _single(looked)
    if single:
        return (single,)
    return tuple(command for command in (_python(looked), _node(looked), _cargo(looked), _go(looked)) if command)


def _single(looked: Looked) -> str:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        if name in looked.texts:
            targets = set(_TARGET.findall(looked.texts[name]))
            return f"make {'test' if 'test' in targets else 'check'}" if targets else ""
    targets = set(_TARGET.findall(looked.texts.get("justfile", "")))
    return f"just {'test' if 'test' in targets else 'check'}" if targets else ""


def _python(looked: Looked) -> str:
    said = "\n".join(looked.texts.get(name, "") for name in ("pyproject.toml", "setup.cfg", "tox.ini"))
    configured = "pytest.ini" in looked.texts or any(table in said for table in _PYTEST_TABLES)
    if configured or any(_PYTHON_TEST.search(path) for path in looked.paths):
        python = ".venv/bin/python" if ".venv" in looked.placed else "python3"
        return f"{python} -m pytest -q"
    if "[testenv" in said or "[tool.tox" in said:
        return "tox -q"
    return "nox" if "noxfile.py" in looked.texts else ""


def _node(looked: Looked) -> str:
    script = _test_script(looked.texts.get("package.json", ""))
    if "no test specified" in script:
        return ""
    if script:
        return next((command for lock, command in _RUNNERS.items() if lock in looked.paths), "npm test")
    return "node --test" if any(_NODE_TEST.search(path) for path in looked.paths) else ""


def _test_script(text: str) -> str:
    try:
        return str(json.loads(text)["scripts"]["test"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""


def _cargo(looked: Looked) -> str:
    return "cargo test" if "Cargo.toml" in looked.texts else ""


def _go(looked: Looked) -> str:
    return "go test ./..." if "go.mod" in looked.texts else ""


def join_checks(
    ordered: Iterable[str], project: Iterable[str], found: Iterable[str], done_when: Iterable[str] = ()
) -> tuple[NamedCheck, ...]:
    """Put what shows that the work is done first, then the orders', the project's and the found checks; each once.

    A tool that is named already is not run a second time with a guessed command.
    """
    named: dict[str, NamedCheck] = {}
    by_source = ((CheckSource.DONE_WHEN, done_when), (CheckSource.ORDERS, ordered), (CheckSource.PROJECT, project))
    for source, commands in by_source:
        for command in commands:
            if command.strip() and command.strip() != NONE:
                named.setdefault(_same(command), NamedCheck(command, source))
    for command in found:
        checks = (one for one in named.values() if one.source is not CheckSource.DONE_WHEN)
        if command.split() and not any(_tool(command) in one.command.split() for one in checks):
            named.setdefault(_same(command), NamedCheck(command, CheckSource.FOUND))
    return tuple(named.values())


def _same(command: str) -> str:
    return " ".join(command.split())


def _tool(command: str) -> str:
    words = command.split()
    return words[2] if words[1:2] == ["-m"] else words[0]


_NO_TOOL = re.compile(
    r"No rule to make target|No module named '?(?:pytest|tox|nox|unittest)|command not found|Missing script|"
    r"Error 127|: not found|Cannot find module '?(?:jest|vitest|mocha)"
)
_NO_NETWORK = re.compile(
    r"name resolution|Could not resolve host|ENOTFOUND|EAI_AGAIN|Network is unreachable|No matching distribution|"
    r"Connection refused|dial tcp|failed to download"
)
_PYTEST_NOTHING = 5
_NOT_STARTED = (126, 127)


def proves_nothing(result: CheckResult) -> str:
    """Say why a check that we found ourselves says nothing about the base; '' where it does."""
    if result.source is not CheckSource.FOUND:
        return ""
    if result.exit_code in _NOT_STARTED or (result.exit_code and _NO_TOOL.search(result.tail)):
        return "its tool is not there"
    if result.exit_code and _NO_NETWORK.search(result.tail):
        return "it needs the network"
    counted = result.counted
    none_ran = counted is not None and not counted.ran and not counted.skipped and not counted.expected
    if none_ran and result.exit_code in (0, _PYTEST_NOTHING):
        return "it ran no test"
    return ""
