"""What the gate is told about a proposal, from the rows of real nights (O2): each fact, and the rule it feeds."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from midwatch.evening import projects as by_day
from midwatch.journal.events.crew import ModelCalled, ToolCallDecided
from midwatch.journal.events.session import AskOpened
from midwatch.journal.events.signals import SignalSeen
from midwatch.night.commands import steering
from midwatch.night.rounds.world import look
from midwatch.rules.gate.gate import judge
from midwatch.terms.acts import ActKind, Proposal
from midwatch.terms.agents import SignalKind, Tokens
from midwatch.terms.asks import AskDraft, AskKind
from midwatch.terms.facts import Facts
from midwatch.terms.projects import Flag
from midwatch.terms.records import ActRow, AskRow, JobRow, SessionRow
from midwatch.terms.trust import Authority, Isolation, Level
from tests.nights.brains import TurnsBrain, starts, waits
from tests.nights.house import TestHouse, orders, sample_repository
from tests.nights.scripted import FailingAgent, a_scripted_house
from tests.nights.test_first_night import all_is_well

NOON = timedelta(hours=15)
"""From the evening on which a test's night begins to the next noon."""


class SmallMachine:
    """A machine with known numbers."""

    memory, disk, walls = 3 * 1024**3, 7 * 1024**3, Isolation.BUBBLEWRAP

    def free_memory(self) -> int:
        return self.memory

    def free_disk(self) -> int:
        return self.disk

    def isolation(self) -> Isolation:
        return self.walls


async def newest(house: TestHouse) -> SessionRow:
    return (await house.house.records.find(SessionRow))[-1]


async def facts(house: TestHouse, kind: ActKind, place: int = 0, **more: Any) -> Facts:
    """The facts of a proposal about one of the night's items, at this moment."""
    return (await told(house, kind, place, **more))[1]


async def told(house: TestHouse, kind: ActKind, place: int = 0, **more: Any) -> tuple[Proposal, Facts]:
    session = await newest(house)
    item = session.items[place]
    given = {"kind": kind, "project": item["project"], "target": item["work_item"], "confidence": 0.9, **more}
    proposal = Proposal.model_validate(given)
    return proposal, (await look(house.house.books, session)).facts_for(proposal)


async def codes(house: TestHouse, kind: ActKind, **more: Any) -> set[str]:
    """Every reason of the gate about a proposal, at this moment."""
    return {reason.code for reason in judge(*await told(house, kind, **more)).reasons}


async def begun(house: TestHouse, folder: Path, *titles: str, **more: Any) -> SessionRow:
    await house.project(sample_repository(folder / "sample"))
    session = await house.begin(orders(*titles or ("Tidy up",), **({"level": Level.FULL} | more)))
    await house.settle()
    return session


async def test_a_wait_before_it_does_not_hide_a_projects_cooldown(tmp_path: Path, database_url: str) -> None:
    """O2: the first act tonight was a wait, the second started work; the third comes within ten minutes of it."""
    brain = TurnsBrain(waits, starts(0), starts(1))
    async with a_scripted_house(tmp_path / "home", database_url, brain=brain) as house:
        await begun(house, tmp_path, "Tidy up", "Tidy more")
        await house.pass_time(minutes=11)
        acts = await house.house.records.find(ActRow)
        assert [(act.kind, act.state) for act in acts[:3]] == [
            ("wait", "done"),
            ("start", "done"),
            ("start", "refused"),
        ]
        assert acts[2].code == "gate.cooldown_project"
        known = await facts(house, ActKind.START, 1)
        assert known.same_project_at == acts[1].ended_at
        assert known.same_action_at is None
        assert (await facts(house, ActKind.START, 0)).same_action_at == acts[1].ended_at
        assert (await facts(house, ActKind.STOP, 0)).same_action_at is None
        await all_is_well(house)


async def test_waiting_and_talking_start_no_cooldown_of_the_project(tmp_path: Path) -> None:
    """O2."""
    said = {"kind": ActKind.NOTIFY, "message": "Still here.", "confidence": 0.9}
    brain = TurnsBrain(lambda sense: (Proposal.model_validate(said | {"project": sense.items[0].project}),))
    async with a_scripted_house(tmp_path / "home", brain=brain) as house:
        await begun(house, tmp_path)
        (act,) = await house.house.records.find(ActRow)
        assert (act.kind, act.state) == ("notify", "done")
        assert act.project
        assert (await facts(house, ActKind.START)).same_project_at is None


async def test_a_target_is_one_of_tonights_in_the_project_it_is_proposed_for(tmp_path: Path) -> None:
    """O2: what a brain makes up, or moves to another project, is refused in a night."""
    made_up = starts(0, target="work_of_no_orders", writes=False, tool="")
    brain = TurnsBrain(made_up, starts(0))
    async with a_scripted_house(tmp_path / "home", brain=brain) as house:
        await begun(house, tmp_path)
        (refused,) = await house.house.records.find(ActRow)
        assert (refused.state, refused.code) == ("refused", "gate.target_unknown")
        await house.pass_time(minutes=6)
        other = await house.project(sample_repository(tmp_path / "other"), name="other")
        (job,) = await house.house.records.find(JobRow)
        assert (await facts(house, ActKind.START)).target_exists
        assert (await facts(house, ActKind.STOP, target=job.id)).target_exists
        assert (await facts(house, ActKind.STOP, target="")).target_exists
        assert (await facts(house, ActKind.STOP, target=job.id)).target_name == "job 1"
        assert (await facts(house, ActKind.START)).target_name == "“Tidy up”"
        assert not (await facts(house, ActKind.START, project=other.id)).target_exists
        assert not (await facts(house, ActKind.STOP, target=job.id, project=other.id)).target_exists
        assert not (await facts(house, ActKind.STOP, target="job_of_nobody")).target_exists


async def test_an_ask_for_the_person_is_not_answered_by_a_brain(tmp_path: Path) -> None:
    """O2, SPEC 8: a brain may answer what an agent asked, never what a person was asked."""
    async with a_scripted_house(tmp_path / "home") as house:
        session = await begun(house, tmp_path, level=Level.CAUTIOUS)
        (plan,) = await house.house.records.find(AskRow)
        assert plan.kind is AskKind.APPROVE_PLAN
        (job,) = await house.house.records.find(JobRow)
        question = AskDraft(kind=AskKind.GUIDANCE_UNCERTAIN, question="Which?", subject=job.id, project=job.project)
        seen = SignalSeen(
            signal="sig_1",
            job=job.id,
            epoch=job.epoch,
            room=job.epoch,
            number=1,
            says=SignalKind.NEEDS_INPUT,
            text="Which?",
            ask="ask_of_the_agent",
        )
        opened = AskOpened(ask="ask_of_the_agent", session=session.id, draft=question, due_at=None)
        await house.house.journal.record(opened, seen)
        for_person = await facts(house, ActKind.RESOLVE, target=plan.id)
        assert (for_person.target_exists, for_person.target_for_person, for_person.target_name) == (True, True, "ask 1")
        for target in ("ask_of_the_agent", "sig_1"):
            from_agent = await facts(house, ActKind.RESOLVE, target=target)
            assert (from_agent.target_exists, from_agent.target_for_person) == (True, False)
        assert "gate.resolve_personal" in await codes(house, ActKind.RESOLVE, target=plan.id)
        assert "gate.resolve_personal" not in await codes(house, ActKind.RESOLVE, target="ask_of_the_agent")


TAINTED: dict[str, dict[str, Any]] = {
    "gate.tainted_delegate": {"kind": ActKind.DELEGATE, "target": ""},
    "gate.tainted_memory": {"kind": ActKind.NOTE, "target": "semantic: it says so"},
    "gate.tainted_project": {"kind": ActKind.CREATE_PROJECT, "target": "", "project": ""},
}


async def test_untrusted_text_that_a_job_read_binds_the_rest_of_the_night(tmp_path: Path, database_url: str) -> None:
    """O2: the taint of a job is a row, its restart inherits it, and three rules of the gate follow it."""
    async with a_scripted_house(tmp_path / "home", database_url) as house:
        await begun(house, tmp_path, level=Level.CAUTIOUS)
        (job,) = await house.house.records.find(JobRow)
        assert not (await facts(house, ActKind.START)).tainted
        for code, given in TAINTED.items():
            assert code not in await codes(house, **given)
        call = {"call": "1.1", "tool": "WebFetch", "shown": "https://example.org", "verdict": "allow"}
        read = ToolCallDecided.model_validate(
            call | {"job": job.id, "epoch": job.epoch, "code": "call.listed", "why": "ok", "taints": True}
        )
        await house.house.journal.record(read, key=f"tainted:{job.id}")
        assert (await facts(house, ActKind.START)).tainted
        for code, given in TAINTED.items():
            assert code in await codes(house, **given)
        await steering.stop_job(house.house.books, house.house.workshop.rooms, job, by="ann", why="enough")
        again = await steering.resume_job(house.house.books, await house.house.records.get(JobRow, job.id), by="ann")
        assert (again.retry_of, again.tainted) == (job.id, True)
        await all_is_well(house)


async def test_authority_is_what_the_contract_of_the_work_begins_with(tmp_path: Path) -> None:
    """O2, SPEC 8: today's contracts begin at suggest, so nothing nobody ordered is written."""
    async with a_scripted_house(tmp_path / "home", brain=TurnsBrain()) as house:
        await begun(house, tmp_path)
        known = await facts(house, ActKind.START)
        assert known.contract is not None
        assert known.authority is known.contract.authority_policy.start_level is Authority.SUGGEST
        unordered = {"writes": True, "tool": "repo_write_pr", "ordered": False}
        assert "gate.unordered_write" in await codes(house, ActKind.START, **unordered)
        assert (await facts(house, ActKind.START, target="work_of_no_orders")).contract is None


async def test_the_night_the_machine_and_the_budgets(tmp_path: Path) -> None:
    """O2: level, session, walls, memory, disk, quiet hours and what is spent."""
    machine = SmallMachine()
    async with a_scripted_house(tmp_path / "home", brain=TurnsBrain(starts(0)), machine=machine) as house:
        session = await begun(
            house, tmp_path, "Tidy up", "Tidy more", limits={"usd": 2, "tokens": 1000, "minutes": 1200, "rounds": 40}
        )
        (job,) = await house.house.records.find(JobRow)
        paid = {"provider": "p", "model": "m", "usd_micros": 7, "status": 200, "api": "a", "reservation": "r"}
        called = {"job": job.id, "epoch": job.epoch, "tokens": Tokens(input=5), **paid}
        await house.house.journal.record(_valid(called))
        await house.pass_time(minutes=6)
        now = await facts(house, ActKind.START)
        assert (now.level, now.in_session, now.isolation) == (Level.FULL, True, Isolation.BUBBLEWRAP)
        assert (now.free_memory_bytes, now.free_disk_bytes) == (machine.memory, machine.disk)
        spent = now.budgets
        assert (spent.usd_micros.spent, spent.usd_micros.limit) == (7, 2_000_000)
        assert (spent.tokens.spent, spent.tokens.limit) == (5, 1000)
        assert (spent.seconds.spent // 60, spent.seconds.limit) == (6, 1200 * 60)
        assert (spent.rounds.spent, spent.rounds.limit) == ((await newest(house)).rounds - 1, 40)
        assert (spent.attention.reserved, spent.attention.limit) == (0, 20)
        assert now.quiet_hours is (await facts(house, ActKind.START)).quiet_hours
        assert now.limits.jobs_in_all == house.house.loaded.settings.jobs.max_in_all
        await steering.pause(house.house.journal, await newest(house), by="ann", why="dinner")
        assert not (await facts(house, ActKind.START)).in_session
        assert session.id


async def test_quiet_hours_are_the_persons(tmp_path: Path) -> None:
    """O2, SPEC 10: 22:00 to 07:00."""
    async with a_scripted_house(tmp_path / "home", brain=TurnsBrain()) as house:
        await begun(house, tmp_path, limits={"minutes": 3000})
        assert not (await facts(house, ActKind.START)).quiet_hours
        house.clock.jump_to(house.clock.now() + timedelta(hours=2))
        assert (await facts(house, ActKind.START)).quiet_hours
        house.clock.jump_to(house.clock.now() + NOON)
        assert not (await facts(house, ActKind.START)).quiet_hours


async def test_the_project_as_policy_sees_it(tmp_path: Path) -> None:
    """O2: its flags, its newest job, what runs, and the open pull request."""
    async with a_scripted_house(tmp_path / "home") as house:
        await begun(house, tmp_path, level=Level.CAUTIOUS)
        (job,) = await house.house.records.find(JobRow)
        project = (await facts(house, ActKind.START)).project
        assert project is not None
        assert (project.known, project.name, project.jobs_running) == (True, "sample", 1)
        assert project.job is not None
        assert (project.job.id, project.job.running, project.job.in_error) == (job.id, True, False)
        assert project.job.started_at == job.started_at
        assert (await facts(house, ActKind.START)).jobs_running == 0, (
            "it waits for its plan's approval, without a place"
        )
        assert not project.open_pull_request
        for flag in Flag:
            await by_day.flag_project(house.house.books, "sample", flag, on=True, by="ann")
        flagged = (await facts(house, ActKind.START)).project
        assert flagged is not None
        assert (flagged.protected, flagged.blocked, flagged.skipped) == (True, True, True)
        for flag in Flag:
            await by_day.flag_project(house.house.books, "sample", flag, on=False, by="ann")
        await house.to_the_brief()
        delivered = (await facts(house, ActKind.START)).project
        assert delivered is not None
        assert delivered.open_pull_request
        assert delivered.jobs_running == 0
        stranger = await facts(house, ActKind.START, project="prj_of_nobody")
        assert stranger.project is not None
        assert not stranger.project.known


async def test_failures_and_repetitions_are_counted(tmp_path: Path) -> None:
    """O2, L4: tries for a cause, failures in a row, and acts that brought nothing new."""
    agents = {"housekeeper": FailingAgent(message="the disk ate it")}
    brain = TurnsBrain(starts(0))
    async with a_scripted_house(tmp_path / "home", agents=agents, brain=brain) as house:
        await begun(house, tmp_path)
        restart = await facts(house, ActKind.RESTART)
        assert restart.project is not None
        assert restart.project.job is not None
        assert (restart.project.job.running, restart.project.job.in_error) == (False, True)
        assert restart.project.retries_in_a_row == 1
        assert restart.retries_of_cause >= 1
        assert (await facts(house, ActKind.START)).retries_of_cause == 0


@pytest.mark.parametrize("times", [1, 2])
async def test_an_act_that_brings_nothing_new_is_counted_as_spin(tmp_path: Path, times: int) -> None:
    """L4."""
    note = {"kind": ActKind.NOTE, "message": "the same", "confidence": 0.9}
    same = [lambda sense: (Proposal.model_validate(note | {"project": sense.items[0].project}),)] * times
    async with a_scripted_house(tmp_path / "home", brain=TurnsBrain(waits, *same)) as house:
        await begun(house, tmp_path)
        await house.pass_time(minutes=11)
        assert (await facts(house, ActKind.NOTE, target="")).spin == times
        assert (await facts(house, ActKind.NOTE, target="else")).spin == 0


async def test_an_act_that_brought_something_is_no_spin(tmp_path: Path) -> None:
    """L4: a start that began a job is new, however often it comes."""
    async with a_scripted_house(tmp_path / "home") as house:
        await begun(house, tmp_path)
        act, *waited = await house.house.records.find(ActRow)
        assert (act.kind, bool(act.result), {one.kind for one in waited}) == ("start", True, {"wait"})
        assert (await facts(house, ActKind.START)).spin == 0


def _valid(given: dict[str, Any]) -> ModelCalled:
    return ModelCalled.model_validate(given)
