"""Agents with behaviour: each does one thing in its checkout, well or badly, as a real agent might."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from midwatch.errors import Broken, Unavailable
from midwatch.ports.agent import Task, TaskFacts
from midwatch.terms.jobs import Commit, Done, Plan
from tests.nights.house import TestHouse, a_house, git

Edit = Callable[[Path], None]


class ScriptedAgent:
    """Plans to touch some files, then makes one edit and commits it."""

    amends = False

    def __init__(
        self, edit: Edit, *, files: tuple[str, ...] = ("sample/greet.py",), repair: Edit | None = None
    ) -> None:
        self._edit = edit
        self._repair = repair
        self._files = files
        self.repairs = 0

    async def plan(self, assignment: Task) -> Plan:  # noqa: ARG002  a role
        return Plan(summary="Edit something.", files=self._files, estimate_files=len(self._files))

    async def execute(self, assignment: Task, plan: Plan) -> Done:  # noqa: ARG002  a role
        return self._commit(assignment.room.tree, self._edit)

    async def repair(self, assignment: Task, base: str, failure: str) -> Done:  # noqa: ARG002  a role
        self.repairs += 1
        return self._commit(assignment.room.tree, self._repair or (lambda _: None), base=base)

    def _commit(self, checkout: Path, edit: Edit, base: str = "") -> Done:
        before = base or git(checkout, "rev-parse", "HEAD")
        edit(checkout)
        git(checkout, "add", "-A", "--sparse")
        git(checkout, "commit", "-q", "--allow-empty", "-m", "Edit something")
        head = git(checkout, "rev-parse", "HEAD")
        return Done(
            summary="Edited something.", base=before, head=head, commits=(Commit(sha=head, subject="Edit something"),)
        )


class PlanningAgent(ScriptedAgent):
    """Listens to what is said of its plans: the n-th plan names the n-th files."""

    amends = True

    def __init__(self, edit: Edit, *plans: tuple[str, ...], undo: str = "") -> None:
        super().__init__(edit)
        self._plans = list(plans)
        self._undo = undo
        self.told: list[TaskFacts] = []

    async def plan(self, assignment: Task) -> Plan:
        self.told.append(assignment.facts)
        files = self._plans[min(len(self.told), len(self._plans)) - 1]
        return Plan(summary=f"Plan {len(self.told)}.", files=files, estimate_files=len(files), undo=self._undo)


class FailingAgent(ScriptedAgent):
    """Never gets as far as a plan."""

    def __init__(self, *, message: str = "network timed out", times: int = 99) -> None:
        super().__init__(lambda _: None)
        self._message = message
        self.tries = 0
        self._times = times

    async def plan(self, assignment: Task) -> Plan:
        self.tries += 1
        if self.tries <= self._times:
            raise (Unavailable if "timed out" in self._message else Broken)(self._message)
        return await super().plan(assignment)


class BuggyAgent(ScriptedAgent):
    """Falls over in a way nobody foresaw."""

    def __init__(self) -> None:
        super().__init__(lambda _: None)

    async def plan(self, assignment: Task) -> Plan:  # noqa: ARG002  a role
        raise ZeroDivisionError("an agent's own bug")


def write(name: str, text: str) -> Edit:
    """An edit that writes one file."""

    def edit(checkout: Path) -> None:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(text)

    return edit


GOOD = write("sample/greet.py", 'def greet(name):\n    return "Hello " + name\n')
"""An edit of the sample repository that passes its check."""


def a_scripted_house(home: Path, url: str = "", **parts: Any) -> AbstractAsyncContextManager[TestHouse]:
    """Open a house whose housekeeper is a script: for nights that are not about what an agent does in its room."""
    return a_house(home, url, **({"agents": {"housekeeper": ScriptedAgent(GOOD)}} | parts))
