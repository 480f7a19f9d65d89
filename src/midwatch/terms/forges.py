"""Words about forges: what is handed over there, and what is seen there later."""

from typing import Literal

from midwatch.terms.term import Term

Checks = Literal["none", "pending", "green", "red"]
LOCAL = "local"
"""The forge that needs no setting: the person's own repository."""
AGENT = "agent/"
"""Where every branch of ours lies; what follows is the job that pushed it first."""


def bearer_of(branch: str) -> str:
    """Tell whose name a branch of ours bears: work that goes on in another job keeps the branch of the first."""
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
    """What the forge calls it; 0 where nobody has told yet, or where it has no number."""


class PullRequestDraft(Term):
    """A pull request that is to be opened."""

    place: PullRequestPlace
    title: str
    body: str
    draft: bool = False


class PullRequestSeen(Term):
    """What a forge says of a pull request now."""

    state: Literal["open", "merged", "closed"] = "open"
    number: int = 0
    url: str = ""
    draft: bool = False
    checks: Checks = "none"
    merged_sha: str = ""
    by: str = ""
    """Who merged it there, where the forge says so."""
    remarks: tuple[str, ...] = ()
    """What the forge would not do and nobody must wait for, such as a reviewer it refused."""


class BranchSeen(Term):
    """An agent's branch that was pushed before, as it lies on a forge now."""

    head: str = ""
    """Where it stands; nothing, where there is no such branch."""
    in_the_way: str = ""
    """Why newer work cannot follow on it, where it cannot: the end of a sentence that begins with its name."""


class Merged(Term):
    """A merge that happened: its commit, and the commands that take it back."""

    sha: str
    undo: tuple[str, ...] = ()


class Rehearsed(Term):
    """One thing that a delivery will need, tried beforehand."""

    good: bool
    text: str
    fix: str = ""
