"""From a sentence to a pull request with real agents: plan, edit, silence, red, repaired, green, delivered (A1-A9)."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from midwatch.evening import projects as by_day
from midwatch.journal.events.crew import AgentBegan
from midwatch.night.asks import settlement
from midwatch.night.commands.code_command import Commanded, command
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.records import AskRow, NoticeRow, PlanRow, PullRequestRow, StepRow
from midwatch.terms.trust import Level
from tests.agents.conftest import need
from tests.agents.model import Say, Shell, Step, Use, scripted_model
from tests.agents.nights import PLAN, AgentNight, settings
from tests.agents.test_crew_nights import TIDY
from tests.forges.conftest import prism_github, watched
from tests.forges.github_door import Watched
from tests.forges.github_fake import Hosted, Token
from tests.forges.stands import TOKEN
from tests.nights.house import CHECK, FAULTS, a_house, sample_repository
from tests.nights.test_first_night import all_is_well
from tests.workshop.repository import Repository

__all__ = ["prism_github", "watched"]

COMPILES = (
    "import pathlib\nfor one in pathlib.Path('sample').glob('*.py'):\n    compile(one.read_text(), one.name, 'exec')\n"
)
SMALLER = PLAN | {"summary": "Say good evening, and nothing else.", "blast_radius": "Whoever imports evening."}
BREAKS, MENDS = "echo 'evening = (' > sample/evening.py", "echo 'evening = True' > sample/evening.py"
KEPT = "git add -A && git commit -q -m '{}'"


def by_claude() -> tuple[Step, ...]:
    def writes(command: str, subject: str) -> tuple[Step, ...]:
        return Say(do=(Shell(command),)), Say(do=(Shell(KEPT.format(subject)),)), Say(f"{subject}.")

    plans = (Say(do=(Use("StructuredOutput", one),)) for one in (PLAN, SMALLER))
    return (*plans, *writes(BREAKS, "Say good evening"), *writes(MENDS, "Close the bracket"))


def by_codex() -> tuple[Step, ...]:
    works = ((BREAKS, "Said good evening."), (MENDS, "Closed the bracket."))
    plans = (Say(json.dumps(one)) for one in (PLAN, SMALLER))
    return (*plans, *(step for does, says in works for step in (Say(do=(Shell(does),)), Say(says))))


SCRIPTS = {"claude": by_claude, "codex": by_codex}


@asynccontextmanager
async def a_day(tmp_path: Path, agent: str, github: Watched | None) -> AsyncIterator[tuple[AgentNight, Hosted | None]]:
    """A house with one agent, and a project here or on GitHub."""
    need(agent)
    source = sample_repository(tmp_path / "sample", FAULTS | {"check.py": COMPILES})
    home, token = tmp_path / "home", tmp_path / "token"
    home.mkdir(mode=0o700)
    token.write_text(TOKEN)
    token.chmod(0o600)
    async with scripted_model() as model:
        secret = tmp_path / "key"
        secret.write_text(model.play("night", *SCRIPTS[agent](), final=Say("Nothing more.")))
        secret.chmod(0o600)
        text = settings(agent, model, secret, login=False) + TIDY
        hosted, place = None, str(source)
        if github is not None:
            hosted = github.fake.host("ada/shop", Repository(source))
            github.fake.tokens[TOKEN] = Token()
            place, host = github.fake.url("ada/shop"), github.fake.address.removeprefix("http://")
            text = text.replace("[secrets]\n", f'[secrets]\ngithub = "file:{token}"\n', 1)
            text += f'[forges.github]\nsecret = "github"\nbase_url = "{github.api}"\nhost = "{host}"\n'
        (home / "midwatch.toml").write_text(text)
        async with a_house(home) as house:
            await by_day.add_project(house.house.evening, place, by="ann", name="sample", checks=(CHECK,))
            yield AgentNight(house, model, source, agent), hosted


async def through_the_day(night: AgentNight) -> PullRequestRow:
    """One sentence, one edit, then nobody says anything any more."""
    house = night.house.house
    await by_day.set_level(house.books, Level.CAUTIOUS, by="ann", forced=True, reason="silence may approve")
    await command(
        house.books,
        house.crew.agents,
        house.workshop.mirrors,
        Commanded(sentence="Say good evening", projects=("sample",), agent=night.agent),
        by="ann",
    )
    await night.house.settle()
    (first,) = await house.records.find(AskRow)
    await settlement.answer(
        house.books, "1", "edit", by="ann", text="Nothing but the greeting.", shown=first.shown_hash
    )
    await night.house.settle()
    _, second = await house.records.find(AskRow)
    assert second.due_at is not None, second.question
    await night.house.pass_time(minutes=19)
    assert (await night.job()).stage is Stage.APPROVE
    await night.house.pass_time(minutes=2)
    await night.house.to_the_brief()
    job = await night.job()
    assert job.state is JobState.DONE, (job.why, await night.log())
    assert (job.plan_version, job.approved_by, job.repairs) == (2, "silence", 1)
    assert job.proof is not None
    assert job.proof.verdict == "green"
    return (await house.records.find(PullRequestRow))[0]


async def was_told(night: AgentNight) -> list[str]:
    began = [event for event in await night.events() if isinstance(event, AgentBegan)]
    return [(await night.house.house.blobs.fetch(event.prompt_blob)).decode() for event in began]


async def each_step_is_right(night: AgentNight, pull: PullRequestRow, where: str) -> None:
    """Check what the agent was told at each step, and what the person was told at the end."""
    house = night.house.house
    plan, again, execute, repair = await was_told(night)
    assert "Say good evening" in plan
    assert "Nothing but the greeting." in again
    assert "and nothing else" in execute
    assert "SyntaxError" in repair
    assert [row.fate for row in await house.records.find(PlanRow)] == ["returned", "approved"]
    stages = [row.stage for row in await house.records.find(StepRow)]
    counted = [stages.count(stage) for stage in (Stage.PLAN, Stage.VERIFY, Stage.REPAIR, Stage.DELIVER)]
    assert counted == [2, 2, 1, 1]
    assert "**Proof.** The checks pass on a fresh checkout." in pull.body
    ready = [row.text for row in await house.records.find(NoticeRow) if row.text.startswith("PR ready")]
    assert len(ready) == 1
    turns = f"{len(night.model.requests('night', main=True))} turns"
    assert all(word in ready[0] for word in (where, "1 file", "checks green", f"· {turns} ·", "minute"))
    assert f"tokens in {turns}" in pull.body
    await all_is_well(night.house)


@pytest.mark.parametrize("agent", ["codex", pytest.param("claude", marks=pytest.mark.sweep)])
async def test_a_sentence_becomes_a_pull_request_here(tmp_path: Path, agent: str) -> None:
    async with a_day(tmp_path, agent, None) as (night, _):
        pull = await through_the_day(night)
        await each_step_is_right(night, pull, (await night.job()).branch)


@pytest.mark.parametrize("agent", ["claude", pytest.param("codex", marks=pytest.mark.sweep)])
async def test_a_sentence_becomes_a_pull_request_on_github(tmp_path: Path, agent: str, watched: Watched) -> None:
    async with a_day(tmp_path, agent, watched) as (night, hosted):
        pull = await through_the_day(night)
        assert hosted is not None
        (there,) = hosted.pulls
        assert (there.head, hosted.tip(there.head)) == (pull.branch, pull.head)
        assert there.body == pull.body
        assert (pull.forge, pull.url) == ("github", "https://github.example/ada/shop/pull/1")
        await each_step_is_right(night, pull, pull.url)
