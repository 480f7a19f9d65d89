"""Nothing an agent writes into its clone ever runs on the host, whatever the product does with that clone."""

import pytest

from tests.walks import walk
from tests.workshop.escapes.lab import Escape, Lab
from tests.workshop.escapes.traps import GIT_ESCAPES

LIVE = [escape for escape in GIT_ESCAPES if escape.live]
TESTED = (
    *(
        "hook pre-commit",
        "setting core.fsmonitor, status",
        "settings of a worktree only",
        "include from a file in the tree",
    ),
    *("gitlink to a nested repository, diff", "untracked nested repository, status", "git file that points to a trap"),
    *("filter clean in attributes and settings", "setting credential.helper", "merge driver and rerere"),
)
"""One of each way to make git run something; behind walls `make attacks` runs them all as well."""


@pytest.mark.slow
@pytest.mark.parametrize("escape", walk(GIT_ESCAPES, TESTED, name=lambda escape: escape.name))
def test_a_trap_never_springs(lab: Lab, escape: Escape) -> None:
    assert not escape.run(lab), lab.said


@pytest.mark.sweep
@pytest.mark.parametrize("escape", LIVE, ids=lambda escape: escape.name.replace(" ", "_"))
def test_the_trap_is_a_trap_for_whoever_runs_git_in_the_clone(open_lab: Lab, escape: Escape) -> None:
    open_lab.agent_does(escape.script)
    assert open_lab.naive(), (open_lab.folder / "agent.log").read_text()
