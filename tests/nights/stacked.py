"""A night whose branches do not all go together, and an independent way to find out what does."""

import itertools
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from midwatch.night.rooms import Assignment
from midwatch.terms.jobs import Done, Plan
from midwatch.terms.trust import Level
from tests.nights.house import TestHouse, a_house, git, orders, sample_repository
from tests.nights.scripted import Edit, ScriptedAgent, write

LINES = "".join(f"line {number}\n" for number in range(1, 21))
FILES = {
    "a.txt": LINES,
    "old.txt": "".join(f"kept {number}\n" for number in range(1, 21)),
    "gone.txt": "".join(f"gone {number}\n" for number in range(1, 21)),
    "prices.py": "def price():\n    return 10\n",
    "use/__init__.py": "",
    "use/total.py": "from prices import price\n\nassert price() == 10\n",
    "check.py": "import glob, runpy, sys\nsys.path.insert(0, '.')\n"
    "for name in sorted(glob.glob('use/*.py')):\n    runpy.run_path(name)\n",
}
CHECK = "python3 check.py"


def replaced(name: str, old: str, new: str) -> Edit:
    """An edit of one place."""

    def edit(tree: Path) -> None:
        (tree / name).write_text((tree / name).read_text().replace(old, new))

    return edit


def all_of(*edits: Edit) -> Edit:
    """Several edits, one after the other."""

    def edit(tree: Path) -> None:
        for one in edits:
            one(tree)

    return edit


def moved(old: str, new: str) -> Edit:
    """An edit that renames a file."""
    return lambda tree: (tree / old).rename(tree / new) and None


def removed(name: str) -> Edit:
    """An edit that removes a file."""
    return lambda tree: (tree / name).unlink()


EIGHT: dict[str, Edit] = {
    "Alpha": replaced("a.txt", "line 1\n", "line one\n"),
    "Beta": replaced("a.txt", "line 1\n", "line uno\nand more\n"),
    "Rename": moved("old.txt", "new.txt"),
    "Rename too": all_of(moved("old.txt", "newer.txt"), write("why.txt", "because\n")),
    "Remove": removed("gone.txt"),
    "Amend": replaced("gone.txt", "gone 9\n", "gone nine\n"),
    "New name": all_of(
        write("prices.py", "def price_now():\n    return 10\n"),
        write("use/total.py", "from prices import price_now\n\nassert price_now() == 10\n"),
    ),
    "Old name": write("use/tax.py", "from prices import price\n\nassert price() * 2 == 20\n"),
}
"""Four pairs of which only one goes: in the text, by name, by being there at all, and by what the checks say."""


class BranchAgent(ScriptedAgent):
    """Makes the edit that its job is called after."""

    def __init__(self, edits: dict[str, Edit]) -> None:
        super().__init__(lambda _: None)
        self._edits = edits

    async def execute(self, assignment: Assignment, plan: Plan) -> Done:  # noqa: ARG002  a role
        return self._commit(assignment.room.tree, self._edits[assignment.title])


@asynccontextmanager
async def a_night_of(
    home: Path, edits: dict[str, Edit], *, url: str = "", checks: tuple[str, ...] = (CHECK,), **flags: Any
) -> AsyncIterator[tuple[TestHouse, Path]]:
    """Live through a night with one branch for each edit, up to its brief."""
    source = sample_repository(home / "sample", FILES)
    (home / "home").mkdir()
    lines = [f"{name.replace('__', '.')} = {str(value).lower()}\n" for name, value in flags.items()]
    (home / "home" / "midwatch.toml").write_text("".join(lines))
    agent = BranchAgent(edits)
    async with a_house(home / "home", url, agents={"housekeeper": agent}) as house:
        await house.project(source, checks=checks)
        await house.begin(orders(*edits, level=Level.FULL))
        await house.to_the_brief()
        await house.settle()
        yield house, source


def merges(source: Path, folder: Path, branches: tuple[str, ...]) -> bool:
    """Merge branches with plain git in a clone of one's own, in this order; tell whether it went."""
    subprocess.run(["git", "clone", "-q", str(source), str(folder)], check=True, capture_output=True)
    for name in branches:
        try:
            git(folder, "merge", "-q", "--no-ff", "-m", f"Merge {name}", f"origin/{name}")
        except subprocess.CalledProcessError:
            return False
    return True


def green(folder: Path, check: str = CHECK) -> bool:
    """Run the checks, without any of our code."""
    return subprocess.run(check, shell=True, cwd=folder, capture_output=True, check=False).returncode == 0  # noqa: S602


def largest(source: Path, folder: Path, branches: tuple[str, ...]) -> int:
    """Try every set of branches by hand, the largest first; tell how many go together."""
    names: Callable[[], Path] = lambda places=itertools.count(): folder / str(next(places))  # noqa: E731
    for size in range(len(branches), 0, -1):
        for chosen in itertools.combinations(branches, size):
            tree = names()
            if merges(source, tree, chosen) and green(tree):
                return size
    return 0
