"""A group bounds a whole tree of processes, is known by its first process, and lets nobody fork once it is shut."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.walls import groups
from midwatch.workshop.sandbox.walls.entry import command
from midwatch.workshop.sandbox.walls.spec import SandboxSpec

FORKS_WHEN_TOLD = """
import os, sys
child = os.fork()
if not child:
    os.read(0, 1)
    os._exit(0)
print("ready", flush=True)
sys.stdin.readline()
try:
    os.fork()
    print("forked", flush=True)
except BlockingIOError:
    print("refused", flush=True)
"""


@pytest.fixture
def forker(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A small tree in a group of its own, or no test."""
    if groups.group_of(os.getpid()) is None:
        pytest.skip("no pids cgroup can be made here; that takes root or a delegated group")
    (tmp_path / "tree").mkdir()
    (tmp_path / "home").mkdir()
    walls = SandboxSpec(tmp_path / "tree", home=tmp_path / "home")
    argv = [sys.executable, "-I", "-S", "-c", FORKS_WHEN_TOLD]
    argv = command(walls, argv, isolation=Isolation.NONE, note=tmp_path / "note.json")
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={}) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def test_a_group_is_known_by_its_first_process_and_holds_its_children(forker: subprocess.Popen[str]) -> None:
    group = groups.group_of(forker.pid)
    assert group is not None
    found = groups.members(group)
    assert forker.pid in found
    assert len(found) == 2
    assert groups.group_of(os.getpid()) != group


def test_a_group_below_is_a_part_of_it(forker: subprocess.Popen[str]) -> None:
    group = groups.group_of(forker.pid)
    assert group is not None
    below = Path(group, "made-by-somebody")
    below.mkdir()
    (below / "cgroup.procs").write_text(str(forker.pid))
    assert forker.pid in groups.members(group)
    _end(forker)
    assert not Path(group).exists()


def test_nobody_in_a_shut_group_can_fork(forker: subprocess.Popen[str]) -> None:
    group = groups.group_of(forker.pid)
    assert group is not None
    groups.shut(group)
    out, _ = forker.communicate("go\n")
    assert out == "refused\n" or forker.returncode == -signal.SIGKILL  # the newer kind of group ends them at once


def test_a_group_that_is_gone_is_empty_and_can_be_shut_and_removed(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    groups.shut(str(gone))
    groups.remove(str(gone))
    assert groups.members(str(gone)) == set()
    assert not gone.exists()


def _end(forker: subprocess.Popen[str]) -> None:
    group = groups.group_of(forker.pid)
    assert group is not None
    for pid in groups.members(group):
        os.kill(pid, signal.SIGKILL)
    forker.wait()
    while groups.members(group):
        pass
    groups.remove(group)
