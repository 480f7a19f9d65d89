"""The housekeeper as an agent: its own process on our leash, its answer read from a file."""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TypeVar

from midwatch.crew.roles import Leash, Task
from midwatch.errors import Broken, Unavailable
from midwatch.settings.folder import environment
from midwatch.terms.jobs import Done, Plan
from midwatch.terms.term import Term

A = TypeVar("A", bound=Term)
MODULE = "midwatch.crew.housekeeper"


class Housekeeper:
    """Drives `python -m midwatch.crew.housekeeper`."""

    name = "housekeeper"

    def __init__(self, leash: Leash) -> None:
        self._leash = leash

    async def plan(self, task: Task) -> Plan:
        """Look, and say what would be done."""
        return await self._run(task, Plan, "plan")

    async def execute(self, task: Task, plan: Plan) -> Done:
        """Carry the approved plan out."""
        return await self._run(task, Done, "execute", plan=plan.model_dump_json())

    async def repair(self, task: Task, base: str, failure: str) -> Done:
        """Take back what made the checks worse."""
        return await self._run(task, Done, "repair", "--base", base, failure=failure)

    async def _run(self, task: Task, kind: type[A], verb: str, *extra: str, **files: str) -> A:
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="midwatch-housekeeper-"))
        answer = folder / "answer.json"
        argv = [sys.executable, "-m", MODULE, verb, "--checkout", str(task.checkout), "--out", str(answer), *extra]
        for name, content in files.items():
            (folder / name).write_text(content)
            argv += [f"--{name}", str(folder / name)]
        for option, values in (("--check", task.checks), ("--path", task.paths), ("--avoid", task.avoid)):
            argv += [part for value in values for part in (option, value)]
        ended = await self._leash(
            argv,
            cwd=task.checkout,
            env={"PATH": environment().get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8", "HOME": str(folder)},
            log=task.log,
            wall=task.wall,
            idle=task.idle,
            stop=task.stop,
        )
        if ended.stopped:
            raise Unavailable("The housekeeper was stopped.", hint="Its checkout is kept.")
        if ended.exit_code != 0 or not answer.exists():
            last = ended.tail.strip().splitlines()[-1:] or ["it said nothing"]
            raise Broken(f"The housekeeper ended with {ended.exit_code}: {last[0]}", hint=f"Its log: {task.log}")
        return kind.model_validate_json(await asyncio.to_thread(answer.read_bytes))
