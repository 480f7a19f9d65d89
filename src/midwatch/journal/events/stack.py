"""Stacks: the branches of a night, merged in order and checked together."""

from datetime import datetime
from typing import Literal

from midwatch.journal.events.happening import Happening
from midwatch.terms.jobs import CheckResult
from midwatch.terms.stack import LeftOut, StackStep, StackVerdict


class StackBegun(Happening):
    """A merge check began: which branches of a night merge and stay green together."""

    kind: Literal["stack.begun"] = "stack.begun"
    stack: str
    session: str
    project: str
    into: str
    by: str
    due_at: datetime
    """After this time the brief is written without it."""


class StackMade(Happening):
    """The merge order is known, with what was left out and why."""

    kind: Literal["stack.made"] = "stack.made"
    stack: str
    session: str
    project: str
    verdict: StackVerdict
    base: str = ""
    tip: str = ""
    """The branch's commit after the whole order."""
    order: tuple[StackStep, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    check_runs: int = 0
    why: str = ""


class StackMerged(Happening):
    """A person merged the whole stack."""

    kind: Literal["stack.merged"] = "stack.merged"
    stack: str
    by: str
    sha: str
    undo: tuple[str, ...] = ()


class StackCommented(Happening):
    """A person had the merge order posted on each of its pull requests."""

    kind: Literal["stack.commented"] = "stack.commented"
    stack: str
    by: str
    pull_requests: tuple[str, ...]


class StackUndone(Happening):
    """A person undid a merged stack; its pull requests are open again."""

    kind: Literal["stack.undone"] = "stack.undone"
    stack: str
    by: str
    sha: str
    """The branch's commit now."""
    pull_requests: tuple[str, ...]


StackEvent = StackBegun | StackMade | StackMerged | StackCommented | StackUndone
