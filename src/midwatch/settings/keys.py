"""Every setting by its dotted key: what it means, what it takes, and how its text is read."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Any, Final, get_args, get_origin, get_type_hints

from pydantic import JsonValue, TypeAdapter

from midwatch.errors import Misuse, Unknown
from midwatch.settings.named_tables import AgentSetup, ChannelSetup, ForgeSetup, Rates
from midwatch.settings.reach import SettingReach, reach_of_setting
from midwatch.settings.section import Allowed, Reference, SettingsSection, Unspoken
from midwatch.settings.tree import Settings

PREFIX: Final = "MIDWATCH_"
SECRETS: Final = "secrets"
AGENTS: Final = "agents"
PRICES: Final = "prices"
CHANNELS: Final = "channels"
FORGES: Final = "forges"
TABLES: Final[Mapping[str, type[SettingsSection]]] = {AGENTS: AgentSetup, CHANNELS: ChannelSetup, FORGES: ForgeSetup}
"""The sections that hold a table for each thing the person names."""
NAMED: Final = (SECRETS, PRICES, *TABLES)
"""The sections whose fields the person names."""
TAKEN: Final = {AGENTS: "housekeeper", CHANNELS: "log", FORGES: "local"}
"""Names that are reserved."""
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MODEL: Final = re.compile(r"[a-z0-9_-]{1,64}/[A-Za-z0-9_.:/-]{1,128}")
_IN_PLACE: Final = re.compile(r"(://[^/?#@:]*:)[^/?#]+(@)")
_IN_QUERY: Final = re.compile(r"([?&]\w*password=)[^&#]+", re.IGNORECASE)


NO_EFFECT = "Has no effect yet."
"""The end of the sentence of a setting that belongs to a part that does not exist yet."""


@dataclass(frozen=True, slots=True)
class SettingKey:
    """One setting, known by its section and field."""

    section: str
    field: str
    description: str
    default: JsonValue
    hint: Any
    """The annotation as written, bounds included."""

    @property
    def name(self) -> str:
        """The dotted key people write."""
        return f"{self.section}.{self.field}"

    @property
    def waits(self) -> bool:
        """Whether nothing reads it yet: it is valid, and listed only on request."""
        return self.description.endswith(NO_EFFECT)

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"{PREFIX}{self.section}__{self.field.replace('.', '__')}".upper()

    @property
    def storable(self) -> bool:
        """Whether a stored version may hold it."""
        return self.reach.storable

    @property
    def reach(self) -> SettingReach:
        """What it can do to the machine, and from where it may therefore be changed."""
        return reach_of_setting(self.section, self.field)

    @property
    def schema(self) -> dict[str, Any]:
        """What it takes, as JSON schema."""
        return _adapter(self.name).json_schema()

    @property
    def allowed(self) -> str:
        """What it takes, in words."""
        return _allowed(self.hint)

    def accept(self, value: JsonValue, where: str = "") -> JsonValue:
        """Return the value as it will be used, or say what is wrong with it and where it came from."""
        adapter = _adapter(self.name)
        try:
            return _neat(adapter.dump_python(adapter.validate_json(json.dumps(value), strict=True), mode="json"))
        except (TypeError, ValueError):
            raise self.refusal(value, where) from None  # the cause would repeat the value with its password

    def read(self, text: str, where: str = "") -> JsonValue:
        """Read a value from text as people type it, lists with commas."""
        adapter = _adapter(self.name)
        try:
            value: object = _listed(text) if get_origin(_bare(self.hint)) is tuple else text.strip()
            return _neat(adapter.dump_python(adapter.validate_python(value), mode="json"))
        except (TypeError, ValueError):
            raise self.refusal(text, where) from None

    def refusal(self, value: object, where: str = "") -> Misuse:
        """Say that a value is invalid."""
        place = f" {where}" if where else ""
        if self._marked(Unspoken):
            return Misuse(
                f"{self.name} must say where the secret is stored{place}, not its value.", hint=f"Write {self.allowed}."
            )
        said = repr(shown(value))
        return Misuse(f"{self.name} cannot be {said}{place}; allowed: {self.allowed}.", hint=self.description)

    def _marked(self, mark: type) -> bool:
        return any(isinstance(one, mark) for one in getattr(self.hint, "__metadata__", ()))


def shown(value: object) -> object:
    """Hide the password of a URL, which must reach no screen and no record."""
    if not has_password(value):
        return value
    return _IN_QUERY.sub(r"\1***", _IN_PLACE.sub(r"\1***\2", str(value)))


def has_password(value: object) -> bool:
    """Whether this is a URL with a password in it."""
    return isinstance(value, str) and bool(_IN_PLACE.search(value) or ("://" in value and _IN_QUERY.search(value)))


def key_named(name: str, where: str = "") -> SettingKey:
    """Find a setting by its dotted key, or name the one that was probably meant."""
    key = KEYS.get(name) or _named(name, where)
    if key is not None:
        return key
    place = f" {where}" if where else ""
    near = [known for known in KEYS if known.endswith(f".{name}")] or get_close_matches(name, KEYS, n=1, cutoff=0.6)
    hint = f"Did you mean {near[0]}?" if near else "`midwatch settings` lists them all."
    raise Unknown(f"There is no setting {name!r}{place}.", hint=hint)


def _named(name: str, where: str) -> SettingKey | None:
    """Make the key of something whose name the person chose."""
    section, dot, field = name.partition(".")
    if section not in NAMED or not dot:
        return None
    if section in TABLES:
        return _in_table(section, field, where)
    if not (_MODEL if section == PRICES else _NAME).fullmatch(field):
        what, hint = NAMES[section]
        raise Misuse(f"{what}{f' {where}' if where else ''} has an invalid name.", hint=hint)
    if section == PRICES:
        return SettingKey(PRICES, field, "Price of this model, in dollars per million tokens.", [], Rates)
    return SettingKey(SECRETS, field, "Where this secret is stored; its value is never stored or shown.", "", Reference)


NAMES: Final = {
    SECRETS: ("A secret", "Up to 64 letters, digits, _ and -, such as deploy-key."),
    AGENTS: ("An agent", "Up to 64 small letters, digits and -, such as my-agent."),
    FORGES: ("A forge", "Up to 64 small letters, digits and -, such as github."),
    CHANNELS: ("A channel", "Up to 64 small letters, digits and -, such as phone."),
    PRICES: ("A price", 'Name provider and model, such as "anthropic/claude-sonnet-4-5".'),
}


def _in_table(section: str, field: str, where: str) -> SettingKey:
    """Make the key of one thing about an agent or a channel of the person's."""
    name, _, about = field.partition(".")
    what, hint = NAMES[section]
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,63}", name) or name == TAKEN[section]:
        raise Misuse(f"{what}{f' {where}' if where else ''} has an invalid name.", hint=hint)
    known = TABLES[section].model_fields
    if about not in known:
        near = get_close_matches(about, known, n=1, cutoff=0.6)
        hint = f"Did you mean {section}.{name}.{near[0]}?" if near else f"{what} has {', '.join(known)}."
        raise Unknown(f"There is no setting '{section}.{field}'{f' {where}' if where else ''}.", hint=hint)
    default = _neat(TABLES[section]().model_dump(mode="json")[about])
    return SettingKey(section, field, known[about].description or "", default, _hints(section)[about])


@cache
def _hints(section: str) -> dict[str, Any]:
    return get_type_hints(TABLES[section], include_extras=True)


def parse_value(key: str, text: str) -> JsonValue:
    """Read what a person typed for a setting."""
    return key_named(key).read(text)


def _bare(hint: Any) -> Any:
    """Give the type itself, without its bounds and words."""
    return get_args(hint)[0] if hasattr(hint, "__metadata__") else hint


def _listed(text: str) -> list[object]:
    """Lists are typed with commas, or as JSON where an item holds a comma."""
    if text.lstrip().startswith("["):
        return list(json.loads(text))
    return [part.strip() for part in text.split(",") if part.strip()]


def _neat(value: JsonValue) -> JsonValue:
    """20.0 is written 20."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _allowed(hint: Any) -> str:
    for mark in getattr(hint, "__metadata__", ()):
        if isinstance(mark, Allowed):
            return str(mark)
    if get_origin(hint) is tuple:
        return f"a list, each {_allowed(get_args(hint)[0])}"
    return _in_words(TypeAdapter[Any](hint).json_schema())


def _in_words(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if schema["type"] == "boolean":
        return "true or false"
    kind = "a whole number" if schema["type"] == "integer" else "a number"
    low = f"above {schema['exclusiveMinimum']:g}" if "exclusiveMinimum" in schema else f"from {schema['minimum']:,}"
    return f"{kind} {low} up to {schema['maximum']:,}"


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    """Made on first use: most commands touch a few settings of a hundred."""
    return TypeAdapter(key_named(name).hint)


def _keys() -> dict[str, SettingKey]:
    found = {}
    for section, about_section in Settings.model_fields.items():
        begins: SettingsSection = about_section.default
        hints = get_type_hints(type(begins), include_extras=True)
        defaults = begins.model_dump(mode="json")
        for field, about in type(begins).model_fields.items():
            key = SettingKey(section, field, about.description or "", _neat(defaults[field]), hints[field])
            found[key.name] = key
    return found


KEYS: Final[Mapping[str, SettingKey]] = MappingProxyType(_keys())
"""All of them, in the order of the tree."""
