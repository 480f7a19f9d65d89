"""Names say what a thing is; a tired name is a thought that was not finished, a tiny module is no idea of its own."""

import ast
from collections import defaultdict
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


def importers() -> dict[Path, set[Path]]:
    """Return who imports each module, however late."""
    named = {".".join(("midwatch", *path.relative_to(SOURCE).with_suffix("").parts)): path for path in MODULES}
    found: dict[Path, set[Path]] = defaultdict(set)
    for module in MODULES:
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.ImportFrom) and node.module:
                for name in (node.module, *(f"{node.module}.{one.name}" for one in node.names)):
                    if name in named:
                        found[named[name]].add(module)
    return found


def test_a_tiny_module_with_one_importer_says_why_it_is_not_part_of_it() -> None:
    alone = {module for module, by in importers().items() if len(by - {module}) == 1 and module.stem != "__init__"}
    tiny = [module for module in alone if module.read_text().count("\n") < 60]
    assert tiny, "the rule is held against something"
    assert not [one for one in tiny if "Its own module:" not in (ast.get_docstring(tree(one)) or "")]
