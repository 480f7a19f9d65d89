"""kill -9 at every stage boundary of a night that delivers to GitHub: one pull request, never two (A10, X8)."""

import signal
from pathlib import Path

import pytest

from tests.crash.test_kill_everywhere import run, told
from tests.forges.github_door import Watched
from tests.forges.test_github_nights import settled_at_github

BOUNDARIES = (
    *("job.mirrored", "job.prepared", "job.planned", "job.approved", "job.executed", "job.bundled", "job.quarantined"),
    *("job.verified", "tool.called:1", "tool.finished:1", "job.delivered", "tool.called:2", "tool.finished:2"),
    *("pull_request.opened", "job.ended"),
)
AFTER_THE_FACT = {("tool.finished:1", False), ("tool.finished:2", False)}
"""The branch, then the pull request, is out, and nothing says so yet."""


@pytest.mark.crash
@pytest.mark.parametrize(
    ("boundary", "committed"),
    [
        pytest.param(
            boundary,
            committed,
            id=f"{'after' if committed else 'before'} {boundary}",
            marks=() if (boundary, committed) in AFTER_THE_FACT else pytest.mark.sweep,
        )
        for boundary in BOUNDARIES
        for committed in (False, True)
    ],
)
def test_a_night_killed_at_a_boundary_opens_one_pull_request(
    watched: Watched, tmp_path: Path, *, boundary: str, committed: bool
) -> None:
    hosted, home = settled_at_github(watched, tmp_path)
    source = watched.fake.url("ada/shop")
    options = ("--at-kind", boundary, *(("--committed",) if committed else ()))
    assert run(home, source, *options) == -signal.SIGKILL
    before = len(hosted.pulls)
    assert run(home, source) == 0
    assert (before, len(hosted.pulls)) in {(0, 1), (1, 1)}
    branches = [name for name in hosted.git.refs() if name != "refs/heads/main"]
    assert branches == [f"refs/heads/{hosted.pulls[0].head}"]
    opening = [one for one in watched.fake.asked if one.startswith("POST") and one.endswith("/pulls")]
    assert len(opening) == 1, "what is there is found, not tried again"
    told(home)
