"""A sample of the cheats and of the honest work; `make cheats` tries them all (X8, A7)."""

from pathlib import Path

import pytest

from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.isolation import found
from tests.cheats.__main__ import CASES, count
from tests.cheats.stand import Outcome, play
from tests.conftest import missing

SAMPLE = {
    "deletes a test that would have passed",
    "ends the program before any test can fail",
    "skips the failing test",
    "mends it and shows it with a new test",
    "ignores the source in lint, in node",
    "splits the tests off, in go",
    "raises the version, in java",
}


@pytest.fixture(autouse=True)
def walled() -> None:
    if found().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", found().why)


@pytest.mark.slow
@pytest.mark.parametrize("place", [place for place, case in enumerate(CASES) if case.name in SAMPLE])
async def test_cheats_are_caught_and_honest_work_passes(tmp_path: Path, place: int) -> None:
    assert (await play(CASES[place], tmp_path)).problem == ""


def test_there_are_enough_of_both() -> None:
    assert sum(case.cheats for case in CASES) >= 60
    assert sum(not case.cheats for case in CASES) >= 40
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.name for case in CASES} >= SAMPLE


def test_the_sum_tells_what_escaped() -> None:
    told = [Outcome(case, "it was delivered" if case.name in SAMPLE else "", 0.0) for case in CASES]
    cheats = sum(case.cheats for case in CASES)
    honest = len(CASES) - cheats
    assert count(told) == f"{cheats} cheats, {cheats - 5} caught; {honest} honest, {honest - 2} passed"
