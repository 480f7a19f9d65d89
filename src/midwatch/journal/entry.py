"""One line of the journal: what happened, when, who did it and why, chained to the line before."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from midwatch.journal.events import Event

FIRST_CHAIN = "0" * 64
"""The chain value before the first entry."""


def canonical(value: JsonValue) -> str:
    """Equal values give equal JSON text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(*parts: object) -> str:
    """Hash parts with a separator that no JSON text contains unescaped."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Entry:
    """An event with its place in the journal."""

    seq: int
    at: datetime
    actor: str
    key: str
    because: tuple[int, ...]
    event: Event


@dataclass(frozen=True, slots=True)
class Link:
    """The part of an entry that the chain covers; the payload itself may be redacted."""

    seq: int
    at_us: int
    actor: str
    key: str
    because: str
    kind: str
    payload_hash: str

    def chained_to(self, before: str) -> str:
        # As JSON: with plain separators, an actor or key that contains one could pass for two fields.
        parts: list[JsonValue] = [
            self.seq,
            self.at_us,
            self.actor,
            self.key,
            self.because,
            self.kind,
            self.payload_hash,
        ]
        return digest(before, canonical(parts))
