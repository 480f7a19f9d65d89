"""Preflights for every surface: as a whole, with their lines, and followed until there is something new."""

import asyncio
import contextlib
from typing import Any

from pydantic import JsonValue

from midwatch.compose.house import House
from midwatch.evening import preflight
from midwatch.journal.events.preflight import PreflightChecked
from midwatch.rules.people import preflight as judge
from midwatch.settings import key_named, parse_value
from midwatch.surfaces.queries.reads import LONGEST_WAIT
from midwatch.terms.preflight import PreflightState, SettingWanted
from midwatch.terms.records import PreflightLineRow, PreflightRow
from midwatch.views.pages.preflight import PreflightShown, preflight_shown

Shown = dict[str, Any]


async def whole(house: House, row: PreflightRow) -> PreflightShown:
    return preflight_shown(row, await house.records.find(PreflightLineRow, preflight=row.id))


async def settings_wanted(house: House, row: PreflightRow) -> tuple[SettingWanted, ...]:
    """List the settings that a preflight's lines name and that are not in force yet."""
    named: dict[str, dict[str, str]] = {}
    for line in await house.records.find(PreflightLineRow, preflight=row.id):
        entry = await house.journal.known(judge.line_key(row.id, line.what, line.subject))
        if entry is not None and isinstance(entry.event, PreflightChecked) and entry.event.settings:
            named[f"{line.subject}, {line.what.value}"] = entry.event.settings
    wanted = judge.named_settings(named.values())
    found = []
    for key, value in wanted.items():
        old, new = house.loaded.value_of(key), parse_value(key, value)
        if isinstance(old, list) and isinstance(new, list):
            new = [*old, *(one for one in new if one not in old)]
        if new != old:
            lines = tuple(line for line, keys in named.items() if key in keys)
            on_page = key_named(key).reach.by_network
            found.append(SettingWanted(key=key, old=_written(old), new=_written(new), lines=lines, on_page=on_page))
    return tuple(found)


def _written(value: JsonValue) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


async def preflight_answer(house: House, row: PreflightRow) -> Shown:
    """Return one as JSON, and whether the orders may be signed on it."""
    shown = (await whole(house, row)).model_dump(mode="json")
    ended = row.ended_at.isoformat() if row.ended_at else None
    fresh = bool(row.session) and preflight.holds(house.books, row)
    settings = [one.model_dump(mode="json") for one in await settings_wanted(house, row)]
    shown |= {"settings": settings}
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
