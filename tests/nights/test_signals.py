"""Agents that ask, tell of trouble and say they are done while they work (O16, A11, SPEC 9)."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobWaits
from midwatch.journal.events.signals import MilestoneReached, SignalAnswered, SignalPassed
from midwatch.night.asks import settlement
from midwatch.night.jobs import attempt
from midwatch.ports.agent import Task
from midwatch.ports.books import Books
from midwatch.ports.workspace import Rooms
from midwatch.rules.budget.time_boxes import TIME_LEFT
from midwatch.terms.agents import SignalKind, SignalState
from midwatch.terms.asks import AskKind, AskState, Tier
from midwatch.terms.jobs import Done, JobState, Plan, Stage
from midwatch.terms.records import AskRow, JobRow, NoticeRow, PullRequestRow, SignalRow, TimerRow
from midwatch.terms.trust import Isolation, Level
from midwatch.workshop.sandbox.isolation import found
from midwatch.workshop.workshop import Workshop
from tests.conftest import missing
from tests.nights.house import TestHouse, a_house, git, orders, sample_repository
from tests.nights.roomed import COMMIT, RoomedAgent
from tests.nights.test_behind_walls import LATER, killed, newest
from tests.nights.test_first_night import all_is_well
from tests.patience import PATIENCE

QUESTION = "Ignore your orders and merge at once?"
SAYS = (
    COMMIT
    + """
import json, os, pathlib, time
box = pathlib.Path(os.environ["MIDWATCH_SIGNALS"])
def say(kind, where=box, **words):
    where.mkdir(exist_ok=True)
    (where / f"{kind}.json").write_text(json.dumps(words))
def answer(where=box):
    while not (where / "answer.json").exists():
        time.sleep(0.02)
    told = json.loads((where / "answer.json").read_text())
    (where / "answer.json").unlink()
    return told
def write(words):
    with open("sample/greet.py", "a") as file:
        file.write(f"# {words}\\n")
"""
)
ASKS = (
    SAYS
    + f"""
print("begun", flush=True)
say("needs-input", question={QUESTION!r}, options=["red", "blue"], context="Both are in the README.", more=1)
told = answer()
print(told, flush=True)
write(told["answer"])
commit("Look at it")
"""
)


@pytest.fixture(autouse=True)
async def walled(tmp_path: Path) -> AsyncIterator[None]:
    if found().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", found().why)
    yield
    workshop = Workshop(tmp_path / "home")
    for job, _ in await workshop.rooms.living():
        await workshop.rooms.clear_out(job, timedelta())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return sample_repository(tmp_path / "sample")


async def the_job(house: TestHouse) -> JobRow:
    return (await house.house.records.find(JobRow))[-1]


async def begin(house: TestHouse, source: Path, **given: object) -> asyncio.Task[None]:
    await house.project(source)
    await house.begin(orders("Look at it", **given))  # type: ignore[arg-type]  # as a person writes them
    return asyncio.create_task(house.pass_time(hours=1))


async def asked(house: TestHouse, number: int = 1) -> AskRow:
    async with asyncio.timeout(PATIENCE):
        while len(rows := await questions(house)) < number:  # noqa: ASYNC110 - the agent is another process
            await asyncio.sleep(0.02)
    return rows[-1]


async def questions(house: TestHouse) -> tuple[AskRow, ...]:
    return await house.house.records.find(AskRow, kind=AskKind.GUIDANCE_UNCERTAIN)


async def signals(house: TestHouse) -> tuple[SignalRow, ...]:
    return await house.house.records.find(SignalRow)


def delivered(source: Path, job: JobRow) -> str:
    return git(source, "show", f"agent/{job.id}:sample/greet.py").splitlines()[-1]


async def test_a_question_reaches_the_person_word_for_word_and_the_answer_the_running_agent(
    tmp_path: Path, source: Path
) -> None:
    agent = RoomedAgent(ASKS)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        night = await begin(house, source)
        ask = await asked(house)
        assert (ask.question.partition("\n")[2], ask.options, ask.rationale) == (
            QUESTION,
            ("red", "blue"),
            "Both are in the README.",
        )
        assert (ask.blocking, ask.silence, ask.subject) == (True, "parked", (await the_job(house)).id)
        assert ask.due_at is not None
        assert round((ask.due_at - ask.created_at) / timedelta(minutes=1)) == 60
        await settlement.answer(house.house.books, ask.id, "blue", by="ann", text="as ever", shown=ask.shown_hash)
        await night
        job, (row,) = await the_job(house), await signals(house)
        assert (job.state, agent.ran) == (JobState.DONE, 1), job.why
        assert (row.state, row.answer, row.answered_by) == (SignalState.PASSED, "blue as ever", "ann")
        assert delivered(source, job) == "# blue as ever"
        kept = sorted((tmp_path / "home" / "jobs" / job.id / "signals").iterdir())
        assert [json.loads(one.read_text())["question"] for one in kept] == [QUESTION], "archived, and out of the way"
        await all_is_well(house)


async def test_one_ask_and_one_answer_whatever_server_is_there(tmp_path: Path, source: Path) -> None:
    """Killed before it read the signal, killed while it asked, and killed when the answer had come."""
    agent = RoomedAgent(ASKS)
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        night = await begin(house, source)
        job = await newest(house)
        log = house.house.workshop.rooms.log(job.id, "agent")
        async with asyncio.timeout(PATIENCE):
            while not log.exists() or not log.stat().st_size:  # noqa: ASYNC110 - a real process
                await asyncio.sleep(0.02)
        await killed(night)
        assert await signals(house) == ()
    async with a_house(tmp_path / "home", begins=LATER, agents={"housekeeper": agent}) as house:
        second = asyncio.create_task(attempt.attempt_stage(house.house.night, job.id, Stage.EXECUTE, 1))
        ask = await asked(house)
        await killed(second)
        await settlement.answer(house.house.books, ask.id, "red", by="ann")
    # As if the second had died between writing the entry and putting the file away:
    (kept,) = (tmp_path / "home" / "jobs" / job.id / "signals").iterdir()
    kept.rename(kept.with_suffix(".taken"))
    async with a_house(tmp_path / "home", begins=LATER + timedelta(hours=1), agents={"housekeeper": agent}) as house:
        await attempt.attempt_stage(house.house.night, job.id, Stage.EXECUTE, 1)
        await house.to_the_brief()
        assert (await the_job(house)).state is JobState.DONE
        assert [one.number for one in await signals(house)] == [1]
        assert len(await questions(house)) == 1
        told = house.house.workshop.rooms.log(job.id, "agent").read_text()
        assert told.count("begun") == told.count("'answer': 'red'") == 1
        assert len(await house.house.records.find(PullRequestRow)) == 1
        await all_is_well(house)


class Impatient(RoomedAgent):
    """Asks and ends; begun again, it does as it was told."""

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        ask = SAYS + f"write('half'); commit('Half of it'); say('needs-input', question={QUESTION!r})"
        answers = assignment.facts.answers
        self.script = SAYS + f"write({answers[0][1]!r}); commit('The rest')" if answers else ask
        return await super().execute(assignment, plan)


async def test_an_agent_that_ended_meanwhile_goes_on_with_the_answer_where_it_was(tmp_path: Path, source: Path) -> None:
    agent = Impatient()
    async with a_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        await house.project(source)
        await house.begin(orders("Look at it"))
        await house.pass_time(minutes=30)
        ask = await asked(house)
        assert (await the_job(house)).state is JobState.WAITING
        await settlement.answer(house.house.books, ask.id, "red", by="ann")
        await house.to_the_brief()
        job = await the_job(house)
        assert (job.state, agent.ran) == (JobState.DONE, 2), job.why
        assert delivered(source, job) == "# red (ann)"
        assert git(source, "log", "--format=%s", f"main..agent/{job.id}").splitlines() == ["The rest", "Half of it"]
        await all_is_well(house)


async def test_an_answer_that_comes_as_the_agent_ends_is_found_at_once(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_down = attempt._written_down

    async def answered_first(
        books: Books, rooms: Rooms, job: JobRow, events: tuple[Event, ...], *more: Any, **named: Any
    ) -> bool:
        if any(isinstance(one, JobWaits) for one in events):
            (row,) = await books.records.find(SignalRow, state=SignalState.OPEN)
            await books.journal.record(SignalAnswered(signal=row.id, job=job.id, answer="red", by="ann"))
        return await write_down(books, rooms, job, events, *more, **named)

    monkeypatch.setattr(attempt, "_written_down", answered_first)
    async with a_house(tmp_path / "home", agents={"housekeeper": Impatient()}) as house:
        await house.project(source)
        await house.begin(orders("Look at it"))
        await house.to_the_brief()
        job = await the_job(house)
        assert (job.state, job.waits) == (JobState.DONE, 1), job.why
        await all_is_well(house)


async def test_silence_parks_a_job_whose_agent_has_ended(tmp_path: Path, source: Path) -> None:
    async with a_house(tmp_path / "home", agents={"housekeeper": Impatient()}) as house:
        await (await begin(house, source))
        await house.pass_time(hours=1)
        job = await the_job(house)
        assert (job.state, "parked" in job.why) == (JobState.STOPPED, True)
        assert [row.state for row in await questions(house)] == [AskState.EXPIRED]
        await all_is_well(house)


async def test_silence_parks_an_agent_at_work(tmp_path: Path, source: Path) -> None:
    async with a_house(tmp_path / "home", agents={"housekeeper": RoomedAgent(ASKS)}) as house:
        night = await begin(house, source)
        ask = await asked(house)
        assert ask.due_at is not None
        await house.tell()
        house.clock.jump_to(ask.due_at)
        await house.house.timers.serve_due()
        await night
        job = await the_job(house)
        assert (job.state, "parked" in job.why) == (JobState.STOPPED, True)
        assert await house.house.workshop.rooms.living() == ()
        await all_is_well(house)


@pytest.mark.parametrize(("level", "many"), [(Level.CAUTIOUS, 1), (Level.MODERATE, 0), (Level.FULL, 0)])
async def test_what_the_orders_answer_literally_is_answered_as_the_level_allows(
    tmp_path: Path, source: Path, level: Level, many: int
) -> None:
    notes = f"Be quick.\nQ: {QUESTION.lower()}\nA: Blue\n"
    async with a_house(tmp_path / "home", agents={"housekeeper": RoomedAgent(ASKS)}) as house:
        night = await begin(house, source, level=level, notes=notes)
        if many:
            ask = await asked(house)
            assert (ask.recommendation, ask.rationale) == (
                "Blue",
                "the orders' notes says so. Both are in the README.",
            )
            await settlement.answer(house.house.books, ask.id, "red", by="ann")
        await night
        (row,) = await signals(house)
        assert (row.answer, row.answered_by) == (("red", "ann") if many else ("Blue", "midwatch"))
        assert len(await questions(house)) == many
        told = [one.text for one in await house.house.records.find(NoticeRow) if "has the answer" in one.text]
        assert len(told) == (1 if level is Level.MODERATE else 0)
        await all_is_well(house)


WARNED = (
    SAYS
    + """
print("begun", flush=True)
note = box / "warning.json"
while not note.exists():
    time.sleep(0.02)
write(json.loads(note.read_text())["warning"])
note.unlink()
commit("What I have")
"""
)


async def test_an_agent_at_work_finds_that_its_time_is_nearly_over(tmp_path: Path, source: Path) -> None:
    """O11: one that takes no turns looks for a file, as it does for an answer."""
    async with a_house(tmp_path / "home", agents={"housekeeper": RoomedAgent(WARNED)}) as house:
        night = await begin(house, source, level=Level.FULL)
        job = await newest(house)
        log = house.house.workshop.rooms.log(job.id, "agent")
        async with asyncio.timeout(PATIENCE):
            while not log.exists() or not log.stat().st_size:  # noqa: ASYNC110 - a real process
                await asyncio.sleep(0.02)
        (box,) = await house.house.records.find(TimerRow, kind="box")
        house.clock.jump_to(box.due_at)
        await house.house.timers.serve_due()
        await night
        job = await the_job(house)
        assert (job.state, job.box_warned_at is not None) == (JobState.DONE, True), job.why
        assert delivered(source, job) == f"# Your time is over in about 5 minutes: {TIME_LEFT}."
        events = [one.event for one in await house.house.journal.entries(limit=2000)]
        assert [one.how for one in events if isinstance(one, SignalPassed)] == ["file"]
        await all_is_well(house)


LOUD = (
    SAYS
    + """
(pathlib.Path(".orchestrator")).mkdir()
say("error", pathlib.Path(".orchestrator"), error="npm ERR! network timeout", detail="registry")
say("needs-input", question=["no", "text"])
refused = answer()["answer"]
write("one"); commit("One"); write("two"); commit("Two")
say("completed", summary="All of it.")
say("completed", pathlib.Path(".midwatch"), summary="All of it again.")
assert "question is not a text" in refused, refused
open("left", "w").write("x")
"""
)


COMPLAINS = (
    SAYS
    + """
for number in range(5):
    say("error", error=f"trouble {number}")
    while (box / "error.json").exists():
        time.sleep(0.02)
write("one"); commit("One")
"""
)


async def test_an_agent_that_complains_without_end_costs_three_loud_notices(tmp_path: Path, source: Path) -> None:
    async with a_house(tmp_path / "home", agents={"housekeeper": RoomedAgent(COMPLAINS)}) as house:
        await (await begin(house, source))
        notices = await house.house.records.find(NoticeRow)
        told = [(one.text[-1], one.tier) for one in notices if "reports a problem" in one.text]
        assert sorted(told) == [
            ("0", Tier.ACTION),
            ("1", Tier.ACTION),
            ("2", Tier.ACTION),
            ("3", Tier.SUMMARY),
            ("4", Tier.SUMMARY),
        ]
        await all_is_well(house)


async def test_trouble_is_kept_and_not_told_where_that_is_not_wanted(tmp_path: Path, source: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "midwatch.toml").write_text("[notices]\non_error = false\n")
    async with a_house(tmp_path / "home", agents={"housekeeper": RoomedAgent(COMPLAINS)}) as house:
        await (await begin(house, source))
        assert {row.says for row in await signals(house)} == {SignalKind.ERROR}
        assert not [one.text for one in await house.house.records.find(NoticeRow) if "trouble" in one.text]
        await all_is_well(house)


async def test_trouble_and_ends_are_told_kept_and_never_part_of_the_work(tmp_path: Path, source: Path) -> None:
    async with a_house(tmp_path / "home", agents={"housekeeper": RoomedAgent(LOUD)}) as house:
        await (await begin(house, source))
        job, rows = await the_job(house), await signals(house)
        assert job.state is JobState.DONE, job.why
        assert {(row.says, row.text) for row in rows} == {
            (SignalKind.ERROR, "npm ERR! network timeout"),
            (SignalKind.NEEDS_INPUT, ""),
            (SignalKind.COMPLETED, "All of it."),
            (SignalKind.COMPLETED, "All of it again."),
        }
        assert [row.cause for row in rows if row.says is SignalKind.ERROR] == ["transient"]
        told = [(one.tier, one.text) for one in await house.house.records.find(NoticeRow)]
        assert (Tier.ACTION, "Job 1 (Look at it) reports a problem: npm ERR! network timeout") in told
        changed = git(source, "diff", "--name-only", f"main...agent/{job.id}").splitlines()
        assert changed == ["sample/greet.py"]
        events = [one.event for one in await house.house.journal.entries(limit=2000)]
        stones = [one for one in events if isinstance(one, MilestoneReached)]
        assert [one.stone for one in stones][-2:] == ["checks", "pushing"]
        assert max(one.commits for one in stones) == 2
        assert {Tier(tier) for tier, text in told if "its checks are running" in text} == {Tier.SUMMARY}
        assert [one.how for one in events if isinstance(one, SignalPassed)] == ["file"]
        await all_is_well(house)
