"""Every program that we start gets a working folder: none inherits the one where a command was typed."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "midwatch"
STARTS = {"subprocess.run", "subprocess.Popen", "asyncio.create_subprocess_exec"}
NEVER = {
    *("os.system", "os.popen", "os.spawnv", "os.posix_spawn", "asyncio.create_subprocess_shell"),
    *("subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.getoutput"),
}


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", ast.unparse(node.func), node


def test_a_started_program_is_given_its_working_folder() -> None:
    started = [(place, node) for place, name, node in calls() if name in STARTS]
    assert len(started) > 10
    homeless = [place for place, node in started if "cwd" not in {word.arg for word in node.keywords}]
    assert not homeless


def test_no_program_is_started_another_way() -> None:
    assert not [place for place, name, _ in calls() if name in NEVER]
