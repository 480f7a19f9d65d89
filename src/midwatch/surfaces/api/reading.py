"""Routes for everything that `surfaces/queries` can read.

Its own module: these routes are made from the reads, the others are written by hand, one module for each resource.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Annotated, Any, get_args, get_origin

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic.fields import FieldInfo

from midwatch.surfaces.api.access import NEEDS, TheHouse
from midwatch.surfaces.api.ascii_json import AsciiJson
from midwatch.surfaces.queries.reads import MODULES, PlainText, Read, reads_of


def _endpoint(read: Read) -> Callable[..., Awaitable[Any]]:
    """Ask FastAPI for what a read needs, and answer with the address of the next page in the `Link` header."""

    async def endpoint(house: TheHouse, request: Request, response: Response, **asked: Any) -> Any:
        value, onward = await read.answer(house, asked)
        if onward is not None:
            url = request.url.include_query_params(after=onward)
            response.headers["link"] = f'<{url.path}?{url.query}>; rel="next"'
        return PlainTextResponse(value.text, headers=dict(value.headers)) if isinstance(value, PlainText) else value

    ours = list(inspect.signature(endpoint).parameters.values())[:-1]
    endpoint.__doc__ = read.function.__doc__
    endpoint.__signature__ = inspect.Signature([*ours, *_parameters(read)])  # type: ignore[attr-defined]
    return endpoint


def _parameters(read: Read) -> Iterable[inspect.Parameter]:
    """Describe each parameter as FastAPI expects it: where it is in the request, and under which name."""
    for name, parameter in read.asked.items():
        place, kind = Path if f"{{{name}}}" in read.path else Query, parameter.annotation
        said = (
            [one for one in get_args(kind)[1:] if isinstance(one, FieldInfo)] if get_origin(kind) is Annotated else []
        )
        if said:
            kind = Annotated[kind, place(alias=said[0].alias, description=said[0].description)]
        yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind)


router = APIRouter()
for one in (one for module in dict.fromkeys(MODULES.values()) for one in reads_of(module)):
    router.add_api_route(
        one.path,
        _endpoint(one),
        name=one.function.__name__,
        dependencies=[NEEDS[one.scope]],
        response_model=None if one.returns is PlainText else one.returns,
        response_class=PlainTextResponse if one.returns is PlainText else AsciiJson,
    )
