"""The morning's queue: every ordered item once with its true outcome, counted alike everywhere (RULES 6, X9)."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from midwatch.crew.housekeeping import Housekeeper
from midwatch.evening.projects import flag_project, set_level
from midwatch.night.asks import settlement
from midwatch.settings.zone import local_time
from midwatch.surfaces.queries.status import status
from midwatch.surfaces.web.pages.morning import page_of
from midwatch.surfaces.web.stream.live_regions import Painter
from midwatch.terms.asks import AskState
from midwatch.terms.orders import OrderedWork
from midwatch.terms.projects import Flag
from midwatch.terms.records import AskRow, PastAct, ReportRow, RunRow, SessionRow
from midwatch.terms.report import ITEM_DONE, ScoreParts
from midwatch.terms.trust import Level
from midwatch.views.text.names import MOMENT
from tests.nights.house import ONE_TRY, TestHouse, a_house, orders, sample_repository
from tests.nights.scripted import GOOD, FailingAgent, ScriptedAgent
from tests.nights.test_delivered import TIDY, Idle
from tests.nights.test_first_night import all_is_well

AGENTS = {
    "good": ScriptedAgent(GOOD),
    "idle": Idle("sample/greet.py"),
    "broken": FailingAgent(message="it is broken"),
    "housekeeper": Housekeeper(),
}
ITEMS = (("a", "good"), ("b", "broken"), ("c", "idle"), ("d", "good"), ("e", "housekeeper"), ("f", "good"))
ENDS = {"a": "delivered", "b": "failed", "c": "nothing_delivered", "d": "refused", "e": "unneeded", "f": "delivered"}


async def a_mixed_night(house: TestHouse, folder: Path) -> None:
    for name, agent in ITEMS:
        await house.project(sample_repository(folder / name, TIDY if agent == "housekeeper" else None), name=name)
    await flag_project(house.house.books, "d", Flag.BLOCKED, on=True, by="ann")
    work = tuple(OrderedWork(project=name, title=f"Work on {name}", agent=agent) for name, agent in ITEMS)
    await house.begin(orders(level=Level.FULL, work=work))
    await house.to_the_brief()
    await house.settle()
    await all_is_well(house)


def house_of(tmp_path: Path) -> AbstractAsyncContextManager[TestHouse]:
    return a_house(tmp_path / "home", agents=AGENTS, flags=ONE_TRY)


async def test_every_item_is_in_the_queue_once_with_its_true_outcome_undelivered_first(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        await a_mixed_night(house, tmp_path)
        (report,) = await house.house.records.find(ReportRow)
        (session,) = await house.house.records.find(SessionRow)
        names = {item["work_item"]: item["title"].removeprefix("Work on ") for item in session.items}
        queue = [one for one in report.recommendations if one.became is not None]
        assert {names[one.work_item]: str(one.became) for one in queue} == ENDS
        assert len(queue) == len(ITEMS)
        assert [one.became in ITEM_DONE for one in queue] == [False] * 3 + [True] * 3
        for one in queue[:3]:
            assert one.cause
            assert one.advice
        failed = next(one for one in queue if one.became == "failed")
        assert any("it is broken" in said for said in failed.tried)
        advised = next(one for one in report.brief.sections if one.title == "Recommendations")
        assert [line[:2] for line in advised.lines] == ["1.", "2.", "3."][: len(advised.lines)]
        assert report.brief.cut > 0


async def test_headline_page_live_and_status_count_alike(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        await a_mixed_night(house, tmp_path)
        (report,) = await house.house.records.find(ReportRow)
        assert report.brief.headline == (
            "Night 1: 2 of 6 delivered as pull requests; 1 needed no change. 3 need your attention."
        )
        page = await page_of(house.house, "")
        assert page.verdict == "Three of six done. Three need your attention."
        assert [item.missing for item in page.items if item.became] == [True] * 3 + [False] * 3
        now = await status(house.house)
        assert now.night is not None
        assert now.night.progress == "3 of 6 done, 3 not done"


async def test_a_run_without_a_delivery_has_no_evidence_and_no_readiness(tmp_path: Path) -> None:
    """Failed runs once scored 1.00 beside delivered ones at 0.91."""
    async with house_of(tmp_path) as house:
        await a_mixed_night(house, tmp_path)
        runs = {run.contract.objective: run for run in await house.house.records.find(RunRow)}
        for name in ("b", "c"):
            run = runs[f"Work on {name}"]
            parts = ScoreParts.model_validate(run.scores["pre"])
            assert (parts.evidence, parts.readiness) == (0, 0)
            assert run.score_pre == pytest.approx(0.35 / 0.85, abs=1e-4)
        assert (runs["Work on a"].score_pre or 0) > (runs["Work on b"].score_pre or 0)


async def test_live_counts_as_the_brief_does(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        for name in ("a", "c"):
            await house.project(sample_repository(tmp_path / name), name=name)
        work = tuple(OrderedWork(project=name, title=name, agent=agent) for name, agent in ITEMS if name in {"a", "c"})
        await house.begin(orders(level=Level.CAUTIOUS, work=work))
        await house.settle()
        painter = Painter(house.house)
        counted = " ".join((await painter.draw(("counts",)))["counts"].striptags().split())
        assert counted == "2 need you 0 at work 2 wait 0 of 2 done"
        await house.to_the_brief()
        await house.settle()
        assert "1 of 2 delivered as pull requests. 1 needs your" in (await painter.draw(("banner",)))["banner"]


def lines_of(report: ReportRow, title: str) -> tuple[str, ...]:
    return next(one for one in report.brief.sections if one.title == title).lines


async def test_of_two_deliveries_the_better_proven_one_comes_first(tmp_path: Path) -> None:
    """RULES 6: though it was ordered second."""
    async with house_of(tmp_path) as house:
        await house.project(sample_repository(tmp_path / "a"), name="a", checks=())
        await house.project(sample_repository(tmp_path / "b"), name="b")
        work = tuple(OrderedWork(project=name, title=f"Work on {name}", agent="good") for name in "ab")
        await house.begin(orders(level=Level.FULL, work=work))
        await house.to_the_brief()
        await house.settle()
        (report,) = await house.house.records.find(ReportRow)
        asked = [one.text.partition(" of job")[0] for one in report.recommendations]
        assert asked == ["Merge pull request 2", "Review pull request 1"]


async def test_what_found_no_free_place_is_not_started_and_wants_no_decision(tmp_path: Path) -> None:
    """It was called refused, with the advice to change what refused it."""
    async with a_house(tmp_path / "home", agents=AGENTS, flags={"jobs.max_in_all": 2}) as house:
        for name in "abcd":
            await house.project(sample_repository(tmp_path / name), name=name)
        work = tuple(OrderedWork(project=name, title=f"Work on {name}", agent="good") for name in "abcd")
        await house.begin(orders(level=Level.CAUTIOUS, work=work))
        await house.settle()
        codes = [act.code for act in await house.house.records.find(PastAct) if act.state == "refused"]
        assert codes == ["gate.crowded"] * 2
        shown = (await Painter(house.house).draw(("counts",)))["counts"].striptags()
        assert " ".join(shown.split()) == "2 need you 0 at work 2 wait 0 of 4 done 2 not started"
        await settlement.debrief(house.house.books, "1", "ann stopped it", actor="ann")
        await house.settle()
        (report,) = await house.house.records.find(ReportRow)
        became = [str(one.became) for one in report.recommendations]
        assert became == ["stopped", "stopped", "not_started", "not_started"]
        assert report.brief.headline == (
            "Night 1: 0 of 4 delivered as pull requests; 2 not started. 2 need your attention."
        )
        assert (await page_of(house.house, "")).verdict == "None of four done. Two need your attention."
        assert lines_of(report, "Decisions needed") == ("2 ordered works not done or in doubt: decide in the review.",)


async def test_an_open_ask_about_failed_work_is_one_decision_and_not_two(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        for name in "ab":
            await house.project(sample_repository(tmp_path / name), name=name)
        work = (OrderedWork(project="a", title="A", agent="good"), OrderedWork(project="b", title="B", agent="broken"))
        await house.begin(orders(level=Level.FULL, work=work))
        await house.settle()
        (ask,) = await house.house.records.find(AskRow, state=AskState.OPEN)
        await settlement.debrief(house.house.books, "1", "ann stopped it", actor="ann")
        await house.settle()
        (report,) = await house.house.records.find(ReportRow)
        assert report.brief.headline == "Night 1: 1 of 2 delivered as pull requests. 1 needs your attention."
        page = await page_of(house.house, "")
        assert page.verdict == "One of two done. One needs your attention."
        (line,) = lines_of(report, "Decisions needed")
        assert line.startswith(f"{ask.number}. {ask.question[:40]}")
        assert ask.due_at is not None
        due = local_time(house.house.loaded.settings, ask.due_at)
        (after,) = lines_of(report, "Next without input")
        assert f"ask {ask.number} is decided by silence at {due:{MOMENT}};" in after
        assert [one.number for one in page.decisions] == [ask.number]


async def test_a_rejected_plan_and_a_proposal_want_no_decision_in_the_morning(tmp_path: Path) -> None:
    """The person has decided the one, and is only shown the other."""
    async with a_house(tmp_path / "home", agents=AGENTS, flags={"jobs.max_in_all": 1}) as house:
        for name in "ab":
            await house.project(sample_repository(tmp_path / name), name=name)
        work = tuple(OrderedWork(project=name, title=f"Work on {name}", agent="good") for name in "ab")
        await house.begin(orders(level=Level.CAUTIOUS, work=work))
        await house.settle()
        (ask,) = await house.house.records.find(AskRow, state=AskState.OPEN)
        await set_level(house.house.books, Level.OBSERVE, by="ann")
        await settlement.answer(house.house.books, ask.id, "reject", by="ann")
        await house.to_the_brief()
        await house.settle()
        (report,) = await house.house.records.find(ReportRow)
        assert {str(one.became) for one in report.recommendations} == {"declined", "proposed"}
        assert report.brief.headline == "Night 1: 0 of 2 delivered as pull requests; 1 only proposed."
        assert lines_of(report, "Decisions needed") == ("None.",)
