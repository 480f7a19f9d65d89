"""Reads without a server, in this process, on a read-only database."""

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from pydantic import TypeAdapter, ValidationError, create_model

from midwatch.compose.read_side import ReadSide, has_database
from midwatch.errors import MidwatchError, Refused, Unavailable
from midwatch.settings import load_settings
from midwatch.surfaces.api.problems import malformed, problem
from midwatch.surfaces.queries.reads import PlainText, Read, found

API = "/api/v1"
JSON = "application/json"
Answer = tuple[int, dict[str, str], bytes]


def read_offline(home: Path, target: str) -> Answer:
    """Answer a GET from the database."""
    if not has_database(home):
        raise Unavailable(
            f"There is nothing in {home} yet.", hint="Look around first: midwatch demo; or begin: midwatch up --detach"
        )
    return asyncio.run(_answer(home, target))


def glance_offline(home: Path, target: str) -> list[dict[str, Any]]:
    """List something without loading a server: from the records, or by the names in the settings."""
    if not has_database(home):
        return []
    answer = asyncio.run(_by_query(home, target))
    rows: list[dict[str, Any]] = json.loads(answer[2]) if answer and answer[0] == 200 else []
    return rows


def named_in_settings(home: Path, table: str) -> list[str]:
    """List the names of a table of the settings."""
    return list(getattr(load_settings(home).settings, table).by_name())


async def _answer(home: Path, target: str) -> Answer:
    try:
        return await _by_query(home, target) or await _by_server(home, target)
    except MidwatchError as error:
        return error.status, {"content-type": JSON}, json.dumps(problem(error)).encode()
    except Exception as error:
        said = getattr(error, "orig", None)  # only the store knows the driver's error classes
        if said is None:
            raise
        raise Refused(
            f"The database cannot be read as it is: {said}.",
            hint="It may be from another version, or damaged. See which: midwatch up",
        ) from error


async def _by_query(home: Path, target: str) -> Answer | None:
    """Answer what needs no more than the records, without loading the rest of the server."""
    path, _, query = target.partition("?")
    asked = found(unquote(path).removeprefix(API))
    if asked is None:
        return None
    read, parts = asked
    given = dict(parse_qsl(query))
    house = ReadSide(home)
    try:
        await house.reload_settings()
        value, onward = await read.answer(house, _checked(read, given | parts))
    finally:
        await house.dispose()
    if isinstance(value, PlainText):
        return 200, {"content-type": "text/plain"} | dict(value.headers), value.text.encode(errors="replace")
    headers = {"content-type": JSON}
    if onward is not None:
        headers["link"] = f'<{path}?{urlencode(given | {"after": str(onward)})}>; rel="next"'
    return 200, headers, TypeAdapter(read.returns).dump_json(value)


def _checked(read: Read, given: dict[str, str]) -> dict[str, Any]:
    """Read the parameters as what they are: numbers, switches, levels."""
    fields: dict[str, Any] = {
        name: (one.annotation, ... if one.default is one.empty else one.default) for name, one in read.asked.items()
    }
    try:
        asked = create_model("Asked", **fields).model_validate(given)
    except ValidationError as error:
        raise malformed(error.errors()) from error
    return {name: getattr(asked, name) for name in fields}


async def _by_server(home: Path, target: str) -> Answer:
    """Answer by the server's own routes: what looks at agents, channels, checkouts or the whole journal."""
    from midwatch.compose.house import House  # noqa: PLC0415  the whole server
    from midwatch.surfaces.api.app import make_app  # noqa: PLC0415

    house = House(home)
    try:
        await house.reload_settings()
        return await _call(make_app(house), target)
    finally:
        await house.dispose()


async def _call(app: Any, target: str) -> Answer:
    import httpx  # noqa: PLC0415  heavy

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as caller:
        answer = await caller.get(target)
    return answer.status_code, dict(answer.headers), answer.content
