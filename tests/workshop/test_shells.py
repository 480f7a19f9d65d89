"""A person's shell in a kept checkout: behind the walls, held beyond its window, and one at a time."""

from pathlib import Path

import pytest

from midwatch.errors import Refused, Unknown
from midwatch.terms.trust import Isolation
from midwatch.workshop.holding.held import HeldProgram
from midwatch.workshop.rooms import shells
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.walls.probe import probe
from midwatch.workshop.workshop import Workshop
from tests.conftest import missing
from tests.workshop.repository import Repository
from tests.workshop.rooms_opened import JOB, PROJECT, a_room, benched, stay

ASK = b"pwd; cat left.txt; test -e /root/.ssh -o -e /home/ann && echo leak; test -t 0 && echo term$((1+1))\n"


@pytest.fixture
async def workshop(home: Path, person: Repository) -> Workshop:
    if (standing := probe()).isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", standing.why)
    made, commit = await benched(home, Enclosure(Isolation.BUBBLEWRAP), person.path)
    room = await a_room(made, stay(commit))
    assert (await room.run(("/bin/sh", "-c", "echo kept > left.txt"))).exit_code == 0
    return made


def visit(*argv: str) -> shells.Visit:
    return shells.Visit(job=JOB, project=PROJECT, argv=argv or ("/bin/sh",), rows=30, columns=90)


async def heard(held: HeldProgram, words: bytes) -> bytes:
    said = b""
    async for piece in held.follow():
        said += piece.data
        if words in said:
            return said
    raise AssertionError(said)


async def test_a_shell_is_in_the_kept_checkout_and_nowhere_else(home: Path, workshop: Workshop) -> None:
    held = await shells.enter(home, workshop, visit())
    await held.say(ASK)
    said = await heard(held, b"term2")
    assert b"/ws\r\nkept\r\nterm2" in said
    await held.say(b"stty size\n")
    assert b"30 90" in await heard(held, b"30 90")
    await held.say(b"exit\n")
    assert (await held.wait()).how == "exited"


async def test_whoever_comes_again_finds_the_same_shell_and_nobody_takes_its_ground(
    home: Path, workshop: Workshop
) -> None:
    first = await shells.enter(home, workshop, visit())
    second = await shells.enter(home, workshop, visit("/bin/false"))
    assert first.state == second.state
    with pytest.raises(Refused, match="A shell is open in the checkout of job 7"):
        await shells.refuse_while_entered(home, JOB, 7)
    await second.say(b"exit\n")
    await first.wait()
    assert await shells.living(home, JOB) is None
    await shells.refuse_while_entered(home, JOB, 7)
    third = await shells.enter(home, workshop, visit("/bin/echo", "anew"))
    assert b"anew" in await heard(third, b"anew")


async def test_only_the_end_of_a_long_talk_is_shown_again(home: Path, workshop: Workshop) -> None:
    held = await shells.enter(home, workshop, visit("/bin/sh", "-c", "seq 20000; echo ready; cat"))
    await heard(held, b"ready")
    assert shells.since(held) > 100_000
    assert (await held.stop(0.2)).how == "stopped"


async def test_a_job_whose_checkout_is_gone_has_no_shell(home: Path, workshop: Workshop) -> None:
    await workshop.upkeep.discard(JOB, force=True)
    with pytest.raises(Unknown, match="no checkout any more"):
        await shells.enter(home, workshop, visit())


def test_the_persons_own_shell_is_used_if_it_is_one_of_the_systems(tmp_path: Path) -> None:
    mine = tmp_path / "fish"
    mine.touch(0o755)
    assert shells.usual({"SHELL": "/bin/sh"}) == ("/bin/sh",)
    assert shells.usual({"SHELL": str(mine)}) == ("/bin/sh",)
    assert shells.usual({"SHELL": "/usr/bin/nothing-like-it"}) == ("/bin/sh",)
    assert shells.usual({}) == ("/bin/sh",)


def test_a_branch_is_read_from_a_file_and_a_trap_is_no_branch(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    head = tmp_path / ".git" / "HEAD"
    head.write_text("ref: refs/heads/agent/job_1\n")
    assert shells.branch_of(tmp_path) == "agent/job_1"
    head.write_text("0" * 40)
    assert shells.branch_of(tmp_path) == ""
    head.unlink()
    head.symlink_to("/etc/passwd")
    assert shells.branch_of(tmp_path) == ""
