"""The regions of the page Tonight: each one a template that can be sent again by itself."""

from typing import Final

from fastapi.responses import HTMLResponse

from midwatch.compose.house import House
from midwatch.surfaces.web.pages.tonight_facts import Shown, seen
from midwatch.surfaces.web.pages.tonight_forms import Form
from midwatch.surfaces.web.site.page import fragment

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
FOLLOWING: Final = ("head", "wont", "estimate", "sign", "ready")
"""The regions that are sent again whenever the orders or the projects change."""


async def answer(
    house: House, *names: str, form: Form | None = None, status: int = 200, unasked: bool = False
) -> HTMLResponse:
    """Send these regions as they are now; also clear an earlier problem, unless `unasked`."""
    shown = await seen(house)
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
