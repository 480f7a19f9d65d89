"""Migrations: forward only, a copy first, all or nothing, and never on a database from the future."""

import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from midwatch.errors import Refused
from midwatch.store.rebuild import rebuild, verify_chain
from midwatch.store.schema import migrate as migrating
from midwatch.store.schema.engines import is_sqlite, open_sync_writer, sqlite_path
from midwatch.store.schema.migrate import VERSION_TABLE, current_revision, migrate
from midwatch.store.schema.tables import meta
from midwatch.terms.records import PullRequestRow
from tests.store import processes, scenes
from tests.store.migrating import migrate_and_die, migrate_when_told, migrate_without_room, newer
from tests.store.opened import opened
from tests.store.processes import CONTEXT

UPGRADES = Path(__file__).parent / "upgrades"
HEAD = str(migrating._script().get_current_head())


def shape(url: str) -> tuple[str | None, dict[str, set[str]]]:
    """The revision, and every table with its columns."""
    engine = open_sync_writer(url)
    try:
        with engine.begin() as connection:
            found = sa.inspect(connection)
            columns = {name: {column["name"] for column in found.get_columns(name)} for name in found.get_table_names()}
            return current_revision(connection), columns
    finally:
        engine.dispose()


def differences(url: str) -> list[Any]:
    """What alembic would change to get from the database to the tables in the code."""

    def ours(name: str | None, kind: str, _: Any) -> bool:
        return kind != "table" or name != VERSION_TABLE

    engine = open_sync_writer(url)
    try:
        with engine.begin() as connection:
            options = {"compare_type": True, "include_name": ours, "version_table": VERSION_TABLE}
            return list(compare_metadata(MigrationContext.configure(connection, opts=options), meta))
    finally:
        engine.dispose()


@pytest.fixture
def next_shape(tmp_path: Path) -> Path:
    return newer(tmp_path, HEAD)


async def _remember(url: str) -> None:
    async with opened(url) as store:
        await store.journal.record(scenes.said("before"))


async def _remembers(url: str) -> bool:
    async with opened(url) as store:
        return [entry.event for entry in await store.journal.entries()] == [scenes.said("before")]


@pytest.fixture
def sqlite_url(empty_sqlite_url: str) -> str:
    return empty_sqlite_url


@pytest.fixture
def postgres_url(empty_postgres_url: str) -> str:
    return empty_postgres_url


def test_a_fresh_database_gets_todays_shape_and_the_second_time_nothing_happens(database_url: str) -> None:
    assert migrate(database_url) == f"migrated from nothing to {HEAD}"
    before = shape(database_url)
    assert before[0] == HEAD
    assert migrate(database_url) == ""
    assert shape(database_url) == before


def test_the_migrated_shape_is_the_shape_in_the_code(database_url: str) -> None:
    migrate(database_url)
    assert differences(database_url) == []


async def test_an_older_database_is_copied_and_brought_forward(
    database_url: str, next_shape: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(database_url)
    await _remember(database_url)
    old = shape(database_url)
    monkeypatch.setattr(migrating, "HERE", next_shape)
    done = migrate(database_url)
    assert done.startswith(f"migrated from {HEAD} to 9999")
    assert {"later", "latest"} <= shape(database_url)[1].keys()
    assert await _remembers(database_url)
    if is_sqlite(database_url):
        copy = sqlite_path(database_url).with_name(f"midwatch.db.before-{HEAD}")
        assert done.endswith(f"copy kept at {copy}")
        assert shape(f"sqlite:///{copy}") == old
        assert await _remembers(f"sqlite:///{copy}")


@pytest.mark.crash
async def test_a_kill_in_the_middle_leaves_the_old_shape_whole_and_the_next_start_succeeds(
    database_url: str, next_shape: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(database_url)
    await _remember(database_url)
    old = shape(database_url)
    for moment in ("CREATE TABLE later", "ADD COLUMN mood", "CREATE TABLE latest", f"UPDATE {VERSION_TABLE}", "commit"):
        assert processes.run(migrate_and_die, database_url, next_shape, moment) == -signal.SIGKILL, moment
        assert shape(database_url) == old, moment
        assert migrate(database_url) == ""
        assert await _remembers(database_url)
    monkeypatch.setattr(migrating, "HERE", next_shape)
    assert migrate(database_url).startswith(f"migrated from {HEAD} to 9999")
    assert await _remembers(database_url)


@pytest.mark.crash
def test_a_kill_during_the_very_first_migration_leaves_nothing(database_url: str) -> None:
    for moment in ("CREATE TABLE journal", "CREATE TABLE work_items", "commit"):
        assert processes.run(migrate_and_die, database_url, migrating.HERE, moment) == -signal.SIGKILL
        assert shape(database_url) == (None, {})
    assert migrate(database_url) == f"migrated from nothing to {HEAD}"


async def test_a_database_newer_than_the_code_is_refused_and_left_alone(
    database_url: str, next_shape: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrating, "HERE", next_shape)
    migrate(database_url)
    monkeypatch.undo()
    before = shape(database_url)
    with pytest.raises(Refused, match=r"newer midwatch .*9999") as refused:
        migrate(database_url)
    assert "Update midwatch" in refused.value.hint
    assert shape(database_url) == before


def test_servers_that_start_at_once_migrate_once(database_url: str) -> None:
    go, (here, there) = CONTEXT.Event(), CONTEXT.Pipe()
    children = [processes.start(migrate_when_told, database_url, go, there) for _ in range(3)]
    go.set()
    done = sorted(here.recv()[1] for _ in children)
    assert [processes.finish(child) for child in children] == [0] * 3
    assert done == ["", "", f"migrated from nothing to {HEAD}"]


async def test_no_room_for_the_copy_is_said_clearly_and_nothing_changes(sqlite_url: str, next_shape: Path) -> None:
    migrate(sqlite_url)
    await _remember(sqlite_url)
    before, path = shape(sqlite_url), sqlite_path(sqlite_url)
    here, there = CONTEXT.Pipe()
    child = processes.start(migrate_without_room, sqlite_url, next_shape, 64 * 1024, there)
    kind, message, hint = here.recv()
    assert processes.finish(child) == 0
    assert path.stat().st_size > 64 * 1024
    assert (kind, message.split(":")[0]) == ("Unavailable", "No copy of the database could be made before migrating")
    assert "disk space" in hint
    assert shape(sqlite_url) == before
    assert await _remembers(sqlite_url)
    assert [one.name for one in path.parent.iterdir() if "before" in one.name or "part" in one.name] == []


async def test_the_copy_is_made_in_a_folder_with_an_odd_name(
    tmp_path: Path, next_shape: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "100% #1"
    odd.mkdir()
    url = f"sqlite:///{odd / 'midwatch.db'}"
    migrate(url)
    await _remember(url)
    monkeypatch.setattr(migrating, "HERE", next_shape)
    migrate(url)
    with sqlite3.connect(odd / f"midwatch.db.before-{HEAD}") as copy:
        assert copy.execute("select count(*) from journal").fetchone() == (1,)
    copy.close()


def test_a_database_from_before_the_first_release_is_refused_and_left_alone(database_url: str) -> None:
    migrate(database_url)
    engine = open_sync_writer(database_url)
    with engine.begin() as connection:
        connection.execute(sa.text(f"update {VERSION_TABLE} set version_num = '0012'"))  # noqa: S608
    engine.dispose()
    before = shape(database_url)
    with pytest.raises(Refused, match=r"before the first release .*0012") as refused:
        migrate(database_url)
    assert "start with a new one" in refused.value.hint
    assert shape(database_url) == before


KEPT = sorted({file.name.split(".")[0] for file in UPGRADES.glob("*.sql")})


def test_todays_shape_is_kept_for_later_versions() -> None:
    assert HEAD in KEPT, "keep it: python -m tests.store.upgrades"


def write_down(url: str, revision: str) -> None:
    """Lay down the database that an earlier version wrote."""
    kind = "sqlite" if is_sqlite(url) else "postgresql"
    engine = open_sync_writer(url)
    with engine.begin() as connection:
        for line in (UPGRADES / f"{revision}.{kind}.sql").read_text().split(";\n"):
            if line:
                connection.connection.cursor().execute(line)
    engine.dispose()


def test_answers_that_were_kept_in_clear_are_deleted(database_url: str) -> None:
    write_down(database_url, "v4")
    shown = {"id": "x", "request": "y", "status": 200, "kind": "application/json", "body": "mwt_clear", "at": 0}
    engine = open_sync_writer(database_url)
    insert = (
        "INSERT INTO answers (id, request, status, kind, body, at) VALUES (:id, :request, :status, :kind, :body, :at)"
    )
    with engine.begin() as connection:
        connection.execute(sa.text(insert), shown)
    migrate(database_url)
    with engine.begin() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM answers")).scalar() == 0
    engine.dispose()


@pytest.mark.parametrize("revision", KEPT)
async def test_a_database_that_an_earlier_version_wrote_is_brought_forward_and_rebuilds_equal(
    database_url: str, revision: str
) -> None:
    write_down(database_url, revision)
    assert shape(database_url)[0] == revision
    assert migrate(database_url).startswith(f"migrated from {revision}" if revision != HEAD else "")
    assert differences(database_url) == []
    async with opened(database_url) as store:
        with store.behind() as connection:
            head, broken = verify_chain(connection)
        assert (head > 30, broken) == (True, "")
        before = store.everything()
        with store.behind() as connection:
            rebuild(connection)
        assert store.everything() == before
        (request,) = await store.records.find(PullRequestRow)
        assert request.number == 1
