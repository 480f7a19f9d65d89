"""The files of a checkout, in place or in a copy for planning."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from midwatch.crew.housekeeper.bounds import scope as scopes
from midwatch.crew.housekeeper.bounds.excludes import Excludes, excludes_in
from midwatch.crew.housekeeper.bounds.scope import PathScope
from midwatch.crew.housekeeper.git import SUBMODULE, SYMLINK, Checkout

LARGEST = 1_000_000
ENDINGS = re.compile(rb"\r\n|\n|\r")
KEPT_WHITE = re.compile(r"^unset$|-(?:trailing-space|blank-at-eol)\b")
"""How .gitattributes says that white space at the ends of lines belongs there."""


@dataclass(frozen=True)
class Tree:
    """Files under one root: all that git tracks, and those the housekeeper may tidy."""

    root: Path
    tracked: frozenset[str]
    mine: tuple[str, ...]
    excludes: Excludes
    """What the project keeps its own tools away from."""

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def lines(self, path: str) -> list[str]:
        """The lines of one file as editors and linters number them."""
        text = self.read(path).decode("utf-8", errors="replace")
        lines = re.split(r"\r\n|\n|\r", text)
        return lines[:-1] if lines[-1] == "" else lines

    def python(self) -> tuple[str, ...]:
        """The Python files the housekeeper may tidy."""
        return tuple(p for p in self.mine if p.endswith((".py", ".pyi")) and not scopes.is_python_data(p))

    @cached_property
    def all_python(self) -> tuple[str, ...]:
        """Every tracked Python file."""
        return tuple(sorted(p for p in self.tracked if p.endswith(".py")))

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds a tracked file."""
        return frozenset(str(parent) for path in self.tracked for parent in PurePosixPath(path).parents)

    def copied_to(self, place: Path) -> "Tree":
        """Copy what planning needs: the files to tidy, all Python, all settings."""
        wanted = set(self.mine) | {
            p for p in self.tracked if p.endswith((".py", ".toml", ".cfg", ".ini", ".editorconfig"))
        }
        for path in wanted:
            source = self.root / path
            if source.is_file() and not source.is_symlink():
                target = place / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read_bytes())
        return replace(self, root=place)


def endings(content: bytes) -> frozenset[bytes]:
    """The kinds of line ending a file uses."""
    return frozenset(ENDINGS.findall(content))


def look(checkout: Checkout, scope: PathScope) -> Tree:
    """List what is tracked, and what of it may be tidied."""
    entries = checkout.entries()
    built = scopes.built_documents(e.path for e in entries)
    plain = [e.path for e in entries if e.mode not in {SYMLINK, SUBMODULE} and not e.path.startswith(built)]
    candidates = [p for p in plain if scope.allows(p) and not scopes.is_foreign(p) and _is_ours(checkout.root, p)]
    asked = ("linguist-generated", "linguist-vendored", "text", "whitespace")
    attributes = checkout.attributes(candidates, *asked) if candidates else {}
    white = frozenset(p for p, said in attributes.items() if KEPT_WHITE.search(said.get("whitespace", "")))
    tracked = frozenset(e.path for e in entries)
    excludes = excludes_in(checkout.root, tracked, white)
    mine = tuple(p for p in candidates if not _set_aside(attributes.get(p, {})) and not excludes.shut_out(p))
    return Tree(root=checkout.root, tracked=tracked, mine=mine, excludes=excludes)


def _is_ours(root: Path, path: str) -> bool:
    file = root / path
    # A tracked path may be absent in a sparse checkout, or hidden behind a folder that is a link.
    if file.is_symlink() or not file.is_file() or not file.resolve().is_relative_to(root.resolve()):
        return False
    if file.stat().st_size > LARGEST:
        return False
    content = file.read_bytes()
    return b"\0" not in content and _is_text(content) and not scopes.says_generated(content)


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _set_aside(said: dict[str, str]) -> bool:
    marks = (said.get("linguist-generated"), said.get("linguist-vendored"))
    return any(mark in {"set", "true"} for mark in marks) or said.get("text") == "unset"
