"""Preflights for every surface: as a whole, with their lines, and followed until there is something new."""

import asyncio
import contextlib
from typing import Any

from midwatch.compose.house import House
from midwatch.evening import preflight
from midwatch.surfaces.queries.reads import LONGEST_WAIT
from midwatch.terms.preflight import PreflightState
from midwatch.terms.records import PreflightLineRow, PreflightRow
from midwatch.views.pages.preflight import PreflightShown, preflight_shown

Shown = dict[str, Any]


async def whole(house: House, row: PreflightRow) -> PreflightShown:
    return preflight_shown(row, await house.records.find(PreflightLineRow, preflight=row.id))


async def preflight_answer(house: House, row: PreflightRow) -> Shown:
    """Return one as JSON, and whether the orders may be signed on it."""
    shown = (await whole(house, row)).model_dump(mode="json")
    ended = row.ended_at.isoformat() if row.ended_at else None
    fresh = bool(row.session) and preflight.holds(house.books, row)
    return shown | {"state": row.state.value, "ended_at": ended, "fresh": fresh, "error": row.error}


async def after(house: House, name: str, seen: int, wait: float) -> Shown:
    """Return one when it has more lines than were seen, is over, or the wait is over."""
    head = await house.records.head()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(min(wait, LONGEST_WAIT)):
            if not await _news(house, name, seen):
                async for _ in house.journal.tail(after=head):
                    if await _news(house, name, seen):
                        break
    return await preflight_answer(house, await house.records.get(PreflightRow, name))


async def _news(house: House, name: str, seen: int) -> bool:
    row = await house.records.get(PreflightRow, name)
    if row.state is not PreflightState.RUNNING:
        return True
    return len(await house.records.find(PreflightLineRow, preflight=name)) > seen
