"""Six well-known source trees, each with its own test suite and one piece of work that somebody could ask for.

Each is a file in `trees/`: what its registry calls it, what a person tells Midwatch about it, and the work.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agents.model import Edit, Write

FOLDER = Path(__file__).with_name("trees")


@dataclass(frozen=True)
class Work:
    """What is ordered, and how a person would go about it."""

    title: str
    looks: tuple[str, ...]
    """Commands that only look, for the plan."""
    line: int
    """Where the file is read before it is changed."""
    edit: Edit
    test: Write | Edit
    """A new test file, or more in one that is there; it fails without the edit."""
    narrow: str
    """How to run that test alone."""
    subject: str
    """The commit."""


@dataclass(frozen=True)
class Tree:
    """A package of a registry, and what a person tells Midwatch about it."""

    name: str
    registry: str
    """pip, npm or apt: whose client brings the source."""
    package: str
    version: str
    setup: str
    suite: str
    """How its developers run all of its tests."""
    work: Work
    checks: tuple[str, ...] = ()
    """None named: Midwatch finds the project's own."""
    toolchain: str = ""
    """What it needs that not every machine has."""


def read(file: Path) -> Tree:
    """Read one tree's file."""
    told: dict[str, Any] = tomllib.loads(file.read_text())
    work = told.pop("work")
    edit, test, looks = Edit(**work.pop("edit")), work.pop("test"), tuple(work.pop("looks"))
    shown = Write(**test) if "content" in test else Edit(**test)
    checks = tuple(told.pop("checks", ()))
    return Tree(name=file.stem, work=Work(edit=edit, test=shown, looks=looks, **work), checks=checks, **told)


TREES = tuple(read(file) for file in sorted(FOLDER.glob("*.toml")))
