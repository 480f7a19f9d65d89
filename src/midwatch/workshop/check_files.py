"""Which files decide what the checks check: the agent may change them, but not to its own advantage."""

import configparser
import json
import tomllib
from collections.abc import Awaitable, Callable
from typing import Any

from midwatch.errors import Unknown
from midwatch.terms.jobs import FileChange
from midwatch.workshop.paths import matches

EXISTING_TESTS = (
    "tests/",
    "test/",
    "spec/",
    "__tests__/",
    "testdata/",
    "test_*.py",
    "*_test.py",
    "*_test.go",
    "*.test.*",
    "*.spec.*",
)
"""Put back as they were; new ones stay, they are the work."""

CONFIGURATION = (
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "noxfile.py",
    ".coveragerc",
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "*.mk",
    "justfile",
    "Justfile",
    "Taskfile.y*ml",
    "Rakefile",
    "mypy.ini",
    ".mypy.ini",
    "pyrightconfig.json",
    "ruff.toml",
    ".ruff.toml",
    ".flake8",
    ".pylintrc",
    ".eslintrc*",
    "eslint.config.*",
    ".golangci.y*ml",
    "jest.config.*",
    "vitest.config.*",
    "playwright.config.*",
    ".mocharc*",
    ".github/",
    ".gitlab-ci.yml",
    ".circleci/",
    ".pre-commit-config.yaml",
)
"""Put back as they were, and taken away where they are new: a new conftest.py can switch old tests off."""

PACKAGING = frozenset(
    {"poetry", "setuptools", "setuptools_scm", "hatch", "pdm", "uv", "flit", "maturin", "scikit-build"}
)
"""Tables of `[tool]` that describe a package, not how it is checked."""

Read = Callable[[str, str], Awaitable[bytes]]


async def to_restore(
    changes: tuple[FileChange, ...], read: Read, base: str, head: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the changed check files into those to put back from base and those to take away."""
    back: list[str] = []
    away: list[str] = []
    for change in changes:
        name = change.path.rsplit("/", 1)[-1]
        if name in _PARTS:
            if not await _says_the_same(_PARTS[name], read, (base, head), change.path):
                (away if change.status == "A" else back).append(change.path)
        elif matches(change.path, CONFIGURATION):
            (away if change.status == "A" else back).append(change.path)
        elif change.status != "A" and matches(change.path, EXISTING_TESTS):
            back.append(change.path)
    return tuple(back), tuple(away)


async def _says_the_same(about_checks: Callable[[str], Any], read: Read, commits: tuple[str, str], path: str) -> bool:
    """Whether both versions say the same about checks; one that cannot be read is taken to differ."""
    said = []
    for commit in commits:
        try:
            text = (await read(commit, path)).decode()
        except Unknown:
            text = ""
        except UnicodeDecodeError:
            return False
        try:
            said.append(about_checks(text))
        except (ValueError, TypeError, configparser.Error):
            return False
    return bool(said[0] == said[1])


def _pyproject(text: str) -> Any:
    tools = tomllib.loads(text).get("tool", {})
    return {name: table for name, table in tools.items() if name not in PACKAGING}


def _setup_cfg(text: str) -> Any:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    packaging = {"metadata", "bdist_wheel", "sdist", "egg_info", "build_ext"}
    return {
        name: dict(parser.items(name))
        for name in parser.sections()
        if name not in packaging and not name.startswith("options")
    }


def _package_json(text: str) -> Any:
    package = json.loads(text or "{}")
    if not isinstance(package, dict):
        raise TypeError
    return {key: package.get(key) for key in ("scripts", "jest", "mocha", "ava", "c8", "nyc", "eslintConfig")}


_PARTS: dict[str, Callable[[str], Any]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "package.json": _package_json,
}
"""Files that speak of packages and of checks: they matter only where what they say of checks has changed."""
