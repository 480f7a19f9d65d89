"""The house keeps its order: layers, doors, folders, locks, and no address of a package index anywhere."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "midwatch"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUFF = PROJECT["tool"]["ruff"]["lint"]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
PACKAGES = sorted({path.relative_to(SOURCE).parts[0] for path in SOURCE.glob("*/**/*.py")})

# What looks like the address of a place that packages come from, without naming one (or matching itself).
INDEX_ADDRESS = re.compile(rb":/{2}(?:[\w.@:-]*(?:pypi|pythonhosted|npmjs|artifactory|devpi|nexus)|\S+/simple\b)")

# Where ruff's rule on banned calls is open, and what for. Reading os.environ to give a child its PATH is part of
# starting it; ensure_future sees a dying child out even when we are cancelled.
STARTING_PROGRAMS = {"subprocess", "asyncio.create_subprocess_exec", "os.environ"}
DOORS = {
    "src/midwatch/workshop": {*STARTING_PROGRAMS, "asyncio.ensure_future"},
    "src/midwatch/crew": {*STARTING_PROGRAMS, "asyncio.ensure_future"},
    "src/midwatch/surfaces/cli": STARTING_PROGRAMS,
}


def complaints(tool: str, *arguments: str | Path) -> str:
    """Run a tool of our environment in the project folder; empty when it is content."""
    program = Path(sys.executable).with_name(tool)
    done = subprocess.run([program, *arguments], check=False, capture_output=True, text=True, cwd=ROOT)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def files_of_the_repository() -> list[Path]:
    """List what git tracks or would track; every file when this is a plain copy without git."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    if listed.returncode == 0 and listed.stdout:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not {".venv", ".git"} & set(path.parts)]
    return [path for path in paths if path.is_file() and path.suffix not in {".whl", ".pyc"}]


def pins(lock: Path) -> set[str]:
    """What a lock pins, without hashes."""
    return set(re.findall(r"^[a-z0-9][^ ;]*==[^ ;]+", lock.read_text(), re.MULTILINE))


def name_of(requirement: str) -> str:
    """The package and its extras, without versions."""
    return re.split(r"[<>=~!; ]", requirement, maxsplit=1)[0].lower()


def test_the_import_contracts_hold() -> None:
    assert not complaints("lint-imports", "--no-logo", "--no-cache")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_says_what_may_live_in_it(package: str) -> None:
    assert (SOURCE / package / "README.md").is_file()


def test_no_file_names_a_package_index() -> None:
    assert not [path for path in files_of_the_repository() if INDEX_ADDRESS.search(path.read_bytes())]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_locks_hold_hashes_and_no_addresses(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    assert not re.search(r"^\s*--(extra-index-url|index-url|find-links)", text, re.MULTILINE)
    unhashed = [block for block in re.split(r"\n(?=\S)", text) if "==" in block and "--hash=sha256:" not in block]
    assert not unhashed


def test_people_and_tests_run_the_same_versions() -> None:
    base, dev = (pins(ROOT / "requirements" / name) for name in ("base.lock", "dev.lock"))
    assert base
    assert base <= dev


def test_the_project_declares_what_is_locked() -> None:
    lines = (ROOT / "requirements" / "base.in").read_text().splitlines()
    locked = {name_of(line) for line in lines if line and not line.startswith("#")}
    assert locked == {name_of(requirement) for requirement in PROJECT["project"]["dependencies"]}


def test_every_door_in_the_banned_calls_is_known_here() -> None:
    opened = {path.removesuffix("/**") for path, codes in RUFF["per-file-ignores"].items() if "TID251" in codes}
    assert {path for path in opened if path.startswith("src/")} == set(DOORS)


@pytest.mark.parametrize("place", sorted(DOORS))
def test_a_door_is_used_for_its_own_purpose(place: str, tmp_path: Path) -> None:
    """Ruff opens all banned calls or none; who may start programs may still not read the clock."""
    assert (ROOT / place).exists(), "a door that is gone is taken off the list"
    banned = RUFF["flake8-tidy-imports"]["banned-api"]
    lines = [f'"{name}".msg = "{rule["msg"]}"' for name, rule in banned.items() if name not in DOORS[place]]
    config = tmp_path / "ruff.toml"
    config.write_text("\n".join(['lint.select = ["TID251"]', "[lint.flake8-tidy-imports.banned-api]", *lines]))
    assert not complaints("ruff", "check", "--quiet", "--no-cache", "--config", config, place)
