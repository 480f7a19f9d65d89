"""A change of settings is proposed, looked at as a difference, and then applied."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from midwatch.settings.loading import Loaded, grown
from midwatch.settings.sources import checked_for_storage


@dataclass(frozen=True, slots=True)
class Change:
    """One setting that would be different."""

    key: str
    old: JsonValue
    new: JsonValue
    overruled_by: str = ""
    """`environment` or `flag` where that has the last word, so that the change shows no effect for now."""


def check_changes(changes: Mapping[str, JsonValue]) -> None:
    """Raise Misuse for the first key that is unknown or value that will not do."""
    checked_for_storage(changes)


def diff(current: Loaded, changes: Mapping[str, JsonValue]) -> tuple[Change, ...]:
    """Tell what would change; raise Misuse where the result would contradict itself."""
    wanted = checked_for_storage(changes)
    stronger = {name: source for name, source in current.sources.items() if source in {"environment", "flag"}}
    # Checked as if nothing overruled it: the environment may be gone when the house starts next.
    grown({**current.values, **wanted}, {**current.sources, **dict.fromkeys(wanted, "this change")})
    return tuple(
        Change(name, current.value_of(name), value, stronger.get(name, ""))
        for name, value in wanted.items()
        if value != current.value_of(name) or name in stronger
    )
