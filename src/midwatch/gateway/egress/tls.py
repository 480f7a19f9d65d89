"""Reads the host name in a ClientHello without opening TLS."""

from dataclasses import dataclass
from typing import Final

from midwatch.gateway.egress.connection import EgressRefused
from midwatch.rules.budget.egress import shown

LARGEST_HELLO: Final = 32_768
MOST_RECORDS: Final = 64
LARGEST_RECORD: Final = 16_384
RETRY_SEEN_AFTER: Final = 43
"""This many bytes of a server's first flight show whether it asks for a second hello."""

_HANDSHAKE: Final = 22
_CLIENT_HELLO: Final = 1
_SERVER_NAME: Final = 0
_ENCRYPTED_HELLO: Final = frozenset({0xFE0D, 0xFFCE, 0xFE0A, 0xFE09, 0xFE08})
_CHANGE_CIPHER: Final = b"\x14\x03\x03\x00\x01\x01"
_RETRY: Final = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
ACCESS_DENIED: Final = b"\x15\x03\x03\x00\x02\x02\x31"
"""The alert that makes a client report a refusal, instead of a lost connection."""


@dataclass(frozen=True, slots=True)
class ClientHello:
    """A complete ClientHello: the one name in it, and where it ends in the received bytes."""

    name: str
    end: int


class _Bytes:
    """Reads lengths and parts in order; a missing part is a refusal."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0

    def take(self, count: int) -> bytes:
        part = self._raw[self._at : self._at + count]
        if len(part) < count:
            raise _garbled()
        self._at += count
        return part

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def part(self, size: int) -> "_Bytes":
        return _Bytes(self.take(self.number(size)))

    def rest(self) -> bytes:
        return self.take(len(self._raw) - self._at)

    @property
    def done(self) -> bool:
        return self._at >= len(self._raw)

    def must_be_done(self) -> None:
        if not self.done:
            raise _garbled()


def read_hello(raw: bytes, *, again: bool = False) -> ClientHello | None:
    """Parse the hello at the beginning; None while more bytes are needed."""
    skipped = 0
    if again and raw[:1] == _CHANGE_CIPHER[:1]:
        if len(raw) < len(_CHANGE_CIPHER):
            return None
        if not raw.startswith(_CHANGE_CIPHER):
            raise _garbled()
        skipped = len(_CHANGE_CIPHER)
    joined = _joined(raw[skipped:])
    if joined is None:
        if len(raw) >= LARGEST_HELLO:
            raise _garbled()
        return None
    message, end = joined
    return ClientHello(_name(_Bytes(message[4:])), skipped + end)


def check_name(hello: ClientHello, host: str) -> None:
    """Refuse a hello for another host than the tunnel's."""
    if hello.name.lower() != host:
        raise EgressRefused(f"The tunnel to {host} asked for {shown(hello.name)} inside.")


def asks_again(first_flight: bytes) -> bool:
    """Whether a server asks for a second hello, whose name must be checked as well."""
    if first_flight[:1] != bytes([_HANDSHAKE]):
        return False
    if len(first_flight) < RETRY_SEEN_AFTER or int.from_bytes(first_flight[3:5], "big") < RETRY_SEEN_AFTER - 5:
        raise EgressRefused("The host began TLS in a way that cannot be checked.", "failed", 502)
    return first_flight[5] == 2 and first_flight[11:43] == _RETRY


def _joined(raw: bytes) -> tuple[bytes, int] | None:
    """Join the hello from its records."""
    message, at = b"", 0
    for _ in range(MOST_RECORDS):
        header = raw[at : at + 5]
        if header[:1] not in {b"", bytes([_HANDSHAKE])} or header[1:2] not in {b"", b"\x03"}:
            raise EgressRefused("What went into the tunnel is not TLS.")
        if len(header) < 5:
            return None
        size = int.from_bytes(header[3:5], "big")
        if not 0 < size <= LARGEST_RECORD:
            raise _garbled()
        part = raw[at + 5 : at + 5 + size]
        message += part
        missing = _missing(message)
        if len(part) < size:
            return None
        at += 5 + size
        if missing == 0:
            return message, at
    raise _garbled()


def _missing(message: bytes) -> int:
    """How many bytes a hello lacks; one followed by more data in the same record is refused."""
    if message[:1] not in {b"", bytes([_CLIENT_HELLO])}:
        raise EgressRefused("TLS in the tunnel does not begin with a hello.")
    if len(message) < 4:
        return 1
    missing = 4 + int.from_bytes(message[1:4], "big") - len(message)
    if missing < 0 or missing > LARGEST_HELLO:
        raise _garbled()
    return missing


def _name(body: _Bytes) -> str:
    if body.take(2)[0] != 3:
        raise _garbled()
    body.take(32)
    body.part(1)
    body.part(2)
    body.part(1)
    if body.done:
        raise EgressRefused("The TLS hello in the tunnel names no host.")
    extensions = body.part(2)
    body.must_be_done()
    names: list[str] = []
    while not extensions.done:
        kind, content = extensions.number(2), extensions.part(2)
        if kind in _ENCRYPTED_HELLO:
            raise EgressRefused("The TLS hello in the tunnel hides its real host (ECH), so it cannot be checked.")
        if kind == _SERVER_NAME:
            names.extend(_server_names(content))
    if len(names) != 1:
        raise EgressRefused(f"The TLS hello in the tunnel names {'two hosts' if names else 'no host'}.")
    return names[0]


def _server_names(content: _Bytes) -> list[str]:
    entries = content.part(2)
    content.must_be_done()
    names = []
    while not entries.done:
        kind, name = entries.number(1), entries.part(2).rest()
        if kind != 0 or not name or not name.isascii():
            raise _garbled()
        names.append(name.decode("ascii"))
    return names


def _garbled() -> EgressRefused:
    return EgressRefused("The TLS hello in the tunnel is malformed.")
