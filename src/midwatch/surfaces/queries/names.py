"""The names of things, read from their records: for any part of the journal."""

from collections.abc import Iterable

from midwatch.compose.read_side import ReadSide
from midwatch.journal.entry import Entry
from midwatch.settings.zone import clock_of
from midwatch.terms.records import ProjectRow
from midwatch.views.text.names import Names, named

MOST = 20_000
"""How many names are remembered before they are read again."""


class NameBook:
    """Remembers the names it has read, for readers that ask again with more entries."""

    def __init__(self, house: ReadSide) -> None:
        self._house = house
        self._names = self._none()

    def _none(self) -> Names:
        return Names(to_local=clock_of(self._house.loaded.settings))

    async def of(self, entries: Iterable[Entry]) -> Names:
        """Return names for everything these entries mention."""
        history = self._house.history
        if len(self._names.things) > MOST:
            self._names = self._none()
        asked = history.mentioned(entries) - self._names.things.keys() - self._names.projects.keys()
        if asked:
            found = await history.called(asked)
            asked = {one.project for one in found if one.project} - asked - self._names.projects.keys()
            self._names = named((*found, *await history.called(asked)), self._names)
        return self._names


async def names_of(house: ReadSide, entries: Iterable[Entry]) -> Names:
    """Return names for everything these entries mention."""
    return await NameBook(house).of(entries)


async def project_names(house: ReadSide) -> dict[str, str]:
    """Return the name of every project, removed ones too: their jobs are still listed."""
    return {row.id: row.name for row in await house.records.find(ProjectRow)}
