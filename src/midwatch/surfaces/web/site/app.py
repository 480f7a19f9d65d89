"""The site: the API and the pages in one application, behind the guard."""

from functools import cache

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from midwatch.compose.house import House
from midwatch.errors import MidwatchError
from midwatch.surfaces.api.access import TheHouse, WithState
from midwatch.surfaces.api.app import PREFIX, fit
from midwatch.surfaces.api.ascii_json import AsciiJson
from midwatch.surfaces.api.idempotency import OnlyOnce
from midwatch.surfaces.api.problems import problem
from midwatch.surfaces.web.pages import live, morning, tonight
from midwatch.surfaces.web.site import login
from midwatch.surfaces.web.site.guard import Guard
from midwatch.surfaces.web.site.page import STATIC, fragment, page
from midwatch.surfaces.web.stream import feed
from midwatch.surfaces.web.stream.feed import Feed
from midwatch.surfaces.web.stream.live_regions import Painter


class Site:
    """The site that a browser sees."""

    def __init__(self, house: House, *, port: int) -> None:
        self._house = house
        self.port = port
        painter = Painter(house)
        self.feed = Feed(house, painter.paint)
        self.app = _pages_and_api()
        inside = WithState(OnlyOnce(self.app, house), house=house, feed=self.feed, painter=painter)
        self.guarded: ASGIApp = Guard(inside, house.entrance, self.hosts)

    def hosts(self) -> frozenset[str]:
        """Return the host names under which a browser may reach Midwatch."""
        settings = self._house.loaded.settings
        allowed = settings.server.allowed_hosts
        here = {"127.0.0.1", "localhost", "[::1]", settings.server.host} - {"0.0.0.0", "::"}  # noqa: S104  no names
        return frozenset({f"{name}:{self.port}" for name in (*here, *allowed)} | set(allowed))


@cache
def _pages_and_api() -> FastAPI:
    app = FastAPI(title="Midwatch", version="1", docs_url=None, redoc_url=None, default_response_class=AsciiJson)
    fit(app, error_page)
    for part in (login, tonight, live, morning, feed):
        app.include_router(part.router)
    app.mount("/static", StaticFiles(directory=STATIC))
    app.add_api_route("/favicon.ico", _favicon, include_in_schema=False)
    app.add_api_route("/hooks/github/{forge}", github_hook, methods=["POST"], include_in_schema=False)
    app.add_middleware(GZipMiddleware, minimum_size=600)
    return app


def error_page(request: Request, error: MidwatchError) -> Response:
    """Return an error in the reader's form: JSON for a program, a page, or a part of a page."""
    if request.url.path.startswith(PREFIX) or "text/html" not in request.headers.get("accept", "text/html"):
        return AsciiJson(problem(error), status_code=error.status)
    if "hx-request" in request.headers:
        text = fragment("_problem.html", message=error.message, hint=error.hint)
        return HTMLResponse(
            text, status_code=error.status, headers={"hx-retarget": "#problem", "hx-reswap": "innerHTML"}
        )
    return page(request, "problem.html", status=error.status, message=error.message, hint=error.hint)


async def github_hook(house: TheHouse, request: Request, forge: str) -> Response:
    """Receive a webhook of GitHub: a message that something changed. It is not trusted; Midwatch checks the forge."""
    new = await house.forges.hear(forge, await request.body(), request.headers)
    if new:
        await house.forge_watch.wake_now(forge)
    return AsciiJson({"status": "heard" if new else "nothing new"}, status_code=202 if new else 200)


async def _favicon() -> Response:
    return RedirectResponse("/static/favicon.svg", status_code=308)
