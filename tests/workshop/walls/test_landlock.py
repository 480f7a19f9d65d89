"""The weaker walls keep files, sockets and processes of the host out of reach, without any program's help."""

import os
import socket
from collections.abc import Iterator

import pytest

from midwatch.errors import Misuse
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.walls import landlock, seccomp
from tests.conftest import missing
from tests.workshop.walls.attacks import ATTACKS
from tests.workshop.walls.lab import IDENTITIES, Lab, open_lab, python_inside

# What needs a namespace or a cgroup, which these walls do not have.
BEYOND = {
    "find host paths in the first process's command line",
    "end well by the first process's memory",
    "fork without end",
    "fill the folder of devices",
    "fill shared memory",
    "fill home",
    "learn the host's name",
    "add a network card",
}
TRIED = sorted(ATTACKS.keys() - BEYOND)
NEEDS = {
    "commit": "echo $RANDOM >> app.py && git add -A && git commit -qm agent",
    "see the history": 'test "$(git rev-list --count HEAD)" -ge 4',
    "run python": "python3 -c 'import ssl, subprocess; subprocess.run([\"true\"], check=True)'",
    "write home": "echo x > ~/x && echo x > $TMPDIR/y",
}


@pytest.fixture(scope="module", params=IDENTITIES)
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    if landlock.version() < 6:
        missing("landlock", f"this kernel's Landlock is version {landlock.version()}, and signals need 6")
    with open_lab(request.param) as opened:
        yield opened


def locked(lab: Lab, script: str, ports: tuple[int, ...] = ()) -> int:
    control = lab.folder / "notes" / "control" if ports else None
    done = lab.shell(script, isolation=Isolation.LANDLOCK, home=lab.folder / "home", ports=ports, control=control)
    assert "walls could not be built" not in done.stderr
    return done.returncode


@pytest.mark.parametrize("attack", TRIED, ids=lambda name: name.replace(" ", "_"))
def test_an_attack_fails(lab: Lab, attack: str) -> None:
    assert locked(lab, ATTACKS[attack]) != 0
    assert lab.bystander.poll() is None


@pytest.mark.parametrize("need", NEEDS)
def test_a_need_is_met(lab: Lab, need: str) -> None:
    assert locked(lab, NEEDS[need]) == 0


def test_only_the_named_port_is_reached(lab: Lab) -> None:
    script = python_inside(
        "import os, socket\nsocket.create_connection(('127.0.0.1', int(os.environ['HOST_PORT'])), 5)"
    )
    assert locked(lab, script, ports=(lab.host_port,)) == 0
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert locked(lab, script, ports=(other.getsockname()[1],)) != 0


def test_every_refused_call_is_refused(lab: Lab) -> None:
    column = seccomp.MACHINES[os.uname().machine].column
    numbers = [pair[column] for pair in seccomp.CALLS.values() if pair[column] is not None]
    code = (
        "import ctypes, sys\nl = ctypes.CDLL(None, use_errno=True)\n"
        f"sys.exit(any(l.syscall(n, -1, -1, -1, -1, -1) != -1 or ctypes.get_errno() != 1 for n in {numbers}))"
    )
    assert locked(lab, python_inside(code)) == 0


def test_a_home_on_disk_is_asked_for(lab: Lab) -> None:
    with pytest.raises(Misuse, match="home"):
        lab.shell("true", isolation=Isolation.LANDLOCK)
