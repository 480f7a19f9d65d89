"""The encodings in which a program may print a value it has."""

import base64
import html
import json
import shlex
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

SHORTEST = 6
"""Shorter strings occur in normal text by chance."""
PIECE = 96
"""A longer value is searched piece by piece, so that a part of it is found as well."""


def pieces(value: str) -> list[str]:
    """Split a value into the strings to search for: its lines, and long lines into pieces."""
    lines = [line.strip() for line in value.strip().splitlines()]
    if len(lines) > 1:
        # The first and last line of a key are no secret, and are the same in every other key.
        lines = [line for line in lines if len(line) >= 12 and not line.startswith("-----")] or [value.strip()]
    return [piece for line in lines for piece in _evenly(line)]


def variants(value: str) -> set[bytes]:
    """Return a value in every encoding that is long enough to be distinctive."""
    raw = value.encode(errors="surrogatepass")
    written = {value, value[::-1], *_quoted(value), *_percent(value, raw), *_escaped(value, raw)}
    found = {text.encode(errors="surrogatepass") for text in written}
    found |= {raw.hex().encode(), raw.hex().upper().encode(), raw[::-1]}
    # ASCII letters in UTF-16 are found as they are, because zero bytes count as blanks; other letters differ there.
    found |= {value.encode(f"utf-16-{order}", errors="surrogatepass") for order in ("le", "be") if not value.isascii()}
    found |= {*_base64(raw), *_base64(value.encode("utf-16-le", errors="surrogatepass"))}
    return {variant for variant in found if len(variant) >= SHORTEST}


def _evenly(line: str) -> list[str]:
    count = -(-len(line) // PIECE) or 1
    size = -(-len(line) // count) or 1
    return [line[at : at + size] for at in range(0, len(line), size)]


def _quoted(value: str) -> Iterator[str]:
    plain, ascii_only = json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1]
    yield from (plain, ascii_only, plain.replace("/", "\\/"), ascii_only.replace("/", "\\/"))
    yield from (json.dumps(plain, ensure_ascii=False)[1:-1], json.dumps(ascii_only)[1:-1])
    yield from (html.escape(value), html.escape(value, quote=False))
    yield shlex.quote(value).removeprefix("'").removesuffix("'")


def _percent(value: str, raw: bytes) -> Iterator[str]:
    whole = "".join(f"%{byte:02X}" for byte in raw)
    some = {quote(raw, safe=safe) for safe in ("", "/", "!'()*", "/:@!$&'()*+,;=")}
    for text in (whole, quote_plus(value, errors="surrogatepass"), *some):
        yield text
        yield _lower_escapes(text)


def _lower_escapes(text: str) -> str:
    head, *rest = text.split("%")
    return head + "".join("%" + part[:2].lower() + part[2:] for part in rest)


def _escaped(value: str, raw: bytes) -> Iterator[str]:
    units = value.encode("utf-16-be", errors="surrogatepass")
    codes = [units[at] << 8 | units[at + 1] for at in range(0, len(units), 2)]
    yield "".join(f"\\u{code:04x}" for code in codes)
    yield "".join(f"\\u{code:04X}" for code in codes)
    yield "".join(f"\\x{byte:02x}" for byte in raw)
    yield "".join(f"\\x{byte:02X}" for byte in raw)


def _base64(raw: bytes) -> Iterator[bytes]:
    """Encode at each of the three alignments, without the characters that depend on the neighbours."""
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).rstrip(b"=")
        core = encoded[(0, 2, 3)[before] : -1 if (len(raw) + before) % 3 else None]
        if len(core) >= 10 or (before == 0 and len(core) >= SHORTEST):
            yield core
            yield core.replace(b"+", b"-").replace(b"/", b"_")
