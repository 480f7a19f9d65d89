"""What makes a path in a delivery suspicious: its name, where a link leads, and which machines it controls."""

import unicodedata

from midwatch.rules.checks.steering import STEERS_MACHINES

SENSITIVE = (
    *STEERS_MACHINES,
    "CODEOWNERS",
    "renovate.json*",
    ".renovaterc*",
    "hooks/",
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
    ".mcp.json",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".exrc",
    ".nvimrc",
    ".vimrc",
    ".nvim.lua",
    ".gdbinit",
    ".pypirc",
    ".netrc",
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
"""What runs on, or controls, other machines: CI, hooks, agent settings, lockfiles. Matched ignoring case."""


MOST_PATH_BYTES, MOST_PART_BYTES = 1024, 255


def flaw(path: bytes) -> str:
    """Return what is wrong with a git path in itself, or nothing."""
    if len(path) > MOST_PATH_BYTES or max(map(len, path.split(b"/"))) > MOST_PART_BYTES:
        return "its name is longer than file systems allow"
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
        return "its name holds a backslash or invisible characters"
    return ""


def _is_git_folder(piece: str) -> bool:
    # Some file systems fold case and drop trailing dots and spaces, and git~1 is the short name of .git there.
    # Other file systems ignore invisible letters.
    seen = "".join(letter for letter in piece if unicodedata.category(letter) != "Cf")
    name = seen.casefold().split(":")[0].rstrip(". ")
    return name == ".git" or (name.startswith("git~") and name[4:].isdigit())


def points_outside(path: str, target: str) -> bool:
    """Whether a symlink at this path leaves the tree, read without trusting any link on the way."""
    steps = target.split("/")
    if target.startswith("/") or not target:
        return True
    climbs = 0
    while climbs < len(steps) and steps[climbs] in ("..", "."):
        climbs += 1
    ups = steps[:climbs].count("..")
    # `..` after a name leaves the folder that the name leads to, which only the file system knows.
    return ups > path.count("/") or ".." in steps[climbs:] or any(_is_git_folder(step) for step in steps)
