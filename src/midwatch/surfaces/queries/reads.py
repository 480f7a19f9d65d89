"""What can be read, each with its path: the API serves it, and the command line answers it itself without a server."""

import importlib
import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, TypeVar

from pydantic import Field

from midwatch.compose.read_side import ReadSide
from midwatch.ports.journal import Numbered
from midwatch.terms.people import Scope
from midwatch.terms.term import Term

MOST = 1000
LONGEST_WAIT = 25.0
"""Seconds that a reader may wait for news in one request."""
N = TypeVar("N", bound=Numbered)
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Awaitable[Any]])
Place = Annotated[int, Field(ge=0, le=2**62, description="The number of the last row seen.")]
PageSize = Annotated[int, Field(ge=1, le=MOST)]
MODULES: Mapping[str, str] = {
    **dict.fromkeys(("projects", "goals", "work", "settings", "level", "forges"), "day"),
    "status": "status",
    **dict.fromkeys(("orders", "sessions", "runs", "entries"), "nights"),
    "asks": "asks",
    **dict.fromkeys(("jobs", "pull_requests"), "jobs"),
    **dict.fromkeys(("morning", "rehearse", "replay", "why"), "morning"),
    "stacks": "stacks",
    **dict.fromkeys(("people", "tokens"), "people"),
}
"""The module that answers, by the first part of the path, so that only this one is loaded."""


class Page:
    """Which part of a long list is requested, and after which row the next page begins."""

    def __init__(self, after: Place = 0, limit: PageSize = MOST) -> None:
        self.after, self.limit = after, limit
        self.next: int | None = None

    def of(self, rows: Sequence[N]) -> list[N]:
        """Cut the page out."""
        return self.by(rows, lambda row: row.number)

    def by(self, rows: Sequence[T], number: Callable[[T], int]) -> list[T]:
        """Cut the page out of rows with another numbering."""
        left = [row for row in rows if number(row) > self.after]
        shown = left[: self.limit]
        self.next = number(shown[-1]) if len(left) > len(shown) else None
        return shown


@dataclass(frozen=True, slots=True)
class PlainText:
    """An answer that is no JSON, with headers about it."""

    text: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Read:
    """One function that answers, and the path and the scope it is asked under."""

    path: str
    function: Callable[..., Awaitable[Any]]
    scope: Scope

    @cached_property
    def returns(self) -> Any:
        """The type of the answer."""
        return inspect.signature(self.function).return_annotation

    @cached_property
    def asked(self) -> dict[str, inspect.Parameter]:
        """What a caller may ask for; a page is asked for by its two numbers."""
        given = dict(inspect.signature(self.function).parameters)
        given.pop("house", None)
        if given.pop("page", None):
            given |= inspect.signature(Page).parameters
        return given

    def match(self, path: str) -> dict[str, str] | None:
        """Return the variable parts of a path, if this read answers it."""
        found = re.fullmatch(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", self.path), path)
        return found.groupdict() if found else None

    async def answer(self, house: ReadSide, asked: Mapping[str, Any]) -> tuple[Any, int | None]:
        """Answer, and say after which row the next page begins."""
        wanted = inspect.signature(self.function).parameters
        page = Page(asked["after"], asked["limit"]) if "page" in wanted else Page()
        given = {name: value for name, value in asked.items() if name in wanted}
        given |= {name: value for name, value in (("house", house), ("page", page)) if name in wanted}
        return await self.function(**given), page.next


class ReadTable(list[Read]):
    """The reads of one module, in the order in which their paths are tried."""

    def at(self, path: str, scope: Scope = Scope.READ) -> Callable[[F], F]:
        """Add a function under a path."""

        def added(function: F) -> F:
            self.append(Read(path, function, scope))
            return function

        return added


def reads_of(module: str) -> ReadTable:
    loaded: ReadTable = importlib.import_module(f"{__package__}.{module}").READS
    return loaded


def found(path: str) -> tuple[Read, dict[str, str]] | None:
    """Find the read that answers a path, with the variable parts of the path."""
    module = MODULES.get(path.split("/")[1])
    for read in reads_of(module) if module else ():
        if (parts := read.match(path)) is not None:
            return read, parts
    return None


def fields(row: Term) -> dict[str, Any]:
    """Return a record's own fields, to build a longer answer from it."""
    return dict(row)
