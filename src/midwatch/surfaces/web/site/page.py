"""A page: one template, its values, and what every page knows about its reader."""

from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from midwatch.surfaces.api.access import Caller
from midwatch.surfaces.web.site.safe import block, markdown, plain
from midwatch.terms.people import Scope
from midwatch.views.text.plain import harmless, spaced

TEMPLATES = Path(__file__).parents[1] / "templates"
STATIC = Path(__file__).parents[1] / "static"
PAGES = ("Tonight", "Live", "Morning")


@cache
def environment() -> Environment:
    """Make templates that escape everything and fail on an unknown name."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_nothing_hidden,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["pages"] = PAGES
    made.globals["Scope"] = Scope
    made.filters |= {"line": plain, "block": block, "marked_down": markdown, "spaced": spaced}
    return made


def _nothing_hidden(value: Any) -> Any:
    """Remove hidden characters from every text that a template shows; existing markup has none."""
    return harmless(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def fragment(template: str, **shown: Any) -> str:
    """Render a piece that is the same for every reader: no name, no nonce, no secret in it."""
    return environment().get_template(template).render(**shown)


def page(request: Request, template: str, *, here: str = "", status: int = 200, **shown: Any) -> HTMLResponse:
    """Render a whole page for its reader.

    Every template knows: `caller` (None before login), `csrf`, `nonce`, `here` (the page's name in the navigation).
    """
    caller: Caller | None = getattr(request.state, "caller", None)
    text = fragment(
        template,
        caller=caller,
        csrf=caller.csrf if caller else "",
        nonce=getattr(request.state, "nonce", ""),
        here=here,
        **shown,
    )
    return HTMLResponse(text, status_code=status)
