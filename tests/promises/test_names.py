"""Names say what a thing is; a tired name is a thought that was not finished."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "midwatch"
MODULES = sorted(SOURCE.rglob("*.py"))
TIRED_FILES = {"utils", "helpers", "common", "misc", "core", "base", "manager", "service", "types", "models"}
TIRED_ENDINGS = (
    *("Manager", "Service", "Helper", "Util", "Utils", "Handler"),
    *("Processor", "Base", "Impl", "Factory", "Wrapper"),
)
LONGEST_MODULE = 300

each_module = pytest.mark.parametrize("module", MODULES, ids=[str(path.relative_to(SOURCE)) for path in MODULES])


@each_module
def test_no_file_or_folder_has_a_tired_name(module: Path) -> None:
    names = {Path(part).stem for part in module.relative_to(SOURCE).parts}
    assert not names & TIRED_FILES


@each_module
def test_no_class_has_a_tired_ending(module: Path) -> None:
    classes = [node.name for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.ClassDef)]
    assert not [name for name in classes if name.endswith(TIRED_ENDINGS)]


@each_module
def test_every_module_opens_with_a_sentence(module: Path) -> None:
    docstring = ast.get_docstring(ast.parse(module.read_text()))
    assert docstring, "say in one sentence what lives here"
    opening = docstring.split("\n\n")[0].strip()
    assert opening.endswith((".", "?", "!", ":")), f"not a sentence: {opening}"


@each_module
def test_every_module_can_be_read_in_one_sitting(module: Path) -> None:
    assert len(module.read_text().splitlines()) <= LONGEST_MODULE
