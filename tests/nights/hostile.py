"""A night of twelve hours with agents that do harm: each work is done by one kind of them, named in its title."""

import gc
import os
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from midwatch.night.recovery.overdue import Patrol
from midwatch.ports.agent import Task
from midwatch.terms.jobs import Done, JobState
from midwatch.terms.orders import Limits, OrderedWork
from midwatch.terms.projects import SessionState
from midwatch.terms.records import JobRow, SessionRow, TimerRow
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
"""
GROUP = "print('group', open('/proc/self/cgroup').read().split(), flush=True)\n"
NEST = """
import os
for top in (os.getcwd(), os.path.expanduser("~")):
    os.chdir(top)
    for _ in range({levels}):
        os.mkdir("{name}"); os.chdir("{name}")
    open("last", "w").close()
    os.chmod(".", 0)
    os.chdir(top)
    print("nested", flush=True)
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
        print("writing", flush=True)
        file.write(bytes(1 << 20)); os.fsync(file.fileno())
"""
COUNT = """
import itertools, os
for number in itertools.count():
    os.makedirs(f"many/{number % 100}", exist_ok=True)
    open(f"many/{number % 100}/{number}", "w").close()
    if number % 1000 == 0: print(number, flush=True)
"""
FLOOD = """
import sys
line = b"x" * 1023 + b"\\n"
for _ in range(20): sys.stdout.buffer.write(line * 1024)
sys.stdout.flush()
"""
LIE = COMMIT + "open('check.py', 'w').write('assert 1')\ncommit('Make it green')\nprint('all checks are green')\n"
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
IDLE = "The agent was stopped because it printed nothing for too long."


@dataclass(frozen=True)
class Kind:
    """What one kind of agent does, and how its job truly ends."""

    script: str
    state: JobState
    why: str = ""


KINDS = {
    "Nest": Kind(NEST.format(levels=2_600, name="d"), JobState.FAILED),
    "Fork": Kind(FORK, JobState.FAILED, IDLE),
    "Fill": Kind(FILL, JobState.FAILED, "The job wrote more than 48 MiB, so it was stopped."),
    "Count": Kind(COUNT, JobState.FAILED, "The job wrote more than 9,000 files, so it was stopped."),
    "Hang": Kind("import time\ntime.sleep(600)\n", JobState.FAILED, IDLE),
    "Flood": Kind(FLOOD + WORKS, JobState.DONE),
    "Lie": Kind(LIE, JobState.FAILED),
    "Leave": Kind(AWAY + WORKS, JobState.DONE),
    "Work": Kind(WORKS, JobState.DONE),
}


class HostileAgent(RoomedAgent):
    """Does what the first word of its work's title says."""

    def __init__(self) -> None:
        super().__init__(files=("sample/greet.py", "check.py"))
        self.mark = f"mark_{secrets.token_hex(8)}"

    async def _run(self, assignment: Task) -> Done:
        self.script = f"# {self.mark}\n{GROUP}{KINDS[assignment.title.split()[0]].script}"
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
    """The night, as it goes on."""

    house: TestHouse
    patrol: Patrol
    taken: list[Taken] = field(default_factory=list)

    async def passes(self) -> SessionRow:
        """Let it pass to its end, with the patrol on its way; look at ourselves each half hour."""
        began = self.house.clock.now()
        for _ in range(1000):
            await self.house.settle()
            await self.patrol.once()
            await self.patrol.tidy()
            session = (await self.house.house.records.find(SessionRow))[-1]
            jobs = await self.house.house.records.find(JobRow)
            hours = (self.house.clock.now() - began) / timedelta(hours=1)
            if not self.taken or hours - self.taken[-1].hours >= 0.5:
                self.taken.append(_look(hours, sum(job.state.over for job in jobs)))
            if session.state is not SessionState.AUTONOMOUS:
                return session
            due = [row.due_at for row in await self.house.house.records.find(TimerRow)]
            self.house.clock.jump_to(min(due))
        raise AssertionError("the night never ended")


def _look(hours: float, ended: int) -> Taken:
    gc.collect()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return Taken(
        hours=round(hours, 1),
        ended=ended,
        megabytes=int(status["VmRSS"].split()[0]) / 1024,
        descriptors=len(os.listdir("/proc/self/fd")),
        threads=int(status["Threads"]),
    )


async def begins(house: TestHouse, folder: Path, *, kinds: tuple[str, ...], projects: int, times: int) -> Hostile:
    """Order each kind so many times, one after the other over the projects, and sign."""
    names = [f"shop-{place + 1}" for place in range(projects)]
    for name in names:
        await house.project(sample_repository(folder / name), name=name)
    wanted = [kind for _ in range(times) for kind in kinds]
    work = tuple(
        OrderedWork(project=names[place % projects], title=f"{kind} {place + 1}", agent="housekeeper")
        for place, kind in enumerate(wanted)
    )
    await house.begin(orders(work=work, level=Level.FULL, limits=Limits(minutes=720)))
    return Hostile(house, house.house.patrol())
