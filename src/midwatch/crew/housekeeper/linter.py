"""Runs ruff: with the project's own settings if it has some, and only for safe fixes."""

import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

from midwatch.crew.housekeeper.tree import Tree
from midwatch.errors import Broken

FIXED = ("F401", "F541", "F632", "W605", "W291", "W293", "W292")
"""What is fixed in a project without ruff settings: nothing a maintainer would dispute."""
REPORTED = ("F", "E9", "W605", "W291", "W292", "W293")
NEVER = ("RUF100", "RUF102")
"""Comments for linters: another version, or another tool, may need them."""
SERIOUS = ("F", "E9", "invalid-syntax")
TASTE = ("F403", "F405")
"""Star imports: a matter of taste in a project without ruff settings."""
# The newest grammar: an old project does not need it, and in a new one valid syntax is not reported as wrong.
NEWEST = "py314"
BATCH = 400
LOOK_ONLY = ("--no-fix", "--no-fix-only")
"""A project may set `fix` or `fix-only`, and each of the two switches forbids only one of them."""


@dataclass(frozen=True)
class Offence:
    """One line of ruff's report."""

    rule: str
    name: str
    path: str
    line: int
    column: int
    message: str
    safe_fix: bool
    row: int
    """The line where a `noqa` would count."""


@dataclass(frozen=True)
class Linter:
    """Ruff on one tree; files with settings are checked apart from the others."""

    tree: Tree

    @cached_property
    def settings(self) -> dict[str, dict[str, Any]]:
        """Ruff's settings in this project, by folder."""
        return {folder: found for folder in self.tree.folders if (found := self._settings_in(folder)) is not None}

    @cached_property
    def other_version(self) -> str:
        """The version of ruff that the project checks itself with, where that is not this one; else empty."""
        pinned = self.tree.excludes.ruff
        ours = version().split()[-1]
        return pinned if pinned and pinned.split(".")[:2] != ours.split(".")[:2] else ""

    @cached_property
    def complaint(self) -> str:
        """Why the project's own settings cannot be used with this ruff; empty when they can."""
        one_each = {id(self._nearest(path)): path for path in self._split(self.tree.python())[0]}
        for path in one_each.values():
            done = _ruff(self.tree.root, ["check", *LOOK_ONLY, "--no-cache", "-q", "--exit-zero", path])
            if done.returncode:
                return _cause(done.stderr)
        return ""

    def offences(self) -> list[Offence]:
        """Everything ruff reports about the files to tidy."""
        configured, plain = self._split(self.tree.python())
        careful = ["--select", ",".join(REPORTED), "--ignore", ",".join(TASTE)]
        seen = list(self._report(plain, ["--isolated", "--target-version", NEWEST, *careful]))
        own = self._report([] if self.complaint else configured, [])
        # What the project did not choose, or only this version of ruff says, is no news for its maintainers.
        seen += [one for one in own if one.rule.startswith(SERIOUS) or self.may_fix(one.path, one.rule)]
        return _first_syntax_error_only(seen)

    def apply_fixes(self, rules: tuple[str, ...], paths: tuple[str, ...]) -> None:
        """Let ruff apply the safe fixes of these rules, and of no others, to these files."""
        configured, plain = self._split(paths)
        fix = ["check", "--no-cache", "-q", "--exit-zero", "--fix-only", "--no-unsafe-fixes", "--force-exclude"]
        alone = ["--isolated", "--target-version", NEWEST, "--select", ",".join(rules)]
        self._run([*fix, *alone], plain)
        self._run([*fix, "--fixable", ",".join(rules)], configured)

    def unformatted(self) -> tuple[str, ...]:
        """Files that differ from their project's formatting."""
        if self.complaint or self.other_version:
            return ()
        asked = [p for p in self._split(self.tree.python())[0] if self._asks_for_format(p)]
        named: set[str] = set()
        for batch in _batches(asked):
            check = ["format", "--check", "--no-cache", "--force-exclude", "--output-format=json"]
            rows = json.loads(_ruff(self.tree.root, [*check, *batch]).stdout or "[]")
            named |= {self._offence(row).path for row in rows if row["code"] == "unformatted"}
        return tuple(p for p in asked if p in named)

    def format(self, paths: tuple[str, ...]) -> None:
        """Format these files by their project's settings."""
        self._run(["format", "--no-cache", "-q", "--force-exclude"], list(paths))

    def _run(self, arguments: list[str], paths: list[str]) -> None:
        for batch in _batches(paths):
            done = _ruff(self.tree.root, [*arguments, *batch])
            if done.returncode:
                raise Broken(f"ruff could not do its work: {_cause(done.stderr)}.", hint="Check the ruff settings.")

    def _report(self, paths: list[str], arguments: list[str]) -> Iterator[Offence]:
        for batch in _batches(paths):
            asked = ["check", *LOOK_ONLY, "--no-cache", "--exit-zero", "--output-format=json", "--force-exclude"]
            done = _ruff(self.tree.root, [*asked, *arguments, *batch])
            if done.returncode:
                raise Broken(f"ruff could not look: {_cause(done.stderr)}.", hint="Check the ruff settings.")
            yield from (self._offence(row) for row in json.loads(done.stdout))

    def _offence(self, row: dict[str, Any]) -> Offence:
        place = row["location"] or {"row": 1, "column": 0}
        code = row["code"] or "invalid-syntax"
        return Offence(
            rule=code,
            name=row.get("name") or code,
            path=Path(row["filename"]).relative_to(self.tree.root.resolve()).as_posix(),
            line=place["row"],
            column=place["column"],
            message=row["message"],
            safe_fix=bool(row["fix"]) and row["fix"]["applicability"] == "safe",
            row=row.get("noqa_row") or place["row"],
        )

    def _split(self, paths: tuple[str, ...]) -> tuple[list[str], list[str]]:
        configured = [p for p in paths if self._nearest(p) is not None]
        return configured, [p for p in paths if self._nearest(p) is None]

    def _nearest(self, path: str) -> dict[str, Any] | None:
        return next((s for up in PurePosixPath(path).parents if (s := self.settings.get(str(up))) is not None), None)

    def is_configured(self, path: str) -> bool:
        """Whether the project says how ruff should treat this file."""
        return self._nearest(path) is not None

    def may_fix(self, path: str, rule: str) -> bool:
        """Whether the fix is wanted: by everybody, or chosen by the project; ALL and silence choose nothing."""
        home = next((str(up) for up in PurePosixPath(path).parents if str(up) in self.settings), None)
        chosen = self._chosen(home, self.settings[home]) if home is not None else ()
        if rule in FIXED or rule in NEVER or self.other_version:
            return rule in FIXED
        return rule.startswith(tuple(code for code in chosen if code != "ALL"))

    def _chosen(self, folder: str, settings: dict[str, Any], depth: int = 5) -> tuple[str, ...]:
        """List the codes that settings select, those they extend included."""
        tables = [settings, settings["lint"]] if isinstance(settings.get("lint"), dict) else [settings]
        lists = [table.get(name) for table in tables for name in ("select", "extend-select")]
        codes = tuple(str(code) for one in lists if isinstance(one, list) for code in one)
        above = normpath(str(PurePosixPath(folder) / str(settings.get("extend") or ".")))
        if depth and above in self.tree.tracked and (self.tree.root / above).is_file():
            whole = _toml(self.tree.read(above))
            found = whole.get("tool", {}).get("ruff", {}) if above.endswith("pyproject.toml") else whole
            codes += self._chosen(str(PurePosixPath(above).parent), found, depth - 1)
        return codes

    def _asks_for_format(self, path: str) -> bool:
        return "format" in (self._nearest(path) or {})

    def _settings_in(self, folder: str) -> dict[str, Any] | None:
        for name in (".ruff.toml", "ruff.toml", "pyproject.toml"):
            path = str(PurePosixPath(folder) / name)
            if path in self.tree.tracked and (self.tree.root / path).is_file():
                settings = _toml(self.tree.read(path))
                found = settings.get("tool", {}).get("ruff") if name == "pyproject.toml" else settings
                if isinstance(found, dict):
                    return found
        return None


def version() -> str:
    return _ruff(Path(sys.prefix), ["--version"]).stdout.strip() or "ruff"


def _toml(content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode("utf-8-sig", errors="replace"))
    except tomllib.TOMLDecodeError:
        return {}


def _first_syntax_error_only(seen: list[Offence]) -> list[Offence]:
    """Keep only the first syntax error of a file: one broken line causes many."""
    result: set[str] = set()
    kept = []
    for one in sorted(seen, key=lambda o: (o.path, o.line, o.column)):
        if one.rule != "invalid-syntax" or one.path not in result:
            kept.append(one)
        if one.rule == "invalid-syntax":
            result.add(one.path)
    return kept


def _batches(paths: list[str]) -> Iterator[list[str]]:
    yield from (paths[at : at + BATCH] for at in range(0, len(paths), BATCH))


def _cause(stderr: str) -> str:
    causes = [line.split("Cause:", 1)[1].strip() for line in stderr.splitlines() if "Cause:" in line]
    return (causes or stderr.strip().splitlines() or ["it gave no reason"])[-1].rstrip(".")


def _ruff(root: Path, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    beside = Path(sys.executable).parent / "ruff"
    binary = str(beside) if beside.is_file() else str(importlib.import_module("ruff").find_ruff_bin())
    # An empty home keeps settings of the machine's owner out.
    with tempfile.TemporaryDirectory(prefix="midwatch-home-") as home:
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
        return subprocess.run(
            [binary, *arguments], cwd=root, env=environment, capture_output=True, encoding="utf-8", check=False
        )


OLD = re.compile(
    r"`(unicode|basestring|long|xrange|raw_input|unichr|file|cmp|execfile|reload|buffer|intern|reduce|apply)`"
)
KNOWING = re.compile(rb"py_?2|py_?3|version_info|except \(?(NameError|ImportError)|\bsix\b", re.IGNORECASE)
TOLD = re.compile(rb"^\s*(?:from|import)\b.*#\s*(?:noqa|type:|pylint:|pragma|isort:|fmt:)", re.MULTILINE)
"""An import with a comment for a tool, which counts only on its line; versions of ruff sort such blocks differently."""
SIGNAL = re.compile(r"variable `__\w+__`")


def is_false_alarm(offence: Offence, tree: Tree) -> bool:
    """Whether it is a false alarm: a mark for a debugger, a name of IPython's, or of Python 2 in code for both."""
    if offence.rule == "F841":
        return bool(SIGNAL.search(offence.message))
    if offence.rule == "F821" and "`get_ipython`" in offence.message:
        return True
    if offence.rule == "I001":
        return bool(TOLD.search(tree.read(offence.path)))
    is_old = offence.rule == "F821" and OLD.search(offence.message)
    return bool(is_old and KNOWING.search(tree.read(offence.path)))


MARK = b"  # noqa: F401  # midwatch keeps this line"


def raise_shield(file: Path, rows: set[int]) -> None:
    """Mark these lines so that ruff leaves the imports on them alone."""
    lines = file.read_bytes().split(b"\n")
    for row in rows:
        ending = b"\r" if lines[row - 1].endswith(b"\r") else b""
        lines[row - 1] = lines[row - 1].removesuffix(b"\r") + MARK + ending
    file.write_bytes(b"\n".join(lines))


def lower_shield(file: Path, rows: set[int], before: bytes) -> None:
    """Remove the marks; if one is missing, ruff ignored it, and the file is restored."""
    after = file.read_bytes()
    file.write_bytes(after.replace(MARK, b"") if after.count(MARK) == len(rows) else before)
