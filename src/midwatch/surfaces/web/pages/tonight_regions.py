"""The regions of the page Tonight: each one a template that can be sent again by itself."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Final

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from midwatch.compose.house import House
from midwatch.evening.shown_sheet import changes_since, sheet_hash
from midwatch.surfaces.api.access import TheHouse
from midwatch.surfaces.web.pages.tonight_facts import Shown, seen
from midwatch.surfaces.web.pages.tonight_forms import Form
from midwatch.surfaces.web.site.page import fragment
from midwatch.terms.projects import SessionState
from midwatch.terms.records import SessionRow

REGIONS: Final = {
    "body": ("tonight-body", "_tonight_body.html"),
    "head": ("tonight-head", "_tonight_head.html"),
    "goals": ("orders-goals", "_orders_goals.html"),
    "work": ("orders-work", "_orders_work.html"),
    "limits": ("orders-limits", "_orders_limits.html"),
    "permissions": ("orders-permissions", "_orders_permissions.html"),
    "text": ("orders-text", "_orders_text.html"),
    "wont": ("orders-wont", "_orders_wont.html"),
    "ready": ("orders-ready", "_orders_ready.html"),
    "estimate": ("orders-estimate", "_orders_estimate.html"),
    "sign": ("orders-sign", "_orders_sign.html"),
    "projects": ("projects", "_project_list.html"),
    "level": ("tonight-level", "_tonight_level.html"),
}
"""By name: its place on the page, and its template."""
FOLLOWING: Final = ("head", "permissions", "wont", "estimate", "sign", "ready")
"""The regions that are sent again whenever the orders or the projects change; one that is open stays as it is."""


SHEET: Final = ("goals", "work", "limits", *FOLLOWING)
"""Everything that a signature is for, and what follows from it."""


@dataclass(frozen=True, slots=True)
class PageState:
    """What a page has in front of the person."""

    shown: str = ""
    """The hash of the sheet it shows."""
    open: tuple[str, ...] = ()
    """The parts that are open for changes, with what was typed and not saved."""
    behind: bool = False
    """Something else changed the sheet before the act that the page asks for."""
    changes: tuple[str, ...] = ()
    """What that was."""


async def _page_state(request: Request, house: TheHouse) -> PageState:
    sent = request.query_params if request.method == "GET" else await request.form()
    shown = str(sent.get("shown", ""))
    page = PageState(shown, tuple(dict.fromkeys(str(one) for one in sent.getlist("open"))))
    drafts = await house.records.find(SessionRow, state=SessionState.BRIEFING, ad_hoc=False)
    if not drafts or shown == await sheet_hash(house.records, house.loaded.settings, drafts[-1].orders):
        return page
    return replace(page, behind=True, changes=await changes_since(house.books, drafts[-1], shown))


ThePage = Annotated[PageState, Depends(_page_state)]


async def answer(
    house: House, *names: str, form: Form | None = None, status: int = 200, unasked: bool = False
) -> HTMLResponse:
    """Send these regions as they are now; also clear an earlier problem, unless `unasked`."""
    return _sent(names, await seen(house), form, status, unasked=unasked)


async def followed(
    house: House,
    page: PageState,
    *names: str,
    form: Form | None = None,
) -> HTMLResponse:
    """Answer an act of the person with these regions and what follows from the orders and projects.

    A page that showed another sheet before gets the whole sheet, and what is different: the hash that it will sign
    never belongs to something it does not show.
    """
    shown = await seen(house)
    rest = SHEET if page.behind else FOLLOWING
    names = (*names, *(one for one in rest if one not in page.open or one in names))
    if page.behind:
        shown |= {"changes": page.changes, "was_behind": True}
    return _sent(names, shown, form, 200)


async def polled(house: House, page: PageState) -> HTMLResponse:
    """Answer a page that asked by itself: what it shows of the sheet stays, and so does the hash it will sign."""
    return _sent(("head", "ready", "sign"), await _as_shown(house, page), None, 200, unasked=True)


async def unsaved(house: House, page: PageState, form: Form, status: int) -> HTMLResponse:
    """Answer a signature beside something unsaved: nothing on the page changes but the sentence."""
    return _sent(("sign",), await _as_shown(house, page), form, status)


async def _as_shown(house: House, page: PageState) -> Shown:
    shown = await seen(house)
    if shown["draft"] is not None and page.shown:
        shown |= {"is_behind": page.shown != shown["shown_hash"], "shown_hash": page.shown}
    return shown


async def refused(house: House, page: PageState, form: Form, status: int) -> HTMLResponse:
    """Answer a signature that was refused with the sheet as it is now; a part that is open stays as it is typed."""
    names = [one for one in SHEET if one not in page.open]
    return _sent(names, await seen(house), form, status)


def _sent(names: Iterable[str], shown: Shown, form: Form | None, status: int, *, unasked: bool = False) -> HTMLResponse:
    parts = [partial(name, shown, form) for name in dict.fromkeys(names) if _stands(name, shown)]
    rest = () if unasked else (fragment("_tonight_no_problem.html"),)
    return HTMLResponse("\n".join((*parts, *rest)), status_code=status)


def partial(name: str, shown: Shown, form: Form | None) -> str:
    """Render one region with the address it replaces."""
    where, template = REGIONS[name]
    return fragment("_tonight_partial.html", where=where, piece=template, form=form, **shown)


def _stands(name: str, shown: Shown) -> bool:
    """Parts of the sheet are only on the page when there is a sheet."""
    return shown["orders"] is not None or name == "text" or not REGIONS[name][0].startswith("orders-")
