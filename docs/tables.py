"""Writes the tables of the documents that come from the code: `python docs/tables.py`.

Each is between `<!-- made: name -->` and `<!-- end -->`; tests/promises/test_docs.py compares them with the code.
"""

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import get_args

from fastapi.routing import APIRoute

from midwatch import errors
from midwatch.journal.events import Event
from midwatch.rules.gate import gate
from midwatch.rules.gate.conditions import BRAIN, EVERYONE, PERSON
from midwatch.rules.invariants import invariants
from midwatch.rules.people.asks import SILENCE, silence_in_words
from midwatch.settings import KEYS, Settings
from midwatch.store.schema.tables import RECORDS
from midwatch.surfaces import api
from midwatch.surfaces.cli.main import VERBS
from midwatch.terms.acts import MATRIX, WEB, ActKind
from midwatch.terms.asks import AskKind
from midwatch.terms.trust import GateOutcome, Level

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src" / "midwatch"
WORDS = SOURCE / "views" / "entries" / "words"
EVENT_FILES = SOURCE / "journal" / "events" / "README.md"
DOCUMENTS = (*(HERE / name for name in ("SPEC.md", "reference.md", "settings.md")), EVENT_FILES)
MADE = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
WHOM = {EVERYONE: "everyone", BRAIN: "brains", PERSON: "people"}
LETTER = {
    GateOutcome.EXECUTE: "X",
    GateOutcome.EXECUTE_AND_TELL: "T",
    GateOutcome.ASK_FIRST: "A",
    GateOutcome.SAY_ONLY: "S",
    GateOutcome.REFUSE: "no",
}


def sentence(thing: object) -> str:
    """Give the first line of a docstring, safe inside a table."""
    return (inspect.getdoc(thing) or "").splitlines()[0].replace("|", "\\|")


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Write a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def events() -> str:
    """Every kind of event and what it says."""
    kinds = ((kind.model_fields["kind"].default, sentence(kind)) for kind in get_args(Event))
    return table(("kind", "what happened"), ((f"`{kind}`", said) for kind, said in kinds))


def event_files() -> str:
    """Where the events of each file are projected and put into words."""
    by_file: dict[str, list[str]] = {}
    for kind in get_args(Event):
        by_file.setdefault(kind.__module__.rpartition(".")[2], []).append(kind.__name__)
    return table(
        ("events", "rows", "words"),
        (
            (f"`{name}.py`", _naming(SOURCE / "store" / "projectors", "@?on\\(", kinds), _naming(WORDS, "", kinds))
            for name, kinds in sorted(by_file.items())
        ),
    )


def _naming(folder: Path, before: str, kinds: Sequence[str]) -> str:
    """Name the files that name one of these kinds."""
    kind = re.compile(rf"{before}(?:\w+\.)?\b(?:{'|'.join(kinds)})\b")
    found = (
        file.relative_to(SOURCE)
        for file in sorted(folder.glob("*.py"))
        if kind.search(file.read_text(encoding="utf-8"))
    )
    return ", ".join(f"`{name}`" for name in found)


def rows() -> str:
    """Every record with its table and all its fields."""
    kinds = ((kind.__name__, kind) for kind in sorted(RECORDS, key=lambda kind: kind.__name__))
    return table(
        ("record", "table", "what it is", "fields"),
        (
            (f"`{name}`", RECORDS[kind].name, sentence(kind), ", ".join(f"`{field}`" for field in kind.model_fields))
            for name, kind in kinds
        ),
    )


def conditions() -> str:
    """The gate's questions in order."""
    asked = enumerate(gate.CONDITIONS, 1)
    return table(
        ("#", "condition", "binds", "its sentence"),
        ((str(number), f"`{one.name}`", WHOM[one.binds], sentence(one.check)) for number, one in asked),
    )


def at_the_door() -> str:
    """The questions asked again about a delivery."""
    return ", ".join(f"`{one.name}`" for one in gate.DELIVERY_CONDITIONS) + "\n"


def levels() -> str:
    """What each act becomes at each level."""
    rows = {f"`{kind.value}`": [MATRIX[kind, level] for level in Level] for kind in ActKind}
    rows["`search`, `research` of the web"] = [WEB[level] for level in Level]
    return table(
        ("act", *(level.value for level in Level)),
        ((act, *(LETTER[outcome] for outcome in outcomes)) for act, outcomes in rows.items()),
    )


def asks() -> str:
    """How long each kind of ask waits and what silence means."""

    def waits(kind: AskKind) -> str:
        minutes: float = getattr(Settings().asks, f"{kind.value}_minutes")
        if not minutes:
            return "until the end of the next day"
        return f"{minutes / 1440:g} days" if minutes >= 1440 else f"{minutes:g} min"

    return table(
        ("kind", "waits", "silence", "as the person reads it"),
        (
            (f"`{kind.value}`", waits(kind), f"`{SILENCE[kind].value}`", silence_in_words(SILENCE[kind]))
            for kind in AskKind
        ),
    )


def promises() -> str:
    """Every invariant with its sentence."""
    return table(("rule", "what must hold"), ((f"`{name}`", sentence(rule)) for name, rule in invariants.RULES.items()))


def failures() -> str:
    """The error tree with its numbers."""
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.MidwatchError)
    ]
    return table(
        ("code", "class", "exit code", "HTTP", "meaning"),
        ((f"`{k.code}`", f"`{k.__name__}`", str(k.exit_code), str(k.status), sentence(k)) for k in kinds),
    )


def every_route() -> Iterator[APIRoute]:
    """Walk the routers of the API, whatever their modules are called."""
    for found in pkgutil.iter_modules(api.__path__):
        router = getattr(importlib.import_module(f"{api.__name__}.{found.name}"), "router", None)
        if router is not None:
            yield from (route for route in router.routes if isinstance(route, APIRoute))


def routes() -> str:
    """Every route under /api/v1."""
    by_path = sorted(every_route(), key=lambda route: (route.path, sorted(route.methods or ())))
    named = ((method, route) for route in by_path for method in sorted(route.methods or ()))
    return table(
        ("route", "what it does"), ((f"`{method} {route.path}`", sentence(route.endpoint)) for method, route in named)
    )


def verbs() -> str:
    """Every verb of the command line."""
    return table(("verb", "what it does"), ((f"`{name}`", line) for name, (_, line) in VERBS.items()))


def settings() -> str:
    """Every setting that has an effect, with its default."""

    def default(key: str) -> str:
        value = KEYS[key].default
        return f"`{value}`".replace("|", "\\|") if value not in ("", None, (), []) else "none"

    return table(
        ("setting", "default", "what it does"),
        ((f"`{key}`", default(key), KEYS[key].description.replace("|", "\\|")) for key in KEYS if not KEYS[key].waits),
    )


MAKERS: dict[str, Callable[[], str]] = {
    made.__name__: made
    for made in (
        events,
        event_files,
        rows,
        conditions,
        at_the_door,
        levels,
        asks,
        promises,
        failures,
        routes,
        verbs,
        settings,
    )
}


def renewed(text: str) -> str:
    """Write every made table of a text again."""
    return MADE.sub(lambda found: found[1] + MAKERS[found[2]]() + found[3], text)


def main() -> int:
    """Bring the documents up to date."""
    for document in DOCUMENTS:
        before = document.read_text(encoding="utf-8")
        after = renewed(before)
        document.write_text(after, encoding="utf-8")
        sys.stdout.write(f"{document.name}: {'no change' if after == before else 'updated'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
