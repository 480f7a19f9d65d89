"""Nights behind walls: agents outlive the server, reach nothing unasked, leave nothing behind.

A2, A10, O18, N19, N20, X3, X5.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from midwatch.errors import Refused
from midwatch.evening.projects import change_project
from midwatch.journal.events.workshop import CheckoutRemoved, ProcessOrphaned, SetupFinished
from midwatch.night.commands import steering
from midwatch.night.jobs import attempt
from midwatch.night.jobs.time_box import stopped_well
from midwatch.night.recovery import cleanup
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.records import ConnectionRow, JobRow, PullRequestRow
from midwatch.terms.trust import Isolation
from midwatch.workshop.sandbox.isolation import found
from midwatch.workshop.workshop import Workshop
from tests.conftest import missing
from tests.nights.house import EVENING, TestHouse, a_house, git, orders, sample_repository
from tests.nights.roomed import COMMIT, WORKS, RoomedAgent
from tests.nights.scripted import FailingAgent
from tests.nights.test_first_night import all_is_well

LATER = EVENING + timedelta(hours=2)

WAITS = (
    COMMIT
    + """
import pathlib, time
print("begun", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
pathlib.Path("go").unlink()
open("sample/greet.py", "a").write("# seen\\n")
commit("Look at it")
"""
)
REACHES = (
    WORKS
    + """
import urllib.error, urllib.request
for place in ("http://example.org/", "http://169.254.169.254/latest/meta-data/", "https://paste.example.com/"):
    try:
        print(urllib.request.urlopen(place, timeout=20).status)
    except (urllib.error.URLError, OSError) as error:
        print("refused", place, error)
"""
)


@pytest.fixture(autouse=True)
def walled() -> None:
    if found().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", found().why)


@pytest.fixture(autouse=True)
async def nothing_works_on(tmp_path: Path) -> AsyncIterator[None]:
    yield
    workshop = Workshop(tmp_path / "home")
    for job, _ in await workshop.rooms.living():
        await workshop.rooms.clear_out(job, timedelta())


async def the_job(house: TestHouse) -> JobRow:
    return (await house.house.records.find(JobRow))[-1]


async def at_work(house: TestHouse, source: Path) -> tuple[JobRow, asyncio.Task[None]]:
    """Let a night run until its agent is at work, and leave it there."""
    await house.project(source)
    await house.begin(orders("Look at it"))
    night = asyncio.create_task(house.pass_time(hours=1))
    row = await newest(house)
    while not (log := house.house.workshop.rooms.log(row.id, "agent")).exists() or not log.stat().st_size:
        await asyncio.sleep(0.02)
        assert not night.done(), night.exception()
    return await house.house.records.get(JobRow, row.id), night


async def newest(house: TestHouse) -> JobRow:
    while not (rows := await house.house.records.find(JobRow, stage=Stage.EXECUTE)):  # noqa: ASYNC110 - a real process
        await asyncio.sleep(0.02)
    return rows[-1]


async def killed(night: asyncio.Task[None]) -> None:
    """Leave like a server that was killed: nobody is told anything."""
    night.cancel()
    await asyncio.wait([night])


async def test_an_agent_outlives_its_server_and_delivers_once(tmp_path: Path) -> None:
    """A10, O18: one agent, one pull request, whichever server was there."""
    source = sample_repository(tmp_path / "sample")
    agent = RoomedAgent(WAITS)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        job, night = await at_work(house, source)
        await killed(night)
        assert await house.house.workshop.rooms.living() == ((job.id, job.epoch),)
    async with a_house(tmp_path / "home", begins=LATER, agents={"housekeeper": agent}) as house:
        (house.house.workshop.checkouts.tree(job.id, job.epoch) / "go").touch()
        both = [attempt.attempt_stage(house.house.night, job.id, Stage.EXECUTE, 1) for _ in range(2)]
        await asyncio.gather(*both)
        assert agent.ran == 2, "of two that would take it up at once, in one process, one does"
        await house.to_the_brief()
        now = await the_job(house)
        assert (now.state, now.work_epoch) == (JobState.DONE, job.epoch)
        assert now.epoch > job.epoch
        assert len(await house.house.records.find(PullRequestRow)) == 1
        assert house.house.workshop.rooms.log(job.id, "agent").read_text() == "begun\n", "it was started once"
        await all_is_well(house)
    assert git(source, "log", "--format=%s", "-1", f"agent/{job.id}") == "Look at it"


async def test_a_stop_that_came_while_nobody_was_there_ends_the_agent(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    agent = RoomedAgent(WAITS)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        job, night = await at_work(house, source)
        await killed(night)
        await steering.stop_job(house.house.books, house.house.workshop.rooms, job, by="ann", why="enough")
    async with a_house(tmp_path / "home", begins=LATER, agents={"housekeeper": agent}) as house:
        await attempt.attempt_stage(house.house.night, job.id, Stage.EXECUTE, 1)
        assert (await the_job(house)).state is JobState.STOPPED
        assert await house.house.workshop.rooms.living() == ()
        await house.to_the_brief()
        await all_is_well(house)


async def test_whoever_works_on_for_a_job_that_is_over_is_found_ended_and_told(tmp_path: Path) -> None:
    """O18, X5."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home", agents={"housekeeper": RoomedAgent(WAITS)}) as house:
        job, night = await at_work(house, source)
        await killed(night)
        await steering.stop_job(house.house.books, house.house.workshop.rooms, job, by="ann", why="enough")
        parts = house.house.night  # as another server would have written it
        stopped = await stopped_well(parts.books.blobs, parts.books.ids, parts.workspace.rooms, await the_job(house))
        await house.house.journal.record(*stopped)
        assert await cleanup.end_orphans(house.house.books, house.house.workshop.rooms) == 1
        assert await cleanup.end_orphans(house.house.books, house.house.workshop.rooms) == 0
        assert await house.house.workshop.rooms.living() == ()
        entries = [entry.event for entry in await house.house.journal.entries(kinds=("process.orphaned",))]
        assert [(event.job, event.ended) for event in entries if isinstance(event, ProcessOrphaned)] == [(job.id, True)]
        await house.to_the_brief()
        await all_is_well(house)


async def test_what_a_job_tries_to_reach_is_refused_and_written_down(tmp_path: Path) -> None:
    """N19: nothing is on the list, so nothing is reached."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home", agents={"housekeeper": RoomedAgent(REACHES)}) as house:
        await house.project(source)
        await house.begin(orders("Look at it"))
        await house.to_the_brief()
        job = await the_job(house)
        seen = await house.house.records.find(ConnectionRow, job=job.id)
        assert [(row.host, row.verdict) for row in seen] == [
            ("example.org", "refused"),
            ("169.254.169.254", "refused"),
            ("paste.example.com", "refused"),
        ]
        assert "it is an address, and only names can be on the list" in seen[1].why
        assert house.house.workshop.rooms.log(job.id, "agent").read_text().count("refused") == 3
        assert job.state is JobState.DONE
        assert job.isolation is Isolation.BUBBLEWRAP
        await all_is_well(house)


async def test_setup_runs_once_for_the_same_lockfiles_and_is_lent_to_agent_and_checks(tmp_path: Path) -> None:
    """Cached by lockfile hash, read-only at the same path in every job, in no commit; tools can write caches."""
    files = {"requirements.txt": "one\n", "sample/greet.py": "x = 1\n"}
    source = sample_repository(tmp_path / "sample", files)
    setup = (
        'mkdir node_modules && echo "made $(cat requirements.txt)" > node_modules/it && echo locked > package-lock.json'
        ' && echo apart > "$MIDWATCH_CACHE/it"'
    )
    check = (
        'grep -q "made one" node_modules/it && grep -q apart "$MIDWATCH_CACHE/it" && ! touch node_modules/new'
        " && grep -q locked package-lock.json && mkdir node_modules/.cache/nyc"
    )
    agent = RoomedAgent("import os\nprint(open('node_modules/it').read(), os.environ['MIDWATCH_CACHE'])\n" + WORKS)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        project = await house.project(source, checks=(check,))
        await change_project(house.house.books, project.id, by="ann", setup=setup)
        await house.begin(orders("Look at it", "Look again"))
        await house.to_the_brief()
        done = await house.house.records.find(JobRow)
        assert [(job.state, job.proof.verdict if job.proof else job.why) for job in done] == [
            (JobState.DONE, "green")
        ] * 2
        entries = [entry.event for entry in await house.house.journal.entries(kinds=("setup.finished",))]
        assert [event.reused for event in entries if isinstance(event, SetupFinished)] == [False, True]
        assert "made one" in house.house.workshop.rooms.log(done[0].id, "agent").read_text()
        assert git(source, "show", "--stat", "--format=", f"agent/{done[0].id}").count("|") == 1, (
            "nothing of it is delivered"
        )
        await all_is_well(house)


async def test_a_setup_that_fails_says_what_to_do(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home", agents={"housekeeper": RoomedAgent()}) as house:
        project = await house.project(source)
        await change_project(house.house.books, project.id, by="ann", setup="echo no such package >&2; exit 4")
        await house.begin(orders("Look at it"))
        await house.to_the_brief()
        job = await the_job(house)
        assert job.state is JobState.FAILED
        assert "The project's setup ended with 4: no such package" in job.why
        assert "sandbox.setup_domains" in job.why
        await all_is_well(house)


async def test_a_stopped_job_goes_on_in_its_own_checkout(tmp_path: Path) -> None:
    """A10: inspected, resumed, delivered; what was half done is not lost."""
    source = sample_repository(tmp_path / "sample")
    first = "open('sample/half.py', 'w').write('half = 1\\n')\n" + WAITS
    agent = RoomedAgent(first, files=("sample/greet.py", "sample/half.py"))
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        job, night = await at_work(house, source)
        await steering.stop_job(house.house.books, house.house.workshop.rooms, job, by="ann", why="for now")
        while not (await the_job(house)).state.over:  # noqa: ASYNC110 - a real process
            await asyncio.sleep(0.02)
        kept = await house.house.workshop.upkeep.standing(job.id)
        assert "sample/half.py" in " ".join(kept[-1].unique)
        with pytest.raises(Refused, match="work that is nowhere else"):
            await steering.discard(
                house.house.journal, house.house.workshop.upkeep, await the_job(house), by="ann", force=False
            )
        agent.script = "assert open('sample/half.py').read() == 'half = 1\\n'\n" + WORKS
        await night
        resumed = await steering.resume_job(house.house.books, await the_job(house), by="ann")
        assert (resumed.stage, resumed.retry_of) == (Stage.EXECUTE, job.id)
        await house.settle()
        assert (await the_job(house)).state is JobState.DONE
        assert git(source, "show", f"agent/{resumed.id}:sample/half.py") == "half = 1"
        with pytest.raises(Refused, match="it cannot be resumed"):
            await steering.resume_job(house.house.books, await the_job(house), by="ann")
        await all_is_well(house)


async def test_discarding_frees_the_disk_and_is_written_down(tmp_path: Path) -> None:
    """X3: delivered work is elsewhere, so its checkout may go."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home", agents={"housekeeper": RoomedAgent()}) as house:
        await house.project(source)
        await house.begin(orders("Look at it"))
        await house.to_the_brief()
        job = await the_job(house)
        assert await steering.discard(house.house.journal, house.house.workshop.upkeep, job, by="ann", force=False) > 0
        assert await house.house.workshop.upkeep.standing(job.id) == ()
        removed = [entry.event for entry in await house.house.journal.entries(kinds=("checkout.removed",))]
        assert isinstance(removed[0], CheckoutRemoved)
        assert removed[0].why == "discarded by ann"
        await all_is_well(house)


async def test_a_secret_is_neither_logged_nor_delivered(tmp_path: Path) -> None:
    """N20: an agent that found a secret can neither say it nor commit it."""
    source = sample_repository(tmp_path / "sample")
    secret = tmp_path / "secret"
    secret.write_text("swordfish-9281-swordfish")
    secret.chmod(0o600)
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "midwatch.toml").write_text(f'[secrets]\nteam = "file:{secret}"\n')
    says = "print('it is swordfish-9281-swordfish')\nopen('sample/greet.py', 'a').write('# swordfish-9281-swordfish')\n"
    async with a_house(tmp_path / "home", agents={"housekeeper": RoomedAgent(says + WORKS)}) as house:
        await house.project(source)
        await house.begin(orders("Look at it"))
        await house.to_the_brief()
        job = await the_job(house)
        assert house.house.workshop.rooms.log(job.id, "agent").read_text() == "it is [secret:team]\n"
        assert job.state is JobState.FAILED
        assert "contains the value of the secret team" in job.why
        assert not git(source, "for-each-ref", "refs/heads/agent/")
        await all_is_well(house)
    files = [file for file in (tmp_path / "home").rglob("*") if file.is_file() and "checkouts" not in file.parts]
    holding = [file for file in files if b"swordfish-9281" in file.read_bytes()]
    assert holding == [], "only the agent's own checkout has it"


async def test_a_job_without_an_approved_plan_cannot_go_on_after_the_night(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home", agents={"housekeeper": FailingAgent(message="no plan today")}) as house:
        await house.project(source)
        await house.begin(orders("Look at it"))
        await house.to_the_brief()
        job = await the_job(house)
        assert job.state is JobState.FAILED
        with pytest.raises(Refused, match="had no approved plan yet"):
            await steering.resume_job(house.house.books, job, by="ann")
        await all_is_well(house)
