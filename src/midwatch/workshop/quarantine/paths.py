"""Path patterns on git paths, in the manner of .gitignore, and what makes a path suspicious."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from midwatch.errors import Misuse

SENSITIVE = (
    ".github/",
    ".gitlab-ci.yml",
    ".gitlab/",
    ".circleci/",
    ".travis.yml",
    "azure-pipelines*.yml",
    "Jenkinsfile",
    ".buildkite/",
    ".drone.yml",
    ".woodpecker/",
    ".woodpecker.y*ml",
    ".forgejo/",
    ".gitea/",
    "bitbucket-pipelines.yml",
    "appveyor.yml",
    ".appveyor.yml",
    "cloudbuild.y*ml",
    "CODEOWNERS",
    "renovate.json*",
    ".renovaterc*",
    ".husky/",
    "hooks/",
    ".githooks/",
    "lefthook.y*ml",
    ".lefthook.y*ml",
    ".pre-commit-config.yaml",
    ".pre-commit-hooks.yaml",
    ".claude/",
    ".codex/",
    ".cursor/",
    ".gemini/",
    ".windsurf/",
    ".continue/",
    ".roo/",
    ".aider*",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".vscode/",
    ".idea/",
    ".devcontainer/",
    ".cargo/",
    ".mcp.json",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".envrc",
    ".exrc",
    ".nvimrc",
    ".vimrc",
    ".nvim.lua",
    ".bazelrc",
    ".tool-versions",
    "mise.toml",
    ".mise.toml",
    ".gdbinit",
    ".npmrc",
    ".pypirc",
    ".netrc",
    ".yarnrc*",
    "pip.conf",
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
    ".gitattributes",
    ".gitmodules",
    ".gitconfig",
    ".lfsconfig",
    "*.lock",
    "*.lockb",
    "*.lockfile",
    "*.lock.json",
    "*-lock.json",
    "Package.resolved",
    "gradle-wrapper.properties",
    "pnpm-lock.yaml",
    "go.sum",
    "npm-shrinkwrap.json",
)
"""What runs on, or steers, somebody else's machine: CI, hooks, agent settings, lockfiles. Matched ignoring case."""


def matches(path: str, patterns: Iterable[str], *, any_case: bool = False) -> bool:
    """Whether a git path is one the patterns name, or lies below one.

    `*` and `?` stay inside one part, `**` spans parts, a pattern without an inner slash matches at any depth, a
    leading slash ties it to the top, a trailing one to folders. There is no `!`: what is allowed is said, not unsaid.
    """
    # Where case must not matter, spelling must not either: one letter can be written in two ways.
    name = unicodedata.normalize("NFC", path) if any_case else path
    return any(_expression(pattern, any_case).fullmatch(name) for pattern in patterns if pattern.strip())


@lru_cache(maxsize=1024)
def _expression(pattern: str, any_case: bool) -> re.Pattern[str]:  # noqa: FBT001 - lru_cache wants it positional
    body = pattern.strip().removeprefix("./")
    if body.startswith("!"):
        raise Misuse(f"{pattern!r} starts with '!', which means nothing here.", hint="Name the paths that are meant.")
    anchored = "/" in body.rstrip("/")
    only_folder = body.endswith("/")
    parts = [piece for piece in body.split("/") if piece not in ("", ".")]
    if ".." in parts or not parts:
        raise Misuse(f"{pattern!r} is not a path pattern inside a repository.", hint="Write it from the top folder.")
    start = "" if anchored else "(?:.*/)?"
    below = "/.+" if only_folder else "(?:/.+)?"
    whole = start + _joined(parts) + below
    try:
        return re.compile(
            unicodedata.normalize("NFC", whole) if any_case else whole,
            re.DOTALL | (re.IGNORECASE if any_case else 0),
        )
    except re.error as error:
        raise Misuse(f"{pattern!r} is not a path pattern: {error.msg}.", hint="Check its brackets.") from None


def _joined(parts: list[str]) -> str:
    text = ""
    for place, piece in enumerate(parts):
        last = place == len(parts) - 1
        if piece == "**":
            text += ".+" if last else "(?:.+/)?"
        else:
            text += _part(piece) + ("" if last else "/")
    return text


def _part(piece: str) -> str:
    """Translate one part of a pattern; brackets come from the same alphabet as in regular expressions."""
    text, place = "", 0
    while place < len(piece):
        letter = piece[place]
        closing = piece.find("]", place + 2) if letter == "[" else -1
        if closing > 0:
            inner = piece[place + 1 : closing].replace("\\", "\\\\").replace("[", "\\[")
            text += "(?!/)[" + ("^" + inner[1:] if inner[0] in "!^" else inner) + "]"
            place = closing
        else:
            text += {"*": "[^/]*", "?": "[^/]"}.get(letter) or re.escape(letter)
        place += 1
    return text


MOST_PATH_BYTES, MOST_PART_BYTES = 1024, 255


def flaw(path: bytes) -> str:
    """Say what is wrong with a git path in itself, or nothing."""
    if len(path) > MOST_PATH_BYTES or max(map(len, path.split(b"/"))) > MOST_PART_BYTES:
        return "its name is longer than file systems can bear"
    try:
        name = path.decode()
    except UnicodeDecodeError:
        return "its name is not UTF-8"
    parts = name.split("/")
    if "" in parts or "." in parts or ".." in parts:
        return "it is not a plain path inside the tree"
    if any(_is_git_folder(piece) for piece in parts):
        return "it reaches into a git folder"
    if any(letter == "\\" or unicodedata.category(letter) in ("Cc", "Cf") for letter in name):
        return "its name holds a backslash or characters that cannot be seen"
    return ""


def _is_git_folder(piece: str) -> bool:
    # Some file systems fold case and drop trailing dots and spaces, and git~1 is the short name of .git there.
    # Letters that cannot be seen do not count on others.
    seen = "".join(letter for letter in piece if unicodedata.category(letter) != "Cf")
    name = seen.casefold().split(":")[0].rstrip(". ")
    return name == ".git" or (name.startswith("git~") and name[4:].isdigit())


def spelled_alike(path: str) -> str:
    """Spell a path the way a file system without case would, so that two names for one file become equal."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def points_outside(path: str, target: str) -> bool:
    """Whether a symlink at this path leaves the tree, read without trusting any link on the way."""
    steps = target.split("/")
    if target.startswith("/") or not target:
        return True
    climbs = 0
    while climbs < len(steps) and steps[climbs] in ("..", "."):
        climbs += 1
    ups = steps[:climbs].count("..")
    # `..` after a name climbs out of wherever that name leads, which only the file system knows.
    return ups > path.count("/") or ".." in steps[climbs:] or any(_is_git_folder(step) for step in steps)
