"""Values for every setting, made from what the setting itself says it takes."""

from typing import Any

from pydantic import JsonValue

from midwatch.settings import KEYS, SettingKey

TEXTS: dict[str, tuple[JsonValue, ...]] = {
    "notices.quiet_hours": ("23:30-06:15", "", "00:00-23:59"),
    "notices.digest_time": ("06:30", "23:59", "00:00"),
    "server.time_zone": ("Europe/Berlin", "UTC", "Asia/Tokyo"),
    "database.url": ("postgresql://night@db/house", "sqlite:////srv/midwatch.db", "postgresql+psycopg://db/house"),
}
LISTS: dict[str, tuple[JsonValue, ...]] = {
    "server.allowed_hosts": (["night.example.org"], ["night.example.org", "192.168.1.2:8484"], []),
    "gate.protected_projects": (["ledger"], ["ledger", "shop"], []),
    "execution.allowed_tools": (["Read"], ["Read", "Bash(make *)"], []),
    "sandbox.toolchains": (["/opt/node"], ["/opt/node", "~/.cargo"], ["node", "cargo"], []),
    "sandbox.domains": (["docs.example.org"], ["docs.example.org", "api.example.org"], []),
    "sandbox.registries": (["pip=https://packages.example.org/team/#bearer:team"], []),
    "sandbox.setup_domains": (["packages.example.org"], ["pip", "npm"], []),
    "ceilings.domains": (["docs.example.org"], ["npm", "*.example.org"], []),
    "ceilings.tools": (["Read"], ["Read", "Bash(make *)"], []),
    "checkins.budget_percents": ([90], [25, 75], []),
}


def samples(key: SettingKey) -> tuple[JsonValue, ...]:
    """Other values than the default that this setting takes."""
    given = TEXTS.get(key.name) or LISTS.get(key.name)
    return given or tuple(_made(key, key.schema))


def _made(key: SettingKey, schema: dict[str, Any]) -> list[JsonValue]:
    if schema.get("type") == "boolean":
        return [not key.default]
    if "enum" in schema:
        return [choice for choice in schema["enum"] if choice != key.default]
    if schema["type"] == "string":
        return [f"{key.default}-other", "another"]
    return _numbers(key, schema)


def _numbers(key: SettingKey, schema: dict[str, Any]) -> list[JsonValue]:
    assert isinstance(key.default, int | float), key.name
    step = 1 if schema["maximum"] > 1 else 0.1
    near = [round(key.default + by * step, 3) for by in (1, 2, -1)]
    low, above = schema.get("minimum", float("-inf")), schema.get("exclusiveMinimum", float("-inf"))
    inside = [one for one in near if low <= one <= schema["maximum"] and one > above]
    return list(inside) or [key.default]


def typed(value: JsonValue) -> str:
    """The value as a person types it."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def toml(values: dict[str, JsonValue]) -> str:
    """The values as a file in our format."""
    return "".join(f"[{KEYS[name].section}]\n{KEYS[name].field} = {_toml(value)}\n" for name, value in values.items())


def _toml(value: JsonValue) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else repr(value)
