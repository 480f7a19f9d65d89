"""A night played once and kept: whoever looks at its morning gets the folder as it was, where it was played."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from tests.nights.house import TestHouse, a_house, orders, sample_repository


class KeptNight:
    """Plays its night when it is first wanted. Paths stand in records and in git, so there is one place for all."""

    def __init__(self, folder: Path) -> None:
        self._kept = folder / "kept"
        self.place = folder / "place"
        self.sample = self.place / "sample"
        self._over_at: datetime | None = None

    async def _play(self) -> datetime:
        async with a_house(self.place / "home") as house:
            await house.project(sample_repository(self.sample))
            await house.begin(orders("Tidy up"))
            await house.to_the_brief()
            await house.settle()
            over_at = house.clock.now()
        shutil.copytree(self.place, self._kept, symlinks=True)
        return over_at

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[TestHouse]:
        """Open the house the morning after, untouched by whoever had it before."""
        self._over_at = self._over_at or await self._play()
        shutil.rmtree(self.place)
        shutil.copytree(self._kept, self.place, symlinks=True)
        async with a_house(self.place / "home", begins=self._over_at) as house:
            yield house
