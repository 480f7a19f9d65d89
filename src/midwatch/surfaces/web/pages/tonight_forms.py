"""The small forms of Tonight's sheet: their fields, and the orders made from them."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import ValidationError
from starlette.datastructures import FormData

from midwatch.errors import MidwatchError, Misuse, Stale
from midwatch.evening.orders_file import read_orders
from midwatch.terms.figures import joined
from midwatch.terms.orders import LINES, OrderedWork, Orders
from midwatch.views.pages.orders_text import orders_text
from midwatch.views.text.plain import harmless

LISTS: Final = frozenset({"goals", "success_criteria", "domains", "do_not_touch", "checks", "paths"})
"""Fields that hold one entry per line."""
FIELD_OF: Final = {
    "goals": "goals",
    "work": "title",
    "limits": "until",
    "permissions": "level",
    "text": "toml",
    "begin": "goals",
    "project": "path",
}
"""Where a problem without a field is shown."""


@dataclass(frozen=True, slots=True)
class Form:
    """An open form: which one, its values, and what is wrong with them."""

    part: str
    values: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    item: str = ""


class FilledInWrong(Misuse):
    """A field of a form cannot be read."""

    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__(next(iter(errors.values())), hint="Change the field and save again.")
        self.errors = errors


class Unsaved(Stale):
    """Something typed on the page is not saved."""


SAYS: Final = {
    "limits": tuple(one for one in LINES if one.startswith("limits.")),
    "permissions": tuple(one for one in LINES if not one.startswith("limits.")),
}
"""The lines that a form shows: who saves it has chosen them."""
PARTS: Final = {
    "goals": "goals",
    "work": "work",
    "limits": "limits",
    "permissions": "permissions",
    "text": "the orders as text",
}


def refuse_unsaved(parts: tuple[str, ...]) -> None:
    """A signature covers what is saved: a person who typed more would sign less than they see."""
    named = [PARTS[one] for one in parts if one in PARTS]
    if named:
        are = "is" if named == [PARTS["text"]] or named == ["work"] else "are"
        raise Unsaved(f"{joined(named).capitalize()} {are} open for changes. Save or cancel, then sign.")


def sentence(error: MidwatchError) -> str:
    """Say what is wrong; a hint that only helps at the command line is left out."""
    return " ".join((error.message, "" if "--" in error.hint or "midwatch " in error.hint else error.hint)).strip()


def opened(part: str, orders: Orders, item: str = "") -> Form:
    if part == "text":
        return Form(part, {"toml": orders_text(orders)})
    if part == "work":
        work = work_at(orders, item) if item.isdecimal() else None
        values = _lines(work.model_dump()) if work else {}
        return Form(part, values | {"was": work.title if work else ""}, item=item or "new")
    values = orders.model_dump(include={"goals", "success_criteria", "notes", "do_not_touch", "level", "until"})
    values |= {"limits": orders.limits.model_dump(), **orders.permissions.model_dump()}
    limits = values["limits"] | {"usd": f"{orders.limits.usd:,.6f}".rstrip("0").rstrip(".")}
    return Form(part, _lines(values) | limits)


def kept(sent: FormData) -> dict[str, Any]:
    """Return what the person typed, so that nothing is lost when it cannot be saved."""
    many = {name: tuple(str(one) for one in sent.getlist(name)) for name in ("tools", "external")}
    single = {name: str(value) for name, value in sent.items() if name not in many}
    return single | many | {"silence_approves": "silence_approves" in sent}


def changed(part: str, orders: Orders, sent: FormData, item: str = "") -> Orders:
    """Replace what the orders said by the form's values; fields the form does not have stay."""
    if part == "text":
        return read_orders(text(sent, "toml"), name="The orders")
    data = orders.model_dump()
    data["unsaid"] = tuple(one for one in orders.unsaid if one not in SAYS.get(part, ()))
    if part == "goals":
        data |= {name: lines(sent, name) for name in ("goals", "success_criteria")}
        data["notes"] = text(sent, "notes")
    elif part == "limits":
        named = {name: text(sent, name).replace(",", "") for name in ("usd", "tokens", "minutes", "rounds")}
        wished = orders.limits.model_dump(include={"leave_percent", "leave_at"})
        data["limits"] = wished | {name: value for name, value in named.items() if value}
        data["until"] = _until(sent)
    elif part == "permissions":
        data |= {"level": text(sent, "level"), "do_not_touch": lines(sent, "do_not_touch")}
        data["permissions"] = {
            "tools": _several(sent, "tools"),
            "external": _several(sent, "external"),
            "domains": lines(sent, "domains"),
            "silence_approves": "silence_approves" in sent,
        }
    else:
        data["work"] = _work(orders, sent, item)
    return valid(data)


def valid(data: dict[str, Any]) -> Orders:
    """Build orders from it, or say which field is wrong."""
    try:
        return Orders.model_validate(data)
    except ValidationError as error:
        said: dict[str, str] = {}
        for one in error.errors():
            names = [part for part in one["loc"] if isinstance(part, str)] or [""]
            said.setdefault(
                names[-1], f"{names[-1].replace('_', ' ').capitalize()}: {_plain(one['type'], one['msg'])}."
            )
        raise FilledInWrong(said) from error


def _plain(kind: str, said: str) -> str:
    """Say what a number should be in words a person uses."""
    if kind.startswith("int_"):
        return "write a whole number"
    if kind.startswith("float_"):
        return "write a number"
    return said.replace("Input should be", "must be")


def begun(sent: FormData, orders: Orders) -> Orders:
    """Build the first orders from what tonight is for."""
    chosen = {"goals": lines(sent, "goals"), "level": text(sent, "level")}
    data = orders.model_dump(exclude_unset=True) | chosen
    data["permissions"] = data.get("permissions", {}) | {"silence_approves": "silence_approves" in sent}
    if not data["goals"]:
        raise FilledInWrong({"goals": "Say in a line or more what tonight is for."})
    if text(sent, "title"):
        data["work"] = (
            *orders.work,
            OrderedWork(project=text(sent, "project"), title=text(sent, "title")).model_dump(),
        )
    return valid(data)


def work_at(orders: Orders, item: str) -> OrderedWork:
    """Return the piece of work at this index."""
    if not item.isdecimal() or int(item) >= len(orders.work):
        raise Stale("This piece of work is no longer in the orders.", hint="Reload the page.")
    return orders.work[int(item)]


def without(orders: Orders, item: str, was: str) -> Orders:
    """Remove a piece of work from the orders."""
    _same(work_at(orders, item), was)
    left = tuple(one for place, one in enumerate(orders.work) if place != int(item))
    return orders.model_copy(update={"work": left})


def _work(orders: Orders, sent: FormData, item: str) -> list[dict[str, Any]]:
    texts = {name: text(sent, name) for name in ("project", "title", "agent") if text(sent, name)}
    filled = {"title": ""} | texts | {name: lines(sent, name) for name in ("checks", "paths", "done_when")}
    if "project" not in texts:
        raise FilledInWrong({"project": "Project: Field required."})
    work = [one.model_dump() for one in orders.work]
    if not item.isdecimal():
        return [*work, filled]
    _same(work_at(orders, item), text(sent, "was"))
    # Fields that the form does not have stay as they were.
    kept = {
        name: work[int(item)][name]
        for name in ("projects", "parts", "usd", "minutes", "tools")
        if name in work[int(item)]
    }
    work[int(item)] = filled | kept | ({"project": ""} if "projects" in kept else {})
    return work


def _same(work: OrderedWork, was: str) -> None:
    """Another person may have changed the list in between: the index alone does not identify the piece of work."""
    if harmless(work.title).split() != was.split():  # as the form showed it
        raise Stale("The orders have changed.", hint="Reload the page and check.")


def _until(sent: FormData) -> datetime | None:
    given = text(sent, "until")
    if not given:
        return None
    try:
        at = datetime.fromisoformat(given)
        return at if at.tzinfo else at.replace(tzinfo=ZoneInfo(text(sent, "zone") or "UTC"))
    except (ValueError, ZoneInfoNotFoundError) as error:
        raise FilledInWrong({"until": "Until: write a date and a time, such as 2026-11-16 07:00."}) from error


def text(sent: FormData, name: str) -> str:
    """Read a field that holds one text."""
    value = sent.get(name, "")
    return value.strip() if isinstance(value, str) else ""


def _several(sent: FormData, name: str) -> tuple[str, ...]:
    return tuple(one for one in sent.getlist(name) if isinstance(one, str) and one)


def lines(sent: FormData, name: str) -> tuple[str, ...]:
    """Read a field that holds one entry per line."""
    return tuple(line.strip() for line in text(sent, name).splitlines() if line.strip())


def _lines(values: dict[str, Any]) -> dict[str, Any]:
    return {name: "\n".join(value) if name in LISTS else value for name, value in values.items()}
