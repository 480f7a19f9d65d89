"""The API as one ASGI application; every error has the same shape."""

import getpass
import os
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp

from midwatch.compose.house import House
from midwatch.errors import MidwatchError, Unknown
from midwatch.surfaces.api import agents, channels, day, jobs, morning, night, people, preflight, reading, stacks
from midwatch.surfaces.api import code as commanding
from midwatch.surfaces.api.access import Caller, TheHouse, WithState
from midwatch.surfaces.api.ascii_json import AsciiJson
from midwatch.surfaces.api.idempotency import OnlyOnce
from midwatch.surfaces.api.problems import RESPONSES, malformed, problem, unforeseen
from midwatch.terms.people import Role
from midwatch.terms.term import Term

PREFIX = "/api/v1"
Teller = Callable[[Request, MidwatchError], Response]


def make_app(house: House) -> ASGIApp:
    """Make the API for the socket, whose caller is the owner."""
    owner = Caller(_owner(), Role.OWNER, Role.OWNER.scopes, "socket")  # the kernel has checked the user
    return WithState(OnlyOnce(_api(), house), house=house, caller=owner)


@cache
def _api() -> FastAPI:
    app = FastAPI(title="Midwatch", version="1", docs_url=None, redoc_url=None, default_response_class=AsciiJson)
    fit(app, in_json)
    return app


def fit(app: FastAPI, tell: Teller) -> None:
    """Add the API's routes and the one error format to an application."""
    for part in (reading, day, night, commanding, jobs, morning, stacks, people, agents, channels, preflight):
        app.include_router(part.router, prefix=PREFIX, responses=RESPONSES)

    async def ours(request: Request, error: Exception) -> Response:
        return tell(request, error if isinstance(error, MidwatchError) else unforeseen(error))

    async def misasked(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101  registered for nothing else
        return tell(request, malformed([one | {"loc": one["loc"][1:]} for one in error.errors()]))

    async def elsewhere(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101  registered for nothing else
        path = request.url.path
        result = Unknown(f"There is nothing at {request.method} {path}.", hint="The routes are at /openapi.json.")
        if not path.startswith(PREFIX) and "text/html" in request.headers.get("accept", ""):
            result = Unknown("There is no such page.", hint="The day is on Tonight, Live and Morning.")
        answer = tell(request, result)
        answer.status_code = error.status_code
        answer.headers.update(error.headers or {})
        return answer

    app.add_exception_handler(MidwatchError, ours)
    app.add_exception_handler(Exception, ours)
    app.add_exception_handler(RequestValidationError, misasked)
    app.add_exception_handler(HTTPException, elsewhere)
    _health(app)
    _describe(app)


def _describe(app: FastAPI) -> None:
    """Describe the API as it is: a malformed request is answered in Midwatch's error shape, not in FastAPI's."""
    made = app.openapi

    def described() -> dict[str, Any]:
        schema = made()
        for path in schema["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
                for code in RESPONSES.keys() & operation["responses"].keys():
                    plain = operation["responses"][code]["content"].pop("text/plain", None)
                    operation["responses"][code]["content"].setdefault("application/json", plain)
        return schema

    app.openapi = described  # type: ignore[method-assign]


class Health(Term):
    """The answer of the health checks."""

    status: Literal["ok"] = "ok"


def _health(app: FastAPI) -> None:
    @app.get("/healthz")
    async def healthz() -> Health:
        """Answer while the server runs."""
        return Health()

    @app.get("/readyz")
    async def readyz(house: TheHouse) -> Health:
        """Answer while the database does."""
        await house.records.head()
        return Health()


def in_json(_: Request, error: MidwatchError) -> Response:
    return AsciiJson(problem(error), status_code=error.status)


def _owner() -> str:
    """Return the owner's name; a user without an account (a container's number) is named by the number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user-{os.getuid()}"
