"""Brings the source of a tree by its registry's ordinary client, once, into a cache; never into this repository.

The cache is MIDWATCH_TRYOUT, else ~/.cache/midwatch-tryout. The clients' own settings decide where packages come from.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.tryout.trees import Tree

IGNORED = (
    ".venv/\nnode_modules/\ntarget/\n__pycache__/\n*.egg-info/\n.nyc_output/\ncoverage/\n.coverage\n.pytest_cache/\n"
)
"""Packages leave their .gitignore out; this is what theirs have in common."""
AUTHOR = ("-c", "user.name=Upstream", "-c", "user.email=upstream@example.invalid", "-c", "commit.gpgsign=false")


class CannotFetch(Exception):
    """Why a source is not here, as the sentence a person reads."""


def cache() -> Path:
    """Where sources are kept."""
    return Path(os.environ.get("MIDWATCH_TRYOUT") or Path.home() / ".cache" / "midwatch-tryout")


def fetched(tree: Tree) -> Path:
    """Return the folder with a tree's files; a half-done one never gets the final name."""
    place = cache() / f"{tree.name}-{tree.version}"
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{tree.name}-", dir=place.parent) as folder:
        BY[tree.registry](tree, Path(folder))
        unpacked = [path for path in Path(folder, "tree").glob("**/*") if path.name in MARKS]
        if not unpacked:
            raise CannotFetch(f"What {tree.registry} brought for {tree.name} holds no project.")
        top = min(unpacked, key=lambda path: len(path.parts)).parent
        top.rename(place)
    return place


def repository(tree: Tree, place: Path) -> Path:
    """Make a git repository of a tree's files, as its developers would have it."""
    shutil.copytree(fetched(tree), place)
    with (place / ".gitignore").open("a") as ignored:
        ignored.write(IGNORED)
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", f"{tree.name} {tree.version}")):
        subprocess.run(["git", *AUTHOR, *words], cwd=place, check=True)
    return place


MARKS = ("pyproject.toml", "setup.py", "package.json", "Cargo.toml")


def _run(folder: Path, *words: str) -> None:
    program = shutil.which(words[0])
    if program is None:
        raise CannotFetch(f"There is no {words[0]} here.")
    done = subprocess.run([program, *words[1:]], cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise CannotFetch(f"{words[0]} could not bring it: {' / '.join(said)}")


def _by_pip(tree: Tree, folder: Path) -> None:
    python = shutil.which("python3") or sys.executable
    source = ("--no-deps", "--no-binary", ":all:", "--quiet", "--dest", ".")
    _run(folder, python, "-m", "pip", "download", *source, f"{tree.package}=={tree.version}")
    _unpack(folder)


def _by_npm(tree: Tree, folder: Path) -> None:
    _run(folder, "npm", "pack", "--silent", f"{tree.package}@{tree.version}")
    _unpack(folder)


def _by_apt(tree: Tree, folder: Path) -> None:
    _run(folder, "apt-get", "download", "--quiet", f"{tree.package}={tree.version}")
    _run(folder, "dpkg", "-x", str(next(folder.glob("*.deb"))), "tree")


def _unpack(folder: Path) -> None:
    with tarfile.open(next(path for path in folder.iterdir() if path.name.endswith((".tar.gz", ".tgz")))) as archive:
        archive.extractall(folder / "tree", filter="data")


BY = {"pip": _by_pip, "npm": _by_npm, "apt": _by_apt}
