"""Parses JSON from bytes that are cut anywhere: each object once it is complete, and the length of text so far."""

import json
import re
from typing import Any, Final

LARGEST: Final = 16 * 1024 * 1024
ANSWERS: Final = frozenset({"content", "output", "choices", "candidates"})
"""Fields that hold the answer; the rest echoes the request."""
TEXTS: Final = frozenset({"text", "thinking", "content", "reasoning_content", "refusal", "arguments", "input"})
WHOLE: Final = frozenset({"input", "args"})
"""Below these every text was written by the model."""

_MARK: Final = re.compile(rb'[{}\[\],:"]')
_STRING_END: Final = re.compile(rb'["\\]')
_CONTINUED: Final = bytes(range(0x80, 0xC0))
_LONGEST_KEY: Final = 64


class JsonStreamReader:
    """Reads one object, or the objects of one array, as they come."""

    def __init__(self, largest: int = LARGEST) -> None:
        self._largest = largest
        self._open: list[str] = []
        self._keys: list[str] = []
        self._raw = bytearray()
        self._key = bytearray()
        self._in_string = self._expects_key = self._is_key = self._counts = False
        self._escape = 0
        self.characters = 0
        """Text of the object that is not complete yet."""

    def feed(self, chunk: bytes) -> list[tuple[Any, int]]:
        """Take more bytes; yield each object they complete, with the number of its characters."""
        done: list[tuple[Any, int]] = []
        at = kept = 0
        while at < len(chunk):
            if self._in_string:
                at = self._text(chunk, at)
                continue
            mark = _MARK.search(chunk, at)
            if mark is None:
                break
            was_outside = not self._inside
            at = mark.end()
            self._structure(mark[0])
            if was_outside:
                kept = mark.start() if self._inside else at
            elif not self._inside:
                self._keep(chunk[kept:at])
                done.append((self._whole(), self.characters))
                self.characters, kept = 0, at
        if self._inside:
            self._keep(chunk[kept:])
        return done

    @property
    def _inside(self) -> bool:
        return "{" in self._open[:2]

    def _structure(self, mark: bytes) -> None:
        if mark in b"{[":
            self._open.append(mark.decode())
            self._keys.append("")
            self._expects_key = mark == b"{"
        elif mark in b"}]" and self._open:
            self._open.pop()
            self._keys.pop()
            self._expects_key = False
        elif mark == b",":
            self._expects_key = bool(self._open) and self._open[-1] == "{"
        elif mark == b":":
            self._expects_key = False
        elif mark == b'"':
            self._begin_string()

    def _begin_string(self) -> None:
        self._in_string, self._is_key = True, self._expects_key and bool(self._open)
        self._key.clear()
        self._counts = not self._is_key and self._is_text()

    def _is_text(self) -> bool:
        path = [key for key in self._keys if key]
        return bool(path) and path[0] in ANSWERS and (path[-1] in TEXTS or not WHOLE.isdisjoint(path))

    def _text(self, chunk: bytes, at: int) -> int:
        if self._escape:
            return self._escaped(chunk, at)
        end = _STRING_END.search(chunk, at)
        stop = end.start() if end else len(chunk)
        self._passed(chunk[at:stop])
        if end is None:
            return stop
        if end[0] == b"\\":
            self._escape = 1
        else:
            self._end_string()
        return end.end()

    def _escaped(self, chunk: bytes, at: int) -> int:
        """Count an escape as one character, whatever its length."""
        if self._escape > 1:
            self._escape = self._escape - 1 if self._escape > 2 else 0
        else:
            self._passed(b"?")
            self._escape = 5 if chunk[at : at + 1] == b"u" else 0
        return at + 1

    def _passed(self, piece: bytes) -> None:
        if self._is_key:
            self._key += piece[:_LONGEST_KEY]
        elif self._counts:
            self.characters += len(piece.translate(None, _CONTINUED))

    def _end_string(self) -> None:
        self._in_string = False
        if self._is_key and self._keys:
            self._keys[-1] = self._key[:_LONGEST_KEY].decode("utf-8", "replace")

    def _keep(self, piece: bytes) -> None:
        if len(self._raw) <= self._largest:
            self._raw += piece

    def _whole(self) -> Any:
        raw, self._raw = self._raw, bytearray()
        try:
            return json.loads(raw) if len(raw) <= self._largest else None
        except (ValueError, RecursionError):
            return None
