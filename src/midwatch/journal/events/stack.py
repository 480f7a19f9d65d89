"""What happens to a stack: the branches of a night, merged one upon the other and checked together."""

from datetime import datetime
from typing import Literal

from midwatch.journal.events.happening import Happening
from midwatch.terms.jobs import CheckResult
from midwatch.terms.stack import LeftOut, StackStep, StackVerdict


class StackBegun(Happening):
    """Somebody, or the end of a night, wants to know which branches go together."""

    kind: Literal["stack.begun"] = "stack.begun"
    stack: str
    session: str
    project: str
    into: str
    by: str
    due_at: datetime
    """When nobody waits for it any more: the brief is written without it."""


class StackMade(Happening):
    """The order is known, with what was left out and why."""

    kind: Literal["stack.made"] = "stack.made"
    stack: str
    session: str
    project: str
    verdict: StackVerdict
    base: str = ""
    tip: str = ""
    """What the branch would be at after the whole order."""
    order: tuple[StackStep, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    check_runs: int = 0
    why: str = ""


class StackMerged(Happening):
    """A person merged the whole order."""

    kind: Literal["stack.merged"] = "stack.merged"
    stack: str
    by: str
    sha: str
    undo: tuple[str, ...] = ()


class StackCommented(Happening):
    """A person had the order told at each of its pull requests, where they are kept elsewhere."""

    kind: Literal["stack.commented"] = "stack.commented"
    stack: str
    by: str
    pull_requests: tuple[str, ...]


class StackUndone(Happening):
    """A person took a merged stack back; its pull requests are open again."""

    kind: Literal["stack.undone"] = "stack.undone"
    stack: str
    by: str
    sha: str
    """Where the branch stands now."""
    pull_requests: tuple[str, ...]


StackEvent = StackBegun | StackMade | StackMerged | StackCommented | StackUndone
