"""A setting either steers something or says openly that it does not yet."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import midwatch
from midwatch.settings import KEYS

LATER = "Has no effect yet."
SOURCE = Path(midwatch.__file__).parent
SETTINGS = SOURCE / "settings"


def chains(tree: ast.AST) -> Iterator[str]:
    """Everything read as `section.field`, on the whole tree of settings or on a section that was given a name."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Attribute(attr=section) | ast.Name(id=section), attr=field, ctx=ast.Load()):
                yield f"{section}.{field}"
            case _:
                pass


def names(tree: ast.AST) -> Iterator[str]:
    """Everything that is called by its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


@cache
def what_is_read() -> frozenset[str]:
    """Read outside the settings, or by a function of theirs that somebody outside calls."""
    outside = [ast.parse(path.read_text()) for path in SOURCE.rglob("*.py") if SETTINGS not in path.parents]
    called = {name for tree in outside for name in names(tree)}
    inside = [
        node
        for name in ("derived.py", "zone.py")
        for node in ast.parse((SETTINGS / name).read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name in called
    ]
    return frozenset(chain for tree in (*outside, *inside) for chain in chains(tree))


@pytest.mark.parametrize("name", KEYS)
def test_a_setting_is_read_somewhere_or_says_that_it_has_no_effect_yet(name: str) -> None:
    assert (name in what_is_read()) != KEYS[name].description.endswith(LATER)


def test_only_reading_counts() -> None:
    found = set(chains(ast.parse("settings.asks.spend_minutes\nroom.free = 1\nask('notices.on_error')")))
    assert "asks.spend_minutes" in found
    assert not found & {"room.free", "notices.on_error"}
