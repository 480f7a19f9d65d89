"""Long lists in pages: a cursor is the number of the last row seen, and `Link: rel=next` names the next page."""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from fastapi import Depends, Query, Request, Response

from midwatch.ports.journal import Numbered

MOST = 1000


N = TypeVar("N", bound=Numbered)
T = TypeVar("T")


class Further:
    """Writes the address of the next page into a header."""

    def __init__(self, request: Request, response: Response) -> None:
        self._request, self._response = request, response

    def goes_on(self, after: int | None) -> None:
        """Link the page that begins after a row; None means that this was the last."""
        if after is not None:
            url = self._request.url.include_query_params(after=after)
            self._response.headers["link"] = f'<{url.path}?{url.query}>; rel="next"'


Onward = Annotated[Further, Depends(Further)]
Place = Annotated[int, Query(ge=0, le=2**62, description="The number of the last row seen.")]
PageSize = Annotated[int, Query(ge=1, le=MOST)]


class Page:
    """Which part of a list is requested."""

    def __init__(self, onward: Onward, after: Place = 0, limit: PageSize = MOST) -> None:
        self._onward = onward
        self._after, self._limit = after, limit

    def of(self, rows: Sequence[N]) -> Sequence[N]:
        """Cut the page out, and name the next one in the header."""
        return self.by(rows, lambda row: row.number)

    def by(self, rows: Sequence[T], number: Callable[[T], int]) -> Sequence[T]:
        """Cut the page out of rows with another numbering."""
        left = [row for row in rows if number(row) > self._after]
        shown = left[: self._limit]
        self._onward.goes_on(number(shown[-1]) if len(left) > len(shown) else None)
        return shown


ThePage = Annotated[Page, Depends(Page)]
