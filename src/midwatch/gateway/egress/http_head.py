"""Heads of HTTP/1.1 messages, parsed strictly: what two parsers could read differently is refused."""

import re
from dataclasses import dataclass
from typing import Final

from midwatch.gateway.egress.connection import EgressRefused
from midwatch.rules.budget.egress import port_in, shown

LARGEST_HEAD: Final = 32_768
MOST_FIELDS: Final = 100
HOP_BY_HOP: Final = frozenset(
    {
        *("connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization"),
        *("te", "trailer", "transfer-encoding", "upgrade"),
    }
)

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_VISIBLE: Final = re.compile(r"[!-~]+")
_LENGTH: Final = re.compile(r"[0-9]{1,15}", re.ASCII)
_STATUS: Final = re.compile(r"HTTP/1\.[01] ([1-5][0-9][0-9])(?: [\t\x20-\x7e\x80-\xff]*)?")


@dataclass(frozen=True, slots=True)
class MessageHead:
    """The first line and the fields, as received."""

    first: str
    fields: tuple[tuple[str, str], ...]

    def values(self, name: str) -> list[str]:
        """Return all values of a field, in order."""
        return [value for known, value in self.fields if known.lower() == name]

    def kept(self, *dropped: str) -> tuple[tuple[str, str], ...]:
        """Return the fields that are meant for the remote host."""
        named = {word.strip().lower() for value in self.values("connection") for word in value.split(",")}
        gone = HOP_BY_HOP | named | set(dropped)
        return tuple((name, value) for name, value in self.fields if name.lower() not in gone)


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """One parsed request to a proxy."""

    method: str
    host: str
    port: int
    path: str
    """Empty for CONNECT."""
    version: str
    head: MessageHead
    length: int | None = None
    """Length of the body; None when there is none or it is chunked."""
    chunked: bool = False

    @property
    def authority(self) -> str:
        """Return the Host field of a plain http request."""
        return self.host if self.port == 80 else f"{self.host}:{self.port}"


def read_request(raw: bytes, *, to: tuple[str, int] | None = None) -> ProxyRequest:
    """Parse the head of a request; anything not clearly valid is refused.

    `to` is the host of an opened tunnel: requests in it name only a path.
    """
    head = _read_head(raw)
    words = head.first.split(" ")
    if len(words) != 3 or not _TOKEN.fullmatch(words[0]) or words[2] not in {"HTTP/1.1", "HTTP/1.0"}:
        raise _odd("its first line is not one of HTTP/1.1")
    method, target, version = words
    if not _VISIBLE.fullmatch(target):
        raise _odd("its target has invalid characters")
    if method != method.upper() or method == "TRACE":
        raise _odd(f"the method {shown(method)} is not supported")
    if len(head.values("host")) > 1:
        raise _odd("it names two hosts")
    if [value.lower() for value in head.values("expect")] not in ([], ["100-continue"]):
        raise _odd("it expects something we do not know")
    length, chunked = _framing(head, version)
    if method == "CONNECT" and to is None:
        if chunked or length is not None:
            raise _odd("a tunnel request has no body")
        host, port = _authority(target, None)
        return ProxyRequest(method, host, port, "", version, head)
    host, port, path = _absolute(target) if to is None else (*to, _path(target))
    return ProxyRequest(method, host, port, path, version, head, length, chunked)


def read_response(raw: bytes) -> tuple[int, MessageHead]:
    """Parse the head of an answer from the internet."""
    head = _read_head(raw)
    found = _STATUS.fullmatch(head.first)
    if found is None:
        raise _odd("the first line of the answer is not one of HTTP/1.1")
    return int(found[1]), head


def written(first: str, fields: tuple[tuple[str, str], ...]) -> bytes:
    """Write a head; nothing in it can end a line early."""
    for name, value in fields:
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise _odd(f"the field {shown(name)} has invalid characters")
    lines = [first, *(f"{name}: {value}" for name, value in fields), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def _read_head(raw: bytes) -> MessageHead:
    if len(raw) > LARGEST_HEAD:
        raise EgressRefused("The request was refused: its head is too large.", status=431)
    if not raw.endswith(b"\r\n\r\n"):
        raise _odd("its head has no end")
    lines = raw[:-4].decode("latin-1").split("\r\n")
    if len(lines) > MOST_FIELDS + 1:
        raise EgressRefused("The request was refused: it has too many fields.", status=431)
    return MessageHead(_line(lines[0]), tuple(_field(line) for line in lines[1:]))


def _line(line: str) -> str:
    # Also a bare CR or LF, which some servers take for the end of a line and others do not.
    if not _VALUE.fullmatch(line):
        raise _odd("a line of its head has invalid characters")
    return line


def _field(line: str) -> tuple[str, str]:
    name, colon, value = _line(line).partition(":")
    if not colon or not _TOKEN.fullmatch(name):
        raise _odd("a field of its head is malformed")
    return name, value.strip(" \t")


def _framing(head: MessageHead, version: str) -> tuple[int | None, bool]:
    lengths, codings = head.values("content-length"), head.values("transfer-encoding")
    if lengths and codings:
        raise _odd("it gives its length in two ways")
    if len(lengths) > 1 or len(codings) > 1:
        raise _odd("it gives its length twice")
    if codings:
        if codings[0].lower() != "chunked" or version != "HTTP/1.1":
            raise _odd("its transfer coding is not plain chunked")
        return None, True
    if not lengths:
        return None, False
    if not _LENGTH.fullmatch(lengths[0]):
        raise _odd("its length is not a plain number")
    return int(lengths[0]), False


def _authority(text: str, usual_port: int | None) -> tuple[str, int]:
    if "@" in text:
        raise EgressRefused(f"{shown(text)} cannot be reached: a name may not carry a user or a password.")
    host, colon, digits = text.rpartition(":")
    if (not colon or text.endswith("]")) and usual_port is not None:
        return text, usual_port
    port = port_in(digits)
    if not colon or port is None:
        raise _odd(f"{shown(text)} has no plain port")
    return host, port


def _absolute(target: str) -> tuple[str, int, str]:
    scheme, separator, rest = target.partition("://")
    if scheme.lower() != "http" or not separator:
        raise _odd("it is not an http:// address, nor CONNECT for https")
    ends = [at for at in (rest.find(mark) for mark in "/?#") if at >= 0]
    cut = min(ends, default=len(rest))
    host, port = _authority(rest[:cut], 80)
    path = rest[cut:]
    if "#" in path:
        raise _odd("its target has a fragment")
    return host, port, path if path.startswith("/") else "/" + path


def _path(target: str) -> str:
    if not target.startswith("/") or "#" in target:
        raise _odd("its target is not a path")
    return target


def _odd(what: str) -> EgressRefused:
    return EgressRefused(f"The request was refused: {what}.", status=400)
