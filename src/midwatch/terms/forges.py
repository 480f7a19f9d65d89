"""Forges: what Midwatch delivers there, and what it reads there later."""

from typing import Literal

from midwatch.terms.term import Term

Checks = Literal["none", "pending", "green", "red"]
LOCAL = "local"
"""The forge that needs no setting: the person's own repository."""
OURSELVES, BY_HAND = "midwatch", "hand"
"""Who merged a pull request there: Midwatch at a person's request, or the person with git."""
AGENT = "agent/"
"""The prefix of every branch that Midwatch pushes; what follows is the job that pushed it first."""


def bearer_of(branch: str) -> str:
    """Name the job in a branch name: work that continues in another job keeps the branch of the first."""
    return branch.removeprefix(AGENT)


class PullRequestPlace(Term):
    """Where a pull request is, as every forge can find it."""

    source: str
    project: str
    job: str
    branch: str
    head: str
    into: str
    number: int = 0
    """The forge's number; 0 while it is not known, or where the forge has none."""


class PullRequestDraft(Term):
    """A pull request that is to be opened."""

    place: PullRequestPlace
    title: str
    body: str
    draft: bool = False


class PullRequestSeen(Term):
    """What a forge reports about a pull request now."""

    state: Literal["open", "merged", "closed"] = "open"
    number: int = 0
    url: str = ""
    draft: bool = False
    checks: Checks = "none"
    merged_sha: str = ""
    by: str = ""
    """Who merged it there, where the forge says so."""
    remarks: tuple[str, ...] = ()
    """What the forge refused without holding up the delivery, such as a reviewer."""


class BranchSeen(Term):
    """An agent's branch that was pushed before, as it is on a forge now."""

    head: str = ""
    """The commit it is at; empty where there is no such branch."""
    in_the_way: str = ""
    """Why newer work cannot be pushed onto it, where it cannot: the end of a sentence that begins with its name."""


class Merged(Term):
    """A merge that happened: its commit, and the commands that undo it."""

    sha: str
    undo: tuple[str, ...] = ()


class Rehearsed(Term):
    """One thing that a delivery will need, tested beforehand."""

    good: bool
    text: str
    fix: str = ""
