"""A database of today's shape, migrated once per worker and then copied: migrations have tests of their own."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from midwatch.settings.folder import prepare_folder
from midwatch.store.schema.engines import is_sqlite, sqlite_path
from midwatch.store.schema.migrate import migrate


@functools.cache
def _shaped() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="midwatch-shaped-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    migrate(f"sqlite:///{folder / 'midwatch.db'}")
    return folder / "midwatch.db"


def place_sqlite(file: Path) -> None:
    """Put an empty SQLite database of today's shape where there is none."""
    if not file.exists():
        shutil.copyfile(_shaped(), file)


def place_for_home(home: Path, url: str = "") -> None:
    """Do the same for a data folder, unless it keeps its records elsewhere."""
    prepare_folder(home)
    if not url:
        place_sqlite(home / "midwatch.db")
    elif is_sqlite(url):
        place_sqlite(sqlite_path(url))
