"""A large night: eighteen works in six repositories, by agents that each write a file of their own."""

import shutil
from pathlib import Path
from typing import Any

from midwatch.ports.agent import Task
from midwatch.terms.jobs import Done, Plan
from midwatch.terms.orders import OrderedWork
from tests.nights.house import TestHouse, orders, sample_repository
from tests.nights.scripted import ScriptedAgent, write


class OwnFile(ScriptedAgent):
    """Adds a file named for its work, so that no two branches of a repository conflict."""

    def __init__(self) -> None:
        super().__init__(lambda _: None, files=("sample/notes.py",))

    async def execute(self, assignment: Task, plan: Plan) -> Done:  # noqa: ARG002  a role
        name = "_".join(assignment.title.lower().split())
        return self._commit(assignment.room.tree, write(f"sample/{name}.py", f'"""{assignment.title}."""\n'))


async def begins(house: TestHouse, folder: Path, *, works: int = 18, repositories: int = 6, **more: Any) -> None:
    """Order the works, one repository after the other, and sign; nothing is carried out yet."""
    first = sample_repository(folder / "first")
    names = [f"repository-{place}" for place in range(1, repositories + 1)]
    for name in names:
        shutil.copytree(first, folder / name)
        await house.project(folder / name, name=name)
    work = tuple(
        OrderedWork(project=names[place % repositories], title=f"Improve part {place + 1}", agent="housekeeper")
        for place in range(works)
    )
    await house.begin(orders(work=work, **more))
