"""What reading needs, and no more: settings, records, journal, blobs. A verb without a server imports only this."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from midwatch.engine.clocks import SystemClock
from midwatch.errors import MidwatchError
from midwatch.ports.agent import OutputReader
from midwatch.ports.clock import Clock
from midwatch.ports.room import TREE_INSIDE
from midwatch.rules.checks.discovery import Looked
from midwatch.settings import LoadedSettings, Settings, load_settings
from midwatch.store.blobs import FolderBlobs
from midwatch.store.read.entries import JournalReader
from midwatch.store.read.history import SqlHistory
from midwatch.store.read.records import SqlRecords
from midwatch.store.reader import DatabaseReader
from midwatch.store.schema.engines import is_sqlite
from midwatch.terms.records import ProjectRow, SettingsRow

DATABASE = "midwatch.db"


class ReadSide:
    """The readers of one data folder; nothing here can write."""

    def __init__(self, home: Path, *, flags: dict[str, JsonValue] | None = None, clock: Clock | None = None) -> None:
        self.home = home
        self._flags = flags
        self.loaded: LoadedSettings = load_settings(home, flags=flags)
        self.url = database_url(home, self.loaded)
        self.clock: Clock = clock or SystemClock()
        self.reader = DatabaseReader(self.url)
        self.records = SqlRecords(self.reader)
        self.history = SqlHistory(self.reader)
        self.journal = JournalReader(self.reader, url=self.url)
        self.blobs = FolderBlobs(home / "blobs")
        self.pages = ""  # the address of the pages, while they are served
        self.port_taken = 0  # the port that was wanted for them, if another program has it

    async def reload_settings(self) -> None:
        """Load the settings with their stored versions; called at start and whenever a version is applied."""
        self.loaded = load_settings(self.home, stored=await self._stored(), flags=self._flags)

    async def next_starts(self, changes: Mapping[str, JsonValue]) -> tuple[tuple[Settings | None, Settings], ...]:
        """Load the settings as the next start would without and with one more version: as this one began, and plainly.

        Without it they may be unreadable, where the environment covers what is stored; the version may not cure that.
        """
        stored = await self._stored()
        opens = {name: self.loaded.value_of(name) for name in ("database.url",) if self.loaded.settings.database.url}
        alike = partial(load_settings, self.home, flags=self._flags)
        plain = partial(load_settings, self.home, environ={}, flags=opens)
        both = tuple(pair for load in (alike, plain) if (pair := _with_and_without(load, stored, changes)))
        return both[:1] if both[:1] == both[1:] else both

    async def _stored(self) -> list[dict[str, JsonValue]]:
        applied = [row for row in await self.records.find(SettingsRow, state="applied") if row.version is not None]
        return [row.changes for row in sorted(applied, key=lambda row: row.version or 0)]

    def output_reader(self, *, midway: bool = False) -> OutputReader:
        """Read an agent's log from its first line, or from one in the middle of it."""
        from midwatch.crew.drivers.output import AgentOutput  # noqa: PLC0415  only logs need it

        return AgentOutput(str(TREE_INSIDE), midway=midway)

    def troubles(self) -> tuple[str, ...]:
        """Say which recurring duties fail; only a server has any."""
        return ()

    async def look_here(self) -> None:
        """Notice what the person did with git on this machine; only a server can record it."""

    async def found_in(self, project: ProjectRow) -> Looked | None:
        """Read what a project's newest commit says about its checks and setup; None if it has no copy here yet."""
        from midwatch.workshop.checks.change_facts import look_now  # noqa: PLC0415  only one verb needs it
        from midwatch.workshop.git.mirrors import GitMirrors  # noqa: PLC0415

        try:
            return await look_now(GitMirrors(self.home), project.id, project.path, project.branch)
        except MidwatchError:
            return None

    async def dispose(self) -> None:
        await self.reader.close()


def _with_and_without(
    load: Callable[..., LoadedSettings], stored: Sequence[Mapping[str, JsonValue]], changes: Mapping[str, JsonValue]
) -> tuple[Settings | None, Settings] | None:
    """Load the settings without and with a change; nothing where neither can be read: the change is not why."""
    before: Settings | None = None
    with contextlib.suppress(MidwatchError):
        before = load(stored=stored).settings
    try:
        return before, load(stored=[*stored, changes]).settings
    except MidwatchError:
        if before is not None:
            raise
        return None


def database_url(home: Path, loaded: LoadedSettings) -> str:
    """Return the database of the settings; by default SQLite in the data folder."""
    return loaded.settings.database.url or f"sqlite:///{home / DATABASE}"


def has_database(home: Path) -> bool:
    """Return whether there is a database to read; one on another machine is assumed to exist."""
    url = database_url(home, load_settings(home))
    return not is_sqlite(url) or (home / DATABASE).exists()
