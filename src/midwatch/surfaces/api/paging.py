"""Long lists in pages: a cursor is the number of the last row seen, and `Link: rel=next` says where to go on."""

from collections.abc import Callable, Sequence
from typing import Annotated, Protocol, TypeVar

from fastapi import Depends, Query, Request, Response

MOST = 1000


class Numbered(Protocol):
    """A row with a small number for people."""

    @property
    def number(self) -> int:
        """Count from one, in the order of making."""
        ...


N = TypeVar("N", bound=Numbered)
T = TypeVar("T")


class Page:
    """Which part of a list is wanted."""

    def __init__(
        self,
        request: Request,
        response: Response,
        after: Annotated[int, Query(ge=0, le=2**62, description="The number of the last row seen.")] = 0,
        limit: Annotated[int, Query(ge=1, le=MOST)] = MOST,
    ) -> None:
        self._request, self._response = request, response
        self._after, self._limit = after, limit

    def of(self, rows: Sequence[N]) -> Sequence[N]:
        """Cut the page out, and say where the next one begins."""
        return self.by(rows, lambda row: row.number)

    def by(self, rows: Sequence[T], number: Callable[[T], int]) -> Sequence[T]:
        """Cut the page out of rows that are numbered in another way."""
        left = [row for row in rows if number(row) > self._after]
        shown = left[: self._limit]
        if len(left) > len(shown):
            url = self._request.url.include_query_params(after=number(shown[-1]))
            self._response.headers["link"] = f'<{url.path}?{url.query}>; rel="next"'
        return shown


ThePage = Annotated[Page, Depends(Page)]
