"""Redacts bytes that come in chunks: holds back what may be the beginning of a secret, and no more."""

from collections import Counter
from typing import TYPE_CHECKING

from midwatch.gateway.redaction import private_keys
from midwatch.gateway.redaction.spans import SecretSpan

if TYPE_CHECKING:
    from midwatch.gateway.redaction.redactor import Redactor

HOLD = 64 * 1024
"""The most that is held back; beyond it an unfinished pattern may pass, a known value still does not."""
KEEP = 4 * 1024
"""What stays of a longer line: no pattern but a private key is longer."""
NAMED = 256
"""How far before a secret the word may be that reveals it."""
LONG_WORD = 12
"""A word this long may be the first half of a secret that only its second half reveals."""
PATIENCE = 1.25


class RedactingStream:
    """One stream of bytes. Lines leave complete, so the size of the chunks makes no difference."""

    def __init__(self, redactor: "Redactor") -> None:
        self._redactor = redactor
        self._held = bytearray()
        self._given = 0
        """How much of the held bytes was sent at a pause; it is kept as context for what comes after it."""
        self._look_at = self._paused_at = 0
        self.found: Counter[str] = Counter()
        """How often each kind of secret was removed."""

    def feed(self, chunk: bytes) -> bytes:
        self._held += chunk
        ended = b"\n" in chunk or b"\r" in chunk
        if len(self._held) < HOLD and (not ended or len(self._held) < self._look_at):
            return b""
        data = bytes(self._held)
        spans = self._redactor.spans(data)
        cut = self._cut(data, spans)
        # A long block is not searched again for each of its lines.
        self._look_at = int((len(data) - cut) * PATIENCE) if _line_end(data, len(data)) > cut else 0
        return self._give(data, spans, cut)

    def end(self) -> bytes:
        """Return what is left: nothing more will come."""
        data = bytes(self._held)
        return self._give(data, self._redactor.spans(data), len(data))

    def pause(self) -> bytes:
        """Return what is safe of an unfinished line, such as a prompt, when nothing has come for a while.

        If a secret turns out to have begun before the pause, its rest is still removed.
        """
        if len(self._held) in {self._given, self._paused_at}:
            return b""
        data = bytes(self._held)
        spans = self._redactor.spans(data)
        self._paused_at = len(data)
        cut = self._pause_at(data, spans)
        given = self._written(data, spans, cut)
        self._given = max(self._given, cut)
        return given

    def _give(self, data: bytes, spans: list[SecretSpan], cut: int) -> bytes:
        given = self._written(data, spans, cut)
        del self._held[:cut]
        self._given = max(0, self._given - cut)
        self._paused_at = 0
        return given

    def _written(self, data: bytes, spans: list[SecretSpan], cut: int) -> bytes:
        """Write what was not sent before, up to the cut."""
        if cut <= self._given:
            return b""
        out, at = [], self._given
        for span in spans:
            if span.start >= cut:
                break
            if span.end > at:
                out += [data[at : span.start], span.label]
                at = min(span.end, cut)
                self.found[span.label.decode()[8:-1]] += 1
        return b"".join([*out, data[at:cut]])

    def _pause_at(self, data: bytes, spans: list[SecretSpan]) -> int:
        """Find the last position before which nothing can be the beginning of a secret, as far as is known."""
        unfinished = next((block.start for block in private_keys.blocks(data) if block.open), len(data))
        cut = min(self._redactor.known.begun(data), unfinished)
        line = data[_line_end(data, len(data)) :]
        word = len(data) - len(line) + max(line.rfind(b" "), line.rfind(b"\t")) + 1
        if len(data) - word >= LONG_WORD or self._redactor.named(line[-NAMED:]):
            cut = min(cut, word)
        for span in reversed(spans):
            if span.start < cut and (cut < span.end or span.end == len(data)):  # what ends here may continue
                cut = span.start
        return cut

    def _cut(self, data: bytes, spans: list[SecretSpan]) -> int:
        """Find the last position before which all is decided."""
        begun = self._redactor.known.begun(data)
        whole = _line_end(data, len(data))
        unfinished = next((block.start for block in private_keys.blocks(data[:whole]) if block.open), whole)
        cut = _between_lines(data, spans, min(begun, unfinished))
        return cut if len(data) - cut < HOLD else _anywhere(spans, min(begun, len(data) - KEEP), begun)


def _between_lines(data: bytes, spans: list[SecretSpan], cut: int) -> int:
    """Move the cut back until it splits no line and no secret."""
    cut = _line_end(data, cut)
    for span in reversed(spans):
        if span.start < cut < span.end:
            cut = _line_end(data, span.start)
    return cut


def _anywhere(spans: list[SecretSpan], cut: int, latest: int) -> int:
    """Move the cut behind a secret that it would split, or separate from its name."""
    for span in spans:
        if span.start - NAMED < cut < span.end:
            cut = min(span.end, latest)
    return cut


def _line_end(data: bytes, before: int) -> int:
    return max(data.rfind(b"\n", 0, before), data.rfind(b"\r", 0, before)) + 1
