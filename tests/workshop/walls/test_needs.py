"""Honest work goes well inside the walls."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.rooms.logs import Untouched
from midwatch.workshop.sandbox.short_command import run_limited
from tests.workshop.walls.attacks import NEEDS
from tests.workshop.walls.lab import Lab

VENV = Path(__file__).parents[3] / ".venv"


@pytest.mark.parametrize("need", NEEDS, ids=lambda name: name.replace(" ", "_"))
def test_a_need_is_met(lab: Lab, need: str) -> None:
    done = lab.shell(NEEDS[need])
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_was_written_is_there_for_us(lab: Lab) -> None:
    assert lab.shell("echo made inside > made").returncode == 0
    made = lab.folder / "tree" / "made"
    assert made.read_text() == "made inside\n"
    assert made.stat().st_uid == (lab.folder / "tree").stat().st_uid


def test_a_home_and_a_tmp_of_its_own_stay(lab: Lab) -> None:
    home, tmp = lab.folder / "home", lab.folder / "tmp"
    assert lab.shell("echo 1 > ~/kept; echo 2 > /tmp/kept", home=home, tmp=tmp).returncode == 0
    assert (home / "kept").read_text() + (tmp / "kept").read_text() == "1\n2\n"


def test_a_cache_being_filled_is_writable_at_its_own_path(lab: Lab) -> None:
    assert lab.shell(f"echo x > {lab.folder}/toolchain/cache", writable=(lab.folder / "toolchain",)).returncode == 0
    assert (lab.folder / "toolchain" / "cache").exists()


def test_exit_codes_and_missing_commands_are_told(lab: Lab) -> None:
    assert lab.shell("exit 7").returncode == 7
    missing = lab.run(["no-such-command"])
    assert (missing.returncode, missing.stderr) == (
        127,
        "midwatch: cannot start no-such-command: No such file or directory\n",
    )


def test_the_environment_is_the_one_given(lab: Lab) -> None:
    done = lab.run(["env"], environment={"GIVEN": "a b\nc", "LANG": "C"})
    assert "GIVEN=a b\nc\n" in done.stdout
    names = {line.partition("=")[0] for line in done.stdout.splitlines() if "=" in line}
    assert names == {"GIVEN", "LANG", "HOME", "PATH", "TMPDIR", "USER", "LOGNAME", "PWD"}


async def test_the_leash_can_run_it_and_take_it_down(lab: Lab, tmp_path: Path) -> None:
    if not lab.ours:
        pytest.skip("the leash runs as ourselves")
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    class Listens(Untouched):
        def feed(self, chunk: bytes) -> bytes:
            loop.call_soon_threadsafe(stop.set)
            return chunk

    ended = await run_limited(
        lab.command(lab.walls(), ["sh", "-c", "trap '' TERM; echo ready; sleep 600"], Isolation.BUBBLEWRAP),
        cwd=tmp_path,
        env={},
        log=tmp_path / "log",
        wall=timedelta(minutes=1),
        idle=timedelta(minutes=1),
        stop=stop,
        scrub=Listens,
    )
    assert ended.stopped
