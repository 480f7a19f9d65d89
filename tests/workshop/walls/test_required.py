"""Where walls are required, their absence is a failure and no skip."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BROKEN = "#!/bin/sh\necho no namespaces here >&2\nexit 1\n"
CASE = "tests/workshop/walls/test_attacks.py::test_a_read_only_tree_cannot_be_written"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("required", "program"),
    [
        pytest.param("", BROKEN, id="wished for-broken"),
        pytest.param("postgres,bwrap", "", id="required-absent"),
        pytest.param("", "", id="wished for-absent", marks=pytest.mark.sweep),
        pytest.param("postgres,bwrap", BROKEN, id="required-broken", marks=pytest.mark.sweep),
    ],
)
def test_bubblewrap_that_is_absent_or_does_not_work(tmp_path: Path, program: str, required: str) -> None:
    for folder in os.get_exec_path():
        for tool in Path(folder).glob("*") if Path(folder).is_dir() else ():
            if tool.name != "bwrap" and not (tmp_path / tool.name).is_symlink():
                (tmp_path / tool.name).symlink_to(tool)
    if program:
        (tmp_path / "bwrap").write_text(program)
        (tmp_path / "bwrap").chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "no:xdist", CASE],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path), "MIDWATCH_REQUIRE": required},
        capture_output=True,
        text=True,
        check=False,
    )
    said = "no namespaces here" if program else "bubblewrap is not installed"
    assert said in done.stdout, done.stdout + done.stderr
    assert done.returncode == (1 if required else 0)
    assert ("MIDWATCH_REQUIRE names bwrap, but" in done.stdout) is bool(required)
    assert "passed" not in done.stdout
