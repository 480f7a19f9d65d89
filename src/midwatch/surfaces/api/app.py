"""The API as one ASGI application over a house; every error has the same shape."""

import errno
import getpass
import os

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from midwatch.compose import House
from midwatch.errors import Broken, Exhausted, MidwatchError, Misuse, Unavailable, Unknown
from midwatch.surfaces.api import day, jobs, morning, night

PREFIX = "/api/v1"
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def make_app(house: House) -> FastAPI:
    """Fit the routes onto a house."""
    app = FastAPI(title="Midwatch", version="1", docs_url=None, redoc_url=None)
    app.state.house = house
    app.state.person = _owner()
    for part in (day, night, jobs, morning):
        app.include_router(part.router, prefix=PREFIX)
    app.add_exception_handler(MidwatchError, _ours)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _malformed)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _elsewhere)  # type: ignore[arg-type]
    app.add_exception_handler(Exception, _unforeseen)

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Tell that somebody is here."""
        return {"status": "ok"}

    @app.get("/readyz")
    async def readyz() -> dict[str, int | str]:
        """Tell that the database answers."""
        return {"status": "ok", "seq": await house.records.head()}

    return app


def _owner() -> str:
    """Name whose house this is; a user without an account (a container's number) is called by it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user-{os.getuid()}"


async def _ours(_: Request, error: MidwatchError) -> JSONResponse:
    return problem(error)


async def _malformed(_: Request, error: RequestValidationError) -> JSONResponse:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"][1:]) or "the request"
    expected = first.get("ctx", {}).get("expected", "")
    if expected:
        return problem(Misuse(f"{field} cannot be {first['input']!r}.", hint=f"It may be {expected}."))
    return problem(Misuse(f"{field}: {first['msg']}.", hint="The shapes are at /openapi.json."))


async def _elsewhere(request: Request, error: HTTPException) -> JSONResponse:
    """Nobody listens at that address, or not to that method."""
    told = Unknown(f"There is nothing at {request.method} {request.url.path}.", hint="The routes are at /openapi.json.")
    answer = problem(told)
    answer.status_code = error.status_code
    return answer


async def _unforeseen(_: Request, error: Exception) -> JSONResponse:
    """Answer in the one shape even then; the log has the rest."""
    said = str(getattr(error, "orig", None) or error)
    if "disk is full" in said or getattr(error, "errno", None) in FULL:
        return problem(
            Exhausted(
                "There is no room left on the disk; nothing was written.", hint="Free some space and do it again."
            )
        )
    if "locked" in said:
        return problem(Unavailable("The database is busy; nothing was written.", hint="Try again in a moment."))
    return problem(
        Broken(f"Something unforeseen: {type(error).__name__}: {said}.", hint="The server's log has the rest.")
    )


def problem(error: MidwatchError) -> JSONResponse:
    """Give the one error shape."""
    body = {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "because": list(error.because),
        "exit_code": error.exit_code,
    }
    return JSONResponse({"error": body}, status_code=error.status)
