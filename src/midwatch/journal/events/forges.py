"""What is heard from forges about pull requests that are open there."""

from typing import Literal

from midwatch.journal.events.happening import Happening
from midwatch.terms.forges import Checks


class PullRequestChanged(Happening):
    """What its forge says of an open pull request is another thing than before."""

    kind: Literal["pull_request.changed"] = "pull_request.changed"
    pull_request: str
    forge: str
    url: str
    there: int
    draft: bool
    checks: Checks


class PullRequestReworded(Happening):
    """What a pull request belongs together with has changed, and so has its text."""

    kind: Literal["pull_request.reworded"] = "pull_request.reworded"
    pull_request: str
    body: str
