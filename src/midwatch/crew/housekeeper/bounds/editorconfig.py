"""The settings of .editorconfig for white space that the housekeeper obeys."""

import re
from functools import lru_cache
from pathlib import Path, PurePosixPath

Section = tuple[str, dict[str, str]]
LONGEST = 200
MOST_BRACES = 3
MOST_WILD = 4
"""A pattern with more may take hours to match; its section is ignored."""
_WILD = re.compile(r"(\*\*/|/\*\*$|\*\*|\*|\?|\[[^\]]+\])")


class EditorConfig:
    """The settings of every .editorconfig in one checkout."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read = lru_cache(maxsize=None)(self._load)

    def forbids(self, path: str, wish: str) -> bool:
        """Whether the project says `wish = false` for this file."""
        return self.value(path, wish) == "false"

    def value(self, path: str, wish: str) -> str:
        """What the project asks for in this file; the nearest file and the last section win."""
        value = ""
        for folder in self._folders(path):
            for glob, wishes in self._read(folder)[1]:
                if wish in wishes and _applies(glob, str(PurePosixPath(path).relative_to(folder))):
                    value = wishes[wish]
        return value

    def _folders(self, path: str) -> list[str]:
        """List the files from the outermost folder that counts to the innermost."""
        chain: list[str] = []
        for parent in PurePosixPath(path).parents:
            chain.insert(0, str(parent))
            if self._read(str(parent))[0]:
                break
        return chain

    def _load(self, folder: str) -> tuple[bool, list[Section]]:
        file = self._root / folder / ".editorconfig"
        if not file.is_file() or file.is_symlink():
            return False, []
        topmost, sections = False, list[Section]()
        for raw in file.read_text(encoding="utf-8", errors="replace").splitlines():
            line = raw.strip()
            if line.startswith("[") and line.endswith("]"):
                sections.append((line[1:-1], {}))
            elif "=" in line and not line.startswith(("#", ";")):
                key, value = (part.strip().lower() for part in line.split("=", 1))
                if sections:
                    sections[-1][1][key] = value
                elif key == "root":
                    topmost = value == "true"
        return topmost, sections


def _applies(glob: str, path: str) -> bool:
    if len(glob) > LONGEST or glob.count("{") > MOST_BRACES or len(_WILD.findall(glob)) > MOST_WILD:
        return False
    try:
        return any(_expression(plain).fullmatch(path) for plain in _spread(glob))
    except re.error:
        return False  # such as [z-a], which matches nothing


def _spread(glob: str) -> list[str]:
    """Write `*.{md,txt}` out as `*.md` and `*.txt`."""
    found = re.search(r"\{([^{}]*)\}", glob)
    if not found:
        return [glob]
    before, after = glob[: found.start()], glob[found.end() :]
    return [plain for choice in found.group(1).split(",") for plain in _spread(before + choice + after)]


@lru_cache(maxsize=256)
def _expression(glob: str) -> re.Pattern[str]:
    anywhere = "" if "/" in glob else "(?:.*/)?"
    return re.compile(anywhere + _translate(glob.removeprefix("/")))


def _translate(glob: str) -> str:
    """Turn one glob into a regular expression."""
    parts = _WILD.split(glob)
    meaning = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(meaning.get(part) or _literal_or_class(part) for part in parts)


def _literal_or_class(part: str) -> str:
    if part.startswith("[") and part.endswith("]"):
        inside = part[1:-1].replace("\\", "\\\\")
        return f"[^/{inside[1:]}]" if inside[0] in "!^" else f"[{inside}]"
    return re.escape(part)
