"""A bell hangs exactly while somebody works on a job: what hangs for nobody hides a job from the patrol (X4)."""

from pathlib import Path

import pytest

from midwatch.errors import Stale, Unavailable
from midwatch.night.jobs import attempt, milestones
from midwatch.terms.jobs import Stage
from midwatch.terms.records import JobRow
from tests.nights.house import a_house
from tests.nights.scripted import GOOD, ScriptedAgent
from tests.nights.test_recovery import begun


@pytest.mark.parametrize("error", [Stale("Somebody was faster."), Unavailable("The database is locked.")])
async def test_a_claim_that_comes_to_nothing_leaves_no_bell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def broken(*_: object) -> None:
        raise error

    async with a_house(tmp_path / "home", agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        await begun(house, tmp_path)
        monkeypatch.setattr(attempt, "box_opened", broken)
        await house.settle()
        (job,) = await house.house.records.find(JobRow)
        assert (job.stage, job.epoch) == (Stage.MIRROR, 0)
        assert not house.house.night.workspace.wake_ups.hangs(job.id)


async def test_a_stage_that_could_not_be_told_of_leaves_no_bell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise Unavailable("The database is locked.")

    async with a_house(tmp_path / "home", agents={"housekeeper": ScriptedAgent(GOOD)}) as house:
        await begun(house, tmp_path)
        monkeypatch.setattr(milestones, "stage_begins", broken)
        await house.settle()
        (job,) = await house.house.records.find(JobRow)
        assert job.epoch == 1
        assert not house.house.night.workspace.wake_ups.hangs(job.id)
