"""Imports that look unused and are not: names other files fetch from here, fixtures, modules that act on import."""

import ast
import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from midwatch.crew.housekeeper.linter import Offence
from midwatch.crew.housekeeper.standing import bound_name, parsed, why_it_stands
from midwatch.crew.housekeeper.tree import Tree

ACTING = frozenset({"readline", "rlcompleter", "pyximport", "Axes3D", "antigravity", "this"})
"""Imports everybody knows to do something by being imported."""
NAMED = re.compile(r"`([^`]+)`")


@dataclass
class Uses:
    """What the whole project fetches from its own modules."""

    fetched: set[tuple[str, str]] = field(default_factory=set)
    """(module's last name, name) of every `from module import name`."""
    starred: set[str] = field(default_factory=set)
    dotted: set[tuple[str, str]] = field(default_factory=set)
    """(module or its alias, name) of every `module.name`, in code or in strings such as patch targets."""
    aliases: set[tuple[str, str]] = field(default_factory=set)
    packages: set[str] = field(default_factory=set)


def uses_in(tree: Tree) -> Uses:
    """Read every tracked Python file once."""
    uses = Uses(packages=_packages(tree))
    for path in tree.all_python:
        file = tree.root / path
        if file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
            uses.dotted.update(re.findall(r"(?=\b([A-Za-z_]\w*)\.([A-Za-z_]\w*))", text))
            _learn(uses, text)
    return uses


def why_kept(offence: Offence, tree: Tree, uses: Uses) -> str:
    """Say why this unused import should stay; empty when it may go."""
    named = NAMED.search(offence.message)
    target = named.group(1).partition(" as ")[0] if named else ""
    # Ruff names what is fetched; what others may want is the name it is bound to here.
    name = bound_name(tree, offence)
    file = PurePosixPath(offence.path)
    if file.name == "__init__.py":
        return "a package's __init__ may offer it to others"
    if not name or _is_fetched(file.stem, name, uses):
        return "other files fetch it from here"
    if name in ACTING:
        return "importing it does something by itself"
    if _is_own_module(target, tree, uses):
        return "it is a module of this project and may act on import"
    return why_it_stands(offence, name, tree)


def _is_fetched(module: str, name: str, uses: Uses) -> bool:
    if module in uses.starred or (module, name) in uses.fetched or (module, name) in uses.dotted:
        return True
    return any((alias, name) in uses.dotted for stem, alias in uses.aliases if stem == module)


def _is_own_module(target: str, tree: Tree, uses: Uses) -> bool:
    """Whether the import is of one of the project's modules as a whole; ruff writes `.a.b` for relative ones."""
    parts = target.lstrip(".").split(".")
    if not target.startswith(".") and parts[0] not in uses.packages:
        return False
    tail = "/".join(parts)
    for end in (f"{tail}.py", f"{tail}/__init__.py"):
        for path in tree.all_python:
            above = path.removesuffix(end)
            # A module inside a package cannot be meant by its bare name.
            if path.endswith(f"/{end}") and (target.startswith(".") or f"{above}__init__.py" not in tree.tracked):
                return True
            if path == end:
                return True
    return False


def _packages(tree: Tree) -> set[str]:
    """Names by which the project's own code may be imported."""
    tops = {PurePosixPath(p).parts for p in tree.all_python}
    return {PurePosixPath(part).stem for parts in tops for part in parts[:3]}


def _learn(uses: Uses, text: str) -> None:
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".")[-1]
            uses.fetched.update((module, item.name) for item in node.names)
            uses.aliases.update((item.name, item.asname) for item in node.names if item.asname)
            if any(item.name == "*" for item in node.names):
                uses.starred.add(module)
        elif isinstance(node, ast.Import):
            uses.aliases.update((item.name.split(".")[-1], item.asname) for item in node.names if item.asname)
