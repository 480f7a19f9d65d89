"""Whether work came in pieces a reviewer can follow; a remark, never a failure."""

from typing import Final

from midwatch.terms.figures import some
from midwatch.terms.jobs import Change, Commit

LARGE_LINES: Final = 200
LARGE_FILES: Final = 8


def remark_on(change: Change, strategy: str) -> str:
    """Say so where pieces were asked for and one large commit came, or one commit was asked for and several came."""
    commits = change.commits
    if strategy == "single":
        return f"It came as {len(commits)} commits, though one was asked for." if len(commits) > 1 else ""
    large = [one for one in commits if is_large(one)]
    if not large:
        return ""
    if len(commits) == 1:
        return f"It came as one large commit ({_extent(large[0])}), though small ones were asked for."
    return f"{some(len(large), 'commit')} of {len(commits)} {'is' if len(large) == 1 else 'are'} large."


def is_large(commit: Commit) -> bool:
    """Whether one commit is more than a reviewer takes in at once."""
    return commit.insertions + commit.deletions > LARGE_LINES or commit.files > LARGE_FILES


def _extent(commit: Commit) -> str:
    return f"{some(commit.files, 'file')}, +{commit.insertions} -{commit.deletions}"
