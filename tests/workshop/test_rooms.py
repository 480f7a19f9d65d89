"""Rooms: an agent behind walls outlives the server and leaves with a plain sentence (A2, A10, O18)."""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from midwatch.errors import Exhausted, Unknown
from midwatch.gateway.redaction.redactor import Redactor
from midwatch.ports.room import ProgramEnd
from midwatch.ports.workspace import RoomRequest
from midwatch.terms.trust import Isolation
from midwatch.workshop.rooms.workplace import Workplace
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.isolation import enclosure as fitted
from midwatch.workshop.sandbox.walls.spec import SandboxLimits
from midwatch.workshop.workshop import Workshop
from tests.patience import PATIENCE
from tests.workshop.repository import Repository
from tests.workshop.rooms_opened import JOB, at, benched, spot, stay

SECRET = "correct-horse-battery-staple"
SLOWLY = """
import pathlib, time
print("begun", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
print("went on", flush=True)
pathlib.Path("work.txt").write_text("done")
"""


class Lodge:
    """A workshop with one project."""

    def __init__(self, workshop: Workshop, commit: str) -> None:
        self.workshop = workshop
        self.stay = stay(commit)

    async def room(self, asked: RoomRequest | None = None) -> Workplace:
        return await self.workshop.rooms.enter(asked or self.stay)


@pytest.fixture
def redactor() -> Redactor:
    return Redactor({"token": SECRET})


@pytest.fixture
async def lodge(tmp_path: Path, enclosure: Enclosure, person: Repository, redactor: Redactor) -> AsyncIterator[Lodge]:
    """In walls of each kind; whatever a test does, nothing works on after it."""
    walls = fitted(enclosure.isolation, tmp_path / "home", (), limits=SandboxLimits(), scrub=redactor.stream)
    lodge = Lodge(*await benched(tmp_path / "home", walls, person.path))
    yield lodge
    for job, _ in await lodge.workshop.rooms.living():
        await lodge.workshop.rooms.clear_out(job, timedelta())
    assert await lodge.workshop.rooms.living() == ()


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-c", code)


async def until(file: Path, words: str) -> None:
    """Wait until a log holds the words."""
    async with asyncio.timeout(PATIENCE):
        while not file.exists() or words not in file.read_text():  # noqa: ASYNC110, ASYNC240 - another process writes
            await asyncio.sleep(0.01)


async def abandoned(room: Workplace, words: str) -> None:
    """Begin, wait for the words, and go away like a server that was killed."""
    task = asyncio.create_task(room.run(python(SLOWLY)))
    await until(room.log, words)
    task.cancel()
    await asyncio.wait([task])


async def test_an_agent_works_on_while_the_server_is_away_and_the_next_one_finds_it(lodge: Lodge) -> None:
    first = await lodge.room()
    await abandoned(first, "begun")
    assert await lodge.workshop.rooms.living() == ((JOB, 1),)
    again = await lodge.room(at(lodge.stay, 2))
    assert (again.epoch, again.tree) == (1, first.tree), "a later attempt works in the room of the first"
    (again.tree / "go").touch()
    left = await again.run(("never", "started"))
    assert (left.exit_code, left.sentence) == (0, "The agent ended by itself with exit code 0.")
    assert again.log.read_text() == "begun\nwent on\n", "each line once, whichever server wrote it"
    assert (again.tree / "work.txt").read_text() == "done"


async def test_an_agent_that_ended_while_the_server_was_away_is_not_run_again(lodge: Lodge) -> None:
    await abandoned(await lodge.room(), "begun")
    tree = lodge.workshop.checkouts.tree(JOB, 1)
    (tree / "go").touch()
    while await lodge.workshop.rooms.living():  # noqa: ASYNC110 - another process ends
        await asyncio.sleep(0.01)
    for epoch in (2, 3):
        left = await (await lodge.room(at(lodge.stay, epoch))).run(("never", "started"))
        assert left.exit_code == 0
    assert (await lodge.room()).log.read_text() == "begun\nwent on\n"


async def test_another_purpose_gets_another_room_and_ends_whoever_works_in_the_old_one(lodge: Lodge) -> None:
    await abandoned(await lodge.room(), "begun")
    other = await lodge.room(replace(at(lodge.stay, 2), purpose="execute.2"))
    assert other.epoch == 2
    assert (await other.run(python("print('fresh')"))).exit_code == 0
    assert await lodge.workshop.rooms.living() == ()
    assert lodge.workshop.checkouts.tree(JOB, 1).exists(), "what the old one left is kept"


async def test_secrets_are_taken_out_on_the_way_to_the_log_also_across_a_restart(lodge: Lodge) -> None:
    code = f"import time\nprint('the token is {SECRET[:10]}', end='', flush=True)\n" + SLOWLY
    code = code.replace('print("went on"', f"print('{SECRET[10:]}, and went on'")
    first = await lodge.room()
    task = asyncio.create_task(first.run(python(code.replace('print("begun", flush=True)\n', ""))))
    while not await lodge.workshop.rooms.living():  # noqa: ASYNC110 - another process begins
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])
    again = await lodge.room(at(lodge.stay, 2))
    (again.tree / "go").touch()
    await again.run(("never", "started"))
    assert again.log.read_text() == "the token is [secret:token], and went on\n"
    await lodge.workshop.rooms.put_away(JOB)
    left = [file for file in lodge.workshop.rooms.folders.held(JOB).rglob("*") if file.is_file()]
    assert not [file for file in left if SECRET.encode() in file.read_bytes()]


async def test_planning_cannot_write(lodge: Lodge) -> None:
    if lodge.workshop.rooms.isolation is Isolation.NONE:
        pytest.skip("without walls nothing keeps a plan from writing; hence the level observe")
    room = await lodge.room(replace(lodge.stay, reads_only=True))
    left = await room.run(python("open('new', 'w')"))
    assert left.exit_code == 1
    assert "Read-only file system" in left.tail


async def test_a_room_shows_nothing_of_the_machine_but_what_is_lent(lodge: Lodge, tmp_path: Path) -> None:
    if lodge.workshop.rooms.isolation is Isolation.NONE:
        pytest.skip("without walls everything is in reach; hence the level observe")
    room = await lodge.room()
    (tmp_path / "home" / "midwatch.db").write_text("the journal")
    other = tmp_path / "person" / "private"
    other.write_text("nobody's business")
    names = [str(other), str(tmp_path / "home" / "midwatch.db")]
    code = f"import os; print([os.path.exists(name) for name in {names}])"
    assert (await room.run(python(code))).tail == "[False, False]\n"


async def test_an_agent_whose_time_is_up_is_stopped_with_a_plain_sentence(lodge: Lodge) -> None:
    room = await lodge.room(replace(lodge.stay, wall=timedelta(seconds=1)))
    left = await room.run(python("import time; time.sleep(600)"))
    assert (left.exit_code, left.sentence) == (124, "The agent was stopped because its time was up.")


async def test_an_agent_that_says_nothing_is_stopped_with_a_plain_sentence(lodge: Lodge) -> None:
    room = await lodge.room(replace(lodge.stay, idle=timedelta(seconds=1)))
    left = await room.run(python("import time; time.sleep(600)"))
    assert (left.exit_code, left.sentence) == (125, "The agent was stopped because it printed nothing for too long.")


async def test_an_agent_that_waits_for_us_is_not_stopped_for_its_silence(lodge: Lodge) -> None:
    room = await lodge.room(replace(lodge.stay, idle=timedelta(seconds=1)))
    async with room.talk(python("input(); print('heard', flush=True); import time; time.sleep(600)"), {}) as talk:
        async with room.waiting(timedelta(minutes=5)):
            assert await asyncio.wait_for(_still_there(room), PATIENCE)
            await talk.say(b"go on\n")
            await until(room.log, "heard")
        assert (await talk.left()).exit_code == 125


async def _still_there(room: Workplace) -> bool:
    """Be patient for longer than it may be silent."""
    await asyncio.sleep(2)
    return "heard" not in room.log.read_text()


async def test_an_answer_is_given_once_whichever_server_gives_it(lodge: Lodge) -> None:
    code = (
        "import sys\nfor line in sys.stdin:\n    print(line.strip(), flush=True)\n    line == 'end\\n' and sys.exit()"
    )
    first = await lodge.room()
    begun = asyncio.Event()

    async def leave() -> None:
        async with first.talk(python(code), {}) as talk:
            assert not await talk.answered("q")
            await talk.answer("q", b"yes\n")
            await until(first.log, "yes")
            begun.set()
            await asyncio.Event().wait()

    server = asyncio.create_task(leave())
    await begun.wait()
    server.cancel()
    await asyncio.wait([server])
    again = await lodge.room(at(lodge.stay, 2))
    async with again.talk(python(code), {}) as talk:
        assert await talk.answered("q")
        await talk.answer("q", b"twice\n")
        await talk.answer("r", b"end\n")
        left = await talk.left()
        await talk.answer("s", b"to nobody\n")
        assert await talk.answered("s")
    assert left.tail == "yes\nend\n"


async def test_an_agent_that_is_to_stop_gets_its_grace(lodge: Lodge) -> None:
    room = await lodge.room()
    code = "import os, signal, time\nsignal.signal(15, lambda *_: (os.write(1, b'good end\\n'), os._exit(0)))\n"
    task = asyncio.create_task(room.run(python(code + "print('begun', flush=True)\ntime.sleep(600)")))
    await until(room.log, "begun")
    lodge.stay.stop.set()
    left: ProgramEnd = await task
    assert left.stopped
    assert left.tail == "begun\ngood end\n"


async def test_an_agent_that_fills_its_room_is_stopped_and_its_work_kept(lodge: Lodge) -> None:
    room = await lodge.room(replace(lodge.stay, room_bytes=20 * 1024**2))
    fill = (
        "import os\nwith open('big', 'wb', 0) as f:\n    while True: f.write(os.urandom(1 << 18)); os.fsync(f.fileno())"
    )
    with pytest.raises(Exhausted, match="wrote more than 20 MiB, so it was stopped"):
        await room.run(python(fill))
    assert (room.tree / "big").exists()


async def test_an_agent_that_makes_too_many_files_is_stopped(lodge: Lodge) -> None:
    """Empty files take no space that is counted in bytes, and yet a disk can hold only so many."""
    room = await lodge.room(replace(lodge.stay, room_files=500))
    fill = "import pathlib, time\nfor n in range(2000):\n    pathlib.Path(str(n)).touch()\ntime.sleep(600)"
    with pytest.raises(Exhausted, match="wrote more than 500 files, so it was stopped"):
        await room.run(python(fill))


async def test_an_agent_is_stopped_before_the_disk_is_full(lodge: Lodge) -> None:
    room = await lodge.room(replace(lodge.stay, floor_bytes=1 << 60))
    with pytest.raises(Exhausted, match="MiB left, so the job was stopped"):
        await room.run(python("import time; time.sleep(600)"))


async def test_what_is_left_in_the_home_is_read_with_care(lodge: Lodge) -> None:
    room = await lodge.room()
    assert room.put("plan", "words").name == "plan"
    code = (
        "import os; os.symlink('/etc/passwd', os.path.expanduser('~/answer')); os.mkfifo(os.path.expanduser('~/pipe'))"
    )
    assert (await room.run(python(code))).exit_code == 0
    for name in ("answer", "pipe", "nothing"):
        with pytest.raises(Unknown, match=f"left no {name} that can be read"):
            room.take(name)
    assert room.take("plan") == b"words"


async def test_a_job_that_goes_on_works_in_the_checkout_of_the_one_it_follows(lodge: Lodge) -> None:
    room = await lodge.room()
    await room.run(python("open('half', 'w').write('done')"))
    other_stay = replace(lodge.stay, place=spot(job="job_2"), takes_over=JOB)
    following = await lodge.room(other_stay)
    assert (following.tree / "half").read_text() == "done"
    assert not room.tree.exists()
    # A server that died right after that asks again: the work is found among its own, and not left behind.
    again = await lodge.room(at(other_stay, 2))
    assert again.epoch == 2
    assert (again.tree / "half").read_text() == "done"
    other = await lodge.room(replace(at(other_stay, 3), purpose="repair.1"))
    assert not (other.tree / "half").exists(), "another kind of work begins anew"
