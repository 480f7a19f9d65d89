"""A boundary is written once: Protocols live in ports, and a public class name exists once."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "midwatch"


def classes() -> list[tuple[Path, ast.ClassDef]]:
    files = [path for path in sorted(SOURCE.rglob("*.py")) if "migrations" not in path.parts]
    return [
        (path.relative_to(SOURCE), node)
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    ]


def is_protocol(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).split("[")[0] in {"Protocol", "typing.Protocol"} for base in node.bases)


def test_a_protocol_lives_in_ports() -> None:
    outside = {f"{path} {node.name}" for path, node in classes() if is_protocol(node) and path.parts[0] != "ports"}
    assert not outside


def test_ports_hold_protocols() -> None:
    assert sum(is_protocol(node) for path, node in classes() if path.parts[0] == "ports") > 30


def test_only_what_hands_out_every_kind_of_work_takes_the_whole_night() -> None:
    taking = {
        str(path.relative_to(SOURCE))
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and "Night" in {one.name for one in node.names}
    }
    assert taking == {"compose/house.py", "night/dispatcher.py", "night/jobs/attempt.py", "night/jobs/stages.py"}


def names() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for path, node in classes():
        if not node.name.startswith("_"):
            found[node.name].add(str(path))
    return found


def test_a_public_class_name_exists_once() -> None:
    twice = {name for name, places in names().items() if len(places) > 1}
    assert not twice
