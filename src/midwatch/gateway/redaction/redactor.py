"""The redactor: removes known values, private keys and what looks like a secret from bytes, text and nested values."""

import logging
import re
import sys
from bisect import bisect_right
from collections.abc import Mapping

from midwatch.gateway.redaction import private_keys
from midwatch.gateway.redaction.known_values import KnownValues
from midwatch.gateway.redaction.patterns import SecretPatterns, shipped
from midwatch.gateway.redaction.spans import KNOWN, NAMED, SecretSpan, label, merged
from midwatch.gateway.redaction.stream import RedactingStream


class Redactor:
    """Writes `[secret:name]` in place of a secret. One redactor serves every stream; it may learn more values."""

    def __init__(self, known: Mapping[str, str] | None = None, *, patterns: SecretPatterns | None = None) -> None:
        self._patterns = patterns or shipped()
        self._values: dict[str, str] = {}
        self.known = KnownValues({})
        self.know(known or {})

    def __repr__(self) -> str:
        return f"<Redactor, {len(self._values)} known values, {len(self._patterns.rules)} patterns>"

    def __reduce__(self) -> str:
        raise TypeError("A redactor holds secrets and is never written anywhere.")

    def know(self, values: Mapping[str, str]) -> None:
        """Search for these values too, from now on and in streams that have begun."""
        together = dict(self._values)
        for name, value in values.items():
            _add(together, name, value)
        self.known = KnownValues(together)
        self._values = together
        labels = {label(name) for name in (*together, *(rule.name for rule in self._patterns.rules))}
        self._labels = re.compile(b"|".join(re.escape(one) for one in sorted({*labels, private_keys.NAME})))

    def spans(self, data: bytes, *, up_to: int = NAMED) -> list[SecretSpan]:
        """Return the positions of the secrets, in order and without overlap."""
        spans = [*self.known.spans(data), *self._patterns.spans(data), *private_keys.spans(data)]
        if up_to < NAMED:
            spans = [span for span in spans if span.rank <= up_to]
        if spans and b"[secret:" in data:
            # Our own labels stay unchanged: redacting twice gives the same as once.
            ours = [match.span() for match in self._labels.finditer(data)]
            spans = [span for span in spans if not _inside(ours, span)]
        return merged(data, spans)

    def named(self, data: bytes) -> bool:
        """Whether the data contains a word that announces a secret."""
        return self._patterns.named(data)

    def reveals(self, data: bytes) -> tuple[str, ...]:
        """Name the known secrets whose values are in this data."""
        return tuple(sorted({span.label.decode()[len("[secret:") : -1] for span in self.known.spans(data)}))

    def redact_bytes(self, data: bytes) -> bytes:
        return replaced(data, self.spans(data))

    def redact(self, text: str, *, up_to: int = NAMED) -> str:
        """Redact a complete text, where the match is at least this certain."""
        data = text.encode(errors="surrogatepass")
        clean = replaced(data, self.spans(data, up_to=up_to))
        return clean.decode(errors="surrogatepass")

    def redact_json(self, value: object) -> object:
        """Redact every text in a nested value, including the names of fields."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, bytes):
            return self.redact_bytes(value)
        if isinstance(value, Mapping):
            return self._fields(value)
        if isinstance(value, list | tuple):
            return [self.redact_json(inner) for inner in value]
        return self._number(value) if isinstance(value, int | float) else value

    def _number(self, value: float) -> object:
        """A secret made of digits may have become a number on its way."""
        clean = self.redact(str(value), up_to=KNOWN)
        return value if clean == str(value) else clean

    def _fields(self, value: Mapping[object, object]) -> dict[object, object]:
        clean: dict[object, object] = {}
        for key, inner in value.items():
            name = self.redact_json(key)
            while name in clean:
                name = f"{name}'"  # two names that were secrets must not become one field
            named = isinstance(key, str) and isinstance(inner, str)
            clean[name] = self._named(str(key), str(inner)) if named else self.redact_json(inner)
        return clean

    def _named(self, key: str, text: str) -> str:
        """Redact a value by the name of its field, as in a line of text."""
        clean = self.redact(f"{key}={text}")
        return clean.removeprefix(f"{key}=") if clean.startswith(f"{key}=") else self.redact(text)

    def stream(self) -> RedactingStream:
        """Start to redact bytes that come in chunks."""
        return RedactingStream(self)


def _add(values: dict[str, str], name: str, value: str) -> None:
    """Keep the earlier value of a changed secret: it may still be printed, and may still be valid."""
    if values.get(name, value) != value:
        _add(values, f"{name}.old", values[name])
    values[name] = value


def _inside(places: list[tuple[int, int]], span: SecretSpan) -> bool:
    at = bisect_right(places, (span.start, sys.maxsize)) - 1
    return at >= 0 and span.end <= places[at][1]


def replaced(data: bytes, spans: list[SecretSpan]) -> bytes:
    """Write the labels in place of the spans."""
    if not spans:
        return data
    out, at = [], 0
    for span in spans:
        out += [data[at : span.start], span.label]
        at = span.end
    return b"".join([*out, data[at:]])


PLAIN = logging.Formatter()


class RedactingFilter(logging.Filter):
    """Redacts a record before it is written: its message, its arguments, and the traceback."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, redacted."""
        record.msg, record.args = self._redactor.redact(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = PLAIN.formatException(record.exc_info)
        if record.exc_text:
            # A formatter writes the text it finds and does not format the error again.
            record.exc_text = self._redactor.redact(record.exc_text)
        if record.stack_info:
            record.stack_info = self._redactor.redact(record.stack_info)
        return True
