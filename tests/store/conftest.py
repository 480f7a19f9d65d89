"""What store tests begin with: a fresh store, once on each database."""

from collections.abc import AsyncIterator

import pytest

from tests.store.opened import Store, opened


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with opened(database_url) as fresh:
        yield fresh
