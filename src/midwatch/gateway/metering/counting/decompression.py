"""Decompresses a copy of an answer for counting; the job gets the original bytes."""

import importlib
import zlib
from collections.abc import Callable
from typing import Any, Final

MOST: Final = 64 * 1024 * 1024
"""The most that is read of one answer; a decompression bomb must not fill our memory."""
BITE: Final = 4 * 1024


class UnreadableEncoding(Exception):
    """Its compression is unknown or invalid."""


class Decompressor:
    """Decompresses one answer, piece by piece, within limits."""

    def __init__(self, encoding: str) -> None:
        """Take the Content-Encoding; an unknown one is unreadable from the start."""
        self._left = MOST
        names = [
            name for name in (word.strip().lower() for word in encoding.split(",")) if name not in {"", "identity"}
        ]
        if len(names) > 1:
            raise UnreadableEncoding
        self._step = _STEPS[names[0]]() if names and names[0] in _STEPS else None
        if names and self._step is None:
            raise UnreadableEncoding

    def feed(self, data: bytes) -> bytes:
        """Take compressed bytes and return their content."""
        if self._step is None:
            return data
        clear = []
        # In small pieces: not every library can limit its output.
        for at in range(0, len(data), BITE):
            try:
                clear.append(self._step(data[at : at + BITE], self._left))
            except Exception as problem:  # each library has its own errors
                raise UnreadableEncoding from problem
            self._left -= len(clear[-1])
            if self._left <= 0:
                raise UnreadableEncoding
        return b"".join(clear)


Step = Callable[[bytes, int], bytes]


def _zlib(bits: int) -> Step:
    machine = zlib.decompressobj(bits)
    begun = False

    def step(data: bytes, most: int) -> bytes:
        nonlocal machine, begun
        if not begun and bits == zlib.MAX_WBITS and data:
            # "deflate" is zlib by the standard, and raw in some servers.
            begun = True
            if data[0] & 0x0F != 8:
                machine = zlib.decompressobj(-zlib.MAX_WBITS)
        return machine.decompress(data, most)

    return step


def _gzip() -> Step:
    return _zlib(zlib.MAX_WBITS | 16)


def _deflate() -> Step:
    return _zlib(zlib.MAX_WBITS)


def _foreign(*modules: str, make: Callable[[Any], Step]) -> Callable[[], Step | None]:
    def found() -> Step | None:
        for name in modules:
            try:
                return make(importlib.import_module(name))
            except ImportError:
                continue
        return None

    return found


def _brotli(module: Any) -> Step:
    machine = module.Decompressor()
    return lambda data, _most: bytes(machine.process(data))


def _zstd(module: Any) -> Step:
    make = getattr(module, "ZstdDecompressor")  # noqa: B009 - three libraries, one name
    machine = make().decompressobj() if hasattr(make(), "decompressobj") else make()
    return lambda data, _most: bytes(machine.decompress(data))


_STEPS: Final[dict[str, Callable[[], Step | None]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _foreign("brotli", "brotlicffi", make=_brotli),
    "zstd": _foreign("compression.zstd", "backports.zstd", "zstandard", make=_zstd),
}
