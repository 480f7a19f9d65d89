"""A database of today's shape, migrated once per worker and then copied: migrations have tests of their own."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path
from typing import Any

from sqlalchemy.engine import Dialect, Engine
from sqlalchemy.util import LRUCache

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


class SharedStatements(LRUCache[Any, Any]):
    """Compiled statements of all engines that speak alike: a test's house has three, and each would compile anew."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get((_speech(key[0]), *key[1:]), default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__((_speech(key[0]), *key[1:]), value)


def _speech(dialect: Dialect) -> tuple[object, ...]:
    return dialect.name, dialect.driver, dialect.paramstyle, dialect.server_version_info


def share_statements() -> None:
    """Let every engine of this process use the same compiled statements; one in five seconds went into compiling."""
    shared, begin = SharedStatements(2000), Engine.__init__

    def begun(self: Engine, *given: Any, **more: Any) -> None:
        begin(self, *given, **more)
        self._compiled_cache = shared

    Engine.__init__ = begun  # type: ignore[method-assign]
