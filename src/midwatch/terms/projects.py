"""Projects, their goals and the work on them, and where a repository is reached."""

import re
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from midwatch.errors import Misuse
from midwatch.terms.term import Term


class Horizon(StrEnum):
    """How far away a goal is."""

    SHORT = "short"
    MEDIUM = "medium"
    LONG = "long"


class WorkStatus(StrEnum):
    """The state of a work item."""

    BACKLOG = "backlog"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    DONE = "done"


class WorkKind(StrEnum):
    """The kind of work."""

    BUG = "bug"
    FEATURE = "feature"
    RESEARCH = "research"
    TECH_DEBT = "tech_debt"
    OPS = "ops"


class SessionState(StrEnum):
    """The phases of a supervised session."""

    BRIEFING = "briefing"
    AUTONOMOUS = "autonomous"
    DEBRIEF = "debrief"
    ENDED = "ended"


class Flag(StrEnum):
    """A flag that a person set on a project."""

    PROTECTED = "protected"
    BLOCKED = "blocked"
    SKIPPED = "skipped"


class Project(Term):
    """A registered repository."""

    id: str
    name: str
    path: str
    branch: str
    purpose: str = ""
    checks: tuple[str, ...] = ()
    setup: str = ""
    """One command that makes a checkout ready, once per set of lockfiles; empty leaves it to them, `none` is none."""
    priority: int = 3
    flags: tuple[Flag, ...] = ()
    forge: str = ""
    """The forge where its pull requests are opened; empty means the one its address names."""
    do_not_touch: tuple[str, ...] = ()
    """Patterns of paths that no night may change; the orders of a night add to them."""
    tools: tuple[str, ...] = ()
    """The only tools agents may use here; empty leaves it to the orders and the settings."""
    always_tools: tuple[str, ...] = ()
    """What a person always allows here, added by an answer to a held call."""


COMMIT_ID: Final = re.compile(r"[0-9a-f]{40}")
"""The name of a commit, in full."""
SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
HELPER: Final = re.compile(r"[A-Za-z0-9+.-]+::")
_SCP: Final = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?!//)[^\s]+")


def is_url(source: str) -> bool:
    """Return whether this is a URL (or `user@host:path`) and not the path of a folder."""
    return bool(
        SCHEME.match(source) or HELPER.match(source) or (not source.startswith(("/", ".")) and _SCP.fullmatch(source))
    )


def name_of(source: str) -> str:
    """Return the last part of a repository's path as its name."""
    return re.split(r"[/:]", source.rstrip("/"))[-1].removesuffix(".git")


def host_of(source: str) -> str:
    """Return the host of a URL, with its port if it has one, or of `user@host:path`."""
    if SCHEME.match(source):
        return urlsplit(source).netloc.rpartition("@")[2].casefold()
    return source.partition(":")[0].rpartition("@")[2].casefold() if is_url(source) else ""


def commit_id(name: str) -> str:
    """Return a commit's name if it is written in full: an option must not pass for one."""
    if not COMMIT_ID.fullmatch(name):
        raise Misuse(f"{name!r} is not a full commit id.", hint="Give all 40 hexadecimal digits.")
    return name
