"""Folders that an agent can shape are walked in one place only, which knows no recursion and no longest path."""

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "midwatch"
WALKING = {"walk", "fwalk", "rmtree", "copytree", "rglob", "removedirs"}
KNOWN = {
    "surfaces/demo/demo_night.py": "the demo's own folder, which its marker names",
    "workshop/holding/adoption.py": "the segments of a log, which holders write and no agent reaches",
}
"""Where another walk is right, and why."""
STARRED = re.compile(r"glob\([^)]*\*\*")
STARS = {"surfaces/queries/audit.py"}
"""`**` in a pattern: blobs are Midwatch's own, two levels deep."""


def _calls(module: ast.Module) -> set[str]:
    functions = (node.func for node in ast.walk(module) if isinstance(node, ast.Call))
    named = {
        (ast.unparse(one.value), one.attr)
        for one in functions
        if isinstance(one, ast.Attribute) and one.attr in WALKING
    }
    return {name for owner, name in named if owner != "ast"}


def test_only_one_module_walks_folders() -> None:
    modules = {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text()) for path in SOURCE.rglob("*.py")}
    assert {place for place, module in modules.items() if _calls(module)} == KNOWN.keys()
    starred = {place for place in modules if STARRED.search((SOURCE / place).read_text())}
    assert starred == STARS
