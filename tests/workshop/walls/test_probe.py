"""The probe says which walls there are, and in one sentence what would make them better."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import midwatch
from midwatch.errors import Unavailable
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.walls import bubblewrap as bubblewrap_module
from midwatch.workshop.sandbox.walls import landlock, probe
from tests.conftest import missing

SAME_VERSION = "import sys; sys.exit(sys.version_info[:2] != ({}, {}))"


def no_bwrap() -> str:
    raise Unavailable("bubblewrap is not installed.")


def false_bwrap() -> str:
    return "/bin/false"


@pytest.mark.usefixtures("bubblewrap")
def test_walls_that_work_are_found() -> None:
    assert probe.probe() == probe.IsolationFound(Isolation.BUBBLEWRAP, "bubblewrap works here.", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
@pytest.mark.usefixtures("bubblewrap")
def test_an_ordinary_user_has_the_same_walls() -> None:
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", SAME_VERSION.format(*sys.version_info)], check=False).returncode:
        missing("python", "the system's Python, which nobody may read, is another than ours")
    paths = [str(Path(midwatch.__file__).parents[1]), sysconfig.get_path("purelib")]
    done = subprocess.run(
        [python, "-c", "from midwatch.workshop.sandbox.walls.probe import probe; print(probe())"],
        check=False,
        env={"PYTHONPATH": os.pathsep.join(paths), "PATH": "/usr/bin:/bin"},
        cwd="/",
        capture_output=True,
        text=True,
        user="nobody",
        group="nogroup",
        extra_groups=[],
    )
    assert done.stdout == f"{probe.probe()}\n", done.stderr


def test_without_bubblewrap_landlock_is_named_honestly(monkeypatch: pytest.MonkeyPatch) -> None:
    if not landlock.version():
        missing("landlock", "this kernel has none")
    monkeypatch.setattr(bubblewrap_module, "program", no_bwrap)
    standing = probe.probe()
    assert standing.isolation is Isolation.LANDLOCK
    assert standing.why.endswith("because bubblewrap is not installed.")
    assert standing.fix == "Install the package `bubblewrap`, then start Midwatch again."


def test_with_nothing_the_standing_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap_module, "program", no_bwrap)
    monkeypatch.setattr(landlock, "version", lambda: 0)
    standing = probe.probe()
    assert standing.isolation is Isolation.NONE
    assert "the kernel has no Landlock" in standing.why


@pytest.mark.parametrize(
    ("switch", "value", "fix"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor profile"),
        ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces"),
    ],
)
def test_a_switch_that_forbids_namespaces_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, switch: str, value: str, fix: str
) -> None:
    monkeypatch.setattr(bubblewrap_module, "program", false_bwrap)
    (tmp_path / switch).parent.mkdir()
    (tmp_path / switch).write_text(value + "\n")
    assert fix in probe.probe(switches=tmp_path).fix


def test_a_bwrap_that_fails_for_another_reason_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bubblewrap_module, "program", false_bwrap)
    standing = probe.probe(switches=tmp_path)
    assert "exit code 1" in standing.why
    assert standing.isolation is not Isolation.BUBBLEWRAP
