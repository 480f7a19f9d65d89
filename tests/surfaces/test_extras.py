"""`channel add` brings Apprise into the environment that Midwatch runs from, after asking (B10 of title 7)."""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import missing
from tests.patience import PATIENCE
from tests.surfaces.person import Person, a_person
from tools.bootstrap import REQUIREMENTS, ROOT, UV, uv_environment

URL = "json://127.0.0.1:9/"
PLAIN = "/usr/bin:/bin"


def uv(*words: str | Path) -> None:
    # Compiling 47 packages takes longer than the whole test needs of them.
    environment = uv_environment() | {"UV_COMPILE_BYTECODE": "0"}
    subprocess.run([str(UV), "pip", *map(str, words)], env=environment, check=True, capture_output=True)


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[tuple[Person, Path]]:
    """Somebody with Midwatch as it is without extras, in an environment without pip."""
    if not UV.exists():
        missing("uv", "this environment was not made by tools/bootstrap.py")
    place = tmp_path / "venv"
    venv.create(place, with_pip=False, symlinks=True)
    python = place / "bin" / "python"
    uv("sync", "--python", python, "--require-hashes", REQUIREMENTS / "base.lock")
    uv("install", "--python", python, "--offline", "--no-deps", "--editable", ROOT)
    with a_person(up=False) as person:
        yield person, python


def adds(person: Person, python: Path, *words: str, path: str = PLAIN) -> "subprocess.CompletedProcess[str]":
    environment = person.environment | {"PATH": path, "HOME": os.environ["HOME"]}
    command = [str(python), "-m", "midwatch", "channel", "add", "phone", URL, *words]
    return subprocess.run(
        command, cwd=person.folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False, timeout=PATIENCE,
    )  # fmt: skip


def has_apprise(python: Path) -> bool:
    return subprocess.run([python, "-c", "import apprise"], check=False, capture_output=True).returncode == 0


@pytest.mark.slow
def test_a_fresh_installation_gets_what_a_channel_needs_by_uv_or_by_pip(installed: tuple[Person, Path]) -> None:
    person, python = installed
    unasked = adds(person, python)
    assert unasked.returncode == 5
    assert "Channels need apprise, which is not installed." in unasked.stderr
    assert "midwatch channel add phone --yes" in unasked.stderr
    alone = adds(person, python, "--yes")
    if shutil.which("uv", path=PLAIN) is None:
        assert alone.returncode == 5
        assert f"neither pip nor uv for the environment {python.parents[1]}" in " ".join(alone.stderr.split())
    assert "channels" not in (person.home / "midwatch.toml").read_text()
    by_uv = adds(person, python, "--yes", path=f"{UV.parent}:{PLAIN}")
    assert by_uv.returncode == 0, by_uv.stderr
    assert "Installed apprise" in by_uv.stdout
    assert "Stored: phone is JSON" in by_uv.stdout
    assert has_apprise(python)
    uv("uninstall", "--python", python, "apprise")
    uv("install", "--python", python, "pip")
    broken = subprocess.run(
        [python, "-m", "midwatch", "channel", "add", "phone", URL, "--yes"],
        env=person.environment | {"PATH": PLAIN, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/nowhere"},
        cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert broken.returncode == 5
    assert "apprise could not be installed: " in broken.stderr
    assert "No matching distribution found" in broken.stderr
    by_pip = adds(person, python, "--yes")
    assert by_pip.returncode == 0, by_pip.stderr
    assert has_apprise(python)
    again = adds(person, python)
    assert (again.returncode, "Installed" in again.stdout) == (0, False)
    assert sys.executable != str(python)
