"""The holder: whatever an agent does, its output is kept within the cap, its tree ends, and a sentence tells how."""

import asyncio
import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import midwatch
from midwatch.errors import Exhausted, Misuse, Refused, Unavailable
from midwatch.workshop.holding import records
from midwatch.workshop.holding.adoption import adopt, launch
from midwatch.workshop.holding.ending import wall_clock
from midwatch.workshop.holding.held import HeldProgram
from midwatch.workshop.holding.log_file import read_piece
from midwatch.workshop.holding.spec import MEBIBYTE, Caps, HolderLimits, Spec
from tests.patience import PATIENCE
from tests.workshop.holding import agents
from tests.workshop.holding.conftest import MakeSpec, about, everything, left_over, until


async def test_output_exit_code_and_usage_are_told(agent: MakeSpec, mark: str) -> None:
    held = await launch(agent("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"))
    assert await everything(held) == b"out\n"
    ending = await held.wait()
    assert (ending.how, ending.exit_code, ending.signal) == ("exited", 3, None)
    assert (ending.last_words, ending.last_errors) == ("out\n", "err\n")
    assert ending.max_rss > MEBIBYTE
    assert ending.sentence() == "The agent ended by itself with exit code 3."
    assert left_over(mark, held.state) == []


async def test_joined_errors_stand_in_the_output_where_they_were_written(agent: MakeSpec) -> None:
    code = "import sys\nfor number in range(500):\n"
    code += "    print(number, flush=True)\n    print('!', number, file=sys.stderr, flush=True)"
    held = await launch(agent(code, joined=True))
    assert await everything(held) == "".join(f"{number}\n! {number}\n" for number in range(500)).encode()
    ending = await held.wait()
    assert (ending.exit_code, ending.err_bytes, ending.last_errors) == (0, 0, "")


async def test_an_agent_that_kills_itself_is_not_called_well(agent: MakeSpec) -> None:
    ending = await (await launch(agent("import os; os.kill(os.getpid(), 9)"))).wait()
    assert (ending.how, ending.exit_code, ending.signal) == ("killed", None, 9)


async def test_a_command_that_does_not_exist_is_a_plain_sentence(agent: MakeSpec) -> None:
    ending = await (await launch(agent("", argv=("/nowhere/at-all",)))).wait()
    assert ending.sentence() == "The command could not be started: No such file or directory."


async def test_the_holder_starts_with_the_standard_library_only(agent: MakeSpec) -> None:
    held = await launch(agent(agents.QUIET))
    assert "site-packages" not in about(held.state.holder, "maps")
    assert "begin.py" in about(held.state.holder, "cmdline")
    await held.stop(0.1)


@pytest.mark.parametrize(
    ("limits", "how"),
    [
        (HolderLimits(wall=0.5, grace=0.2), "wall"),
        (HolderLimits(idle=0.5, grace=0.2), "idle"),
        (HolderLimits(idle=0.5, grace=0.2, counts_work=True), "idle"),
        (HolderLimits(night_ends=0.0, dead_man=0.5, grace=0.2), "dead_man"),
    ],
)
async def test_a_limit_ends_an_agent_that_ignores_term(
    agent: MakeSpec, mark: str, limits: HolderLimits, how: str
) -> None:
    held = await launch(agent(agents.IGNORES_TERM, limits=limits))
    ending = await held.wait()
    assert (ending.how, ending.signal) == (how, 9)
    assert "stopped because" in ending.sentence()
    assert left_over(mark, held.state) == []


async def test_a_program_that_works_is_not_taken_for_a_silent_one_where_its_work_counts(agent: MakeSpec) -> None:
    limits = HolderLimits(idle=0.5, grace=0.2, counts_work=True)
    held = await launch(agent(agents.WORKS_IN_SILENCE, limits=limits))
    ending = await held.wait()
    assert (ending.how, ending.exit_code, ending.last_words) == ("exited", 0, "ready\n")


async def test_a_silent_server_is_no_reason_before_the_night_is_over(agent: MakeSpec) -> None:
    limits = HolderLimits(night_ends=wall_clock() + 3600, dead_man=0.0, wall=1.5, grace=0.2)
    assert (await (await launch(agent(agents.QUIET, limits=limits))).wait()).how == "wall"


async def test_an_agent_that_waits_for_us_is_not_called_idle_but_the_wall_stands(agent: MakeSpec) -> None:
    held = await launch(agent(agents.QUIET, limits=HolderLimits(idle=1.0, wall=3.0, grace=0.2)))
    await held.rest(60.0)
    assert (await held.wait()).how == "wall"


async def test_once_the_waiting_is_over_silence_counts_again(agent: MakeSpec) -> None:
    held = await launch(agent(agents.QUIET, limits=HolderLimits(idle=1.0, wall=60.0, grace=0.2)))
    await held.rest(60.0)
    await held.rest(0.0)
    assert (await held.wait()).how == "idle"
    forgotten = await launch(agent(agents.QUIET, epoch=2, limits=HolderLimits(idle=0.3, wall=60.0, grace=0.2)))
    await forgotten.rest(0.5)
    assert (await forgotten.wait()).how == "idle"


async def test_what_is_said_under_a_name_is_said_once_whoever_says_it(agent: MakeSpec) -> None:
    code = "import sys\nfor line in sys.stdin:\n    print(line, end='', flush=True)"
    held = await launch(agent(code, takes_input=True))
    assert not await held.said("first")
    await held.say(b"one\n", once="first")
    await held.say(b"again\n", once="first")
    assert await held.said("first")
    later = await adopt(held.place.parent, epoch=2)
    assert isinstance(later, HeldProgram)
    assert await later.said("first")
    await later.say(b"after a restart\n", once="first")
    await later.say(b"plain\n")
    await later.say(b"plain\n", ends=True)
    assert await everything(later) == b"one\nplain\nplain\n"


async def test_beats_keep_the_dead_man_away(agent: MakeSpec) -> None:
    held = await launch(agent(agents.QUIET, limits=HolderLimits(night_ends=0.0, dead_man=3.0, wall=5.0, grace=0.2)))
    async with asyncio.TaskGroup() as group:
        ended = group.create_task(held.wait())
        while not ended.done():
            with contextlib.suppress(Unavailable):  # it may end while we speak
                await held.beat()
            await asyncio.wait([ended], timeout=0.2)
    assert ended.result().how == "wall"


async def test_an_agent_that_ends_on_term_is_not_forced(agent: MakeSpec, mark: str) -> None:
    polite = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n" + agents.QUIET
    held = await launch(agent(polite))
    await until(held, b"ready")
    ending = await held.stop(30.0)
    assert (ending.how, ending.exit_code, ending.swept) == ("stopped", 5, 0)
    assert left_over(mark, held.state) == []


@pytest.mark.parametrize("code", [agents.IGNORES_TERM, agents.STAYS_WITH_DAEMON])
async def test_stop_leaves_nothing_of_the_tree(agent: MakeSpec, mark: str, code: str) -> None:
    held = await launch(agent(code))
    await until(held, b"ready")
    ending = await held.stop(0.2)
    assert (ending.how, ending.signal, ending.clean) == ("stopped", 9, True) or code == agents.STAYS_WITH_DAEMON
    assert ending.swept > 0
    assert left_over(mark, held.state) == []


async def test_what_the_agent_left_running_ends_with_it(agent: MakeSpec, mark: str) -> None:
    held = await launch(agent(agents.LEAVES_DAEMON))
    ending = await held.wait()
    assert (ending.how, ending.exit_code, ending.swept) == ("exited", 7, 1)
    assert left_over(mark, held.state) == []


async def test_an_agent_may_close_its_output_and_go_on(agent: MakeSpec, folder: Path) -> None:
    ending = await (await launch(agent(agents.CLOSES_STDOUT))).wait()
    assert (ending.how, ending.exit_code) == ("exited", 3)
    assert (folder / "worked").read_text() == "on"


async def test_input_reaches_the_agent_and_ends(agent: MakeSpec) -> None:
    held = await launch(agent(agents.ECHOES, takes_input=True))
    await held.say(b"one\n")
    await until(held, b"heard one\n")
    await held.say(b"two\n", ends=True)
    assert await everything(held) == b"ready\nheard one\nheard two\nend of input\n"
    assert (await held.wait()).exit_code == 0


async def test_an_agent_that_never_reads_cannot_fill_the_holder(agent: MakeSpec) -> None:
    held = await launch(agent(agents.NEVER_READS, takes_input=True))
    await held.say(b"x" * MEBIBYTE)
    with pytest.raises(Exhausted, match="has not read"):
        await held.say(b"x" * MEBIBYTE)
    with pytest.raises(Misuse, match="too much"):
        await held.say(b"x" * (MEBIBYTE + 1))
    await held.beat()
    assert (await held.stop(0.1)).how == "stopped"


async def test_an_agent_without_input_finds_it_at_its_end(agent: MakeSpec) -> None:
    held = await launch(agent(agents.ECHOES + agents.SLEEP))
    await until(held, b"ready\nend of input\n")
    with pytest.raises(Refused, match="at its end"):
        await held.say(b"x")
    await held.stop(0.1)


async def test_files_are_passed_under_their_numbers(agent: MakeSpec) -> None:
    held = await launch(agent(agents.READS_A_FILE, fds={11: b"x" * 70000, 3: b"three"}))
    assert await everything(held) == b"True b'three'\n"


@pytest.mark.parametrize("fds", [{2: b""}, {256: b""}])
async def test_file_numbers_of_our_own_are_refused(agent: MakeSpec, fds: dict[int, bytes]) -> None:
    with pytest.raises(Misuse, match="cannot be passed"):
        await launch(agent("", fds=fds))


async def prints_within_the_cap(spec: Spec, mebibytes: int) -> None:
    """Let an agent print a lot and see what is kept, and how little memory it took."""
    held = await launch(spec)
    # The cap's middle goes while we read, so the end is awaited where it never goes: in the verdict.
    await held.say(b"", ends=True)
    high_water = 0
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        ended = group.create_task(held.wait())
        while not ended.done():
            high_water = max(high_water, resident(held.state.holder))
            await asyncio.wait([ended], timeout=0.05)
    ending = ended.result()
    assert ending.out_bytes == mebibytes * MEBIBYTE + len("ready\n")
    assert ending.last_words.endswith("ready\n")
    assert 0 < high_water < 64 * MEBIBYTE
    kept = list((held.place / records.OUT).iterdir())
    assert sum(path.stat().st_size for path in kept) <= spec.caps.head + spec.caps.tail + MEBIBYTE
    check_pieces(held.place / records.OUT, spec.caps, ending.out_bytes)


def resident(pid: int) -> int:
    """Read the most memory a process ever held; 0 when it is gone."""
    lines = about(pid, "status").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def check_pieces(stream: Path, caps: Caps, size: int) -> None:
    """Every kept line is where it belongs, the head and the tail are whole, and the cut has the right length."""
    after, cuts = 0, []
    while piece := read_piece(stream, after):
        if piece.cut:
            cuts.append((after, piece.after))
            assert piece.data == f"\n[midwatch: {piece.cut} bytes left out here]\n".encode()
        elif after % 1024 == 0 and after < size - 6:
            assert piece.data.startswith(b"%015d" % (after // 1024))
        after = piece.after
    assert after == size
    [(begin, end)] = cuts
    assert begin == caps.head
    assert size - caps.tail - MEBIBYTE <= end <= size - caps.tail


async def test_a_flood_keeps_its_head_and_tail(agent: MakeSpec) -> None:
    caps = Caps(head=MEBIBYTE, tail=2 * MEBIBYTE)
    await prints_within_the_cap(agent(agents.prints(40), takes_input=True, caps=caps), 40)


@pytest.mark.sweep
async def test_a_gibibyte_keeps_its_head_and_tail(agent: MakeSpec) -> None:
    await prints_within_the_cap(agent(agents.prints(1024), takes_input=True), 1024)


async def test_a_follower_who_sleeps_does_not_hold_the_agent_back(agent: MakeSpec) -> None:
    held = await launch(agent(agents.prints(8), takes_input=True, caps=Caps(head=MEBIBYTE, tail=MEBIBYTE)))
    follower = held.follow()
    assert (await anext(follower)).data.startswith(b"0" * 15)
    await held.say(b"", ends=True)
    ending = await held.wait()
    assert ending.exit_code == 0
    rest = [piece async for piece in follower]
    assert rest[-1].data.endswith(b"ready\n")
    assert sum(piece.cut for piece in rest) > 0


async def test_the_socket_is_for_its_owner_and_its_path_may_be_long(agent: MakeSpec, tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["a-long-name-for-a-folder"] * 6)
    held = await launch(agent(agents.QUIET, job=deep))
    assert len(os.fsencode(held.place / records.SOCKET)) > 108
    assert (held.place / records.SOCKET).stat().st_mode & 0o777 == 0o600
    await held.beat()
    await held.stop(0.1)


def test_a_holder_loads_little_and_nothing_that_waits_in_a_loop() -> None:
    program = "import sys; sys.path.append(sys.argv[1]); import midwatch.workshop.holding.guardian; print(*sys.modules)"
    place = str(Path(midwatch.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, place], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert loaded & {"asyncio", "ssl", "logging", "shutil", "subprocess", "pydantic", "midwatch.errors"} == set()
    assert len(loaded) < 140
