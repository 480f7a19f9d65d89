"""Keeps the real credential out of answers, in case a provider repeats it."""

from midwatch.gateway.metering.credentials import MASK
from midwatch.gateway.redaction.known_values import KnownValues, long_enough
from midwatch.gateway.redaction.redactor import replaced
from midwatch.gateway.redaction.spans import merged


class StreamMask:
    """Masks one value in a stream, character by character, so that no length changes.

    Only an end that may be the beginning of the value is held back.
    """

    def __init__(self, hidden: str) -> None:
        self._hidden = hidden.encode()
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        if not self._hidden:
            return data
        data = self._held + data
        if self._hidden in data:
            data = data.replace(self._hidden, MASK * len(self._hidden))
        begun = self._begun(data)
        self._held = data[len(data) - begun :]
        return data[: len(data) - begun]

    def end(self) -> bytes:
        held, self._held = self._held, b""
        return held

    def _begun(self, data: bytes) -> int:
        first = self._hidden[:1]
        at = data.find(first, max(0, len(data) - len(self._hidden) + 1))
        while at >= 0:
            if self._hidden.startswith(data[at:]):
                return len(data) - at
            at = data.find(first, at + 1)
        return 0


def mask_everywhere(hidden: str, data: bytes) -> bytes:
    """Remove a value from a whole text, in every form it may have there."""
    if not long_enough(hidden):
        return data
    return replaced(data, merged(data, KnownValues({"model": hidden}).spans(data)))
