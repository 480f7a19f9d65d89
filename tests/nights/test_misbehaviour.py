"""Agents that behave badly, each in a real room: a plain sentence is said, nothing is harmed and nothing works on.

A2, A10, N19, O18, X3, X5.
"""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from midwatch.journal.events.jobs import JobEnded, JobStumbled
from midwatch.night.commands import steering
from midwatch.night.delivery.pull_request_text import STAYED
from midwatch.terms.jobs import JobState
from midwatch.terms.records import JobRow, NoticeRow, PullRequestRow
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.isolation import found
from midwatch.workshop.workshop import Workshop
from tests.conftest import missing
from tests.nights.house import FAULTS, ONE_TRY, TestHouse, a_house, git, orders, sample_repository
from tests.nights.roomed import COMMIT, WORKS, RoomedAgent
from tests.nights.test_behind_walls import at_work
from tests.nights.test_first_night import all_is_well, everything_but_agent_refs
from tests.workshop.holding.conftest import cage

__all__ = ["cage"]

MIB = 1024**2
IMPATIENT = "[execution]\nidle_minutes = 0.02\n[sandbox]\nmax_processes = 48\nstop_grace_seconds = 0.2\n"
NARROW = "[sandbox]\nroom_mib = 24\nstop_grace_seconds = 0.2\n"
STRICT = "[execution]\nrepair_rounds = 0\n"
LOG_CAP = 64 * MIB
pytestmark = pytest.mark.slow

PRINTS = """
import sys
line = b"x" * 1023 + b"\\n"
sys.stdout.buffer.write(b"the first words\\n")
for _ in range({mib}): sys.stdout.buffer.write(line * 1024)
sys.stdout.buffer.write(b"the last words\\n")
sys.stdout.flush()
"""
FORKS = """
import os, time
while True:
    try: os.fork()
    except OSError: time.sleep(0.05)
"""
DEAF = """
import signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
print("begun", flush=True)
while True: time.sleep(600)
"""
AWAY = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(3): os.close(number)
        while True: time.sleep(600)
    os._exit(0)
os.wait()
print("the other one works on", flush=True)
"""
SILENT = "import time\ntime.sleep(600)\n"
FILLS = """
import os
with open("big", "wb", 0) as file:
    while True:
        print("writing", flush=True)
        file.write(os.urandom(1 << 20)); os.fsync(file.fileno())
"""
HEAVY = """
import os
subprocess.run(["git", "config", "core.compression", "0"], check=True)
with open("sample/big", "wb") as file:
    for _ in range({mib}): file.write({what})
print("committing", flush=True)
commit("A large one")
"""
TOO_LONG = """
import os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
os.execvp("truncate", ["truncate", "-s", "3G", "sample/big"])
"""
DOT_GIT = """
import subprocess
def git(*words, input=""):
    return subprocess.run(["git", *words], check=True, stdout=subprocess.PIPE, text=True, input=input).stdout.strip()
blob = git("hash-object", "-w", "--stdin", input="[core]\\nfsmonitor = touch /tmp/out\\n")
inner = git("mktree", input=f"100644 blob {blob}\\tconfig\\n")
outer = git("mktree", input=git("ls-tree", "HEAD") + f"\\n040000 tree {inner}\\t.GIT\\n")
git("reset", "-q", "--soft", git("commit-tree", "-p", "HEAD", "-m", "Look at it", outer))
"""
WITH_CONFTEST = FAULTS | {
    "conftest.py": "RIGHT = 'Hello Ann'\n",
    "check.py": "from conftest import RIGHT\nfrom sample.greet import greet\nassert greet('Ann') == RIGHT\n",
}
HIDES = """
open('sample/greet.py', 'w').write('def greet(name): return 1\\n')
open('conftest.py', 'w').write('RIGHT = 1\\n')
commit("Make the checks green")
"""


@pytest.fixture(autouse=True)
def walled() -> None:
    if found().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", found().why)


@dataclass(frozen=True)
class Night:
    """What a night with a bad agent left."""

    house: TestHouse
    source: Path
    mark: str

    async def job(self) -> JobRow:
        return (await self.house.house.records.find(JobRow))[0]

    async def log(self) -> str:
        return self.house.house.workshop.rooms.log((await self.job()).id, "agent").read_text()

    async def written_down(self) -> list[str]:
        """List what the journal says of the job's stumbles, and last of its end."""
        job = (await self.job()).id
        entries = await self.house.house.journal.entries(kinds=("job.stumbled", "job.ended"))
        events = [entry.event for entry in entries]
        stumbles = [event.error for event in events if isinstance(event, JobStumbled) and event.job == job]
        return [*stumbles, *(event.why for event in events if isinstance(event, JobEnded) and event.job == job)]

    async def said(self) -> str:
        """Join what the person was told."""
        return " ".join(row.text for row in await self.house.house.records.find(NoticeRow))

    async def passes(self) -> JobRow:
        """Let the night pass, and give the first job as it ended."""
        await self.house.project(self.source)
        await self.house.begin(orders("Look at it"))
        await self.house.to_the_brief()
        return await self.job()


@asynccontextmanager
async def a_night_with(
    tmp_path: Path,
    script: str,
    *,
    settings: str = "",
    files: dict[str, str] | None = None,
    plans: tuple[str, ...] = ("sample/greet.py",),
    flags: dict[str, Any] = ONE_TRY,
) -> AsyncIterator[Night]:
    """Begin a night; whatever happens in it, all must be well at its end, and nobody at work."""
    source = sample_repository(tmp_path / "sample", files)
    before = everything_but_agent_refs(source)
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "midwatch.toml").write_text(settings)
    mark = f"mark_{secrets.token_hex(8)}"
    bad = RoomedAgent(f"# {mark}\n{script}", files=plans)
    try:
        async with a_house(tmp_path / "home", agents={"housekeeper": bad}, flags=flags) as house:
            yield Night(house, source, mark)
            await house.to_the_brief()
            await all_is_well(house)
            assert await house.house.workshop.rooms.living() == ()
            assert marked(mark) == []
    finally:
        workshop = Workshop(tmp_path / "home")
        for job, _ in await workshop.rooms.living():
            await workshop.rooms.clear_out(job, timedelta())
    assert everything_but_agent_refs(source) == before


def marked(mark: str) -> list[str]:
    """List the processes that run a script with this mark, by looking at each process there is."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [place.parent.name] if mark.encode() in place.read_bytes() else []
        except OSError:
            continue
    return found


async def failed_with(night: Night, sentence: str, *, tries: int) -> None:
    """Let the night pass: the job failed, and the same sentence is in its row, in the journal and in the notice."""
    job = await night.passes()
    assert job.state is JobState.FAILED
    assert sentence in job.why
    written = await night.written_down()
    assert len(written) == tries
    assert all(sentence in words for words in written)
    assert sentence in await night.said()
    assert await night.house.house.records.find(PullRequestRow) == ()
    assert git(night.source, "for-each-ref", "refs/heads/agent/") == ""


@pytest.mark.parametrize("mib", [80, pytest.param(1024, marks=pytest.mark.sweep)])
async def test_one_that_prints_without_end_is_heard_at_both_ends(tmp_path: Path, mib: int) -> None:
    async with a_night_with(tmp_path, PRINTS.format(mib=mib) + WORKS) as night:
        job = await night.passes()
        assert (job.state, job.proof.verdict if job.proof else "") == (JobState.DONE, "green")
        log = night.house.house.workshop.rooms.log(job.id, "agent")
        assert log.stat().st_size <= LOG_CAP + 1000
        text = log.read_text()
        assert text.startswith("the first words\n")
        assert text.endswith("the last words\n")
        cuts = [line for line in text.splitlines() if line.startswith("[midwatch: ")]
        assert cuts, "what is missing is named where it is missing"
        assert all(line.endswith(" bytes left out here]") for line in cuts)
        assert (await night.written_down())[-1] == "Look at it"


async def test_one_that_forks_for_ever_is_bounded_stopped_and_gone(tmp_path: Path) -> None:
    async with a_night_with(tmp_path, FORKS, settings=IMPATIENT) as night:
        await failed_with(night, "The agent was stopped because it printed nothing for too long.", tries=1)


async def test_one_that_ignores_every_request_to_stop_is_ended_after_its_grace(tmp_path: Path) -> None:
    async with a_night_with(tmp_path, DEAF, settings=NARROW) as night:
        job, passing = await at_work(night.house, night.source)
        assert marked(night.mark)
        await steering.stop_job(
            night.house.house.books, night.house.house.workshop.rooms, job, by="ann", why="enough for tonight"
        )
        await passing
        ended = await night.job()
        assert (ended.state, ended.why) == (JobState.STOPPED, "enough for tonight")
        assert await night.written_down() == ["enough for tonight"]
        assert await night.log() == "begun\n"


async def test_one_that_leaves_somebody_behind_delivers_and_takes_nobody_along(tmp_path: Path) -> None:
    async with a_night_with(tmp_path, AWAY + WORKS) as night:
        job = await night.passes()
        assert (job.state, job.proof.verdict if job.proof else "") == (JobState.DONE, "green")
        assert await night.log() == "the other one works on\n"
        assert git(night.source, "log", "--format=%s", "-1", f"agent/{job.id}") == "Look at it"


async def test_one_that_never_speaks_is_stopped(tmp_path: Path) -> None:
    async with a_night_with(tmp_path, SILENT, settings=IMPATIENT, flags={}) as night:
        await failed_with(night, "The agent was stopped because it printed nothing for too long.", tries=3)
        assert await night.log() == ""


async def test_one_that_fills_the_disk_is_stopped_with_its_work_kept(tmp_path: Path) -> None:
    async with a_night_with(tmp_path, FILLS, settings=NARROW) as night:
        await failed_with(night, "The job wrote more than 24 MiB, so it was stopped.", tries=1)
        job = await night.job()
        assert job.why.endswith("its work is kept.")
        assert (night.house.house.workshop.checkouts.tree(job.id, job.epoch) / "big").stat().st_size > 24 * MIB
        assert set((await night.log()).split()) == {"writing"}


async def test_one_that_commits_too_much_is_refused(tmp_path: Path) -> None:
    script = COMMIT + HEAVY.format(mib=130, what="os.urandom(1 << 20)")
    async with a_night_with(tmp_path, script) as night:
        await failed_with(night, "The work is larger than 128 MiB.", tries=1)


@pytest.mark.parametrize("mib", [70, pytest.param(2000, marks=pytest.mark.sweep)])
async def test_one_that_commits_a_large_file_that_packs_to_nothing_is_refused(tmp_path: Path, mib: int) -> None:
    script = COMMIT + HEAVY.format(mib=mib, what="bytes(1 << 20)").replace('"core.compression", "0"', '"a.b", "0"')
    async with a_night_with(tmp_path, script) as night:
        await failed_with(night, f"The work holds a file of {mib} MiB, more than 64.", tries=1)


async def test_one_that_writes_a_file_beyond_the_limit_is_told_so(tmp_path: Path) -> None:
    async with a_night_with(tmp_path, TOO_LONG, flags={}) as night:
        await failed_with(
            night, "The agent was killed because a file it wrote grew larger than a job's file may be.", tries=3
        )


async def test_one_that_commits_a_folder_git_would_take_for_its_own_is_refused(tmp_path: Path) -> None:
    async with a_night_with(tmp_path, DOT_GIT) as night:
        sentence = "The work cannot be accepted: it holds a name that git would take for its own folder"
        await failed_with(night, sentence, tries=1)


async def test_one_that_edits_what_decides_the_checks_delivers_nothing(tmp_path: Path) -> None:
    files = ("sample/greet.py", "conftest.py")
    async with a_night_with(tmp_path, COMMIT + HIDES, settings=STRICT, files=WITH_CONFTEST, plans=files) as night:
        job = await night.passes()
        assert job.proof is not None
        assert [check.green for check in (*job.proof.delivered, *job.proof.restored)] == [True, False]
        assert (job.state, job.proof.verdict) == (JobState.FAILED, "red_when_restored")
        said = "python3 check.py fails: AssertionError."
        named = "It changes what decides the checks: conftest.py."
        assert await night.written_down() == [f"{said} {STAYED['red_when_restored']} {named}"]
        assert await night.house.house.records.find(PullRequestRow) == ()
