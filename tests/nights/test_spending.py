"""What jobs spend is what the night's budgets, check-ins, alerts and brief say."""

from pathlib import Path

from midwatch.journal.events.crew import ModelCalled
from midwatch.terms.agents import Tokens
from midwatch.terms.records import ActRow, CheckInRow, JobRow, NoticeRow, ReportRow, SessionRow
from tests.nights.house import TestHouse, orders, sample_repository
from tests.nights.scripted import a_scripted_house


def called(job: JobRow, *, usd: float, tokens: int = 1000) -> ModelCalled:
    """One settled request."""
    return ModelCalled(
        reservation="", job=job.id, epoch=job.epoch, provider="anthropic", model="claude-sonnet-4-5", api="messages",
        status=200, tokens=Tokens(input=tokens), usd_micros=round(usd * 1_000_000),
    )  # fmt: skip


async def spend(house: TestHouse, usd: float, tokens: int = 1000) -> None:
    """Let the newest job spend, and the night look at it."""
    job = (await house.house.records.find(JobRow))[-1]
    await house.house.journal.record(called(job, usd=usd, tokens=tokens))
    await house.pass_time(minutes=6)


async def about_money(house: TestHouse) -> list[tuple[str, str]]:
    rows = await house.house.records.find(CheckInRow)
    return [(row.type, row.trigger) for row in rows if "of its money" in row.trigger or "of its tokens" in row.trigger]


async def test_each_share_of_the_money_is_told_once_and_the_last_ends_the_night(tmp_path: Path) -> None:
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(sample_repository(tmp_path / "sample"))
        await house.begin(orders(limits={"usd": 5, "tokens": 100_000}, permissions={"silence_approves": False}))
        await house.settle()
        await spend(house, 2.40)
        assert await about_money(house) == []
        await spend(house, 0.20)
        assert await about_money(house) == [("progress", "budget, 50 % of its money")]
        await spend(house, 0.01, tokens=60_000)
        assert (await about_money(house))[1:] == [("progress", "budget, 50 % of its tokens")]
        await spend(house, 1.50)
        assert (await about_money(house))[2:] == [("alert", "budget, 80 % of its money")]
        alerts = [row.text for row in await house.house.records.find(NoticeRow) if "has used" in row.text]
        spent = "$4.11 of $5 and 63 k of 100 k tokens are spent."
        assert alerts == [f"Night 1 has used 80 % of its money. 0 of 1 done, 1 waits. {spent}"]
        await spend(house, 1.00)
        (night,) = await house.house.records.find(SessionRow)
        assert night.reason == "the night's money is used up"
        await house.settle()
        (report,) = await house.house.records.find(ReportRow)
        objective = report.brief.sections[0].lines[0]
        assert objective.startswith("Spent $5.11 of $5 and 64 k tokens on: Keep it tidy.")


async def test_the_gate_is_told_what_is_spent(tmp_path: Path) -> None:
    async with a_scripted_house(tmp_path / "home") as house:
        await house.project(sample_repository(tmp_path / "sample"))
        await house.project(sample_repository(tmp_path / "other"), name="other")
        wanted = orders(limits={"usd": 5, "tokens": 100_000})
        other = orders("Tidy the other", project="other").work
        await house.begin(wanted.model_copy(update={"work": (*wanted.work, *other)}))
        await house.settle()
        jobs = await house.house.records.find(JobRow)
        await house.house.journal.record(called(jobs[0], usd=1.25, tokens=700))
        await house.to_the_brief()
        told = [act.facts.budgets for act in await house.house.records.find(ActRow)]
        assert (told[-1].usd_micros.spent, told[-1].usd_micros.limit) == (1_250_000, 5_000_000)
        assert told[-1].tokens.spent == 700
