"""An agent that is a real program in a real room: what it does is a script, what it says is its log."""

import sys

from midwatch.errors import Broken, Unavailable
from midwatch.ports.agent import Task
from midwatch.terms.jobs import Commit, Done, Plan

COMMIT = """
import subprocess
def commit(words):
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "commit", "-qm", words], check=True)
"""
WORKS = COMMIT + "open('sample/greet.py', 'a').write('# seen\\n')\ncommit('Look at it')\n"


class RoomedAgent:
    """Runs its script to execute and to repair; its plan is said at once."""

    def __init__(self, script: str = WORKS, *, files: tuple[str, ...] = ("sample/greet.py",)) -> None:
        self.script = script
        self.files = files
        self.ran = 0

    amends = False

    async def plan(self, assignment: Task) -> Plan:  # noqa: ARG002  a role
        return Plan(summary="Work in the room.", files=self.files, estimate_files=len(self.files))

    async def execute(self, assignment: Task, plan: Plan) -> Done:  # noqa: ARG002  a role
        return await self._run(assignment)

    async def repair(self, assignment: Task, base: str, failure: str) -> Done:  # noqa: ARG002  a role
        return await self._run(assignment)

    async def _run(self, assignment: Task) -> Done:
        self.ran += 1
        left = await assignment.room.run((sys.executable, "-I", "-c", self.script))
        if left.stopped:
            raise Unavailable("The agent was stopped.", hint="Its checkout is kept.")
        if left.exit_code:
            raise Broken(f"{left.sentence} {left.tail.strip()[-300:]}", hint="Look at its log.")
        return Done(summary="Worked.", base="0" * 40, head="0" * 40, commits=(Commit(sha="0" * 40, subject="work"),))
