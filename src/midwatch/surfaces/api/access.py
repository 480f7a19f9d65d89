"""What every route needs: the application, the caller, and whether the caller is allowed."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, Request
from fastapi.routing import APIRoute
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from midwatch.compose.house import House
from midwatch.errors import Refused
from midwatch.terms.people import LOWEST_ROLE, Role, Scope


class WithState:
    """Gives each request what this server works with; the application itself is built once in a process."""

    def __init__(self, app: ASGIApp, **state: object) -> None:
        self._app = app
        self._state = state

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {}).update(self._state)
        await self._app(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is asking, how they authenticated, and what they may do."""

    name: str
    role: Role
    scopes: frozenset[Scope]
    way: Literal["socket", "login", "token"]
    csrf: str = ""
    identity: str = ""
    """Person and token by id, because a name can be given again; empty on the socket."""

    def may(self, scope: Scope) -> bool:
        """Return whether this caller has this scope."""
        return scope in self.scopes

    @property
    def capped(self) -> bool:
        """Whether orders, commands and answers stay inside what an owner granted; a program is never an owner."""
        return self.way == "token" or self.role is not Role.OWNER


async def _house(request: Request) -> House:
    house: House = request.state.house  # set by `WithState`
    return house


async def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller  # set by the guard: the socket's owner, a login or a token
    return caller


async def _person(caller: Annotated[Caller, Depends(_caller)]) -> str:
    return caller.name


TheHouse = Annotated[House, Depends(_house)]
TheCaller = Annotated[Caller, Depends(_caller)]
Person = Annotated[str, Depends(_person)]


class Needs:
    """Requires a scope of the caller; every route has exactly one, and a test lists them."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    async def __call__(self, caller: TheCaller) -> None:
        """Refuse other callers."""
        if caller.may(self.scope):
            return
        raise Refused(
            f"This needs the role {LOWEST_ROLE[self.scope]} or more; you are {caller.role}."
            if self.scope not in caller.role.scopes
            else f"This token may not {self.scope}.",
            hint="Ask the owner: midwatch person role NAME ROLE"
            if self.scope not in caller.role.scopes
            else f"Make one that may: midwatch token new NAME --scope {self.scope}",
        )


async def _on_this_machine(caller: TheCaller) -> None:
    if caller.way != "socket":
        raise Refused(
            "Where a credential is stored, and whom it is shown to, is said on the machine itself only.",
            hint="On the machine: midwatch agent login NAME",
        )


OnThisMachine = Depends(_on_this_machine)
"""Marks a route that only the owner's socket may use, whatever the role."""


@cache
def needed_scopes(app: FastAPI) -> tuple[tuple[str, re.Pattern[str], Scope], ...]:
    """Return method, path and needed scope of every route that needs one."""
    return tuple(
        (method, compile_path(path)[0], needs.scope)
        for path, route in _routes(app.routes)
        for needs in (one.call for one in route.dependant.dependencies)
        if isinstance(needs, Needs)
        for method in route.methods or ()
    )


def _routes(routes: Iterable[Any], prefix: str = "") -> Iterator[tuple[str, APIRoute]]:
    """Yield each route with its whole path; a router that was included holds its own."""
    for route in routes:
        if isinstance(route, APIRoute):
            yield prefix + route.path, route
        elif hasattr(route, "original_router"):
            yield from _routes(route.original_router.routes, prefix + route.include_context.prefix)


NEEDS = {scope: Depends(Needs(scope)) for scope in Scope}
Reads, Answers, Operates, Governs = NEEDS.values()
