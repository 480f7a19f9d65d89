"""kill -9 at a journal entry, restart, and the night ends as if nothing had happened: same views, no effect twice."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from midwatch.compose.house import House
from midwatch.store.rebuild import audit
from midwatch.surfaces.queries.audit import violations
from midwatch.surfaces.queries.replay import every_entry
from tests.crash.doomed import FLAGS
from tests.crash.oracle.alike import normalised
from tests.crash.oracle.night import apply, start
from tests.nights.house import git, sample_repository
from tests.store.processes import run_module

ENTRIES = 91
"""How many entries the short night has; test_the_short_night_has_about_as_many_entries_as_we_kill_at watches it."""


def run(home: Path, source: Path | str, *more: str) -> int:
    code, said = run_module("tests.crash.doomed", str(home), str(source), *more)
    assert code in {0, -signal.SIGKILL}, said
    return code


def told(home: Path) -> tuple[dict[str, Any], int]:
    """What the night came to, after every check that must hold."""

    async def look() -> tuple[dict[str, Any], int]:
        house = House(home, flags=FLAGS)
        try:
            entries = await every_entry(house)
            assert await violations(house) == ()
        finally:
            await house.dispose()
        view = start()
        for entry in entries:
            view = apply(view, entry)
        return normalised(view), len(entries)

    found = audit(f"sqlite:///{home / 'midwatch.db'}")
    assert (found.broken, found.differs) == ("", ())
    return asyncio.run(look())


def check_the_world(home: Path, source: Path) -> None:
    """The person's repository got one branch, and every notice was told once."""
    branches = git(source, "for-each-ref", "--format=%(refname)").splitlines()
    assert [name for name in branches if name != "refs/heads/main"] == [
        name for name in branches if name.startswith("refs/heads/agent/job_")
    ]
    assert len(branches) == 2
    notices = [json.loads(line)["id"] for line in (home / "notices.log").read_text().splitlines()]
    assert len(notices) == len(set(notices))


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], int]:
    folder = tmp_path_factory.mktemp("undisturbed")
    source = sample_repository(folder / "sample")
    assert run(folder / "home", source) == 0
    check_the_world(folder / "home", source)
    return told(folder / "home")


def killed_and_restarted(folder: Path, mode: str, seq: int) -> dict[str, Any]:
    source = sample_repository(folder / "sample")
    home = folder / "home"
    option = "--leave-after" if mode == "left" else f"--die-{mode}"
    killed = run(home, source, option, str(seq)) == -signal.SIGKILL
    if killed or mode == "left":
        assert run(home, source) == 0
    check_the_world(home, source)
    return told(home)[0]


def test_the_short_night_has_about_as_many_entries_as_we_kill_at(undisturbed: tuple[dict[str, Any], int]) -> None:
    assert abs(undisturbed[1] - ENTRIES) <= 10


MODES = ("after", "before", "left")
"""Killed with the entry committed, killed with it uncommitted, or told to stop right after it."""
TESTED = [("after", 56), ("before", 9), ("left", 63)]
"""One of each; `make sweep` kills at every entry."""


@pytest.mark.crash
@pytest.mark.parametrize(("mode", "seq"), TESTED)
def test_a_night_killed_at_an_entry_ends_the_same(
    tmp_path: Path, undisturbed: tuple[dict[str, Any], int], mode: str, seq: int
) -> None:
    assert killed_and_restarted(tmp_path, mode, seq) == undisturbed[0]


@pytest.mark.crash
@pytest.mark.sweep
@pytest.mark.parametrize("seq", range(1, ENTRIES + 10))
@pytest.mark.parametrize("mode", MODES)
def test_a_night_killed_at_any_entry_ends_the_same(
    tmp_path: Path, undisturbed: tuple[dict[str, Any], int], mode: str, seq: int
) -> None:
    assert killed_and_restarted(tmp_path, mode, seq) == undisturbed[0]
