"""What is met on the way to a model: limits are waited out, credentials and money asked for, each once (X1, X2, A6)."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from midwatch.errors import Refused
from midwatch.journal.events.crew import AgentBegan, AgentEnded, AgentLimited
from midwatch.journal.events.jobs import JobGranted, JobStumbled, JobWaits, JobWoken
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.night.jobs.attempt import attempt_stage
from midwatch.terms.agents import Outcome, Tokens
from midwatch.terms.asks import AskKind, AskState
from midwatch.terms.jobs import JobState
from midwatch.terms.projects import SessionState
from midwatch.terms.records import AskRow, PullRequestRow, SessionRow
from tests.agents.conftest import need
from tests.agents.model import Fault, Say, Shell, Use, fuel, usage_limit
from tests.agents.nights import PLAN, AgentNight, agent_night
from tests.nights.house import git
from tests.nights.test_first_night import all_is_well

PLANS = Say(json.dumps(PLAN))
WRITES = Say(do=(Shell("echo 'evening = True' > sample/evening.py"),))
DEAR_WRITES = Say(do=(Shell("echo 'evening = True' > sample/evening.py"),), usage=Tokens(input=3000, output=500))
DONE = Say("Said good evening.")


async def delivered(night: AgentNight) -> None:
    await night.house.to_the_brief()
    job = await night.job()
    assert job.state is JobState.DONE, (job.why, await night.log())
    assert len(await night.house.house.records.find(PullRequestRow)) == 1
    assert git(night.source, "show", f"agent/{job.id}:sample/evening.py") == "evening = True"
    await all_is_well(night.house)


async def only_ask(night: AgentNight, kind: AskKind) -> AskRow:
    (ask,) = await night.house.house.records.find(AskRow, kind=kind, state=AskState.OPEN)
    return ask


async def approved(night: AgentNight) -> None:
    """Let the plan be made and approved, and whatever can be done at once."""
    await night.order()
    await night.house.settle()
    ask = await only_ask(night, AskKind.APPROVE_PLAN)
    await settlement.answer(night.house.house.books, ask.id, "approve", by="ann", shown=ask.shown_hash)
    await night.house.settle()


async def test_a_usage_limit_is_waited_out_and_one_that_outlasts_the_night_ends_the_job_with_its_work_kept(
    tmp_path: Path,
) -> None:
    """X2: no failure, no second beginning; the work done before the limits is there after them."""
    need("claude")
    now = datetime.now(UTC).replace(microsecond=0)
    resets = now + timedelta(hours=2)
    steps = (
        Say(do=(Use("StructuredOutput", PLAN),)),
        Say(do=(Use("Write", {"file_path": "/ws/sample/evening.py", "content": "evening = True\n"}),)),
        usage_limit(int(resets.timestamp()), times=1),
        usage_limit(int((now + timedelta(days=3)).timestamp()), claim="seven_day", times=1),
        DONE,
    )
    async with agent_night(tmp_path, "claude", steps, login=True, begins=now) as night:
        await approved(night)
        waiting = await night.job()
        assert (waiting.state, waiting.cause, waiting.wakes_at) == (JobState.WAITING, "limit", resets), waiting.why
        assert night.house.clock.now() < resets
        assert len([one for one in await night.events() if isinstance(one, AgentLimited)]) == 1, "counted once"
        await night.house.pass_time(hours=2, minutes=1)
        first, events = await night.job(), await night.events()
        assert [event.until for event in events if isinstance(event, JobWaits)] == [resets]
        assert not [event for event in events if isinstance(event, JobStumbled)], "a limit is no failure"
        assert first.attempt == 1
        await remembers(night)
        assert (first.state, first.cause) == (JobState.FAILED, "limit"), first.why
        assert f"midwatch job resume {first.number}" in first.why
        # The person goes on by hand: the same conversation, the same checkout.
        await steering.resume_job(night.house.house.books, first, by="ann")
        await delivered(night)
        await remembers(night)
        began = [event for event in await night.events() if isinstance(event, AgentBegan)]
        assert len({event.conversation for event in began[1:]}) == 1, "resumed by the agent's own name for it"
        assert len(began) == 4


async def remembers(night: AgentNight) -> None:
    """Check that the last request holds what was done before the limit, and says that there was an interruption."""
    last = json.dumps(night.model.requests("night", main=True)[-1].body)
    assert "evening = True" in last
    assert "You were interrupted" in last


async def test_a_refused_credential_holds_the_night_and_asks_once(tmp_path: Path) -> None:
    refused = Fault(401, "invalid x-api-key", times=1)
    async with agent_night(tmp_path, "command", (PLANS, refused, WRITES, DONE)) as night:
        await approved(night)
        ask = await only_ask(night, AskKind.GUIDANCE_ERROR)
        assert "midwatch agent login command" in ask.question
        (session,) = await night.house.house.records.find(SessionRow)
        assert session.paused
        waiting = await night.job()
        assert waiting.state is JobState.WAITING
        await attempt_stage(night.house.house.night, waiting.id, waiting.stage, waiting.attempt)
        assert await night.job() == waiting, "stage work that comes twice leaves a waiting job alone"
        await settlement.answer(night.house.house.books, ask.id, "go on", by="ann")
        await delivered(night)
        ended = [event.outcome for event in await night.events() if isinstance(event, AgentEnded)]
        assert ended == [Outcome.OK, Outcome.AUTH, Outcome.OK]


async def test_nobody_mends_the_credential_so_the_night_ends(tmp_path: Path) -> None:
    async with agent_night(tmp_path, "command", (PLANS, Fault(401, "invalid x-api-key"))) as night:
        await approved(night)
        await night.house.to_the_brief()
        (session,) = await night.house.house.records.find(SessionRow)
        job = await night.job()
        assert session.state is not SessionState.AUTONOMOUS
        assert job.state is JobState.STOPPED, job.why
        await all_is_well(night.house)


async def test_a_busy_provider_is_left_alone_for_a_while(tmp_path: Path) -> None:
    async with agent_night(tmp_path, "command", (PLANS, Fault(529, "Overloaded", times=2), WRITES, DONE)) as night:
        await approved(night)
        await delivered(night)
        events = await night.events()
        pauses = [event for event in events if isinstance(event, JobWaits)]
        assert [event.attempt for event in pauses] == [2, 3]
        assert [event.cause for event in pauses] == ["transient", "transient"]
        assert len([event for event in events if isinstance(event, JobWoken)]) == 2


DEAR = "[execution]\nmax_cost_usd = 0.015\n"


async def test_a_job_at_its_ceiling_asks_for_more_and_goes_on_with_it(tmp_path: Path) -> None:
    """X1, SPEC 9: 402 at the line, the work is kept, the person is asked."""
    steps = (PLANS, DEAR_WRITES, DONE)
    async with agent_night(tmp_path, "command", steps, more=DEAR) as night:
        await approved(night)
        ask = await only_ask(night, AskKind.SPEND)
        job = await night.job()
        assert "spend $1," in ask.question
        assert (job.usd_micros, job.requests) == (17_100, 2), "past the line by less than the one request in flight"
        with pytest.raises(Refused, match="above what an owner granted"):  # RULES 1, for who is no owner
            await settlement.answer(night.house.house.books, ask.id, "yes", by="bob", capped=True)
        await settlement.answer(night.house.house.books, ask.id, "yes", by="ann")
        await delivered(night)
        assert [event.usd_micros for event in await night.events() if isinstance(event, JobGranted)] == [1_000_000]


async def test_silence_grants_nothing_and_the_work_is_kept(tmp_path: Path) -> None:
    async with agent_night(tmp_path, "command", (PLANS, DEAR_WRITES, DONE), more=DEAR) as night:
        await approved(night)
        await night.house.to_the_brief()
        job = await night.job()
        assert (job.state, job.cause) == (JobState.FAILED, "budget"), job.why
        assert "kept" in job.why
        await all_is_well(night.house)


async def test_the_night_s_own_ceiling_ends_the_night(tmp_path: Path) -> None:
    async with agent_night(tmp_path, "command", (PLANS, DEAR_WRITES, DONE)) as night:
        await night.order(usd=0.015)
        await night.house.to_the_brief()
        (session,) = await night.house.house.records.find(SessionRow)
        assert session.state is not SessionState.AUTONOMOUS
        assert "used up" in session.reason
        await all_is_well(night.house)


async def test_stopping_the_job_that_was_asked_about_lets_the_night_go_on(tmp_path: Path) -> None:
    async with agent_night(tmp_path, "command", (PLANS, Fault(401, "invalid x-api-key"))) as night:
        await approved(night)
        await only_ask(night, AskKind.GUIDANCE_ERROR)
        await steering.stop_job(
            night.house.house.books, night.house.house.workshop.rooms, await night.job(), by="ann", why="not tonight"
        )
        await night.house.settle()
        (session,) = await night.house.house.records.find(SessionRow)
        assert (await night.job()).state is JobState.STOPPED
        assert not session.paused
        assert not await night.house.house.records.find(AskRow, kind=AskKind.GUIDANCE_ERROR, state=AskState.OPEN)
        await night.house.to_the_brief()
        await all_is_well(night.house)


async def test_a_pause_of_the_person_s_own_is_not_ended_by_a_credential(tmp_path: Path) -> None:
    async with agent_night(tmp_path, "command", (PLANS, Fault(401, "no", times=1), WRITES, DONE)) as night:
        await night.order()
        await night.house.settle()
        (session,) = await night.house.house.records.find(SessionRow)
        await steering.pause(night.house.house.journal, session, by="ann", why="I look at something")
        ask = await only_ask(night, AskKind.APPROVE_PLAN)
        await settlement.answer(night.house.house.books, ask.id, "approve", by="ann", shown=ask.shown_hash)
        await night.house.settle()
        held = await only_ask(night, AskKind.GUIDANCE_ERROR)
        await settlement.answer(night.house.house.books, held.id, "go on", by="ann")
        await night.house.settle()
        (session,) = await night.house.house.records.find(SessionRow)
        assert (session.paused, session.why_paused) == (True, "I look at something")


async def test_a_credential_refused_after_the_night_is_asked_about_all_the_same(tmp_path: Path) -> None:
    """A job that a person resumed by day has no night to pause, and must not hang."""
    refused = Fault(401, "invalid x-api-key", times=2)
    async with agent_night(tmp_path, "command", (PLANS, refused, WRITES, DONE)) as night:
        await approved(night)
        first = await only_ask(night, AskKind.GUIDANCE_ERROR)
        await settlement.answer(night.house.house.books, first.id, "stop", by="ann")
        await night.house.to_the_brief()
        await steering.resume_job(night.house.house.books, await night.job(), by="ann")
        await night.house.settle()
        again = await only_ask(night, AskKind.GUIDANCE_ERROR)
        await settlement.answer(night.house.house.books, again.id, "go on", by="ann")
        await night.house.settle()
        job = await night.job()
        assert job.state is JobState.DONE, (job.why, await night.log())
        await all_is_well(night.house)


async def test_what_is_to_be_left_is_waited_for_and_not_paid_for(tmp_path: Path) -> None:
    """X11: the person wants half of the window at 08:00, and it is whole again before the night ends."""
    need("claude")
    now = datetime.now(UTC).replace(microsecond=0)
    resets = now + timedelta(hours=3)
    spent = Say(do=(Use("StructuredOutput", PLAN),), headers=fuel(0.7, int(resets.timestamp())))
    steps = (
        spent,
        Say(do=(Use("Write", {"file_path": "/ws/sample/evening.py", "content": "evening = True\n"}),)),
        DONE,
    )
    async with agent_night(tmp_path, "claude", steps, login=True, begins=now) as night:
        await night.order(leave_percent=50)
        await night.house.settle()
        ask = await only_ask(night, AskKind.APPROVE_PLAN)
        await settlement.answer(night.house.house.books, ask.id, "approve", by="ann", shown=ask.shown_hash)
        await night.house.settle()
        waiting = await night.job()
        assert (waiting.state, waiting.cause) == (JobState.WAITING, "limit"), (waiting.why, await night.log())
        assert not await night.house.house.records.find(AskRow, kind=AskKind.SPEND)
        assert waiting.wakes_at == resets
        await delivered(night)
