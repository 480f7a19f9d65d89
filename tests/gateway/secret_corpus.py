"""Secrets in every writing, and what must never be seen again: made here, with nothing of the redactor's own."""

import base64
import html
import json
import random
import textwrap
import urllib.parse
from collections.abc import Callable, Iterator

from midwatch.gateway.redaction.patterns import shipped
from tests.gateway.examples import filled, private_key, secret_parts

KNOWN = {
    "database": filled("p@ss/w0rd+<an12>!zz"),
    "telegram": filled("<n10>:AA<an33>"),
    "quoted": filled("a\"b<an10>'&<<an6>"),
    "umlauts": "gänse-füßchen-ÄÖÜ-42",
    "hook": filled("<hex40>"),
}
WRITINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 after one": lambda value: base64.b64encode(b"x" + value.encode() + b"y").decode(),
    "base64 after two": lambda value: base64.b64encode(b"u:" + value.encode() + b"yy").decode(),
    "url-safe base64": lambda value: base64.urlsafe_b64encode(b"u:" + value.encode()).decode(),
    "wrapped base64": lambda value: "\n".join(textwrap.wrap(base64.b64encode(value.encode() * 2).decode(), 40)),
    "percent": lambda value: urllib.parse.quote(value, safe=""),
    "form": urllib.parse.quote_plus,
    "hex": lambda value: value.encode().hex(),
    "HEX": lambda value: value.encode().hex().upper(),
    "JSON": json.dumps,
    "JSON in JSON": lambda value: json.dumps(json.dumps({"a": value})),
    "HTML": html.escape,
    "unicode escapes": lambda value: "".join(f"\\u{ord(letter):04x}" for letter in value),
    "hex escapes": lambda value: "".join(f"\\x{byte:02x}" for byte in value.encode()),
    "reversed": lambda value: value[::-1],
    "wrapped": lambda value: f"{value[:9]}\n    {value[9:]}",
}


def _items() -> list[str]:
    written = [f"{name}: {write(value)} end" for name, write in WRITINGS.items() for value in KNOWN.values()]
    examples = [f"so {filled(find)} it is" for rule in shipped().rules for find in rule.finds]
    return ["start of the log", *written, *examples, private_key(5), "an honest line", private_key(6), "the end"]


def _aligned(value: str) -> Iterator[bytes]:
    """Base64 wherever it began, without the letters at its ends that belong to the neighbours as well."""
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + value.encode())
        yield whole[4 if before else 0 : -4]


def _seen_as(value: str) -> set[bytes]:
    texts = {write(value) for name, write in WRITINGS.items() if "base64" not in name and name != "wrapped"}
    texts |= {json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1], json.dumps(json.dumps(value))[3:-3]}
    found = {text.encode() for text in texts} | {
        value.encode("utf-16-le"),
        value.encode("utf-16-be"),
        value[9:].encode(),
    }
    found |= {core.translate(bytes.maketrans(b"+/", b"-_")) for core in _aligned(value)} | set(_aligned(value))
    return found - {b""}


ITEMS = _items()
CORPUS = "\n".join(ITEMS).encode()
FORBIDDEN = sorted(
    {
        *(needle for value in KNOWN.values() for needle in _seen_as(value)),
        *(part.encode() for rule in shipped().rules for find in rule.finds for part in secret_parts(find)),
        *(line.encode() for seed in (5, 6) for line in private_key(seed).splitlines()[1:-2]),
    }
)


def leaks(seen: bytes) -> list[bytes]:
    """What of the secrets can be read in these bytes, or after a browser or a program has decoded them."""
    if not seen:
        return []
    decoded = html.unescape(seen.decode(errors="replace")).encode()
    both = seen if decoded == seen else seen + b"\n" + decoded
    return [secret for secret in FORBIDDEN if secret in both]


def chunks(data: bytes, seed: int) -> Iterator[bytes]:
    """Cut bytes up anyhow."""
    source = random.Random(seed)  # noqa: S311  repeatable
    sizes = source.choice(
        [[1, 2, 3], [7, 19, 64], [200, 1000], [1, 64, 4096], [1, 2, 3, 7, 19, 64, 200], [5000, 70_000]]
    )
    at = 0
    while at < len(data):
        size = source.choice(sizes)
        yield data[at : at + size]
        at += size


def texts(seed: int) -> Iterator[str]:
    """Cut the corpus up between its items, as somebody who writes entries would."""
    source = random.Random(f"texts {seed}")  # noqa: S311  repeatable
    at = 0
    while at < len(ITEMS):
        count = source.choice([1, 2, 5, 20, 60])
        yield "\n".join(ITEMS[at : at + count])
        at += count
