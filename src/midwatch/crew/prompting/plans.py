"""The schema of a plan, and how an agent's answer is read."""

from collections.abc import Mapping
from typing import Any, Final

from midwatch.errors import Broken
from midwatch.rules.paths import is_clean
from midwatch.terms.jobs import Plan
from midwatch.views.text.plain import harmless

LONGEST_TEXT: Final = 4_000
MOST_ITEMS: Final = 100
MOST_COUNTED: Final = 1_000_000

_TEXTS: Final = {
    "summary": "What you will do and why, in two or three sentences.",
    "blast_radius": "Who and what would notice if it went wrong, in one sentence.",
    "undo": "How a person undoes the change, in one sentence.",
}
_LISTS: Final = {
    "approach": "The steps, in order.",
    "files": "Every file you will change or add, relative to the tree, with forward slashes.",
    "risks": "What could go wrong, and what you do not know.",
    "checks": "The commands that show that it works.",
}
_NUMBERS: Final = {
    "estimate_files": "How many files will change.",
    "estimate_lines": "How many lines will be added and removed together.",
    "estimate_minutes": "How many minutes it will take you.",
}


def plan_schema() -> dict[str, Any]:
    """Return the JSON schema of a plan; every field is required, as strict vendors demand."""
    properties: dict[str, Any] = {
        **{name: {"type": "string", "description": what} for name, what in _TEXTS.items()},
        **{name: {"type": "array", "items": {"type": "string"}, "description": what} for name, what in _LISTS.items()},
        **{name: {"type": "integer", "description": what} for name, what in _NUMBERS.items()},
    }
    order = ("summary", "approach", "files", "risks", "checks", *_NUMBERS, "blast_radius", "undo")
    return {
        "type": "object",
        "properties": {name: properties[name] for name in order},
        "required": list(order),
        "additionalProperties": False,
    }


def read_plan(structured: object, *, root: str = "/ws") -> Plan:
    """Read an agent's answer as a plan; report every fault at once."""
    if not isinstance(structured, Mapping):
        raise _unreadable("it is not a JSON object")
    known = {*_TEXTS, *_LISTS, *_NUMBERS}
    faults = [f"{_named(name)} is not expected" for name in structured if name not in known]
    faults += [fault for name in _TEXTS if (fault := _text_fault(name, structured.get(name, "")))]
    faults += [fault for name in _LISTS if (fault := _list_fault(name, structured.get(name, [])))]
    faults += [fault for name in _NUMBERS if (fault := _number_fault(name, structured.get(name, 0)))]
    if faults:
        raise _unreadable(*faults)
    files = tuple(_relative(path, root) for path in structured.get("files", ()))
    if strange := [path for path in files if not is_clean(path)]:
        raise _unreadable(*(f"{_named(path)} is not a plain path inside the tree" for path in strange[:5]))
    lists = {name: tuple(map(harmless, structured.get(name, ()))) for name in _LISTS if name != "files"}
    numbers = {name: structured.get(name, 0) for name in _NUMBERS}
    texts = {name: harmless(structured.get(name, "")) for name in _TEXTS}
    return Plan.model_validate({**texts, **lists, **numbers, "files": files})


def _text_fault(name: str, value: object) -> str:
    if not isinstance(value, str):
        return f"{name} is not a text"
    if name == "summary" and not harmless(value).strip():
        return "the summary is missing"
    return f"{name} has more than {LONGEST_TEXT:,} characters" if len(value) > LONGEST_TEXT else ""


def _list_fault(name: str, value: object) -> str:
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        return f"{name} is not a list of texts"
    if len(value) > MOST_ITEMS:
        return f"{name} has more than {MOST_ITEMS} items"
    return (
        f"an item of {name} has more than {LONGEST_TEXT:,} characters"
        if max(map(len, value), default=0) > LONGEST_TEXT
        else ""
    )


def _number_fault(name: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_COUNTED:
        return ""
    return f"{name} is not a whole number from 0 to {MOST_COUNTED:,}"


def _relative(path: str, root: str) -> str:
    return path.strip().removeprefix(root.rstrip("/") + "/").removeprefix("./")


def _named(value: object) -> str:
    return ascii(str(value)[:60])


def _unreadable(*faults: str) -> Broken:
    return Broken(
        f"The agent's plan cannot be read: {'; '.join(faults[:5])}.",
        hint="Let the agent plan again, or give the work to another agent.",
        because=faults,
    )
