"""JSON-RPC by lines: what drivers write, and the rule for what must not be written twice."""

from collections.abc import Mapping
from typing import Any

from midwatch.crew.drivers.line_protocol import answer_once, line
from midwatch.ports.room import Talk

NO_SUCH_METHOD = -32601


def request(number: int | str, method: str, given: Mapping[str, Any]) -> bytes:
    return line({"jsonrpc": "2.0", "id": number, "method": method, "params": given})


def notification(method: str, given: Mapping[str, Any] | None = None) -> bytes:
    """Make a notification, which has no answer."""
    return line({"jsonrpc": "2.0", "method": method} | ({"params": given} if given is not None else {}))


def result(number: Any, content: Mapping[str, Any]) -> bytes:
    """Answer a question."""
    return line({"jsonrpc": "2.0", "id": number, "result": content})


def refusal(number: Any, method: str) -> bytes:
    """Answer an unknown question; nothing runs because of it."""
    error = {"code": NO_SUCH_METHOD, "message": f"Midwatch does not answer {method}."}
    return line({"jsonrpc": "2.0", "id": number, "error": error})


async def once(talk: Talk, name: str, data: bytes) -> None:
    """Write what must not be written again after a restart."""
    await answer_once(talk, name, data)


def number_in(message: Mapping[str, Any], *keys: str) -> int | None:
    """Return the number under these keys, or None."""
    found = content(message, *keys[:-1]).get(keys[-1])
    return found if isinstance(found, int) else None


def content(message: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return the object under these keys, or an empty one."""
    at: Any = message
    for key in keys:
        at = at.get(key) if isinstance(at, Mapping) else None
    return at if isinstance(at, dict) else {}
