"""The files that a project's pre-commit hooks look at."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

PLACE = ".pre-commit-config.yaml"
ANY, NONE = "", "^$"
_TAGS: dict[str, tuple[str, ...]] = {
    ".py": ("python",), ".pyi": ("python", "pyi"), ".md": ("markdown",), ".markdown": ("markdown",), ".rst": ("rst",),
    ".txt": ("plain-text",), ".json": ("json",), ".yml": ("yaml",), ".yaml": ("yaml",), ".toml": ("toml",),
    ".cfg": ("ini",), ".ini": ("ini",), ".css": ("css",), ".scss": ("scss",), ".less": ("less",), ".go": ("go",),
    ".js": ("javascript",), ".mjs": ("javascript",), ".cjs": ("javascript",), ".jsx": ("jsx",), ".ts": ("ts",),
    ".tsx": ("tsx",), ".c": ("c",), ".h": ("c", "c++", "header"), ".cc": ("c++",), ".cpp": ("c++",),
    ".hpp": ("c++", "header"), ".java": ("java",), ".kt": ("kotlin",), ".swift": ("swift",),
}  # fmt: skip
_RUFF = re.compile(
    r"astral-sh/ruff-pre-commit\S*\s+(?:#.*\s+)*rev:\s*[\"']?"
    r"(?:v?(?P<version>\d+\.\d+\.\d+)|(?P<hash>[0-9a-f]{40})[\"']?(?:[ \t]*#\s*frozen:\s*v?(?P<frozen>\d+\.\d+\.\d+))?)"
)
"""`pre-commit autoupdate --freeze` writes a hash, and the version beside it."""


@dataclass(frozen=True)
class PreCommitHook:
    """One hook, or the settings above all hooks, with the files it looks at."""

    id: str = ""
    files: str = ANY
    exclude: str = NONE
    types: tuple[str, ...] = ()
    types_or: tuple[str, ...] = ()
    exclude_types: tuple[str, ...] = ()

    def looks_at(self, path: str) -> bool:
        tags = {"file", "text", "non-executable", "executable", *_TAGS.get(PurePosixPath(path).suffix, ())}
        if (
            set(self.types) - tags
            or (self.types_or and not tags & set(self.types_or))
            or tags & set(self.exclude_types)
        ):
            return False
        return _found(self.files, path) and not _found(self.exclude, path)


def hooks_in(text: str) -> Iterator[PreCommitHook]:
    """Yield the settings for all hooks, then each hook; settings that cannot be read yield nothing."""
    import yaml  # noqa: PLC0415 - a tenth of the start, and few projects need it

    try:
        settings = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return
    if not isinstance(settings, dict):
        return
    yield _hook(settings)
    for repository in _tables(settings.get("repos")):
        yield from (_hook(one) for one in _tables(repository.get("hooks")))


def ruff_in(text: str) -> str:
    """Return the version of ruff that the hooks use, or the hash that stands for it; empty if they use none."""
    found = _RUFF.search(text)
    return (found["frozen"] or found["version"] or found["hash"][:9]) if found else ""


def _tables(value: Any) -> Iterable[dict[str, Any]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def _hook(said: dict[str, Any]) -> PreCommitHook:
    files, exclude = said.get("files"), said.get("exclude")
    return PreCommitHook(
        id=str(said.get("id", "")),
        files=files if isinstance(files, str) else ANY,
        exclude=exclude if isinstance(exclude, str) else NONE,
        types=_words(said.get("types")),
        types_or=_words(said.get("types_or")),
        exclude_types=_words(said.get("exclude_types")),
    )


def _words(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _found(pattern: str, path: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is not None and bool(compiled.search(path))


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError):
        return None
