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
