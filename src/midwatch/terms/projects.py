"""Words about projects, their goals and the work on them, and where a repository is reached."""

import re
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from midwatch.terms.term import Term


class Horizon(StrEnum):
    """How far away a goal lies."""

    SHORT = "short"
    MEDIUM = "medium"
    LONG = "long"


class WorkStatus(StrEnum):
    """Where a work item stands."""

    BACKLOG = "backlog"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    DONE = "done"


class WorkKind(StrEnum):
    """What sort of work it is."""

    BUG = "bug"
    FEATURE = "feature"
    RESEARCH = "research"
    TECH_DEBT = "tech_debt"
    OPS = "ops"


class SessionState(StrEnum):
    """The stations of a supervised session."""

    BRIEFING = "briefing"
    AUTONOMOUS = "autonomous"
    DEBRIEF = "debrief"
    ENDED = "ended"


class Flag(StrEnum):
    """What a person pinned on a project."""

    PROTECTED = "protected"
    BLOCKED = "blocked"
    SKIPPED = "skipped"


class Project(Term):
    """A repository the house knows."""

    id: str
    name: str
    path: str
    branch: str
    purpose: str = ""
    checks: tuple[str, ...] = ()
    setup: str = ""
    """One command that makes a checkout ready, such as installing what it needs; run once per set of lockfiles."""
    priority: int = 3
    flags: tuple[Flag, ...] = ()
    forge: str = ""
    """Where its pull requests are opened; nothing at all means where its address says."""


SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
HELPER: Final = re.compile(r"[A-Za-z0-9+.-]+::")
_SCP: Final = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?!//)[^\s]+")


def is_url(source: str) -> bool:
    """Tell a URL (or `user@host:path`) from the path of a folder."""
    return bool(
        SCHEME.match(source) or HELPER.match(source) or (not source.startswith(("/", ".")) and _SCP.fullmatch(source))
    )


def name_of(source: str) -> str:
    """Name a repository by the last part of its path."""
    return re.split(r"[/:]", source.rstrip("/"))[-1].removesuffix(".git")


def host_of(source: str) -> str:
    """Name the host of a URL, with its port where it has one, or of `user@host:path`."""
    if SCHEME.match(source):
        return urlsplit(source).netloc.rpartition("@")[2].casefold()
    return source.partition(":")[0].rpartition("@")[2].casefold() if is_url(source) else ""
