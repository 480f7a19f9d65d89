"""The same job by every agent: planned, approved, carried out, paid and delivered alike (A3, A5, A6, X1, X15)."""

import json
from pathlib import Path

import pytest

from midwatch.journal.events.crew import AgentBegan, AgentEnded, ModelCalled, ToolCallDecided
from midwatch.terms.agents import Outcome
from midwatch.terms.jobs import JobState
from midwatch.terms.records import PullRequestRow
from tests.agents.conftest import need
from tests.agents.model import Read, Say, Shell, Step, Use
from tests.agents.nights import PLAN, AgentNight, agent_night
from tests.nights.house import git
from tests.nights.test_first_night import all_is_well

WRITES = "echo 'evening = True' > sample/evening.py"
COMMITS = "git add -A && git commit -q -m 'Say good evening'"
TIDY = '[execution]\nallowed_tools = ["Read", "Glob", "Grep", "Edit", "Write", "Bash(git *)", "Bash(echo *)"]\n'
PUSHES = Say(do=(Shell("git push origin main"),))
BY: dict[str, tuple[Step, ...]] = {
    "claude": (
        Say(do=(Read("sample/greet.py"),)),
        Say(do=(Use("StructuredOutput", PLAN),)),
        PUSHES,
        Say(do=(Use("Write", {"file_path": "/ws/sample/evening.py", "content": "evening = True\n"}),)),
        Say(do=(Shell("git add -A"), Shell("git commit -q -m 'Say good evening'"))),
        Say("Said good evening."),
    ),
    "codex": (
        Say(do=(Shell("cat sample/greet.py"),)),
        Say(json.dumps(PLAN)),
        PUSHES,
        Say(do=(Shell(WRITES),)),
        Say("Said good evening."),
    ),
    "opencode": (
        Say(do=(Read("sample/greet.py"),)),
        Say(json.dumps(PLAN)),
        PUSHES,
        Say(do=(Shell(WRITES),)),
        Say("Said good evening."),
    ),
    "command": (Say(json.dumps(PLAN)), Say(do=(Shell(WRITES),)), Say("Said good evening.")),
}
"""A night of each: all but Claude leave the committing to us."""
OF_CALLS = {"tool_call.decided", "model.called", "fuel.read", "agent.limited"}


async def whole_night(night: AgentNight) -> list[str]:
    """See a night through, check what every agent's night must be, and give its kinds of entry."""
    await night.order()
    await night.house.to_the_brief()
    job, events = await night.job(), await night.events()
    assert job.state is JobState.DONE, (job.why, await night.log())
    assert [event.outcome for event in events if isinstance(event, AgentEnded)] == [Outcome.OK, Outcome.OK]
    paid = [event for event in events if isinstance(event, ModelCalled)]
    assert sum(event.tokens.total for event in paid) == night.model.told("night").total == job.tokens
    assert job.usd_micros == sum(event.usd_micros for event in paid) > 0
    assert len(await night.house.house.records.find(PullRequestRow)) == 1
    await all_is_well(night.house)
    plan, execute = [event for event in events if isinstance(event, AgentBegan)]
    told = [(await night.house.house.blobs.fetch(event.prompt_blob)).decode() for event in (plan, execute)]
    assert [event.template for event in (plan, execute)] == ["plan", "execute"]
    assert plan.conversation == execute.conversation, "it continues where it planned"
    assert bool(plan.conversation) is (night.agent != "command")
    assert all("Say good evening" in text and "Recent commits" in text and "\nBegin\n" in text for text in told)
    assert "The approved plan" in told[1]
    assert git(night.source, "show", f"agent/{job.id}:sample/evening.py") == "evening = True"
    return [event.kind for event in events]


@pytest.mark.parametrize("agent", list(BY))
async def test_a_night_with_any_agent_is_the_same_kind_of_night(tmp_path: Path, agent: str) -> None:
    if agent != "command":
        need(agent)
    async with agent_night(tmp_path, agent, BY[agent], more=TIDY) as night:
        kinds = await whole_night(night)
        decided = [event for event in await night.events() if isinstance(event, ToolCallDecided)]
    of_the_job = [kind for kind in kinds if kind.split(".")[0] in {"job", "agent", "pull_request"}]
    assert of_the_job == [
        "job.created",
        *("job.claimed", "job.mirrored"),
        *("job.claimed", "job.prepared"),
        *("job.claimed", "job.box_opened", "agent.began", "agent.ended", "job.planned"),
        "job.approved",
        *("job.claimed", "job.box_opened", "agent.began", "agent.ended", "job.executed"),
        *("job.claimed", "job.bundled"),
        *("job.claimed", "job.quarantined"),
        *("job.claimed", "job.verified"),
        *("job.claimed", "job.delivered"),
        *("job.claimed", "pull_request.opened"),
        *("job.claimed", "job.ended"),
    ]
    assert {"model.called"} <= set(kinds)
    pushed = {event.verdict for event in decided if "git push" in event.shown}
    assert pushed == (set() if agent == "command" else {"deny"})
    assert bool(decided) is (agent != "command"), "a plain command is decided about by nobody, and says so"
