"""Bringing the database to this version's shape: a copy first, one transaction, forward only."""

import sqlite3
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from midwatch.errors import Broken, Corrupt, Exhausted, Refused, Unavailable
from midwatch.store.schema.engines import is_sqlite, open_sync_writer, sqlite_path

MIGRATE_LOCK = 0x6D6967
VERSION_TABLE = "midwatch_version"
BEFORE_RELEASE = frozenset(f"{number:04}" for number in range(1, 13))
"""The shapes of versions that were never released; the first migration of a release replaces them all."""
HERE = Path(__file__).parent / "migrations"


def _script() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(HERE))
    return ScriptDirectory.from_config(config)


def current_revision(connection: sa.Connection) -> str | None:
    """Which shape the database has; None for an empty one."""
    return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}).get_current_revision()


def migrate(url: str) -> str:
    """Bring the database up to date; return what was done, empty if nothing."""
    script = _script()
    wanted = script.get_current_head()
    engine = open_sync_writer(url)
    try:
        with engine.begin() as connection:
            if not is_sqlite(url):
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATE_LOCK)))
            now = current_revision(connection)
            if now == wanted:
                return ""
            _refuse_unknown(script, now)
            copy = _copy_first(url, now) if now and is_sqlite(url) else ""
            _upgrade(connection, script)
            if now:
                _write_records_again(connection)
        return f"migrated from {now or 'nothing'} to {wanted}" + (f", copy kept at {copy}" if copy else "")
    finally:
        engine.dispose()


def bring_into_shape(url: str) -> None:
    """Migrate, and explain what is wrong with a file that is not a Midwatch database."""
    try:
        migrate(url)
    except sa.exc.DBAPIError as error:
        said = str(error.orig)
        if "disk is full" in said:
            raise Exhausted(
                "There is no room left for the database; nothing was changed.", hint="Free some disk space, then start."
            ) from error
        if "not a database" in said or "malformed" in said:
            raise Corrupt(
                f"The database cannot be read: {said}.",
                hint="Restore a copy (midwatch.db.before-*, or a backup), or move the file away to start over.",
            ) from error
        raise Broken(f"The database cannot be opened: {said}.", hint="Check database.url: midwatch doctor") from error


def _refuse_unknown(script: ScriptDirectory, now: str | None) -> None:
    if now in BEFORE_RELEASE:
        raise Refused(
            f"The database was written before the first release of midwatch (its shape is {now}): no upgrade exists.",
            hint="Move it away to start with a new one, or keep the version of midwatch that wrote it.",
        )
    known = {revision.revision for revision in script.walk_revisions()}
    if now is not None and now not in known:
        raise Refused(
            f"The database was written by a newer midwatch (its shape is {now}).",
            hint="Update midwatch, or restore the copy that was kept before the migration (midwatch.db.before-*).",
        )


def _copy_first(url: str, now: str) -> str:
    """Copy through SQLite's own backup, into a draft that is renamed when whole."""
    source = sqlite_path(url)
    target = source.with_name(f"{source.name}.before-{now}")
    draft = target.with_suffix(".part")
    try:
        draft.unlink(missing_ok=True)
        address = f"{source.absolute().as_uri()}?mode=ro"  # quoted: a folder may be called 100% #1
        with closing(sqlite3.connect(address, uri=True)) as old, closing(sqlite3.connect(draft)) as new:
            old.backup(new)
        draft.replace(target)
    except (OSError, sqlite3.Error) as error:
        draft.unlink(missing_ok=True)
        raise Unavailable(
            f"No copy of the database could be made before migrating: {error}.",
            hint="Free some disk space and start again; nothing was changed.",
        ) from error
    return str(target)


def _write_records_again(connection: sa.Connection) -> None:
    """Bring the values inside rows to today's shape too: all of them come from the journal, which has upcasts."""
    from midwatch.store.rebuild import rebuild  # noqa: PLC0415  it brings every projector

    rebuild(connection)


def _upgrade(connection: sa.Connection, script: ScriptDirectory) -> None:
    def steps(revision: object, _: object) -> object:
        return script._upgrade_revs("head", revision)  # type: ignore[arg-type]  # noqa: SLF001  no public way

    context = EnvironmentContext(Config(), script)
    # Transactional on SQLite too: we begin the transaction, so a kill in the middle leaves the old shape intact.
    context.configure(
        connection=connection,
        fn=steps,
        version_table=VERSION_TABLE,
        transactional_ddl=True,
        transaction_per_migration=False,
    )
    context.run_migrations()
