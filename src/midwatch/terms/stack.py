"""The stack: the night's branches merged one after the other, checked together, offered as one."""

from enum import StrEnum

from midwatch.terms.term import Term


class StackState(StrEnum):
    """The state of a stack."""

    MAKING = "making"
    MADE = "made"
    MERGED = "merged"
    COMMENTED = "commented"


class StackVerdict(StrEnum):
    """The result for the branches together."""

    GREEN = "green"
    STILL_RED = "still_red"
    """Red as the target branch was before, and no redder."""
    NO_CHECKS = "no_checks"
    UNFINISHED = "unfinished"
    """They merge, but time or check runs ran out before the checks ended."""
    NOTHING = "nothing"
    """No branch can be merged."""
    FAILED = "failed"
    """The stack could not be made."""

    @property
    def offered(self) -> bool:
        """Whether a person may merge it with one command."""
        return self in {StackVerdict.GREEN, StackVerdict.STILL_RED, StackVerdict.NO_CHECKS}

    @property
    def proven(self) -> bool:
        """Whether checks on the merged tree prove it."""
        return self in {StackVerdict.GREEN, StackVerdict.STILL_RED}


class StackStep(Term):
    """One branch in the verified order, and the commit after it."""

    pull_request: str
    number: int
    """Of the pull request."""
    job: str
    branch: str
    title: str
    head: str
    commit: str
    files: int = 0
    lines: int = 0


class LeftOutWhy(StrEnum):
    """Why a branch is not in the stack."""

    CONFLICT = "conflict"
    CHECKS = "checks"
    NEEDS = "needs"
    """It is built on a branch that is left out."""
    DRAFT = "draft"
    """Its own checks are red or not trusted."""
    ELSEWHERE = "elsewhere"
    """Its target is another branch."""
    REJECTED = "rejected"
    """The person said no to it."""
    DEFERRED = "deferred"
    """The person put it off."""
    UNREVIEWED = "unreviewed"
    """The night was reviewed, and nothing was said about it."""
    UNPROVEN = "unproven"
    """Time or check runs ran out before its turn."""


class LeftOut(Term):
    """A branch that is not in the stack, and why."""

    pull_request: str
    number: int
    job: str
    branch: str
    title: str
    why: LeftOutWhy
    others: tuple[int, ...] = ()
    """Numbers of the pull requests it conflicts with; none means the target branch."""
    files: tuple[str, ...] = ()
