"""What engine tests begin with: the same fresh store as the store's own tests."""

from collections.abc import AsyncIterator

import pytest

from tests.store.opened import Store, opened


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with opened(database_url) as fresh:
        yield fresh
