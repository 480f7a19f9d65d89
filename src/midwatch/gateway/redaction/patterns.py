"""Finds what looks like a secret of a known provider: each rule is tried only at its keywords."""

import math
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from midwatch.gateway.redaction.literal_search import LiteralSearch
from midwatch.gateway.redaction.spans import NAMED, PROVIDER, SecretSpan, label

AFTER = 512
"""How far after its keyword a match may end that began before it."""


@dataclass(frozen=True)
class SecretRule:
    """One kind of secret: its keywords, its expression, and the entropy the secret must have."""

    name: str
    keywords: tuple[str, ...]
    expression: re.Pattern[bytes]
    before: int = 0
    """How far before its keyword a match may begin; 0: it begins with the keyword."""
    entropy: float = 0.0
    mixed: bool = False
    """Must have letters and digits, and not look like an identifier in a program."""
    then: str = ""
    """What must follow within a keyword's line; saves a second check of words that are common in logs."""
    finds: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()

    def at(self, data: bytes, place: int) -> SecretSpan | None:
        """Search for the secret around this position."""
        if self.before:
            match = self.expression.search(data, max(0, place - self.before), place + AFTER)
            if match is not None and not match.start() <= place < match.end():
                return None
        else:
            match = self.expression.match(data, place)
        if match is None:
            return None
        start, end = match.span(1 if self.expression.groups else 0)
        return (
            SecretSpan(start, end, label(self.name), rank=NAMED if self.mixed else PROVIDER)
            if self._convinced(data[start:end])
            else None
        )

    def _convinced(self, secret: bytes) -> bool:
        if self.entropy and entropy(secret) < self.entropy:
            return False
        return not self.mixed or bool(MIXED.search(secret) and not ORDINARY.fullmatch(secret))


MIXED = re.compile(rb"[A-Za-z].*[0-9]|[0-9].*[A-Za-z]")
# What follows `token =` without being one: names and paths, addresses, dates, versions, placeholders, references.
ORDINARY = re.compile(
    rb"[A-Za-z_]+[0-9]?"
    rb"|(?:[A-Za-z_]{2,}[0-9]{0,2}[._:/-]+)+[A-Za-z]*[0-9]{0,5}[.:,]?"
    rb"|[~.]{0,2}/.*|[a-z]+://.*|[0-9]{4}-[0-9]{2}-.*|v?[0-9]+\.[0-9.]+.*|(?:env|cmd|file):.*|[$%{<].*|.*[$%][({].*"
    rb"|.*(?:[xX*.]{4}|(?i:example|placeholder|redacted|changeme|your[_-]|dummy|sha256)).*"
)


class SecretPatterns:
    """All rules behind one search for all keywords."""

    def __init__(self, rules: Iterable[SecretRule]) -> None:
        self.rules = tuple(rules)
        owned = ((word.encode(), rule) for rule in self.rules for word in rule.keywords)
        words = {re.escape(word.encode()) for rule in self.rules for word in rule.keywords}
        self._words = re.compile(b"|".join(sorted(words)) or b"(?!)")
        self._keywords = LiteralSearch(owned, then=lambda rule: rule.then.encode())

    def named(self, data: bytes) -> bool:
        """Whether the data contains any keyword, whatever follows it."""
        return self._words.search(data) is not None

    def spans(self, data: bytes) -> Iterator[SecretSpan]:
        """Yield every position where a rule matches."""
        for place, rule in self._keywords.found(data):
            if span := rule.at(data, place):
                yield span


@cache
def shipped() -> SecretPatterns:
    """Read the rules that Midwatch ships."""
    text = resources.files("midwatch.gateway.redaction").joinpath("rules.toml").read_text(encoding="utf-8")
    return SecretPatterns(_rule(fields) for fields in tomllib.loads(text)["rule"])


def entropy(secret: bytes) -> float:
    """Measure entropy in bits per byte."""
    shares = [secret.count(byte) / len(secret) for byte in set(secret)]
    return -sum(share * math.log2(share) for share in shares)


def _rule(fields: dict[str, object]) -> SecretRule:
    expression = re.compile(str(fields.pop("regex")).encode())
    plain = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    return SecretRule(expression=expression, **plain)  # type: ignore[arg-type]  # the file is ours, and every rule is tested
