"""Every setting and every route that writes says what it can do to the machine; a new one must be listed."""

import ast
from pathlib import Path

from fastapi import FastAPI

import midwatch
from midwatch.settings import KEYS
from midwatch.settings.keys import TABLES, key_named
from midwatch.settings.reach import LISTED, SettingReach
from midwatch.surfaces.api.access import OnThisMachine, _routes
from midwatch.surfaces.api.app import PREFIX, _api
from midwatch.surfaces.api.route_reach import WRITES, RouteReach

NAMED = {f"{section}.*.{field}" for section, kind in TABLES.items() for field in kind.model_fields}


def api_routes(app: FastAPI) -> dict[str, bool]:
    """Each route that writes, and whether only the owner's socket may use it."""
    return {
        f"{method} {path.removeprefix(PREFIX)}": OnThisMachine.dependency
        in [one.call for one in route.dependant.dependencies]
        for path, route in _routes(app.routes)
        for method in route.methods or ()
        if method != "GET"
    }


def test_every_setting_is_listed_once_and_no_other() -> None:
    assert set(LISTED) == set(KEYS) | NAMED | {"secrets.*", "prices.*"}


def test_a_name_that_a_person_chose_has_the_reach_of_its_kind() -> None:
    assert key_named("secrets.owl").reach is SettingReach.WALLS
    assert key_named("agents.claude.provider").reach is SettingReach.WALLS
    assert key_named("agents.claude.model").reach is SettingReach.USE
    assert key_named("agents.claude.program").reach is SettingReach.PROGRAM
    assert key_named("prices.anthropic/claude-3.5").reach is SettingReach.USE


def test_every_route_that_writes_is_listed_and_what_is_for_the_machine_is_marked() -> None:
    found = api_routes(_api())
    assert set(found) == set(WRITES)
    assert {name for name, marked in found.items() if marked} == {
        name for name, reach in WRITES.items() if reach is RouteReach.MACHINE
    }


BINDING = {
    "sign_orders.start",
    "signing.sign",
    "command",
    "settlement.answer",
    "by_day.add_project",
    "by_day.change_project",
}
"""What a person does with a night's money, level, hosts or tools."""
SURFACES = Path(midwatch.__file__).parent / "surfaces"


def test_every_surface_says_whether_its_caller_is_capped() -> None:
    found = {}
    for path in (path for folder in ("api", "web") for path in (SURFACES / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in BINDING:
                found[f"{path.name}:{node.lineno}"] = "capped" in {word.arg for word in node.keywords}
    assert len(found) == 9
    assert all(found.values()), found


def test_only_one_module_of_the_surfaces_applies_settings() -> None:
    places = [path.name for path in SURFACES.rglob("*.py") if "apply_settings" in path.read_text()]
    assert places == ["settings_changes.py"]
