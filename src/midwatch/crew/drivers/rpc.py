"""JSON-RPC by lines, as drivers speak it: what we write, and the one rule for what must not be written twice."""

from collections.abc import Mapping
from typing import Any

from midwatch.crew.drivers.line_protocol import answer_once, line
from midwatch.ports.room import Talk

NO_SUCH_METHOD = -32601


def request(number: int | str, method: str, given: Mapping[str, Any]) -> bytes:
    """Ask for something."""
    return line({"jsonrpc": "2.0", "id": number, "method": method, "params": given})


def notification(method: str, given: Mapping[str, Any] | None = None) -> bytes:
    """Say something that has no answer."""
    return line({"jsonrpc": "2.0", "method": method} | ({"params": given} if given is not None else {}))


def result(number: Any, content: Mapping[str, Any]) -> bytes:
    """Answer a question."""
    return line({"jsonrpc": "2.0", "id": number, "result": content})


def refusal(number: Any, method: str) -> bytes:
    """Answer a question we do not know; nothing runs because of it."""
    error = {"code": NO_SUCH_METHOD, "message": f"Midwatch does not answer {method}."}
    return line({"jsonrpc": "2.0", "id": number, "error": error})


async def once(talk: Talk, name: str, data: bytes) -> None:
    """Write what must not be written again after a restart."""
    await answer_once(talk, name, data)


def content(message: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Give the object that lies under these keys, or an empty one."""
    at: Any = message
    for key in keys:
        at = at.get(key) if isinstance(at, Mapping) else None
    return at if isinstance(at, dict) else {}
