"""`python -m tests.store.upgrades`: keep a database of today's shape, with the journal of one short night in it.

Run it once, with the version that is released; a file that exists is left alone.
"""

import asyncio
import socket
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa

from midwatch.store.schema.engines import open_sync_writer
from midwatch.store.schema.migrate import VERSION_TABLE, current_revision
from midwatch.store.schema.tables import meta
from tests.nights.house import a_house, orders, sample_repository
from tests.postgres_server import throw_away_postgres

HERE = Path(__file__).parent


async def _night(folder: Path, url: str) -> None:
    async with a_house(folder / "home", url) as house:
        await house.project(sample_repository(folder / "sample"))
        await house.begin(orders("Tidy up"))
        await house.to_the_brief()


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def dump(connection: sa.Connection) -> list[str]:
    """Write every table, its indexes and its rows as statements of its own dialect."""
    found, lines = sa.MetaData(), []
    found.reflect(connection, only=[*meta.tables, VERSION_TABLE])
    for table in found.sorted_tables:
        made: list[sa.schema.ExecutableDDLElement] = [sa.schema.CreateTable(table)]
        made += [sa.schema.CreateIndex(one) for one in table.indexes]
        lines += [" ".join(str(one.compile(dialect=connection.dialect)).split()) for one in made]
        for row in connection.execute(table.select().order_by(*table.primary_key)):
            lines.append(f'INSERT INTO "{table.name}" VALUES ({", ".join(map(_literal, row))})')  # noqa: S608
    if any(";\n" in line for line in lines):
        raise SystemExit("A text ends a line with a semicolon, where the file would be cut.")
    return lines


def keep(kind: str, url: str, folder: Path) -> None:
    """Have a night on a fresh database and keep what it left."""
    asyncio.run(_night(folder, url))
    engine = open_sync_writer(url)
    with engine.begin() as connection:
        target = HERE / f"{current_revision(connection)}.{kind}.sql"
        if not target.exists():
            target.write_text(";\n".join(dump(connection)) + ";\n")
            print(f"{target.name}: {target.stat().st_size // 1024} kB")
    engine.dispose()


if __name__ == "__main__":
    socket.gethostname = lambda: "machine"  # a worker's name is in the journal
    with TemporaryDirectory(dir="/tmp") as one, TemporaryDirectory(dir="/tmp") as two:
        keep("sqlite", f"sqlite:///{one}/midwatch.db", Path(one))
        with throw_away_postgres() as server, server.database() as url:
            keep("postgresql", url, Path(two))
