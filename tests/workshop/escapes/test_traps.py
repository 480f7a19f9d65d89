"""Nothing an agent writes into its clone ever runs on the host, whatever the product does with that clone."""

import pytest

from midwatch.terms.trust import Isolation
from tests.workshop.escapes.lab import Escape, Lab
from tests.workshop.escapes.traps import GIT_ESCAPES

LIVE = [escape for escape in GIT_ESCAPES if escape.live]
CASES = [  # behind walls `make attacks` runs them all as well
    pytest.param(isolation, escape, id=f"{isolation.value}-{escape.name.replace(' ', '_')}")
    for isolation in (Isolation.BUBBLEWRAP, Isolation.NONE)
    for escape in GIT_ESCAPES
]


@pytest.mark.slow
@pytest.mark.sampled(10)
@pytest.mark.parametrize(("lab", "escape"), CASES, indirect=["lab"])
def test_a_trap_never_springs(lab: Lab, escape: Escape) -> None:
    assert not escape.run(lab), lab.said


@pytest.mark.sweep
@pytest.mark.parametrize("escape", LIVE, ids=lambda escape: escape.name.replace(" ", "_"))
def test_the_trap_is_a_trap_for_whoever_runs_git_in_the_clone(open_lab: Lab, escape: Escape) -> None:
    open_lab.agent_does(escape.script)
    assert open_lab.naive(), (open_lab.folder / "agent.log").read_text()
