"""Proposes and applies changes of settings: who may from where, and whether the next start could read the result."""

import asyncio
from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from midwatch.compose.house import House
from midwatch.evening import projects as by_day
from midwatch.settings import SettingChange, Settings, diff, key_named
from midwatch.settings.reach import refuse_by_network
from midwatch.surfaces.api.access import Caller
from midwatch.surfaces.pages_port import refuse_unservable
from midwatch.terms.records import SettingsRow

SERVED = ("server.host", "server.port")


async def proposed(
    house: House, changes: dict[str, JsonValue], *, by: Caller, note: str = ""
) -> tuple[SettingsRow, tuple[SettingChange, ...]]:
    """Record a change of settings that could be applied now; return it with what it would change."""
    differences = await _possible(house, changes, by)
    return await by_day.propose_settings(house.books, changes, by=by.name, note=note), differences


async def applied(house: House, name: str, *, by: Caller) -> SettingsRow:
    """Apply a proposal, if it may be applied from here and the next start could read what results."""
    row = await house.records.get(SettingsRow, name)
    await _possible(house, row.changes, by)
    done = await by_day.apply_settings(house.books, row.id, by=by.name)
    await house.reload_settings()
    return done


async def _possible(house: House, changes: Mapping[str, JsonValue], by: Caller) -> tuple[SettingChange, ...]:
    """Raise where a change may not be made from here, or would keep the next start from starting."""
    _allowed_from_here(changes, by)
    await house.reload_settings()
    differences = diff(house.loaded, changes)
    for before, settings in await house.next_starts(changes):
        await house.rehearse(settings, before)
        await asyncio.to_thread(_servable, settings, changes)
    return differences


def _allowed_from_here(names: Iterable[str], by: Caller) -> None:
    for name in names:
        if by.way != "socket":
            refuse_by_network(name, key_named(name).reach)


def _servable(settings: Settings, changes: Iterable[str]) -> None:
    """Try the address that the pages would be served on; a port that is taken now may be free then. Blocking."""
    if set(SERVED) & set(changes) and settings.server.port:
        refuse_unservable(settings.server.host, settings.server.port)
