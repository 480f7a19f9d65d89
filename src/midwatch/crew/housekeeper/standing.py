"""What the place of an import says about its purpose: a fallback, a fixture, a proof, a comment that explains it."""

import ast
import re
import sys
import warnings
from collections import Counter
from pathlib import PurePosixPath

from midwatch.crew.housekeeper.linter import Offence
from midwatch.crew.housekeeper.scope import is_test_data
from midwatch.crew.housekeeper.tree import Tree

Function = ast.FunctionDef | ast.AsyncFunctionDef
HEADING = re.compile(
    r"^#+\W*(standard|std|built-?in|third|3rd|local|first|django|imports?|from|typing|types|own|my|project|!|-\*-|coding)\b",
    re.IGNORECASE,
)


def why_it_stands(offence: Offence, name: str, tree: Tree) -> str:
    """Say why an unused import may be wanted where it stands; empty when nothing speaks for it."""
    file = PurePosixPath(offence.path)
    root = parsed(tree.read(offence.path).decode("utf-8-sig", errors="replace"))
    if file.name == "conftest.py" or name in _parameters(root):
        return "pytest may use it as a fixture"
    if _offers(root, offence.line):
        return "the file contains only imports, so they are meant for others"
    if _is_inside(root, offence.line, ast.Try, ast.TryStar):
        return "it is one side of a fallback"
    if _is_test(file) and _is_inside(root, offence.line, ast.FunctionDef, ast.AsyncFunctionDef):
        return "a test may prove that it can be imported"
    return "a comment explains it" if _is_explained(tree.lines(offence.path), _first_line(root, offence.line)) else ""


def bound_name(tree: Tree, offence: Offence) -> str:
    """The name an import gives to what it fetches; empty where it cannot be found."""
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
    """The syntax tree, or an empty one where this Python cannot read the file."""
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
    """Whether the file is a front for other modules, as a wsgi.py is; the standard library needs none."""
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


def _is_test(file: PurePosixPath) -> bool:
    return file.name.startswith("test_") or file.name.endswith("_test.py") or is_test_data(str(file))


def _is_explained(lines: list[str], line: int) -> bool:
    above = lines[line - 2].strip() if line >= 2 else ""
    beside = "#" in lines[line - 1]
    return beside or (above.startswith("#") and not HEADING.match(above))
