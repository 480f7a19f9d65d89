"""The pages of the login: log in, the one-time link, log out."""

from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from midwatch.errors import MidwatchError
from midwatch.evening import accounts as door
from midwatch.surfaces.api.access import TheHouse
from midwatch.surfaces.web.site.guard import COOKIE
from midwatch.surfaces.web.site.page import page
from midwatch.terms.records import PersonRow

router = APIRouter(include_in_schema=False)


@router.get("/login")
async def login(request: Request, next: str = "/") -> Response:  # noqa: A002  the word everybody uses
    """Show the login page."""
    if request.state.caller is not None:
        return RedirectResponse(_inside(next), status_code=303)
    return page(request, "login.html", problem="", next=_inside(next))


@router.post("/login")
async def enter(request: Request, house: TheHouse) -> Response:
    """Log a person in."""
    form = await request.form()
    goal = _inside(str(form.get("next", "/")))
    address = request.client.host if request.client else ""
    try:
        name, password = str(form.get("name", "")).strip(), str(form.get("password", ""))
        _, cookie = await door.enter(house.entrance, name, password, address=address)
    except MidwatchError as refused:
        return page(request, "login.html", status=refused.status, problem=refused.message, next=goal)
    return _let_in(request, house, cookie, goal)


@router.get("/welcome")
async def welcome(request: Request, key: str = "") -> Response:
    """Show what a one-time link is for; opening it does not use it up."""
    return page(request, "welcome.html", problem="", key=key)


@router.post("/welcome")
async def accept(request: Request, house: TheHouse) -> Response:
    """Set name and password, and log in."""
    form = await request.form()
    key = str(form.get("key", ""))
    try:
        name, password = str(form.get("name", "")).strip(), str(form.get("password", ""))
        _, cookie = await door.accept(house.entrance, key, name, password)
    except MidwatchError as refused:
        return page(request, "welcome.html", status=refused.status, problem=refused.message, key=key)
    return _let_in(request, house, cookie, "/")


@router.post("/logout")
async def leave(request: Request, house: TheHouse) -> Response:
    """Log out here."""
    if request.state.caller is not None and request.state.cookie:
        person = await house.records.get(PersonRow, request.state.caller.name)
        await door.leave(house.entrance, request.state.cookie, person)
    answer = RedirectResponse("/login", status_code=303)
    answer.delete_cookie(COOKIE, path="/")
    return answer


def _let_in(request: Request, house: TheHouse, cookie: str, goal: str) -> Response:
    answer = RedirectResponse(goal, status_code=303)
    answer.set_cookie(
        COOKIE,
        cookie,
        max_age=int(house.entrance.longest().total_seconds()),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https",
        path="/",
    )
    return answer


def _inside(address: str) -> str:
    """Accept only Midwatch's own pages: a link elsewhere would make the login a trap."""
    parts = urlsplit(address)
    inside = not parts.scheme and not parts.netloc and address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if inside else "/"
