"""The housekeeper as an agent: its own process in a room; its answer is read from a file there."""

import asyncio
import logging
import sys
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

import midwatch
from midwatch.errors import Broken, MidwatchError, Unavailable
from midwatch.ports.agent import FormerPullRequest, Task
from midwatch.terms.jobs import Done, Plan
from midwatch.terms.term import Term

log = logging.getLogger("midwatch.housekeeper")
A = TypeVar("A", bound=Term)
MODULE = "midwatch.crew.housekeeper"
ANSWER = "answer.json"
SURROUNDINGS = {"LANG": "C.UTF-8", "PYTHONPATH": str(Path(midwatch.__file__).parents[1])}
"""The same code as the caller's, wherever it was imported from."""
SHARE_OF_IDLE = 0.8
"""A silent check must end before the holder considers it dead."""


class Housekeeper:
    """Drives `python -P -m midwatch.crew.housekeeper`: `-P`, or it would import modules of the checkout it is in."""

    name = "housekeeper"
    amends = False
    """It reads no prose beyond the kinds of work an order names, so it cannot be asked to plan differently."""

    async def plan(self, task: Task) -> Plan:
        return await self._run(task, Plan, "plan")

    async def execute(self, task: Task, plan: Plan) -> Done:
        return await self._run(task, Done, "execute", plan=plan.model_dump_json())

    async def repair(self, task: Task, base: str, failure: str) -> Done:
        """Take back what made the checks worse."""
        return await self._run(task, Done, "repair", "--base", base, failure=failure)

    async def _run(self, task: Task, kind: type[A], verb: str, *extra: str, **files: str) -> A:
        laid = [word for name, text in files.items() for word in (f"--{name}", str(task.room.put(name, text)))]
        answer = task.room.put(ANSWER, "")
        words = [verb, *extra, *laid, *_options(task), "--out", str(answer)]
        left = await task.room.run((sys.executable, "-P", "-m", MODULE, *words), environment=SURROUNDINGS)
        if left.stopped:
            raise Unavailable("The housekeeper was stopped.", hint="Its checkout is kept.")
        try:
            if left.exit_code == 0:
                return kind.model_validate_json(await asyncio.to_thread(task.room.take, ANSWER))
        except (MidwatchError, ValidationError) as wrong:
            log.warning("the housekeeper's answer cannot be used: %s", wrong)
        last = left.tail.strip().splitlines()[-1:] or ["none"]
        error = Broken(f"{left.sentence} Its last output: {last[0]}", hint=f"Its log: {task.room.log}")
        raise error.with_exit(left.exit_code)


def _options(task: Task) -> list[str]:
    """Return the task as options, each in one word so that no value can pass for an option."""
    facts = task.facts
    lists = (("--check", facts.checks), ("--path", facts.paths), ("--avoid", facts.do_not_touch))
    return [
        f"--checkout={task.room.inside}",
        f"--most-files={facts.limits.files}",
        f"--most-lines={facts.limits.lines}",
        f"--order={facts.objective or task.title}",
        *(f"--earlier={_earlier(one)}" for one in facts.proposed),
        f"--check-seconds={SHARE_OF_IDLE * task.idle.total_seconds()}",
        *(f"{option}={value}" for option, values in lists for value in values),
    ]


def _earlier(former: FormerPullRequest) -> str:
    return f"{'rejected' if former.rejected else 'open'}:{former.number}:{former.base}:{former.head}"
