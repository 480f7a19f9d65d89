"""Forty pieces of work in eight repositories, a third of which fail, each in its own way; fifteen of them ask."""

import shutil
from pathlib import Path
from typing import Final

from midwatch.errors import Broken
from midwatch.ports.agent import Agent, Task
from midwatch.terms.jobs import Done, Plan
from midwatch.terms.orders import OrderedWork
from tests.nights.house import CHECK, TestHouse, git, sample_repository
from tests.nights.scripted import BuggyAgent, FailingAgent, ScriptedAgent, write

WAYS: Final = {
    "api": ("good", "idle", "good", "wide", "good"),
    "billing": ("good", "flaky", "good", "rejected", "red"),
    "cli": ("good", "planless", "good", "good", "dies"),
    "docs-site": ("flaky", "good", "good", "wide", "broken"),
    "mobile": ("good", "good", "undone", "flaky", "protected"),
    "search": ("good", "rejected", "good", "good", "cheat"),
    "storefront": ("good", "good", "good", "flaky", "huge"),
    "warehouse": ("good", "good", "good", "buggy", "blocked"),
}
"""By repository: how each of its five works goes. What fails for good comes last, because its repository then stops."""
BECAME: Final = {
    "good": "delivered", "flaky": "delivered", "wide": "delivered",
    "idle": "nothing_delivered", "planless": "nothing_delivered", "undone": "nothing_delivered",
    "rejected": "declined", "blocked": "refused",
    **dict.fromkeys(("red", "dies", "broken", "protected", "cheat", "huge", "buggy"), "failed"),
}  # fmt: skip
ANSWERS: Final = {
    "flaky": "go on", "wide": "approve", "rejected": "reject",
    **dict.fromkeys(("red", "dies", "broken", "protected", "cheat", "huge", "buggy"), "stop"),
}  # fmt: skip
"""What the person says where the work asks."""
PROTECTED: Final = ".github/**"
SETTINGS: Final = {"jobs.max_retries": 1, "jobs.max_in_all": 8, "execution.repair_rounds": 0}


def title(project: str, place: int) -> str:
    return f"Improve part {place} of {project}"


ITEMS: Final = {
    title(project, place): (project, way) for project, ways in WAYS.items() for place, way in enumerate(ways, 1)
}


class Writer(ScriptedAgent):
    """Adds a file of its own, so that no two branches of a repository conflict."""

    def __init__(self, *, files: tuple[str, ...] = ("sample/notes.py",), fails_first: bool = False) -> None:
        super().__init__(lambda _: None, files=files)
        self._left = {one for one, (_, way) in ITEMS.items() if way == "flaky"} if fails_first else set[str]()

    async def plan(self, assignment: Task) -> Plan:
        if assignment.title in self._left:
            self._left.remove(assignment.title)
            raise Broken("The compiler is not installed here.")
        return await super().plan(assignment)

    async def execute(self, assignment: Task, plan: Plan) -> Done:  # noqa: ARG002  a role
        name = f"sample/part_{assignment.title.split()[2]}.py"
        return self._commit(assignment.room.tree, write(name, f'"""{assignment.title}."""\n'))


class Amending(Writer):
    """Can make another plan when it is asked to."""

    amends = True


class Idle(ScriptedAgent):
    """Says that it is done."""

    async def execute(self, assignment: Task, plan: Plan) -> Done:  # noqa: ARG002  a role
        return Done(summary="Everything is in order.", base="", head="")


class Undone(ScriptedAgent):
    """Commits something, and takes it back."""

    async def execute(self, assignment: Task, plan: Plan) -> Done:  # noqa: ARG002  a role
        tree = assignment.room.tree
        base = git(tree, "rev-parse", "HEAD")
        self._commit(tree, write("sample/x.py", "X = 1\n"))
        git(tree, "reset", "-q", "--hard", base)
        return Done(summary="It was not needed.", base=base, head=base)


class Dying(ScriptedAgent):
    """Dies at work, with last words."""

    async def execute(self, assignment: Task, plan: Plan) -> Done:  # noqa: ARG002  a role
        raise Broken("It ended with exit code 3. Its last words: cannot open the parser's grammar")


def _cheat(tree: Path) -> None:
    (tree / "check.py").write_text("assert True\n")
    (tree / "sample/greet.py").write_text("def greet(name):\n    return name\n")


def crew() -> dict[str, Agent]:
    """Make the agents, each named for how its work goes."""

    def edit(name: str, text: str) -> ScriptedAgent:
        return ScriptedAgent(write(name, text), files=(name,))

    return {
        "good": Writer(),
        "flaky": Writer(fails_first=True),
        "wide": Amending(files=("sample/notes.py", "setup/everything.py")),
        "rejected": Writer(files=("sample/notes.py", "setup/everything.py")),
        "blocked": Writer(),
        "idle": Idle(lambda _: None),
        "planless": Idle(lambda _: None, files=()),
        "undone": Undone(lambda _: None),
        "red": edit("sample/greet.py", "def greet(name):\n    return 'Good bye ' + name\n"),
        "cheat": ScriptedAgent(_cheat, files=("sample/greet.py",)),
        "protected": ScriptedAgent(write(".github/workflows/release.yml", "on: push\n")),
        "huge": edit("sample/huge.py", "X = 1\n" * 2_000),
        "dies": Dying(lambda _: None),
        "broken": FailingAgent(message="it cannot read its own configuration"),
        "buggy": BuggyAgent(),
    }


async def forty_works(house: TestHouse, folder: Path) -> tuple[OrderedWork, ...]:
    """Add the repositories; give the works, the first of each repository first."""
    first = sample_repository(folder / "first")
    for name in WAYS:
        shutil.copytree(first, folder / name)
        await house.project(folder / name, name=name, checks=(CHECK,))
    ordered = sorted(ITEMS.items(), key=lambda one: one[0].split()[2])
    return tuple(
        OrderedWork(project=project, title=name, agent=way, paths=("sample/**", PROTECTED))
        for name, (project, way) in ordered
    )
