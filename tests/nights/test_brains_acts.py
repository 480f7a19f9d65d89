"""What a brain may do beside starting work: stop, restart, notify, and brief an agent in its own words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from midwatch.crew.prompting.prompts import build_prompt
from midwatch.evening import projects as by_day
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.ports.agent import Task
from midwatch.terms.acts import ActKind, Proposal, Sense
from midwatch.terms.asks import AskKind, AskState, Silence, Tier
from midwatch.terms.jobs import Done, JobState, Plan
from midwatch.terms.orders import Permissions
from midwatch.terms.records import ActRow, AskRow, JobRow, NoticeRow, SessionRow
from midwatch.terms.trust import Level
from tests.nights.brains import Turn, TurnsBrain, about, starts, waits
from tests.nights.house import TestHouse, orders, sample_repository
from tests.nights.scripted import GOOD, PlanningAgent, ScriptedAgent, a_scripted_house
from tests.nights.test_first_night import all_is_well

WAITS_FOR_YOU = Permissions(silence_approves=False)
"""A plan waits for its person, so that its job is still there when a brain wants to end it."""
HALF_AN_HOUR = (waits,) * 6
"""A brain leaves a young job alone; a round comes every five minutes."""


def does(kind: ActKind, **more: Any) -> Turn:
    """An act about the first item."""

    def turn(sense: Sense) -> Sequence[Proposal]:
        return (about(sense, kind, **more),)

    return turn


async def begun(house: TestHouse, folder: Path, level: Level) -> SessionRow:
    await house.project(sample_repository(folder / "sample"))
    return await house.begin(orders("Tidy up", level=level, permissions=WAITS_FOR_YOU))


async def last_act(house: TestHouse, kind: ActKind) -> ActRow:
    return [act for act in await house.house.records.find(ActRow) if act.kind == kind.value][-1]


async def test_a_stop_at_cautious_asks_for_five_minutes_and_silence_means_not_done(
    tmp_path: Path, database_url: str
) -> None:
    """O21, O3."""
    brain = TurnsBrain(starts(0), *HALF_AN_HOUR, does(ActKind.STOP, reason="It goes nowhere."))
    async with a_scripted_house(tmp_path / "home", database_url, brain=brain) as house:
        await begun(house, tmp_path, Level.CAUTIOUS)
        await house.pass_time(minutes=36)
        (ask,) = await house.house.records.find(AskRow, kind=AskKind.CONFIRM_ACT)
        assert (ask.state, ask.silence) == (AskState.OPEN, Silence.NOT_DONE)
        assert ask.due_at is not None
        assert round((ask.due_at - ask.created_at).total_seconds()) == 300
        assert "5 minutes" in ask.question
        await house.tell()
        await house.pass_time(minutes=6)
        act = await last_act(house, ActKind.STOP)
        assert (act.state, act.text) == ("dropped", "Not done: no answer in time.")
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.WAITING
        await all_is_well(house)


async def test_a_stop_that_a_person_confirms_ends_the_job_and_keeps_its_work(tmp_path: Path) -> None:
    """O21, O3."""
    brain = TurnsBrain(starts(0), *HALF_AN_HOUR, does(ActKind.STOP, reason="It goes nowhere."))
    async with a_scripted_house(tmp_path / "home", brain=brain) as house:
        await begun(house, tmp_path, Level.CAUTIOUS)
        await house.pass_time(minutes=36)
        (ask,) = await house.house.records.find(AskRow, kind=AskKind.CONFIRM_ACT)
        await settlement.answer(house.house.books, str(ask.number), "yes", by="ann", shown=ask.shown_hash)
        await house.settle()
        (job,) = await house.house.records.find(JobRow)
        assert (job.state, job.why) == (JobState.STOPPED, "It goes nowhere.")
        assert (await last_act(house, ActKind.STOP)).state == "done"
        await house.to_the_brief()
        await all_is_well(house)


async def test_a_stop_at_moderate_is_done_and_told_but_not_to_a_young_job(tmp_path: Path) -> None:
    """O3: thirty minutes of protection, then the stop runs and a notice says so."""
    stop = does(ActKind.STOP, reason="It goes nowhere.")
    brain = TurnsBrain(starts(0), waits, waits, stop, waits, waits, waits, waits, stop)
    async with a_scripted_house(tmp_path / "home", brain=brain) as house:
        await begun(house, tmp_path, Level.MODERATE)
        await house.pass_time(minutes=16)
        young = await last_act(house, ActKind.STOP)
        assert (young.state, young.code) == ("refused", "gate.young_job")
        await house.to_the_brief()
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.STOPPED
        told = [notice for notice in await house.house.records.find(NoticeRow) if "Decided to stop" in notice.text]
        assert [notice.tier for notice in told] == [2]
        await all_is_well(house)


async def test_a_restart_of_a_running_job_stops_it_first(tmp_path: Path, database_url: str) -> None:
    """O3: the job ends as stopped, and its work begins again as a job that names it."""
    brain = TurnsBrain(starts(0), *HALF_AN_HOUR, does(ActKind.RESTART, reason="It hangs."))
    async with a_scripted_house(tmp_path / "home", database_url, brain=brain) as house:
        await begun(house, tmp_path, Level.MODERATE)
        await house.pass_time(minutes=36)
        (ask,) = await house.house.records.find(AskRow, state=AskState.OPEN)
        await settlement.answer(house.house.books, str(ask.number), "approve", by="ann", shown=ask.shown_hash)
        await house.to_the_brief()
        first, second = await house.house.records.find(JobRow)
        assert (first.state, first.why) == (JobState.STOPPED, "restarted: It hangs.")
        assert first.ended_at is not None
        assert (second.retry_of, second.state) == (first.id, JobState.DONE)
        assert second.created_at >= first.ended_at
        act = await last_act(house, ActKind.RESTART)
        assert (act.state, act.result) == ("done", second.id)
        await all_is_well(house)


async def test_a_notice_of_a_brain_is_sent_and_never_as_urgent_as_it_likes(tmp_path: Path) -> None:
    """O3, SPEC 8: the brain may lower its urgency, never raise it."""
    brain = TurnsBrain(does(ActKind.NOTIFY, message="The parser is older than it looks.", tier=1, target=""))
    async with a_scripted_house(tmp_path / "home", brain=brain) as house:
        await begun(house, tmp_path, Level.CAUTIOUS)
        await house.settle()
        said = [row for row in await house.house.records.find(NoticeRow) if "older than it looks" in row.text]
        assert [(row.tier, row.sent_by) for row in said] == [(2, "log")]
        assert (await last_act(house, ActKind.NOTIFY)).state == "done"


class ToldAgent(PlanningAgent):
    """Remembers what it was told for its work as well."""

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        self.told.append(assignment.facts)
        return await ScriptedAgent.execute(self, assignment, plan)


async def test_the_brains_own_prompt_reaches_the_agent_beside_what_the_person_signed(tmp_path: Path) -> None:
    """O7, O14."""
    own = "Begin with the greeting. Leave the rest alone."
    agent = ToldAgent(GOOD, ("sample/greet.py",))
    brain = TurnsBrain(starts(0, prompt=own, message="Ann reads it at seven."))
    async with a_scripted_house(tmp_path / "home", brain=brain, agents={"housekeeper": agent}) as house:
        await house.project(sample_repository(tmp_path / "sample"))
        await house.begin(orders("Tidy up", level=Level.FULL, notes="Keep the public names."))
        await house.to_the_brief()
        assert len(agent.told) == 2
        for facts in agent.told:
            prompt = build_prompt(facts).text
            assert own in prompt
            assert "Ann reads it at seven." in prompt
            assert "Keep the public names." in prompt
        await all_is_well(house)


async def test_a_title_alone_is_no_prompt_of_its_own(tmp_path: Path) -> None:
    """O7: the rules only name the work, so the prompt is built from the facts."""
    agent = ToldAgent(GOOD, ("sample/greet.py",))
    async with a_scripted_house(tmp_path / "home", agents={"housekeeper": agent}) as house:
        project = await house.project(sample_repository(tmp_path / "sample"))
        for title, priority in (("Later", 5), ("First", 1), ("Second", 2)):
            await by_day.add_work(house.house.books, project.name, title, by="ann", priority=priority)
        await house.begin(orders("Tidy up", level=Level.FULL))
        await house.to_the_brief()
        assert [facts.own for facts in agent.told] == ["", ""]
        assert agent.told[0].priorities == ("To do: First", "To do: Second", "To do: Later")


async def test_a_brain_that_spins_pauses_the_night_and_wakes_the_person(tmp_path: Path) -> None:
    """L4, SPEC 9: the fourth time is refused, and nothing starts until a person resumes."""
    brain = TurnsBrain(*(does(ActKind.NOTE, message="The same again"),) * 4, starts())
    async with a_scripted_house(tmp_path / "home", brain=brain) as house:
        await house.project(sample_repository(tmp_path / "sample"))
        await house.begin(orders("Tidy up", level=Level.FULL))
        await house.pass_time(minutes=40)
        (session,) = await house.house.records.find(SessionRow)
        assert (session.paused, session.rounds) == (True, 4)
        (woken,) = [row for row in await house.house.records.find(NoticeRow) if row.tier == Tier.URGENT]
        assert "is paused" in woken.text
        assert await house.house.records.find(JobRow) == ()
        await steering.resume(house.house.journal, house.house.records, session, by="ann")
        await house.settle()
        assert len(await house.house.records.find(JobRow)) == 1
        await all_is_well(house)


async def test_of_a_brains_proposals_the_most_pressing_come_first(tmp_path: Path) -> None:
    """O14: 1 is the most pressing; what is over the limit of a round is the least pressing."""

    def turn(sense: Sense) -> Sequence[Proposal]:
        return tuple(about(sense, ActKind.NOTE, 0, message=f"{one}", priority=one) for one in (5, 1, 3))

    flags = {"rounds.max_proposals": 2}
    async with a_scripted_house(tmp_path / "home", brain=TurnsBrain(turn), flags=flags) as house:
        await begun(house, tmp_path, Level.FULL)
        await house.settle()
        acts = await house.house.records.find(ActRow)
        assert [act.proposal.priority for act in acts] == [1, 3]
