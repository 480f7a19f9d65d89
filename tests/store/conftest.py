"""What store tests begin with: a fresh store, once on each database."""

from collections.abc import AsyncIterator

import pytest

from midwatch.store.schema.migrate import migrate
from tests.store.opened import Store, opened


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    migrate(database_url)
    async with opened(database_url) as fresh:
        yield fresh
