"""Words about the stack: the night's branches merged one upon the other, checked together, offered as one."""

from enum import StrEnum

from midwatch.terms.term import Term


class StackState(StrEnum):
    """Where a stack stands."""

    MAKING = "making"
    MADE = "made"
    MERGED = "merged"
    COMMENTED = "commented"


class StackVerdict(StrEnum):
    """What is known of the branches together."""

    GREEN = "green"
    STILL_RED = "still_red"
    """Red as the branch itself was before, and no redder."""
    NO_CHECKS = "no_checks"
    UNFINISHED = "unfinished"
    """They merge, but time or check runs ended before the checks had an answer."""
    NOTHING = "nothing"
    """No branch can be merged."""
    FAILED = "failed"
    """The stack could not be made."""

    @property
    def offered(self) -> bool:
        """Whether a person may merge it on one key."""
        return self in {StackVerdict.GREEN, StackVerdict.STILL_RED, StackVerdict.NO_CHECKS}

    @property
    def proven(self) -> bool:
        """Whether checks on the merged tree said so."""
        return self in {StackVerdict.GREEN, StackVerdict.STILL_RED}


class StackStep(Term):
    """One branch in the verified order, and the commit that stands after it."""

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
    """Its own checks are red, or not to be believed."""
    ELSEWHERE = "elsewhere"
    """It goes into another branch."""
    UNPROVEN = "unproven"
    """Time or check runs ended before its turn."""


class LeftOut(Term):
    """A branch that is not in the stack, and why."""

    pull_request: str
    number: int
    job: str
    branch: str
    title: str
    why: LeftOutWhy
    others: tuple[int, ...] = ()
    """Numbers of the pull requests it does not go with; none means the branch it would go into."""
    files: tuple[str, ...] = ()
