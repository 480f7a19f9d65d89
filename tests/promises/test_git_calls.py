"""Every git command in the code is in docs/git.md, with why it is safe; git is started in known places only."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "midwatch"
STARTERS = {"crew/housekeeper/git.py", "surfaces/cli/house/doctor.py", "workshop/git/git.py"}
"""Where a command line begins with git; the doctor asks for its version."""
PLACES = ("workshop", "forges", "crew/housekeeper", "compose/local_checks.py")
IN_A_SCRIPT = re.compile(r"\bgit ([^|;\n]+)")
BUILT_IN = frozenset(
    subprocess.run(["git", "--list-cmds=builtins"], capture_output=True, text=True, check=True, cwd=ROOT).stdout.split()
)
FAR = {"upload-pack", "receive-pack"}


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text())


def words_of(node: ast.AST) -> Iterator[str]:
    """What may be a subcommand: words given to a call or in a tuple, and commands of a script."""
    pieces = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else []
    yield from (piece.value for piece in pieces if isinstance(piece, ast.Constant) and isinstance(piece.value, str))
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "$" in node.value:
        for line in IN_A_SCRIPT.findall(node.value):
            yield next((word for word in line.split() if word in BUILT_IN), "")


def test_every_git_command_is_judged() -> None:
    used = {
        word
        for place, module in sources()
        if place.startswith(PLACES)
        for node in ast.walk(module)
        for word in words_of(node)
        if word in BUILT_IN
    }
    assert {"status", "merge", "checkout", "cat-file", "bundle", "read-tree", *FAR} <= used
    judged = set(re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "docs" / "git.md").read_text(), re.MULTILINE))
    assert used - judged == set()
    assert judged - used == set()


def test_git_is_started_in_known_places_only() -> None:
    started = {
        place
        for place, module in sources()
        for node in ast.walk(module)
        if isinstance(node, ast.List)
        and node.elts
        and isinstance(node.elts[0], ast.Constant)
        and node.elts[0].value == "git"
    }
    assert started | {"surfaces/cli/house/doctor.py"} == STARTERS
