"""What the project tells its own tools to leave alone: pre-commit, black, isort, flake8, prettier, git."""

import configparser
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from midwatch.crew.housekeeper import kinds
from midwatch.crew.housekeeper.bounds import pre_commit
from midwatch.crew.housekeeper.bounds.pre_commit import PreCommitHook

PYTHON = (".py", ".pyi")
LINTING = ("ruff", "ruff-check", "flake8", "autoflake", "pycln", "pyflakes")
GOVERNING = {
    kinds.WHITESPACE: ("trailing-whitespace",),
    kinds.NEWLINE: ("end-of-file-fixer",),
    kinds.FORMAT: ("ruff-format", "black", "black-jupyter"),
    kinds.SORTING: ("isort", "reorder-python-imports"),
    "UP": ("pyupgrade",),
    "json-syntax": ("check-json",),
    "yaml-syntax": ("check-yaml",),
    "toml-syntax": ("check-toml",),
}
"""The hooks that decide about a kind of work; where a project has none of them, its linter's hook decides."""
FLAKE8_SECTIONS = ("flake8", "pycodestyle", "pep8")
SETTINGS = (".flake8", "setup.cfg", "tox.ini", ".isort.cfg", "pyproject.toml", ".prettierignore", pre_commit.PLACE)
PINNING = re.compile(r"(uv|poetry|pdm)\.lock|pyproject\.toml|(requirements/)?[\w.-]*\.txt")
RUFF_PIN = re.compile(
    r"""^name = "ruff"\nversion = "(\d+\.\d+\.\d+)"|^[ \t]*["']?ruff ?== ?(\d+\.\d+\.\d+)""", re.MULTILINE
)

Test = Callable[[str], bool]


@dataclass(frozen=True)
class Excludes:
    """The project's own exclusions, by the tool that has them."""

    everywhere: PreCommitHook
    hooks: tuple[PreCommitHook, ...]
    python: tuple[Test, ...]
    imports: tuple[Test, ...]
    texts: tuple[Test, ...]
    ignored: tuple[tuple[Test, tuple[str, ...]], ...]
    """Files, and the rules that flake8 ignores in them."""
    white: frozenset[str]
    """Files whose white space the project's git settings keep."""
    ruff: str
    """The version of ruff that the project pins, for pre-commit or else; empty if it pins none."""

    def shut_out(self, path: str) -> bool:
        """Whether no tool of the project looks at this file."""
        return not self.everywhere.looks_at(path)

    def cover(self, path: str, kind: str) -> bool:
        """Whether the project keeps this kind of work away from this file."""
        is_python = path.endswith(PYTHON)
        tests = [*(self.python if is_python else self.texts)]
        if kind in {kinds.IMPORTS, kinds.SORTING}:
            tests += self.imports
        if (kind == kinds.WHITESPACE and path in self.white) or any(test(path) for test in tests):
            return True
        names = GOVERNING.get(kind, ())
        governing = [hook for hook in self.hooks if hook.id in names]
        if not governing and is_python and kind != kinds.FORMAT:
            governing = [hook for hook in self.hooks if hook.id in LINTING]
        return bool(governing) and not any(hook.looks_at(path) for hook in governing)

    def ignore(self, path: str, rule: str) -> bool:
        """Whether the project's flake8 ignores this rule in this file."""
        return any(rule.startswith(codes) and test(path) for test, codes in self.ignored)


def excludes_in(root: Path, tracked: frozenset[str], white: frozenset[str]) -> Excludes:
    """Read the settings at the top of a checkout; links and files that git does not know are not read."""
    texts = {name: _text(root / name) for name in SETTINGS if name in tracked and not (root / name).is_symlink()}
    everywhere, *hooks = [*pre_commit.hooks_in(texts.get(pre_commit.PLACE, ""))] or [PreCommitHook()]
    tools = _table(_toml(texts.get("pyproject.toml", "")), "tool")
    sections = [s for name in (".flake8", "setup.cfg", "tox.ini", ".isort.cfg") for s in _ini(texts.get(name, ""))]
    flake8 = [values for name, values in sections if name in FLAKE8_SECTIONS] + [_table(tools, "flake8")]
    isort = [values for name, values in sections if name in {"isort", "tool:isort", "settings"}]
    return Excludes(
        everywhere=everywhere,
        hooks=tuple(hooks),
        python=(*_black(_table(tools, "black")), *(_flake8(one) for one in flake8)),
        imports=tuple(_isort(one) for one in (*isort, _table(tools, "isort"))),
        texts=_prettier(texts.get(".prettierignore", "")),
        ignored=tuple(pair for one in flake8 for pair in _ignored(one)),
        white=white,
        ruff=pre_commit.ruff_in(texts.get(pre_commit.PLACE, "")) or _pinned_ruff(root, tracked),
    )


def _pinned_ruff(root: Path, tracked: frozenset[str]) -> str:
    for name in sorted(path for path in tracked if PINNING.fullmatch(path) and not (root / path).is_symlink()):
        if found := RUFF_PIN.search(_text(root / name)):
            return found[1] or found[2]
    return ""


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8-sig", errors="replace") if file.is_file() else ""


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _table(settings: dict[str, Any], name: str) -> dict[str, Any]:
    found = settings.get(name)
    return found if isinstance(found, dict) else {}


def _ini(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    reader = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        reader.read_string(text)
    except configparser.Error:
        return
    yield from ((name, dict(reader.items(name))) for name in reader.sections())


def _black(settings: dict[str, Any]) -> Iterator[Test]:
    for name in ("exclude", "extend-exclude", "force-exclude"):
        pattern = settings.get(name)
        if isinstance(pattern, str) and pattern:
            try:
                # As black reads it: one of several lines may hold spaces and comments.
                yield _black_test(re.compile(pattern, re.VERBOSE if "\n" in pattern else 0))
            except (re.error, RecursionError):
                continue


def _black_test(pattern: re.Pattern[str]) -> Test:
    return lambda path: any(pattern.search(f"/{place}") for place in (path, *(f"{up}/" for up in _folders(path))))


def _flake8(settings: dict[str, Any]) -> Test:
    return _named([*_listed(settings.get("exclude")), *_listed(settings.get("extend-exclude"))])


def _isort(settings: dict[str, Any]) -> Test:
    names = ("skip", "extend_skip", "skip_glob", "extend_skip_glob")
    return _named([one for name in names for one in _listed(settings.get(name))])


def _named(patterns: list[str]) -> Test:
    """Match as flake8 and isort do: the name or the whole path of a file, or of a folder above it."""
    bare = [one.removeprefix("./").rstrip("/") for one in patterns]

    def test(path: str) -> bool:
        places = [path, *_folders(path)]
        return any(fnmatchcase(p, b) or fnmatchcase(PurePosixPath(p).name, b) for b in bare if b for p in places)

    return test


def _ignored(settings: dict[str, Any]) -> Iterator[tuple[Test, tuple[str, ...]]]:
    codes = tuple(one for name in ("ignore", "extend-ignore") for one in _listed(settings.get(name)))
    if codes:
        yield (lambda _path: True), codes
    # "a.py,b.py: F401,E501" and the next pair; a name with a colon starts a pair.
    words = re.findall(r"[^\s,:]+|:", str(settings.get("per-file-ignores") or ""))
    names, rules = list[str](), list[str]()
    for at, word in enumerate([*words, ":"]):
        if word == ":":
            continue
        starts = ":" in words[at + 1 : at + 2] or not re.fullmatch(r"[A-Z]+\d*", word)
        if starts and rules:
            yield _named(names), tuple(rules)
            names, rules = [], []
        (names if starts else rules).append(word)
    if names and rules:
        yield _named(names), tuple(rules)


def _prettier(text: str) -> tuple[Test, ...]:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - few projects need it

    try:
        return (GitIgnoreSpec.from_lines(text.splitlines()).match_file,) if text.strip() else ()
    except ValueError:
        return ()


def _listed(value: Any) -> list[str]:
    if isinstance(value, str):
        lines = (line.partition("#")[0] for line in value.splitlines())
        return [word for line in lines for word in re.split(r"[\s,]+", line) if word]
    return [one for one in value if isinstance(one, str)] if isinstance(value, Iterable) else []


def _folders(path: str) -> list[str]:
    return [str(up) for up in PurePosixPath(path).parents if str(up) != "."]
