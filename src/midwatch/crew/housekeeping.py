"""The housekeeper as an agent: its own process on our leash, its answer read from a file."""

import asyncio
import shutil
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
ANSWER = "answer.json"
SHARE_OF_IDLE = 0.8
"""A check that says nothing must end before the leash takes the silence for death."""


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
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="midwatch-"))
        try:
            await self._lead(task, folder, [verb, *extra, *await asyncio.to_thread(_written, folder, files)])
            return kind.model_validate_json(await asyncio.to_thread((folder / ANSWER).read_bytes))
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _lead(self, task: Task, folder: Path, words: list[str]) -> None:
        # A temporary folder of our own, because a process that is killed leaves its own behind.
        home = {"HOME": str(folder), "TMPDIR": str(folder)}
        ended = await self._leash(
            [sys.executable, "-m", MODULE, *words, *_options(task), "--out", str(folder / ANSWER)],
            cwd=task.checkout,
            env={"PATH": environment().get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8", **home},
            log=task.log,
            wall=task.wall,
            idle=task.idle,
            stop=task.stop,
        )
        if ended.stopped:
            raise Unavailable("The housekeeper was stopped.", hint="Its checkout is kept.")
        if ended.exit_code != 0 or not await asyncio.to_thread((folder / ANSWER).exists):
            last = ended.tail.strip().splitlines()[-1:] or ["it said nothing"]
            raise Broken(f"The housekeeper ended with {ended.exit_code}: {last[0]}", hint=f"Its log: {task.log}")


def _written(folder: Path, files: dict[str, str]) -> list[str]:
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8", errors="replace")
    return [word for name in files for word in (f"--{name}", str(folder / name))]


def _options(task: Task) -> list[str]:
    """The assignment as options, each in one word so that no value can pass for an option."""
    lists = (("--check", task.checks), ("--path", task.paths), ("--avoid", task.avoid))
    return [
        f"--checkout={task.checkout}",
        f"--most-files={task.most_files}",
        f"--most-lines={task.most_lines}",
        f"--check-seconds={SHARE_OF_IDLE * task.idle.total_seconds()}",
        *(f"{option}={value}" for option, values in lists for value in values),
    ]
