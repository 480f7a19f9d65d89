"""Which files decide what the checks check: the agent may change them, but not to its own advantage."""

import configparser
import json
import re
import tomllib
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from midwatch.errors import Unknown
from midwatch.rules.checks.cheating import FileFact, FileKind
from midwatch.rules.paths import names
from midwatch.terms.jobs import FileChange

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
"""Restored from the base; new ones stay, because they are part of the work."""

SNAPSHOTS = ("__snapshots__/", "*.snap", "*.ambr", "*.snapshot", "*.approved.*", "*.golden")
"""What tests compare with, as a tool recorded it: restored from the base."""

CONFIGURATION = (
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
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
    "vitest.workspace.*",
    "vite.config.*",
    "karma.conf.*",
    "phpunit.xml*",
    ".cargo/",
    ".npmrc",
    "playwright.config.*",
    ".mocharc*",
    ".github/",
    ".gitlab-ci.yml",
    ".circleci/",
    ".pre-commit-config.yaml",
)
"""Restored from the base, and removed where they are new: a new conftest.py can switch old tests off."""

PACKAGING = frozenset(
    {"poetry", "setuptools", "setuptools_scm", "hatch", "pdm", "uv", "flit", "maturin", "scikit-build"}
)
"""Tables of `[tool]` that describe a package; the scripts of hatch and pdm do say how it is checked."""

SCRIPT_NAMES = re.compile(r"check|test|verify|lint|spec|(?:^|[^a-z])ci(?:[^a-z]|$)")
INTERPRETERS = re.compile(r"(?:.*/)?(?:sh|bash|dash|zsh|python[\d.]*|node|ruby|perl|deno|bun)$")

MOST_CHARACTERS = 200_000
"""Bytes read of one file; a longer test file or settings file is judged by its beginning."""

Read = Callable[[str, str], Awaitable[bytes]]


def scripts_of(commands: Iterable[str]) -> frozenset[str]:
    """Name the files in the tree that check commands call: a check is what its script says.

    Only files whose names look like a check: `python3 app.py` runs what the work is about.
    """
    found = set()
    for command in commands:
        words = re.split(r"[\s;&|()]+", command)
        for before, word in zip(["", *words], words, strict=False):
            path = word.strip("\"'").removeprefix("./")
            called = "/" in word or bool(INTERPRETERS.match(before.strip("\"'")))
            if called and not word.startswith(("/", "-")) and SCRIPT_NAMES.search(path.rsplit("/", 1)[-1].lower()):
                found.add(path)
    return frozenset(found)


async def kind_of(change: FileChange, read: Read, commits: tuple[str, str], scripts: frozenset[str]) -> FileKind:
    name = change.path.rsplit("/", 1)[-1]
    if name in _PARTS:
        same = await _says_the_same(_PARTS[name], read, commits, change.path)
        return FileKind.CODE if same else FileKind.CONFIG
    if change.path in scripts or names(change.path, CONFIGURATION):
        return FileKind.CONFIG
    if names(change.path, SNAPSHOTS):
        return FileKind.SNAPSHOT
    return FileKind.TEST if names(change.path, EXISTING_TESTS) else FileKind.CODE


def to_restore(files: Iterable[FileFact]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the changed check files into those to restore from the base and those to remove.

    A test file that was only moved is where it belongs: restored, it would exist twice.
    """
    every = tuple(files)
    moved_to = {_content(file) for file in every if file.kind is FileKind.TEST and file.before is None}
    back: list[str] = []
    away: list[str] = []
    for file in every:
        if file.allowed or file.kind is FileKind.CODE:
            continue
        if file.before is not None:
            known_whole = file.after is None and len(file.before) < MOST_CHARACTERS
            moved = known_whole and (file.path.rsplit("/", 1)[-1], file.before) in moved_to
            if not moved:
                back.append(file.path)
        elif file.kind is FileKind.CONFIG:
            away.append(file.path)
    return tuple(back), tuple(away)


def _content(file: FileFact) -> tuple[str, str]:
    return file.path.rsplit("/", 1)[-1], file.after or ""


async def _says_the_same(about_checks: Callable[[str], Any], read: Read, commits: tuple[str, str], path: str) -> bool:
    """Whether both versions say the same about checks; one that cannot be read counts as different."""
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
        except (ValueError, TypeError, AttributeError, RecursionError, configparser.Error):
            return False
    return bool(said[0] == said[1])


def _pyproject(text: str) -> Any:
    said = tomllib.loads(text)
    tools = {name: table for name, table in said.get("tool", {}).items() if name not in PACKAGING}
    packaging = said.get("tool", {})
    ways = packaging.get("hatch", {}).get("envs"), packaging.get("pdm", {}).get("scripts")
    return tools, ways, said.get("project", {}).get("entry-points", {}).get("pytest11")


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
"""Files about packages and checks: they matter only where what they say about checks has changed."""
