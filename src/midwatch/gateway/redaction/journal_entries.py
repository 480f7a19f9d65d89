"""Redacts what goes into the journal: known values everywhere, what only looks like a secret only in free text.

Midwatch's ids, hashes and times must survive, even if a pattern matches them: other records point at them.
So the names of its own fields are no hint (`token` holds an id), and text in the form of an id is not free text.
Untrusted content, such as the arguments of a tool, is redacted in every field.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast, get_args

from pydantic import BaseModel, JsonValue

from midwatch.gateway.redaction.redactor import Redactor
from midwatch.gateway.redaction.spans import KNOWN, NAMED, PROVIDER
from midwatch.journal.events import Event

OURS = re.compile(
    r"[a-z]{1,12}_[0-9A-HJKMNP-TV-Z]{26}"  # an id
    r"|[0-9a-f]{40}|[0-9a-f]{64}"  # a commit, a hash
    r"|[-+0-9.]{1,40}"  # a number
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]{5,15}(?:Z|[+-][0-9:]{4,6})?)?"  # a time
    r"|[a-z]{1,24}(?:[._ -][a-z]{1,24}){0,4}"  # a choice, a kind, a code
)
FIELD = re.compile(r"[a-z_]{1,40}")


class EntryRedactor:
    """The redaction that the journal calls before it writes."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def __call__(self, kind: str, value: JsonValue) -> JsonValue:
        """Redact the payload of an event, or with no kind the values beside it; the same object if it is clean."""
        # One search over everything: entries with a secret are rare, and the cost of a search is mostly its start.
        if not self._redactor.spans("\n".join(_texts(value)).encode(errors="surrogatepass")):
            return value
        clean = self._payload(kind, value) if kind and isinstance(value, Mapping) else self._beside(value)
        return value if clean == value else clean

    def _payload(self, kind: str, fields: Mapping[str, JsonValue]) -> JsonValue:
        theirs = _foreign(kind)
        return {name: self._foreign(value) if name in theirs else self._own(value) for name, value in fields.items()}

    def _foreign(self, value: JsonValue) -> JsonValue:
        return cast("JsonValue", self._redactor.redact_json(value))

    def _own(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self._redactor.redact(value, up_to=KNOWN if OURS.fullmatch(value) else NAMED)
        if isinstance(value, Mapping):
            return {str(name if FIELD.fullmatch(name) else self._own(name)): self._own(value[name]) for name in value}
        return [self._own(inner) for inner in value] if isinstance(value, list) else value

    def _beside(self, value: JsonValue) -> JsonValue:
        """Actors and keys consist of words and ids (`token:tok_01...`): there a name is no hint."""
        return self._redactor.redact(value, up_to=PROVIDER) if isinstance(value, str) else value


def _texts(value: JsonValue, name: str = "") -> Iterator[str]:
    """Yield every text with its name, as lines in which the redactor finds no less than in the fields."""
    if isinstance(value, str):
        yield f"{name}={value}" if name else value
    elif isinstance(value, int | float):
        yield str(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, key)
            yield key
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


@cache
def _foreign(kind: str) -> frozenset[str]:
    """Find the fields of an event that hold untrusted content."""
    fields = _kinds()[kind].model_fields if kind else {}
    return frozenset(name for name, field in fields.items() if _holds_json(field.annotation))


@cache
def _kinds() -> dict[str, type[BaseModel]]:
    return {kind.model_fields["kind"].default: kind for kind in get_args(Event)}


def _holds_json(annotation: Any) -> bool:
    return annotation is JsonValue or any(_holds_json(part) for part in get_args(annotation))
