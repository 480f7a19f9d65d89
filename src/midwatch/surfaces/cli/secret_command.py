"""Naming a command that prints a secret: that is said in midwatch.toml only, so one line of it is written here."""

import json
import os
import re
import tomllib
from pathlib import Path

from midwatch.errors import Misuse

FILE = "midwatch.toml"
HEADER = re.compile(r"^\[secrets\][ \t]*(?:#.*)?$", re.MULTILINE)


class CommandLine:
    """The line of midwatch.toml that names a command for one secret."""

    def __init__(self, home: Path, name: str) -> None:
        self._file = home / FILE
        self._name = name
        self._before: str | None = None

    def write(self, reference: str) -> None:
        """Put the line in; everything else in the file stays as it is, or nothing is written."""
        text = self._file.read_text() if self._file.exists() else ""
        changed = with_secret(text, self._name, reference)
        if changed != text:
            self._put(changed)
            self._before = text

    def undo(self) -> None:
        """Take it out again."""
        if self._before is not None:
            self._put(self._before)

    def _put(self, text: str) -> None:
        mode = self._file.stat().st_mode & 0o777 if self._file.exists() else 0o600
        beside = self._file.with_name(f".{FILE}.new")
        beside.unlink(missing_ok=True)
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as out:
            out.write(text)
        beside.replace(self._file)


def with_secret(text: str, name: str, reference: str) -> str:
    """Write one secret's reference into the text of a settings file, and see that nothing else became different."""
    wanted = tomllib.loads(text)
    if wanted.get("secrets", {}).get(name) == reference:
        return text
    wanted.setdefault("secrets", {})[name] = reference
    line = f"{name} = {json.dumps(reference, ensure_ascii=False)}"
    bare = re.sub(rf"^{re.escape(name)}[ \t]*=.*\n?", "", text, flags=re.MULTILINE)
    for candidate in (text, bare):
        found = HEADER.search(candidate)
        if found:
            changed = f"{candidate[: found.end()]}\n{line}{candidate[found.end() :]}"
        else:
            changed = f"{candidate.rstrip()}\n\n[secrets]\n{line}\n".lstrip()
        if _reads(changed) == wanted:
            return changed
    raise Misuse(f"The line cannot be put into {FILE} by itself.", hint=f"Write it into [secrets] yourself: {line}")


def _reads(text: str) -> object:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
