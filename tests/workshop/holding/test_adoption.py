"""Adoption: the same holder is known again, and nothing else is ever taken for it."""

import asyncio
import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midwatch.errors import Refused, Stale, Unavailable
from midwatch.workshop.holding import records, tree
from midwatch.workshop.holding.adoption import EndedProgram, Lost, adopt, find_orphans, launch
from midwatch.workshop.holding.ending import read_ending, write_ending
from midwatch.workshop.holding.held import HeldProgram, settle
from tests.workshop.holding import agents
from tests.workshop.holding.conftest import MakeSpec, everything, left_over, until


async def killed(agent: MakeSpec) -> HeldProgram:
    """Launch an agent and kill its holder and guardian so that nobody writes a verdict."""
    held = await launch(agent(agents.QUIET))
    await until(held, b"ready")
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in (held.state.guardian, held.state.holder):
            os.kill(pid, number)
    await held.wait()
    (held.place / records.EXIT).unlink()
    return held


def rewrite(held: HeldProgram, **changes: Any) -> None:
    """Change the state on disk."""
    path = held.place / records.STATE
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


async def test_launching_twice_gives_the_first(agent: MakeSpec, mark: str) -> None:
    spec = agent(agents.QUIET)
    first, second = await asyncio.gather(launch(spec), launch(spec))
    third = await launch(spec)
    assert first.state == second.state == third.state
    assert len(tree.marked(mark)) == 1
    ending = await first.stop(0.1)
    assert await (await launch(spec)).wait() == ending


async def test_a_newer_epoch_ends_the_older_and_is_not_ended_by_it(agent: MakeSpec, mark: str) -> None:
    old = await launch(agent(agents.IGNORES_TERM))
    await until(old, b"ready")
    new = await launch(agent(agents.QUIET, epoch=2))
    assert (await old.wait()).how == "stopped"
    with pytest.raises(Stale, match="newer epoch"):
        await launch(agent(agents.QUIET, epoch=1))
    with pytest.raises(Stale, match="newer server"):
        await new.stop(0.1, epoch=1)
    found = await adopt(new.place.parent)
    assert isinstance(found, HeldProgram)
    assert found.state == new.state
    assert len(tree.marked(mark)) == 1
    assert (await new.stop(0.1, epoch=3)).how == "stopped"


async def test_whoever_speaks_for_an_older_server_is_refused(agent: MakeSpec) -> None:
    held = await launch(agent(agents.ECHOES, takes_input=True))
    folder = held.place.parent
    older, newer = await adopt(folder, epoch=4), await adopt(folder, epoch=7)
    assert isinstance(older, HeldProgram)
    assert isinstance(newer, HeldProgram)
    for stale in (held, older):
        with pytest.raises(Stale, match="newer server"):
            await stale.say(b"from the past\n")
        with pytest.raises(Stale, match="newer server"):
            await stale.stop(0.1)
        with pytest.raises(Stale, match="newer server"):
            await everything(stale)
    with pytest.raises(Stale, match="newer server"):
        await adopt(folder, epoch=6)
    same = await adopt(folder, epoch=7)
    assert isinstance(same, HeldProgram)
    await same.say(b"one\n")
    await newer.say(b"two\n", ends=True)
    assert await everything(newer) == b"ready\nheard one\nheard two\nend of input\n"
    assert (await newer.wait()).exit_code == 0


async def test_an_ended_job_is_ended(agent: MakeSpec) -> None:
    held = await launch(agent("print('done')"))
    ending = await held.wait()
    found = await adopt(held.place.parent)
    assert found == EndedProgram(held.place, held.state, ending)
    with pytest.raises(Unavailable, match="does not answer"):
        await held.beat()


async def test_nothing_was_ever_started(tmp_path: Path) -> None:
    assert await adopt(tmp_path) == Lost(tmp_path, "nothing was ever started here")


async def test_another_holders_nonce_is_refused_on_both_sides(agent: MakeSpec) -> None:
    held = await launch(agent(agents.QUIET))
    found = await adopt(held.place.parent, nonce="another")
    assert isinstance(found, Lost)
    assert "not the holder that was recorded" in found.why
    assert isinstance(await adopt(held.place.parent, held.state.nonce), HeldProgram)
    impostor = HeldProgram(held.place, records.State(**{**held.state.__dict__, "nonce": "another"}), None, None)
    with pytest.raises(Refused, match="another holder"):
        await impostor.beat()
    await held.stop(0.1)


async def test_a_program_that_an_earlier_midwatch_began_is_still_adopted(agent: MakeSpec) -> None:
    held = await launch(agent(agents.QUIET))
    rewrite(held, agent_start=tree.start_time(held.state.agent), something_older="x")
    found = await adopt(held.place.parent)
    assert isinstance(found, HeldProgram)
    assert (await found.stop(0.1)).how == "stopped"


async def test_a_recycled_number_is_not_taken_for_ours_and_not_harmed(agent: MakeSpec) -> None:
    held = await killed(agent)
    stranger = await asyncio.create_subprocess_exec("sleep", "60")
    try:
        rewrite(held, holder=stranger.pid, guardian=stranger.pid, agent=stranger.pid)
        found = await adopt(held.place.parent)
        assert isinstance(found, Lost)
        assert found.why == "it and its guardian were killed"
    finally:
        stranger.terminate()
    assert await stranger.wait() == -signal.SIGTERM  # ours, and not an earlier KILL


async def test_another_boot_is_another_machine(agent: MakeSpec) -> None:
    held = await killed(agent)
    rewrite(held, boot="another", holder=os.getpid(), holder_start=tree.start_time(os.getpid()))
    found = await adopt(held.place.parent)
    assert isinstance(found, Lost)
    assert found.why == "the machine was restarted"
    assert found.ending is not None
    assert found.ending.last_words == "ready\n"


@pytest.mark.parametrize("content", [b"", b'{"nonce": "12', b"[]", b'{"nonce": "1"}'])
async def test_a_state_that_is_not_whole_is_lost(agent: MakeSpec, content: bytes) -> None:
    held = await killed(agent)
    (held.place / records.STATE).write_bytes(content)
    found = await adopt(held.place.parent)
    assert isinstance(found, Lost)
    assert found.why == "its state cannot be read"


def test_the_first_verdict_stands(tmp_path: Path) -> None:
    first = settle(tmp_path, "the first to look")
    with pytest.raises(FileExistsError):
        write_ending(tmp_path, replace(first, why="a second, at the same moment"), over=False)
    assert settle(tmp_path, "a second, later") == first
    assert [path.name for path in tmp_path.iterdir()] == [records.EXIT]


def test_a_torn_verdict_is_none(tmp_path: Path) -> None:
    (tmp_path / records.EXIT).write_text('{"how": "exi')
    ending = settle(tmp_path, "nobody could read it")
    assert ending.why == "nobody could read it"
    assert read_ending(tmp_path) == ending


async def test_an_agent_whose_state_is_ruined_is_ended_by_its_mark(agent: MakeSpec, mark: str) -> None:
    held = await launch(agent(agents.STAYS_WITH_DAEMON))
    await until(held, b"ready")
    (held.place / records.STATE).write_bytes(b"{")
    found = await adopt(held.place.parent)
    assert isinstance(found, EndedProgram)
    assert (found.ending.how, found.ending.signal) == ("killed", 9)
    assert left_over(mark, held.state) == []


async def test_holders_that_no_record_claims_are_found(agent: MakeSpec, tmp_path: Path) -> None:
    root = tmp_path / "jobs"
    claimed, stray, ended = [
        await launch(agent(code, job=root / name))
        for name, code in (("claimed", agents.QUIET), ("stray", agents.QUIET), ("ended", ""))
    ]
    await ended.wait()
    assert [found.state for found in find_orphans(root, {root / "claimed": 1})] == [stray.state]
    assert len(find_orphans(root, {root / "claimed": 0, root / "stray": 1})) == 1
    await asyncio.gather(claimed.stop(0.1), stray.stop(0.1))
