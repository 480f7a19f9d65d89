"""Documents are under test, so they are true: what the code has is named, and what is named exists."""

import re
from pathlib import Path
from typing import get_args

import pytest
import typer.main

from docs import tables
from midwatch import errors
from midwatch.journal.events import Event
from midwatch.rules.gate.gate import CONDITIONS
from midwatch.rules.invariants.invariants import RULES
from midwatch.settings import KEYS
from midwatch.store.schema.tables import RECORDS
from midwatch.surfaces.cli.main import VERBS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "midwatch"
SPEC = (ROOT / "docs" / "SPEC.md").read_text(encoding="utf-8")
REFERENCE = SPEC + (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
WRITTEN = tables.MADE.sub("", SPEC)
"""What people wrote, without the tables that are made from the code."""
GUIDES = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
]
DOCUMENTS = sorted(
    path for path in ROOT.rglob("*.md") if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
)
SHELL = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
QUOTED = re.compile(r"`([^`\n]+)`")

KINDS = sorted(kind.model_fields["kind"].default for kind in get_args(Event))
ERRORS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.MidwatchError)]
ROUTES = sorted(f"{method} {route.path}" for route in tables.every_route() for method in route.methods or ())
NAMED = [
    *KINDS,
    *(kind.code for kind in ERRORS),
    *VERBS,
    *(kind.__name__ for kind in RECORDS),
    *(condition.name for condition in CONDITIONS),
    *ROUTES,
    *RULES,
]

each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=[str(path.relative_to(ROOT)) for path in DOCUMENTS])


def commands_shown(text: str) -> set[tuple[str, ...]]:
    """Every midwatch command of a document, without what follows its options."""
    lines = [line for block in SHELL.findall(text) for line in block.splitlines()]
    lines += [piece for piece in QUOTED.findall(SHELL.sub("", text)) if piece.startswith("midwatch ")]
    shown = (re.search(r"(?:^|\$ )midwatch ([^#>|]*)", line) for line in lines)
    return {tuple(found[1].split()) for found in shown if found}


def made_by_make() -> set[str]:
    """The commands the Makefile offers to people."""
    return set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))


def anchors(document: Path) -> set[str]:
    """The places in a document one can link to, as GitHub names them."""
    heads = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", NAMED)
def test_the_specification_or_the_reference_names_it(name: str) -> None:
    assert f"`{name}`" in REFERENCE


def test_the_tables_of_the_documents_are_those_of_the_code() -> None:
    texts = [document.read_text(encoding="utf-8") for document in tables.DOCUMENTS]
    assert [tables.renewed(text) for text in texts] == texts, "run .venv/bin/python docs/tables.py"
    assert {name for text in texts for _, name, _ in tables.MADE.findall(text)} == set(tables.MAKERS)


def test_every_event_that_moves_a_state_machine_stands_in_one() -> None:
    """What only adds a row (evidence, a message) moves nothing; everything else has a line people wrote."""
    adds = {"evidence.found", "claim.made", "artifact.kept", "message.said", "checkin.made"}
    adds |= {"council.spoke", "mission.created"}
    assert {kind for kind in KINDS if f"`{kind}`" not in WRITTEN} == adds


def test_the_specification_names_no_event_that_is_not() -> None:
    said = {name for name in QUOTED.findall(WRITTEN) if re.fullmatch(r"[a-z_]+\.[a-z_]+", name)}
    subjects = {kind.split(".")[0] for kind in KINDS}
    ours = {name for name in said if name.split(".")[0] in subjects} - {name for name in said if name.endswith(".py")}
    assert not {name for name in ours if name not in KINDS and not (ROOT / name).exists()} - set(KEYS) - {"orders.toml"}


@pytest.mark.parametrize(("name", "least"), [("docs/SPEC.md", 30), ("SECURITY.md", 20), ("docs/security.md", 1)])
def test_every_test_a_promise_leans_on_exists(name: str, least: int) -> None:
    leaned_on = {said for said in QUOTED.findall((ROOT / name).read_text("utf-8")) if said.startswith("tests/")}
    assert len(leaned_on) > least
    assert not [said for said in leaned_on if not (ROOT / said).exists()]


def test_each_promise_of_the_security_policy_names_its_tests() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    promises = re.findall(r"^\| (.+) \| (.+) \|$", text.split("shown by |")[1].split("\n## ")[0], re.MULTILINE)[1:]
    assert len(promises) > 12
    assert not [promise for promise, shown in promises if not re.fullmatch(r"`tests/\S+`(, `tests/\S+`)*", shown)]


@pytest.mark.parametrize("name", GUIDES)
def test_every_command_shown_exists(name: str) -> None:
    """Verbs, their words and their flags are looked up where the command line itself looks them up."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for words in commands_shown(text):
        if words[0].startswith("-"):
            continue
        verb, *rest = words
        assert verb in VERBS, words
        module = __import__(f"midwatch.surfaces.cli.{VERBS[verb][0]}", fromlist=["VERBS"])
        command = typer.main.get_command(module.VERBS[verb])
        inner = getattr(command, "commands", {})
        if rest and inner and not rest[0].startswith("-"):
            assert rest[0] in inner, words
            command = inner[rest[0]]
        known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        assert {word for word in rest if word.startswith("--")} <= known, words


@each_document
def test_every_make_command_shown_exists(document: Path) -> None:
    shown = set(re.findall(r"(?:`|^)make ([a-z]+)", document.read_text(encoding="utf-8"), re.MULTILINE))
    assert shown <= made_by_make()


def test_the_readme_shows_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme
    assert len(commands_shown(readme)) > 15
    assert len(readme.splitlines()) < 200


def test_the_readme_says_where_the_command_is_before_it_shows_one() -> None:
    before, shown, _ = (ROOT / "README.md").read_text(encoding="utf-8").partition("$ midwatch")
    assert shown
    assert "after `make demo` it is\n`.venv/bin/midwatch`" in before or "after `make demo` it is `.venv/bin" in before
    assert 'export PATH="$PWD/.venv/bin:$PATH"' in before


@each_document
def test_every_link_leads_somewhere(document: Path) -> None:
    for target in LINK.findall(document.read_text(encoding="utf-8")):
        path, _, place = target.partition("#")
        if "://" in target:
            continue
        there = (document.parent / path).resolve() if path else document
        assert there.exists(), target
        if place:
            assert place in anchors(there), target


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_setting_says_what_it_is_for(key: str) -> None:
    assert KEYS[key].description.endswith(".")
    assert len(KEYS[key].description.split()) > 1


def test_numbers_in_the_prose_are_those_of_the_code() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"function of {len(CONDITIONS)} questions" in readme
    assert f"{len(CONDITIONS)} conditions" in changes
    assert f"{len(KINDS)} kinds of event" in changes
    assert f"{len(VERBS)} verbs" in changes


def names_of_modules(document: Path) -> set[str]:
    """The modules that the table of a folder's README names, as paths from that folder."""
    rows = [line for line in document.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    return {name for row in rows for name in QUOTED.findall(row) if re.fullmatch(r"[a-z_/]+\.py", name)}


@pytest.mark.parametrize(
    "document", sorted(ROOT.glob("src/**/README.md")), ids=lambda path: str(path.parent.relative_to(ROOT / "src"))
)
def test_the_modules_in_a_folders_table_are_there(document: Path) -> None:
    here = {path.name for path in document.parent.rglob("*.py")}
    named = names_of_modules(document)
    there = {name for name in named for at in (document.parent, SOURCE) if (at / name).is_file()}
    assert not named - there - here


MODULE = re.compile(r"[a-z0-9_/]*[a-z0-9_]\.py")


@each_document
def test_every_module_that_a_document_names_is_there(document: Path) -> None:
    named = {name for name in QUOTED.findall(document.read_text(encoding="utf-8")) if MODULE.fullmatch(name)}
    around = (ROOT, SOURCE, ROOT / "tests", document.parent)
    missing = {name for name in named if not any((folder / name).is_file() for folder in around)}
    assert not {name for name in missing if not any(SOURCE.rglob(name)) and not any((ROOT / "tests").rglob(name))}
