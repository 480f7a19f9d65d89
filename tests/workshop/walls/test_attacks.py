"""Nothing an agent tries inside the walls reaches the host; the same scripts work without them."""

import os
import subprocess
from pathlib import Path

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.walls import bubblewrap, seccomp
from midwatch.workshop.sandbox.walls.spec import SandboxLimits
from tests.store.processes import wait_until
from tests.walks import walk
from tests.workshop.escapes.escapes import ESCAPES
from tests.workshop.walls.attacks import ATTACKS, NEEDS, OWN, WORK_OUTSIDE
from tests.workshop.walls.lab import Lab, python_inside
from tests.workshop.walls.proof_list import GIT_ESCAPES_SH, PROBE_ATTACKS, PROBE_NEEDS
from tests.workshop.walls.reaching import REACHABLE, REACHING, reach
from tests.workshop.walls.throw_away import IN_THE_MACHINE, NOT_EVERYWHERE, attack

TESTED = (
    *(
        "fill the folder for temporary files",
        "reach the model port though nobody serves it",
        "fill the folder of devices",
    ),
    *("call the kernel in another dialect", "change the first process for next time", "write the system's programs"),
    *("set the core pattern", "write the root folder", "make a device", "mount", "find a secret in the environment"),
    "open a raw connection to an outside address",
)
"""One of each kind; `make attacks` runs them all."""


@pytest.mark.parametrize("name", ATTACKS, ids=lambda name: name.replace(" ", "_"))
def test_an_attack_fails(lab: Lab, name: str) -> None:
    done = lab.shell(ATTACKS[name])
    assert done.returncode != 0, done.stdout + done.stderr
    assert "walls could not be built" not in done.stderr
    assert lab.bystander.poll() is None


@pytest.mark.parametrize("name", WORK_OUTSIDE, ids=lambda name: name.replace(" ", "_"))
def test_an_attack_works_without_walls(lab: Lab, name: str) -> None:
    done = lab.shell(ATTACKS[name], isolation=Isolation.NONE, home=lab.folder / "home")
    (lab.folder / "tree" / "stolen").unlink(missing_ok=True)
    Path("/dev/shm/big").unlink(missing_ok=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", walk(IN_THE_MACHINE, TESTED))
def test_an_attack_that_would_hurt_works_in_a_machine_to_be_thrown_away(lab: Lab, name: str) -> None:
    if lab.user != "root":
        pytest.skip("only root can build such a machine")
    done = attack(lab, name)
    if done.returncode and name in NOT_EVERYWHERE:
        pytest.skip(f"not on this machine: {NOT_EVERYWHERE[name]}")
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize("name", [*REACHING, *REACHABLE], ids=lambda name: name.replace(" ", "_"))
async def test_the_door_leads_to_what_is_on_the_list_and_nowhere_else(tmp_path: Path, name: str) -> None:
    reached, said = await reach({**REACHING, **REACHABLE}[name], tmp_path)
    assert reached is (name in REACHABLE), said


def test_whatever_the_proofs_tried_is_tried_here_and_ten_more() -> None:
    tried = {*ATTACKS, *REACHING, *(escape.name for escape in ESCAPES)}
    assert {*PROBE_ATTACKS.values(), *GIT_ESCAPES_SH.values()} <= tried
    assert set(PROBE_NEEDS.values()) <= {*NEEDS, *REACHABLE}
    assert (len(PROBE_ATTACKS), len(GIT_ESCAPES_SH)) == (34, 26), "as many as the proofs have lines"
    assert len(set(OWN) - set(PROBE_ATTACKS.values())) >= 10
    assert len(tried - {*PROBE_ATTACKS.values(), *GIT_ESCAPES_SH.values()} - set(ATTACKS)) >= 10


def test_an_inherited_descriptor_does_not_come_in(lab: Lab, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("inherited")
    with secret.open() as file:
        done = lab.shell(f"cat <&{file.fileno()}", leaving=[file.fileno()])
    assert done.returncode != 0
    assert "inherited" not in done.stdout


def test_killing_everything_kills_only_what_is_inside(lab: Lab) -> None:
    lab.shell("kill -9 -1")
    assert lab.bystander.poll() is None


def test_what_was_left_running_ends_with_the_command(lab: Lab) -> None:
    mark = f"31{os.getpid()}"
    lab.shell(f"setsid nohup sleep {mark} >/dev/null 2>&1 & disown; setsid sh -c 'sleep {mark} &'; true")

    def ended() -> bool:
        """Say whether none is left; the kernel ends them after bubblewrap's outer process, so not at once."""
        return subprocess.run(["pgrep", "-f", f"sleep {mark}"], capture_output=True, check=False).stdout == b""

    wait_until(ended, "nothing is left running")


def test_every_refused_call_is_refused_to_a_real_process(lab: Lab) -> None:
    column = seccomp.MACHINES[os.uname().machine].column
    numbers = {name: pair[column] for name, pair in seccomp.CALLS.items() if pair[column] is not None}
    done = lab.shell(
        python_inside(
            "import ctypes, sys\nl = ctypes.CDLL(None, use_errno=True)\n"
            f"for name, number in {numbers!r}.items():\n"
            "    if l.syscall(number, -1, -1, -1, -1, -1) != -1 or ctypes.get_errno() != 1:\n"
            "        print(name, ctypes.get_errno())"
        )
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_read_only_tree_cannot_be_written(lab: Lab) -> None:
    assert lab.shell("touch planned && git log -1", tree_read_only=True).returncode != 0
    assert lab.shell("git log -1", tree_read_only=True).returncode == 0


def test_lent_folders_cannot_be_written(lab: Lab) -> None:
    folder = lab.folder / "toolchain"
    assert lab.shell(f"{folder}/tool && ! touch {folder}/new", read_only=(folder,)).returncode == 0
    assert not (folder / "new").exists()


def test_the_number_of_processes_is_the_one_asked_for(lab: Lab) -> None:
    # Not in bash, which tries again for a quarter of a minute.
    forks = "import os, time\nfor _ in range(60):\n    os.fork() or time.sleep(600)"
    done = lab.shell(python_inside(forks), limits=SandboxLimits(processes=30))
    assert "Resource temporarily unavailable" in done.stderr


def test_walls_hold_without_a_way_to_disable_namespaces(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older bwrap lacks the option; the filter alone must then do."""
    monkeypatch.setattr(bubblewrap, "_can_disable_namespaces", lambda _: False)
    assert lab.shell("true").returncode == 0
    assert lab.shell("unshare -Ur true").returncode != 0
