"""Where a path of an agent leads, by its text alone: inside the tree, elsewhere, or nowhere that can be judged."""

import unicodedata
from dataclasses import dataclass
from typing import Final

from midwatch.rules.paths import inside, touches
from midwatch.rules.tools.tool_case import PartDecision, ToolFacts, ask, deny
from midwatch.terms.visible import hidden, named

SYSTEM_READABLE: Final = ("/usr", "/lib", "/lib64", "/opt", "/bin", "/etc/alternatives")
MACHINERY: Final = ("/proc", "/sys", "/dev")
HARMLESS_DEVICES: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"})
SECRET_NAMES: Final = frozenset({".ssh", ".aws", ".gnupg", ".netrc", ".kube", ".docker", ".pgpass", ".git-credentials"})
SECRET_ENDS: Final = (
    ".config/gh",
    ".config/gcloud",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".npmrc",
    ".pypirc",
)
LONGEST: Final = 4096


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """A path, resolved as text."""

    absolute: str = ""
    """Empty when the path cannot be judged."""
    relative: str | None = None
    """Its name inside the tree; None when it is outside, empty for the tree itself."""


NOWHERE: Final = ResolvedPath()


def place(path: str, facts: ToolFacts, cwd: str = "") -> ResolvedPath:
    """Resolve a path as the agent spelled it; an ambiguous one cannot be judged."""
    if not path or len(path) > LONGEST or "\\" in path or any(map(hidden, path)) or _folds_into_more(path):
        return NOWHERE
    if path.startswith("~"):
        path = facts.home + path[1:] if path[1:2] in {"", "/"} else "/"
    absolute = resolved(path if path.startswith("/") else f"{cwd or facts.root}/{path}")
    root = resolved(facts.root)
    if absolute == root:
        return ResolvedPath(absolute, "")
    return ResolvedPath(absolute, absolute.removeprefix(root + "/") if under(absolute, (root,)) else None)


def resolved(path: str) -> str:
    """Take out `.`, `..` and doubled slashes."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return "/" + "/".join(parts)


def under(absolute: str, folders: tuple[str, ...]) -> bool:
    """Whether a resolved path is one of these folders or inside one."""
    return any(absolute == folder or absolute.startswith(folder.rstrip("/") + "/") for folder in folders)


def judge_write(path: str, facts: ToolFacts, cwd: str = "") -> PartDecision | None:
    """Nothing is written outside the paths of the job, into what is forbidden, or into git's own folder."""
    found = place(path, facts, cwd)
    if not found.absolute:
        return deny("call.path_unclear", path=named(path) or "An empty path")
    if found.absolute in HARMLESS_DEVICES or in_scratch(found, facts):
        return None
    if under(found.absolute, MACHINERY):
        return deny("call.path_machinery", path=named(found.absolute))
    if found.relative is None:
        return deny("call.path_elsewhere", path=named(path), root=facts.root)
    return _judge_inside(found.relative, facts)


def _judge_inside(relative: str, facts: ToolFacts) -> PartDecision | None:
    shown = named(relative) or facts.root
    if is_git_inside(relative):
        return deny("call.path_git", path=shown)
    if is_forbidden(relative, facts):
        return deny("call.path_forbidden", path=shown)
    if not _in_scope(relative, facts):
        scope = ", ".join(facts.work_paths or facts.allowed_paths) or "none"
        return deny("call.path_outside", path=shown, scope=named(scope))
    return None


def in_scratch(found: ResolvedPath, facts: ToolFacts) -> bool:
    """Whether a path is in a folder of this job alone; the tree and home are never that."""
    folders = tuple(resolved(folder) for folder in facts.scratch)
    return found.relative is None and found.absolute not in folders and under(found.absolute, folders)


def judge_read(path: str, facts: ToolFacts, cwd: str = "") -> PartDecision | None:
    """The tree, the agent's own home and installed programs may be read; credentials and system internals not."""
    found = place(path, facts, cwd)
    if not found.absolute:
        return deny("call.path_unclear", path=named(path) or "An empty path")
    if found.relative is None and holds_secrets(found.absolute):
        return deny("call.path_secret", path=named(path))
    if found.absolute in HARMLESS_DEVICES:
        return None
    if under(found.absolute, MACHINERY):
        return deny("call.path_machinery", path=named(path))
    readable = (resolved(facts.root), resolved(facts.home), *SYSTEM_READABLE, *map(resolved, facts.scratch))
    if under(found.absolute, tuple(folder for folder in readable if folder != "/")):
        return None
    return ask("call.read_elsewhere", path=named(path), root=facts.root)


def holds_secrets(absolute: str) -> bool:
    """Whether credentials are usually stored there."""
    return not SECRET_NAMES.isdisjoint(absolute.split("/")) or any(
        absolute.endswith("/" + end) or f"/{end}/" in absolute for end in SECRET_ENDS
    )


def is_git_inside(relative: str) -> bool:
    """Whether any part is git's own folder, in any spelling some disk would take for it."""
    return any(_folded(part) in {".git", "git~1"} for part in relative.split("/"))


def is_forbidden(relative: str, facts: ToolFacts) -> bool:
    """Whether the orders say not to touch it; upper and lower case are the same there."""
    return touches(relative, facts.do_not_touch)


def _in_scope(relative: str, facts: ToolFacts) -> bool:
    if relative in facts.opened:
        return True
    work = not facts.work_paths or inside(relative, facts.work_paths)
    return work and inside(relative, facts.allowed_paths)


def _folded(part: str) -> str:
    plain = unicodedata.normalize("NFKC", part)
    # Windows drops dots and spaces at the end and a stream's name after a colon.
    return "".join(one for one in plain if not hidden(one)).casefold().partition(":")[0].rstrip(" .")


def _folds_into_more(path: str) -> bool:
    """Some letters become a slash or dots once a disk or a program normalises them."""
    if path.isascii():
        return False
    folded = unicodedata.normalize("NFKC", path)
    return folded.count("/") != path.count("/") or folded.count(".") != path.count(".") or "\\" in folded
