"""A night of twelve hours with agents that do harm: each work is done by one kind of them, named in its title."""

import gc
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from midwatch.night.asks import settlement
from midwatch.night.recovery.overdue import Patrol
from midwatch.ports.agent import Task
from midwatch.rules.people.asks import GO_ON
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import Done, JobState
from midwatch.terms.orders import Limits, OrderedWork
from midwatch.terms.projects import SessionState
from midwatch.terms.records import AskRow, JobRow, SessionRow, TimerRow
from midwatch.terms.trust import Level
from tests.nights.house import TestHouse, orders, sample_repository
from tests.nights.roomed import COMMIT, WORKS, RoomedAgent

SETTINGS = """
[execution]
idle_minutes = 0.05
repair_rounds = 0
[sandbox]
max_processes = 48
stop_grace_seconds = 0.2
room_mib = 48
room_max_files = 9000
keep_days = 3
[rounds]
interval_seconds = 1800
[asks]
guidance_error_minutes = 100
guidance_uncertain_minutes = 100
"""
TALKS = """
import threading, time
def talk():
    while True: print("at it", flush=True); time.sleep(0.2)
threading.Thread(target=talk, daemon=True).start()
"""
"""However slow the disk is, these agents are not idle."""
NEST = """
import os
for top, levels in ((os.getcwd(), 5200), (os.path.expanduser("~"), 3000)):
    os.chdir(top)
    for level in range(levels):
        os.mkdir("d"); os.chdir("d")
    open("last", "w").close()
    os.chmod(".", 0)
    os.chdir(top)
"""
FORK = """
import os, time
while True:
    try: os.fork()
    except OSError: time.sleep(0.05)
"""
FILL = """
import os
with open("big", "wb", 0) as file:
    while True:
        file.write(bytes(1 << 20)); os.fsync(file.fileno())
"""
COUNT = """
import itertools, os
for number in itertools.count():
    os.makedirs(f"many/{number % 100}", exist_ok=True)
    open(f"many/{number % 100}/{number}", "w").close()
"""
FLOOD = """
import sys
line = b"x" * 1023 + b"\\n"
for _ in range(20): sys.stdout.buffer.write(line * 1024)
sys.stdout.flush()
"""
LIE = (
    COMMIT
    + """
open('sample/greet.py', 'w').write('def greet(name): return 1\\n')
open('check.py', 'w').write('assert 1\\n')
commit('Make it green')
print('all checks are green')
"""
)
AWAY = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(3): os.close(number)
        while True: time.sleep(600)
    os._exit(0)
os.wait()
"""
LOOKS_IN_EVERY = timedelta(minutes=90)
IDLE = "The agent was stopped because it printed nothing for too long."


@dataclass(frozen=True)
class Kind:
    """What one kind of agent does, and how its job truly ends."""

    script: str
    state: JobState
    why: str = ""


KINDS = {
    "Nest": Kind(TALKS + NEST, JobState.FAILED),
    "Fork": Kind(FORK, JobState.FAILED, IDLE),
    "Fill": Kind(TALKS + FILL, JobState.FAILED, "The job wrote more than 48 MiB, so it was stopped."),
    "Count": Kind(TALKS + COUNT, JobState.FAILED, "The job wrote more than 9,000 files, so it was stopped."),
    "Hang": Kind("import time\ntime.sleep(600)\n", JobState.FAILED, IDLE),
    "Flood": Kind(TALKS + FLOOD + WORKS, JobState.DONE),
    "Lie": Kind(TALKS + LIE, JobState.FAILED),
    "Leave": Kind(AWAY + TALKS + WORKS, JobState.DONE),
    "Work": Kind(TALKS + WORKS, JobState.DONE),
}


class HostileAgent(RoomedAgent):
    """Does what the first word of its work's title says."""

    def __init__(self) -> None:
        super().__init__(files=("sample/greet.py", "check.py"))
        self.mark = f"mark_{secrets.token_hex(8)}"

    async def _run(self, assignment: Task) -> Done:
        self.script = f"# {self.mark}\n{KINDS[assignment.title.split()[0]].script}"
        return await super()._run(assignment)


@dataclass(frozen=True)
class Taken:
    """What this process took at one moment of the night."""

    hours: float
    ended: int
    megabytes: float
    descriptors: int
    threads: int


@dataclass
class Hostile:
    """The night, as it goes on: a person looks in now and then, and lets what failed be tried again."""

    house: TestHouse
    patrol: Patrol
    taken: list[Taken] = field(default_factory=list)

    async def passes(self) -> SessionRow:
        """Let it pass to its end, with the patrol on its way."""
        began = looked = self.house.clock.now()
        for _ in range(1000):
            await self.house.settle()
            await self.patrol.once()
            await self.patrol.tidy()
            session = (await self.house.house.records.find(SessionRow))[-1]
            if session.state is not SessionState.AUTONOMOUS:
                return session
            due = [row.due_at for row in await self.house.house.records.find(TimerRow)]
            self.house.clock.jump_to(min(*due, looked + LOOKS_IN_EVERY))
            if self.house.clock.now() - looked >= LOOKS_IN_EVERY:
                looked = self.house.clock.now()
                jobs = await self.house.house.records.find(JobRow)
                self.taken.append(_look((looked - began) / timedelta(hours=1), sum(job.state.over for job in jobs)))
                print(self.taken[-1], flush=True)
                for ask in await self.house.house.records.find(AskRow, state=AskState.OPEN):
                    await settlement.answer(self.house.house.books, ask.id, GO_ON, by="ann")
        raise AssertionError("the night never ended")


def _look(hours: float, ended: int) -> Taken:
    gc.collect()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return Taken(
        hours=round(hours, 1),
        ended=ended,
        megabytes=int(status["VmRSS"].split()[0]) / 1024,
        descriptors=sum(1 for _ in Path("/proc/self/fd").iterdir()),
        threads=int(status["Threads"]),
    )


async def begins(house: TestHouse, folder: Path, *, kinds: Sequence[str], times: int) -> Hostile:
    """Order each kind so many times, each in a project of its own, and sign."""
    for kind in kinds:
        await house.project(sample_repository(folder / kind), name=kind.lower())
    work = tuple(
        OrderedWork(project=kind.lower(), title=f"{kind} {number}", agent="housekeeper")
        for number in range(1, times + 1)
        for kind in kinds
    )
    await house.begin(orders(work=work, level=Level.FULL, limits=Limits(minutes=720)))
    return Hostile(house, house.house.patrol())
