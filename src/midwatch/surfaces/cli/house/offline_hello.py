"""Saying hello to a model without a server: in this process, by the house's own settings and vault."""

import asyncio
from pathlib import Path
from typing import Any

from midwatch.compose import House, database_url
from midwatch.compose.house import DATABASE
from midwatch.errors import Unavailable
from midwatch.settings import load_settings
from midwatch.store.schema.engines import is_sqlite
from midwatch.surfaces.queries.agents import greet


def greet_offline(home: Path, name: str) -> dict[str, Any]:
    """Ask from here; the house must have been up once, since its settings lie in the database too."""
    if is_sqlite(database_url(home, load_settings(home))) and not (home / DATABASE).exists():
        raise Unavailable(f"There is nothing in {home} yet.", hint="Begin: midwatch up --detach")
    return asyncio.run(_greet(home, name))


async def _greet(home: Path, name: str) -> dict[str, Any]:
    house = House(home)
    try:
        await house.reload_settings()
        return await greet(house, name)
    finally:
        await house.dispose()
