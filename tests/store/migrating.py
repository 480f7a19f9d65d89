"""A newer midwatch for migration tests: today's shape and one step more, and children that migrate to it."""

import os
import resource
import shutil
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from midwatch.errors import MidwatchError
from midwatch.store.schema import migrate as migrating
from tests.store.writers import die

NEXT = '''"""Another shape."""

import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{head}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table("later", sa.Column("id", sa.Text, primary_key=True))
    op.add_column("projects", sa.Column("mood", sa.Text, nullable=True))
    op.create_table("latest", sa.Column("id", sa.Text, primary_key=True))
'''


def newer(folder: Path, head: str) -> Path:
    """Write the migrations of a midwatch that is one step ahead."""
    target = folder / "newer"
    shutil.copytree(migrating.HERE, target, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "versions" / "9999_another_shape.py").write_text(NEXT.format(head=head))
    return target


def migrate_and_die(url: str, scripts: Path, at: str) -> None:
    """Migrate with other scripts and die just before the statement that contains the given words."""
    migrating.HERE = scripts

    def look(_: Any, __: Any, statement: str, *___: Any) -> None:
        if at in statement:
            die()

    sa.event.listen(sa.Engine, "before_cursor_execute", look)
    if at == "commit":
        sa.event.listen(sa.Engine, "commit", lambda _: die())
    migrating.migrate(url)


def migrate_without_room(url: str, scripts: Path, most: int, out: Connection) -> None:
    """Migrate where no file may grow beyond so many bytes, and tell what was said."""
    migrating.HERE = scripts
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    try:
        out.send(migrating.migrate(url))
    except MidwatchError as error:
        out.send((type(error).__name__, error.message, error.hint))


def migrate_when_told(url: str, go: Any, out: Connection) -> None:
    """Migrate at the same time as others."""
    go.wait()
    out.send((os.getpid(), migrating.migrate(url)))
