"""Imports that only look unused: names other files import, fixtures, fallbacks, modules with side effects."""

import ast
import re
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from midwatch.crew.housekeeper.bounds.scope import is_test_data
from midwatch.crew.housekeeper.linter import Offence
from midwatch.crew.housekeeper.tree import Tree

ACTING = frozenset({"readline", "rlcompleter", "pyximport", "Axes3D", "antigravity", "this"})
"""Modules that are known to have side effects on import."""
NAMED = re.compile(r"`([^`]+)`")


@dataclass
class Uses:
    """What the whole project imports from its own modules."""

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
    # Ruff names what is imported; other files may use the name it is bound to here.
    name = bound_name(tree, offence)
    file = PurePosixPath(offence.path)
    if file.name == "__init__.py":
        return "a package's __init__ may offer it to others"
    if not name or _is_fetched(file.stem, name, uses):
        return "other files fetch it from here"
    if name in ACTING:
        return "importing it has side effects"
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
            # A bare name cannot refer to a module inside a package.
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


Function = ast.FunctionDef | ast.AsyncFunctionDef
HEADING = re.compile(
    r"^#+\W*(standard|std|built-?in|third|3rd|local|first|django|imports?|from|typing|types|own|my|project|!|-\*-|coding)\b",
    re.IGNORECASE,
)


def why_it_stands(offence: Offence, name: str, tree: Tree) -> str:
    """Say why an unused import may be needed in this file; empty if there is no reason."""
    file = PurePosixPath(offence.path)
    root = parsed(tree.read(offence.path).decode("utf-8-sig", errors="replace"))
    if file.name == "conftest.py" or name in _parameters(root):
        return "pytest may use it as a fixture"
    if _offers(root, offence.line):
        return "the file contains only imports, so they are meant for others"
    if _is_inside(root, offence.line, ast.Try, ast.TryStar):
        return "it is one side of a fallback"
    if is_test_data(offence.path) and not _is_test_module(file):
        return "tests may read the file as it is"
    if _is_test(file) and _is_inside(root, offence.line, ast.FunctionDef, ast.AsyncFunctionDef):
        return "a test may prove that it can be imported"
    return "a comment explains it" if _is_explained(tree.lines(offence.path), _first_line(root, offence.line)) else ""


def bound_name(tree: Tree, offence: Offence) -> str:
    """The name an import binds; empty if it cannot be found."""
    root = parsed(tree.read(offence.path).decode("utf-8-sig", errors="replace"))
    places = (node for node in ast.walk(root) if isinstance(node, ast.alias))
    here = (a for a in places if (a.lineno, a.col_offset + 1) == (offence.line, offence.column))
    return next((a.asname or a.name.split(".")[0] for a in here), "")


def bindings(content: bytes) -> Counter[str]:
    """How often each name is bound by an import."""
    root = parsed(content.decode("utf-8-sig", errors="replace"))
    places = (node for node in ast.walk(root) if isinstance(node, ast.alias))
    return Counter(a.asname or a.name.split(".")[0] for a in places)


def parsed(text: str) -> ast.AST:
    """The syntax tree, or an empty one if this Python cannot parse the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def _parameters(root: ast.AST) -> set[str]:
    functions = [node.args for node in ast.walk(root) if isinstance(node, Function)]
    return {a.arg for args in functions for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}


def _is_inside(root: ast.AST, line: int, *kinds: type[ast.stmt]) -> bool:
    around = (node for node in ast.walk(root) if isinstance(node, kinds))
    return any(node.lineno <= line <= (node.end_lineno or 0) for node in around)


def _offers(root: ast.AST, line: int) -> bool:
    """Whether the file only re-exports other modules, as a wsgi.py does; not counting the standard library."""
    body = root.body if isinstance(root, ast.Module) else []
    fronts = [node for node in body if isinstance(node, ast.ImportFrom)]
    is_front = all(isinstance(node, ast.Import | ast.ImportFrom) or _is_docstring(node) for node in body)
    here = (node for node in fronts if node.lineno <= line <= (node.end_lineno or 0))
    return is_front and any((n.module or "").split(".")[0] not in sys.stdlib_module_names for n in here)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _first_line(root: ast.AST, line: int) -> int:
    imports = (node for node in ast.walk(root) if isinstance(node, ast.Import | ast.ImportFrom))
    return next((node.lineno for node in imports if node.lineno <= line <= (node.end_lineno or 0)), line)


def _is_test_module(file: PurePosixPath) -> bool:
    return file.name.startswith("test") or file.stem.endswith(("_test", "_tests"))


def _is_test(file: PurePosixPath) -> bool:
    return file.name.startswith("test_") or file.name.endswith("_test.py") or is_test_data(str(file))


def _is_explained(lines: list[str], line: int) -> bool:
    above = lines[line - 2].strip() if line >= 2 else ""
    beside = "#" in lines[line - 1]
    return beside or (above.startswith("#") and not HEADING.match(above))
