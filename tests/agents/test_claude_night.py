"""A whole night with the real Claude Code: planned, approved, carried out, paid, delivered (A3, A5, A6, X1, X15)."""

from pathlib import Path

import pytest

from midwatch.crew.claude.driver import ClaudeDriver
from midwatch.crew.model_agent import ModelAgent
from midwatch.journal.events.crew import AgentEnded, ModelCalled, ToolCallDecided
from midwatch.terms.agents import ModelAccess, Outcome
from midwatch.terms.jobs import JobState
from midwatch.terms.orders import OrderedWork, Orders
from midwatch.terms.records import JobRow, PullRequestRow
from midwatch.terms.trust import Isolation, Level
from midwatch.workshop.standing import found
from tests.agents.model import Read, Say, Shell, Use, scripted_model
from tests.conftest import missing
from tests.nights.house import a_house, git, sample_repository
from tests.nights.test_first_night import all_is_well
from tools.agents import program

MODEL = "claude-sonnet-4-5"
PLAN = {
    "summary": "Say good evening.",
    "approach": ["Edit greet.py"],
    "files": ["sample/greet.py"],
    "risks": [],
    "checks": [],
    "estimate_files": 1,
    "estimate_lines": 1,
    "undo": "Revert the commit.",
}


@pytest.mark.usefixtures("claude")
async def test_a_night_with_claude_ends_in_a_pull_request_that_was_paid_for(tmp_path: Path) -> None:
    if found().isolation is not Isolation.BUBBLEWRAP:
        missing("bwrap", found().why)
    source = sample_repository(tmp_path / "sample")
    native = program("claude").resolve()
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    async with scripted_model() as model:
        key = model.play(
            "night",
            Say(do=(Read("sample/greet.py"),)),
            Say(do=(Use("StructuredOutput", PLAN),)),
            Say(do=(Shell("git push origin main"),)),
            Say(do=(Shell("git status"),)),
            Say(do=(Use("Write", {"file_path": "/ws/sample/evening.py", "content": "evening = True\n"}),)),
            Say(do=(Shell("git add -A"), Shell("git commit -q -m 'Say good evening'"))),
            Say("Said good evening."),
        )
        secret = tmp_path / "key"
        secret.write_text(key)
        secret.chmod(0o600)
        (home / "midwatch.toml").write_text(
            f'[secrets]\nmodel = "file:{secret}"\n[sandbox]\ntoolchains = ["{native.parent}"]\n'
        )
        access = ModelAccess(provider="anthropic", model=MODEL, secret="model", base_url=model.url)
        agents = {"claude": ModelAgent(ClaudeDriver(), str(native), MODEL)}
        async with a_house(home, agents=agents, models={"claude": access}) as house:
            await house.project(source)
            work = OrderedWork(project="sample", title="Say good evening", agent="claude")
            await house.begin(Orders(level=Level.CAUTIOUS, goals=("Be polite",), work=(work,)))
            await house.to_the_brief()
            job = (await house.house.records.find(JobRow))[-1]
            entries = [entry.event for entry in await house.house.journal.entries(limit=1000)]
            ended = [event.outcome for event in entries if isinstance(event, AgentEnded)]
            assert job.state is JobState.DONE, (job.why, house.house.bench.log(job.id, "agent").read_text()[-3000:])
            assert ended == [Outcome.OK, Outcome.OK]
            decided = [(event.shown, event.verdict) for event in entries if isinstance(event, ToolCallDecided)]
            assert "deny" in [verdict for shown, verdict in decided if "git push" in shown], decided
            paid = [event for event in entries if isinstance(event, ModelCalled)]
            told = model.told("night")
            assert sum(event.tokens.total for event in paid) == told.total == job.tokens
            assert job.usd_micros == sum(event.usd_micros for event in paid) > 0
            assert len(await house.house.records.find(PullRequestRow)) == 1
            await all_is_well(house)
    assert git(source, "show", f"agent/{job.id}:sample/evening.py") == "evening = True"
