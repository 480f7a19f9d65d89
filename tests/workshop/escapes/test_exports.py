"""What must not arrive does not, for the reason told; what may arrive unseen is marked; honest work arrives."""

import pytest

from tests.walks import walk
from tests.workshop.escapes.exports import COMMIT, EXPORT_ESCAPES
from tests.workshop.escapes.lab import Escape, Lab

TESTED = (
    *(
        "path outside the orders",
        "link out of the tree",
        "submodule",
        "forbidden file that comes and goes",
        "rewritten base",
    ),
    *(".GIT tree by plumbing", "spelling 'git~1'", "setuid bit", "README and readme", "300 commits", "lockfile"),
    *("bundle with two heads", "bundle cut short", "link in place of a bundle"),
)
"""One of each kind; `make attacks` runs them all as well."""


@pytest.mark.slow
@pytest.mark.parametrize("escape", walk(EXPORT_ESCAPES, TESTED, name=lambda escape: escape.name))
def test_an_attack_on_the_quarantine_fails_for_its_own_reason(open_lab: Lab, escape: Escape) -> None:
    assert not escape.run(open_lab), (open_lab.change, open_lab.said, (open_lab.folder / "agent.log").read_text())
    assert any(escape.words in line for line in open_lab.said) or not escape.words, open_lab.said
    assert "NO HINT" not in open_lab.said
    assert list((open_lab.home / "quarantine").glob("*.git")) == []


def test_honest_work_arrives_from_inside_the_walls(lab: Lab) -> None:
    lab.agent_does(f"echo 'y = 2' >> src/app.py; {COMMIT}")
    lab.attempt(lambda: lab.hand_in(lab.agent.head))
    assert lab.arrived, lab.said
    assert lab.change is not None
    assert lab.change.flagged == ()
