"""Talks to the server through its socket; without one, reading verbs read the database themselves."""

import http.client
import json
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn
from urllib.parse import quote, urlencode

from midwatch import errors
from midwatch.settings.folder import data_folder
from midwatch.surfaces.address import LONGEST_SOCKET_PATH, SOCKET
from midwatch.views.text.plain import harmless

API = "/api/v1"
GLANCE_SECONDS = 1.0
"""A shell that completes a name waits no longer."""
SEND_SECONDS = 120.0
"""What changes something is answered by then."""
NO_SERVER = (FileNotFoundError, NotADirectoryError, ConnectionRefusedError)
"""The errors that mean that no server is at the socket."""


class ServerEnded(ConnectionRefusedError):
    """Our own server ended before it answered."""


class SocketConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path, timeout: float | None) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        """Connect to the file instead of a host."""
        if len(bytes(self._path)) > LONGEST_SOCKET_PATH:
            raise FileNotFoundError(self._path)  # no server can be there: the kernel would not bind it
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def home() -> Path:
    return data_folder()


def server_answers(timeout: float = 5.0) -> bool:
    try:
        _over_socket("GET", "/healthz", None, timeout)
    except (OSError, http.client.HTTPException):
        return False
    return True


def get(path: str, **query: Any) -> Any:
    """Read something; works without a server too. A list in pages is read to its end."""
    result = _page(_target(path, query))
    while isinstance(result.value, list) and result.next:
        more = _page(result.next)
        result = ApiAnswer(result.value + more.value, more.next)
    return result.value


def glance(path: str) -> list[dict[str, Any]]:
    """List something for a shell that waits: from a server that answers at once, else from what is stored here."""
    try:
        status, headers, body = _over_socket("GET", API + path, None, GLANCE_SECONDS)
    except NO_SERVER:
        if not home().exists():
            return []
        from midwatch.surfaces.cli.shell.offline import glance_offline  # noqa: PLC0415  heavy, and rarely needed

        return glance_offline(home(), API + path)
    rows: list[dict[str, Any]] = understood(status, headers.get("content-type", ""), body)
    return rows


def names_in_settings(table: str) -> list[str]:
    """List what the settings name, without asking anything that is slow: an agent's program, a channel's service."""
    if not home().exists():
        return []
    from midwatch.surfaces.cli.shell.offline import named_in_settings  # noqa: PLC0415  heavy

    return named_in_settings(home(), table)


def wait_for(path: str, **query: Any) -> Any:
    """Read what only a running server carries on; without one, waiting would never end."""
    return _page(_target(path, query), offline=False).value


def pages(path: str, **query: Any) -> Iterator[list[Any]]:
    target = _target(path, query)
    while target:
        result = _page(target)
        yield result.value
        target = result.next


def _target(path: str, query: Mapping[str, Any]) -> str:
    asked = {name: value for name, value in query.items() if value not in ("", None)}
    return API + path + (f"?{urlencode(asked)}" if asked else "")


class ApiAnswer(NamedTuple):
    """The answer, the next page of a long list, and the other headers."""

    value: Any
    next: str = ""
    headers: Mapping[str, str] = MappingProxyType({})


def read(path: str, **query: Any) -> ApiAnswer:
    """Read something with its headers; works without a server too."""
    return _page(_target(path, query))


def _page(target: str, *, offline: bool = True) -> ApiAnswer:
    try:
        status, headers, body = _over_socket("GET", target, None, 60)
    except NO_SERVER as error:
        if not offline:
            raise errors.Unavailable(
                "Midwatch stopped; what it was doing resumes at the next start.", hint="Start it: midwatch up --detach"
            ) from error
        from midwatch.surfaces.cli.shell.offline import read_offline  # noqa: PLC0415  heavy, and rarely needed

        status, headers, body = read_offline(home(), target)
    except (OSError, http.client.HTTPException) as error:
        raise _unanswered(error) from error
    link = headers.get("link", "")
    onward = link[1 : link.index(">")] if 'rel="next"' in link else ""
    return ApiAnswer(understood(status, headers.get("content-type", ""), body), onward, headers)


def send(method: str, path: str, body: Any = None, *, patience: float | None = SEND_SECONDS, **query: Any) -> Any:
    """Change something; needs the server. Without patience it waits for as long as the server works on it."""
    target, given = _target(path, query), {} if body is None else body
    try:
        status, headers, answer = _over_socket(method, target, given, patience)
    except ServerEnded:
        raise errors.Unavailable(
            "Midwatch ended before it answered; this may have been done or not.",
            hint="Start it and look before you try again: midwatch up --detach",
        ) from None
    except NO_SERVER:
        raise errors.Unavailable("Midwatch is not running.", hint="Start it: midwatch up --detach") from None
    except (OSError, http.client.HTTPException) as error:
        raise _unanswered(error) from error
    return understood(status, headers.get("content-type", ""), answer)


def _unanswered(error: Exception) -> errors.MidwatchError:
    """Say why a running server gave no answer."""
    if isinstance(error, PermissionError | ConnectionResetError | BrokenPipeError):
        return errors.Refused(
            f"Midwatch in {home()} answers only its owner.",
            hint="Use your own: set MIDWATCH_HOME to your own folder.",
        )
    return errors.Unavailable(
        f"Midwatch did not answer: {str(error) or type(error).__name__}.", hint="Check it: midwatch doctor"
    )


def part(name: object) -> str:
    """Make a name safe inside a path."""
    return quote(str(name), safe="")


def _over_socket(method: str, target: str, body: Any, timeout: float | None) -> tuple[int, dict[str, str], bytes]:
    connection = SocketConnection(home() / SOCKET, timeout)
    try:
        payload = None if body is None else json.dumps(body)
        connection.request(method, target, payload, {"Content-Type": "application/json"} if payload else {})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()
    except (ConnectionResetError, BrokenPipeError) as error:
        if _is_ours():
            raise ServerEnded from error
        raise
    finally:
        connection.close()


def _is_ours() -> bool:
    """Whether the server lets this user in: hanging up then means that it ended, not that it refused."""
    try:
        return os.geteuid() in {0, (home() / SOCKET).stat().st_uid}
    except FileNotFoundError:
        return True


def understood(status: int, kind: str, body: bytes) -> Any:
    """Read an answer; an error in it is raised as the same class as on the server."""
    if status >= 400:
        _raise(status, body)
    result = json.loads(body) if kind.startswith("application/json") else body.decode(errors="replace")
    return _for_eyes(result) if sys.stdout.isatty() else result


def _for_eyes(result: Any) -> Any:
    """Before a terminal: agents and repositories wrote some of this, and escape codes would be executed."""
    if isinstance(result, str):
        return harmless(result)
    if isinstance(result, list):
        return [_for_eyes(one) for one in result]
    if isinstance(result, dict):
        return {name: _for_eyes(one) for name, one in result.items()}
    return result


def _raise(status: int, body: bytes) -> NoReturn:
    try:
        result = _for_eyes(json.loads(body)["error"])  # it may quote a file name that an agent chose
    except (ValueError, KeyError, TypeError):
        raise errors.Broken(
            f"The server answered {status} without saying why.", hint="Its log: midwatch doctor"
        ) from None
    raise errors.reported(
        result["code"], result["exit_code"], result["message"], result["hint"], tuple(result["because"])
    )
