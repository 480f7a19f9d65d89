"""What a watcher sees while checks run, and what merely looking leaves alone."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest


def test_a_long_silent_check_gives_signs_of_life(repo: Any, tmp_path: Path) -> None:
    repo.commit({"a.py": "print(1)\n"})
    repo.plan()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    words = ["--plan", str(tmp_path / "plan.json"), "--check", f"cat {pipe}", "--pulse-seconds", "0.05"]
    with subprocess.Popen(repo.command("execute", *words), stdout=subprocess.PIPE, text=True) as working:
        assert working.stdout is not None
        try:
            said = (json.loads(line)["text"] for line in working.stdout)
            assert f"Running `cat {pipe}`" in said
            for _ in range(3):
                assert "is still running after" in next(said)
            # The check has been silent all the time; only now may it end.
            pipe.write_text("")
            list(said)
        except BaseException:
            # Both ends at once never block, and let a check that still waits come to its end.
            os.close(os.open(pipe, os.O_RDWR))
            working.kill()
            raise
    assert working.returncode == 0
    assert repo.result("execute")["checks_after"][0]["exit_code"] == 0


@pytest.mark.parametrize("setting", ["fix = true", "fix-only = true", "fix = true\nfix-only = true"])
def test_a_look_during_execution_mends_nothing_whatever_the_project_sets(repo: Any, setting: str) -> None:
    messy = 'import os\n\nprint(f"x")\n'
    repo.commit({"ruff.toml": f"{setting}\nunsafe-fixes = true\n", "a.py": messy})
    repo.plan()
    base = repo.commit({"b.py": messy})
    assert repo.run("execute", "--plan", str(repo.root.parent / "plan.json")) == 0, repo.stderr
    assert repo.subjects(base) == ["Remove unused imports", "Fix f-strings without placeholders (F541)"]
    assert repo.git("status", "--porcelain") == ""
    assert repo.read("b.py").decode() == messy
    assert {(f["rule"], f["path"]) for f in repo.result("execute")["left"]} == {("F401", "b.py"), ("F541", "b.py")}
    assert {f["rule"] for f in repo.result("execute")["fixed"]} == {"F401", "F541"}
