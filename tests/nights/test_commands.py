"""A person's own command: one sentence, one session of its own, beside any night (A1, SPEC 8, 9)."""

from pathlib import Path

import pytest

from midwatch.errors import Misuse, Refused, Unknown
from midwatch.evening import projects as by_day
from midwatch.evening import sign_orders
from midwatch.night.asks import settlement
from midwatch.night.commands import code_command
from midwatch.night.commands.code_command import Commanded
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import JobState
from midwatch.terms.projects import SessionState
from midwatch.terms.records import AskRow, JobRow, NoticeRow, PullRequestRow, ReportRow, RunRow, SessionRow
from midwatch.terms.trust import Isolation, Level
from midwatch.workshop.sandbox.walls.probe import IsolationFound
from tests.nights.house import CHECK, TestHouse, a_house, git, orders, sample_repository
from tests.nights.scripted import FailingAgent, ScriptedAgent, a_scripted_house, write
from tests.nights.test_first_night import all_is_well

TIDY = Commanded(sentence="Tidy up the sample", projects=("sample",))


async def commanded(house: TestHouse, wanted: Commanded) -> tuple[JobRow, ...]:
    night = house.house.night
    return await code_command.command(night.books, night.roster.agents, night.workspace.mirrors, wanted, by="ann")


async def session_of(house: TestHouse, job: JobRow) -> SessionRow:
    return await house.house.records.get(SessionRow, job.session)


async def over(house: TestHouse, job: JobRow) -> JobRow:
    """Say yes to whatever it asks, until it is over."""
    await house.settle()
    for ask in await house.house.records.find(AskRow, state=AskState.OPEN, subject=job.id):
        await settlement.answer(house.house.books, ask.id, "approve", by="ann")
    await house.settle()
    now = await house.house.records.get(JobRow, job.id)
    assert now.state.over, f"job {job.number} is {now.state.value} at {now.stage.value}"
    return now


async def test_a_command_becomes_a_pull_request_with_a_brief_of_its_own(tmp_path: Path, database_url: str) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home", database_url) as house:
        await house.project(source)
        (job,) = await commanded(house, TIDY)
        assert job.title == "Tidy up the sample"
        session = await session_of(house, job)
        assert (session.ad_hoc, session.state, session.signed_by) == (True, SessionState.AUTONOMOUS, "ann")
        await house.settle()
        (ask,) = await house.house.records.find(AskRow, state=AskState.OPEN)
        assert ask.subject == job.id
        done = await over(house, job)
        assert (done.state, done.approved_by) == (JobState.DONE, "ann")
        assert len(await house.house.records.find(PullRequestRow)) == 1
        session = await session_of(house, job)
        assert (session.state, session.rounds) == (SessionState.DEBRIEF, 0)
        (run,) = await house.house.records.find(RunRow)
        assert (run.status, run.score_pre is not None) == ("completed", True)
        (report,) = await house.house.records.find(ReportRow)
        given = f"{session.created_at.astimezone():%d %b %H:%M}"
        assert report.brief.headline == f"The command of {given}: 1 of 1 delivered as pull requests."
        told = [row.text for row in await house.house.records.find(NoticeRow)]
        assert not [text for text in told if "The command" in text], "the pull request's own notice is enough"
        await house.pass_time(hours=40)
        assert (await session_of(house, job)).state is SessionState.ENDED, "nobody has to review it"
        await all_is_well(house)


async def test_silence_approves_a_command_as_it_does_at_night_and_a_yes_beforehand_asks_nothing(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    other = sample_repository(tmp_path / "other")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        await house.project(other, name="other")
        await by_day.set_level(house.house.books, Level.CAUTIOUS, by="ann", forced=True, reason="I am here")
        (job,) = await commanded(house, TIDY)
        yes = TIDY.model_copy(update={"projects": ("other",), "yes": True})
        (sure,) = await commanded(house, yes)
        await house.settle()
        assert (await house.house.records.get(JobRow, sure.id)).approved_by == "level full"
        await house.pass_time(minutes=21)
        assert (await house.house.records.get(JobRow, job.id)).approved_by == "silence"
        await all_is_well(house)


async def test_a_command_beside_a_night_neither_ends_it_nor_changes_its_level(tmp_path: Path) -> None:
    source, other = sample_repository(tmp_path / "sample"), sample_repository(tmp_path / "other")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        await house.project(other, name="other")
        night = await house.begin(orders("Tidy up", level=Level.MODERATE))
        await house.settle()
        wanted = Commanded(sentence="Tidy the other", projects=("other",), yes=True)
        (job,) = await commanded(house, wanted)
        await house.settle()
        assert (await house.house.records.get(JobRow, job.id)).state is JobState.DONE
        now = await house.house.records.get(SessionRow, night.id)
        assert (now.state, now.level, now.rounds > 0) == (SessionState.AUTONOMOUS, Level.MODERATE, True)
        for _ in range(10):
            await house.pass_time(minutes=30)
        now = await house.house.records.get(SessionRow, night.id)
        assert (now.state, now.reason) == (SessionState.DEBRIEF, "everything ordered is settled")
        assert len(await house.house.records.find(PullRequestRow)) == 2
        await all_is_well(house)


async def test_a_night_begins_while_a_command_is_under_way(tmp_path: Path) -> None:
    source, other = sample_repository(tmp_path / "sample"), sample_repository(tmp_path / "other")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        await house.project(other, name="other")
        (job,) = await commanded(house, TIDY)
        await house.settle()
        night = await house.begin(orders("Tidy up", project="other"))
        assert (await house.house.records.get(SessionRow, night.id)).state is SessionState.AUTONOMOUS
        assert (await session_of(house, job)).state is SessionState.AUTONOMOUS
        await over(house, job)
        await all_is_well(house)


async def test_a_draft_that_waits_is_left_alone_by_a_command(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        draft = await sign_orders.draft(house.house.evening, orders("Later"), by="ann")
        (job,) = await commanded(house, TIDY)
        assert (await house.house.records.get(SessionRow, draft.id)).state is SessionState.BRIEFING
        await over(house, job)
        await all_is_well(house)


async def test_a_command_that_fails_or_is_declined_ends_its_session(tmp_path: Path) -> None:
    source, other = sample_repository(tmp_path / "sample"), sample_repository(tmp_path / "other")
    agents = {"broken": FailingAgent(message="no such model"), "fine": ScriptedAgent(write("a.txt", "a\n"))}
    async with a_scripted_house(tmp_path / "home", agents=agents) as house:
        await house.project(source)
        await house.project(other, name="other")
        broken = TIDY.model_copy(update={"agent": "broken"})
        (job,) = await commanded(house, broken)
        assert (await over(house, job)).state is JobState.FAILED
        fine = TIDY.model_copy(update={"agent": "fine", "projects": ("other",)})
        (declined,) = await commanded(house, fine)
        await house.settle()
        (ask,) = await house.house.records.find(AskRow, state=AskState.OPEN)
        await settlement.answer(house.house.books, ask.id, "reject", by="ann", text="not like this")
        assert (await over(house, declined)).state is JobState.DECLINED
        states = {(await session_of(house, one)).state for one in (job, declined)}
        assert states == {SessionState.DEBRIEF}
        runs = await house.house.records.find(RunRow)
        assert [run.status for run in runs] == ["failed", "stopped"]
        await all_is_well(house)


async def test_ceilings_a_person_names_stand_in_place_of_the_settings(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(source)
        wanted = TIDY.model_copy(
            update={"usd": 0.5, "minutes": 7, "checks": ("true",), "paths": ("sample/**",), "yes": True}
        )
        (job,) = await commanded(house, wanted)
        contract = (await house.house.records.get(RunRow, job.run)).contract
        bounds = contract.constraints
        assert (bounds.max_usd_micros, bounds.max_runtime_minutes) == (500_000, 7)
        assert (contract.checks, contract.paths) == (("true", CHECK), ("sample/**",))
        session = await session_of(house, job)
        assert session.ends_at is not None
        assert session.started_at is not None
        assert (session.ends_at - session.started_at).total_seconds() > 60 * 60, "waiting for an answer is not work"
        await over(house, job)
        await all_is_well(house)


async def test_a_command_that_cannot_be_is_refused_in_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    agents = {"housekeeper": ScriptedAgent(write("a.txt", "a\n")), "model": ScriptedAgent(write("b.txt", "b\n"))}
    async with a_scripted_house(
        tmp_path / "home", agents=agents, standing=IsolationFound(Isolation.NONE, "", "")
    ) as house:
        await house.project(source)
        before = await house.house.records.head()
        for changes, error, said in (
            ({"projects": ("nowhere",)}, Unknown, "There is no project 'nowhere'."),
            ({"projects": ()}, Misuse, "No project is named."),
            ({"projects": ("sample", "sample")}, Misuse, "A project is named twice."),
            ({"sentence": " \n"}, Misuse, "The sentence is empty."),
            ({"sentence": "x" * 301}, Misuse, "That is longer than 300 characters."),
            ({"agent": "nobody"}, Misuse, "There is no agent 'nobody' here."),
            ({"agent": "model"}, Refused, "This machine has no sandbox for model, which uses a model."),
        ):
            with pytest.raises(error) as refused:
                await commanded(house, TIDY.model_copy(update=changes))
            assert refused.value.message == said
        git(source, "checkout", "-q", "--detach")
        with pytest.raises(Misuse) as detached:
            await commanded(house, TIDY.model_copy(update={"agent": "housekeeper"}))
        git(source, "checkout", "-q", "main")
        assert "detached" in detached.value.message
        assert await house.house.records.head() == before
        (job,) = await commanded(house, TIDY.model_copy(update={"agent": "housekeeper"}))
        with pytest.raises(Refused) as busy:
            await commanded(house, TIDY.model_copy(update={"agent": "housekeeper"}))
        assert busy.value.message == f"Job {job.number} is running in sample."
        await over(house, job)
        await all_is_well(house)
