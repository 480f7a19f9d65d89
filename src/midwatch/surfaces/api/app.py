"""The API as one ASGI application over a house; every error has the same shape."""

import getpass

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from midwatch.compose import House
from midwatch.errors import MidwatchError, Misuse
from midwatch.surfaces.api import day, morning, night

PREFIX = "/api/v1"


def make_app(house: House) -> FastAPI:
    """Fit the routes onto a house."""
    app = FastAPI(title="Midwatch", version="1", docs_url=None, redoc_url=None)
    app.state.house = house
    app.state.person = getpass.getuser()
    for part in (day, night, morning):
        app.include_router(part.router, prefix=PREFIX)
    app.add_exception_handler(MidwatchError, _ours)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _malformed)  # type: ignore[arg-type]

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Tell that somebody is here."""
        return {"status": "ok"}

    @app.get("/readyz")
    async def readyz() -> dict[str, int | str]:
        """Tell that the database answers."""
        return {"status": "ok", "seq": await house.records.head()}

    return app


async def _ours(_: Request, error: MidwatchError) -> JSONResponse:
    return problem(error)


async def _malformed(_: Request, error: RequestValidationError) -> JSONResponse:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"][1:])
    return problem(Misuse(f"{field}: {first['msg']}.", hint="See /openapi.json for the shapes."))


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
