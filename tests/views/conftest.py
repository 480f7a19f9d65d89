"""One real night, lived through once and read by every test of the views."""

import asyncio
from pathlib import Path

import pytest

from midwatch.journal.entry import Entry
from tests.nights.house import a_house, orders, sample_repository


async def _whole_night(home: Path) -> tuple[Entry, ...]:
    async with a_house(home / "home") as house:
        await house.project(sample_repository(home / "sample"))
        await house.begin(orders("Tidy up"))
        await house.to_the_brief()
        await house.settle()
        return await house.house.journal.entries(limit=10_000)


@pytest.fixture(scope="session")
def entries(tmp_path_factory: pytest.TempPathFactory) -> tuple[Entry, ...]:
    """Everything a night wrote down, from the first project to the brief."""
    return asyncio.run(_whole_night(tmp_path_factory.mktemp("night")))
