"""Raw output is for its owner only, and goes once it was read."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.errors import Misuse
from midwatch.workshop.holding import records
from midwatch.workshop.holding.adoption import EndedProgram, adopt, launch, put_away
from midwatch.workshop.holding.spec import Caps
from tests.workshop.holding import agents
from tests.workshop.holding.conftest import MakeSpec, everything, until

SECRET = b"a secret nobody has taken out yet"
TELLS = f"import sys; print({SECRET.decode()!r}); print({SECRET.decode()!r}, file=sys.stderr, flush=True)\n"


@pytest.fixture
def careless() -> Iterator[None]:
    """A server that would let everybody read everything."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.lstat().st_mode) for path in (folder, *folder.rglob("*"))}


@pytest.mark.usefixtures("careless")
async def test_nobody_else_can_read_any_of_it(agent: MakeSpec, tmp_path: Path) -> None:
    spec = agent(TELLS + agents.QUIET, caps=Caps(head=10, tail=10))
    spec.folder.rmdir()  # the guardian makes it, where nobody has
    held = await launch(spec.__class__(**{**spec.__dict__, "cwd": tmp_path}))
    await until(held, b"ready")
    living = modes(spec.folder)
    assert {"state.json", "talk", "lock", "reserve", "holder.err", "out", "err"} <= living.keys()
    folders = {"job-1", "epoch-000001", "out", "err"}
    assert {name: mode for name, mode in living.items() if mode != (0o700 if name in folders else 0o600)} == {}
    await held.stop(0.1)
    ended = modes(spec.folder)
    assert {name: mode for name, mode in ended.items() if mode != (0o700 if name in folders else 0o600)} == {}


async def test_what_was_read_is_put_away_and_the_verdict_stays(agent: MakeSpec) -> None:
    held = await launch(agent(TELLS + "sys.exit(3)"))
    assert await everything(held) == SECRET + b"\n"
    ending = await held.wait()
    assert SECRET.decode() in ending.last_words
    for _ in range(2):
        put_away(held.place)
        assert {path.name for path in held.place.iterdir()} == {"state.json", "exit.json", "lock", "holder.err"}
    assert [path.name for path in held.place.iterdir() if SECRET in path.read_bytes()] == []
    found = await adopt(held.place.parent)
    assert isinstance(found, EndedProgram)
    assert (found.state, found.ending.exit_code, found.ending.sentence()) == (held.state, 3, ending.sentence())


async def test_nothing_is_put_away_before_the_end(agent: MakeSpec) -> None:
    held = await launch(agent(agents.QUIET))
    with pytest.raises(Misuse, match="has not ended"):
        put_away(held.place)
    assert (held.place / records.OUT).is_dir()
    await held.stop(0.1)
