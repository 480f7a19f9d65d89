"""Names say what a thing is; a tired name is a thought that was not finished."""

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "midwatch"
MODULES = sorted(SOURCE.rglob("*.py"))
TIRED_FILES = {"utils", "helpers", "common", "misc", "core", "base", "manager", "service", "types", "models"}
TIRED_ENDINGS = (
    *("Manager", "Service", "Helper", "Util", "Utils", "Handler"),
    *("Processor", "Base", "Impl", "Factory", "Wrapper"),
)


@cache
def tree(module: Path) -> ast.Module:
    return ast.parse(module.read_text())


def test_no_file_or_folder_has_a_tired_name() -> None:
    assert not [one for one in MODULES if {Path(part).stem for part in one.relative_to(SOURCE).parts} & TIRED_FILES]


def test_no_class_has_a_tired_ending() -> None:
    classes = [
        (module, node.name) for module in MODULES for node in ast.walk(tree(module)) if isinstance(node, ast.ClassDef)
    ]
    assert not [one for one in classes if one[1].endswith(TIRED_ENDINGS)]


def test_every_module_opens_with_a_sentence() -> None:
    openings = {module: (ast.get_docstring(tree(module)) or "").split("\n\n")[0].strip() for module in MODULES}
    assert not [one for one in openings.items() if not one[1].endswith((".", "?", "!", ":"))]
