"""Reads without a server: the same routes, in this process, on a read-only database."""

import asyncio
import json
from pathlib import Path

from midwatch.compose import House
from midwatch.compose.house import has_database
from midwatch.errors import MidwatchError, Refused, Unavailable
from midwatch.surfaces.api.app import make_app
from midwatch.surfaces.api.problems import problem


def read_offline(home: Path, target: str) -> tuple[int, dict[str, str], bytes]:
    """Answer a GET from the database."""
    if not has_database(home):
        raise Unavailable(
            f"There is nothing in {home} yet.", hint="Look around first: midwatch demo; or begin: midwatch up --detach"
        )
    return asyncio.run(_answer(home, target))


async def _answer(home: Path, target: str) -> tuple[int, dict[str, str], bytes]:
    house = House(home)
    try:
        await house.reload_settings()
        return await _call(make_app(house), target)
    except MidwatchError as error:
        return error.status, {"content-type": "application/json"}, json.dumps(problem(error)).encode()
    except Exception as error:
        said = getattr(error, "orig", None)  # only the store knows the driver's error classes
        if said is None:
            raise
        raise Refused(
            f"The database cannot be read as it is: {said}.",
            hint="It may be from another version, or damaged. See which: midwatch up",
        ) from error
    finally:
        await house.dispose()


async def _call(app: object, target: str) -> tuple[int, dict[str, str], bytes]:
    path, _, query = target.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"localhost")],
    }
    status, said, body = 500, dict[str, str](), b""

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, object]) -> None:
        nonlocal status, said, body
        if message["type"] == "http.response.start":
            status = int(str(message["status"]))
            headers: list[tuple[bytes, bytes]] = message["headers"]  # type: ignore[assignment]
            said = {name.decode().lower(): value.decode() for name, value in headers}
        elif message["type"] == "http.response.body":
            body += bytes(message.get("body", b""))  # type: ignore[call-overload]

    await app(scope, receive, send)  # type: ignore[operator]
    return status, said, body
