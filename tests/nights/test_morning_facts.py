"""The morning says what the records say: guardrails, scores, assumptions and the lines of the brief (N13-N16, N22)."""

from pathlib import Path

import pytest

from midwatch.brains.rules_brain import RulesBrain
from midwatch.errors import Misuse
from midwatch.journal.events.morning import ReportWritten
from midwatch.morning import review
from midwatch.ports.agent import Task
from midwatch.surfaces.queries.replay import every_entry
from midwatch.surfaces.web.pages.morning import page_of
from midwatch.terms.acts import ActKind, BrainAnswer, Proposal, Sense
from midwatch.terms.jobs import Done, Dropped, JobState, Plan
from midwatch.terms.orders import OrderedWork
from midwatch.terms.projects import SessionState
from midwatch.terms.records import (
    ActRow,
    AssumptionRow,
    EvaluationRow,
    EvidenceRow,
    JobRow,
    ReportRow,
    RunRow,
    SessionRow,
)
from midwatch.terms.report import AssumptionVerdict, Given, Review, ReviewOutcome, ScoreParts
from midwatch.terms.trust import Level
from tests.nights.house import CHECK, FAULTS, TestHouse, a_house, git, orders, sample_repository
from tests.nights.scripted import GOOD, ScriptedAgent, a_scripted_house
from tests.nights.test_first_night import all_is_well

RATED = Review(usefulness=4, trust=4, brevity=4)


async def a_night(house: TestHouse, source: Path, *, checks: tuple[str, ...] = (CHECK,)) -> ReportRow:
    await house.project(source, checks=checks)
    return await another_night(house)


async def another_night(house: TestHouse, level: Level = Level.CAUTIOUS) -> ReportRow:
    await house.begin(orders(level=level))
    await house.to_the_brief()
    await house.settle()
    await all_is_well(house)
    return (await house.house.records.find(ReportRow))[-1]


async def flags_of(house: TestHouse) -> set[str]:
    """The guardrails' flags of the newest report, as its entry has them."""
    written = [one.event for one in await every_entry(house.house, kinds=("report.written",))]
    assert isinstance(written[-1], ReportWritten)
    return {flag.code for flag in written[-1].guardrails}


def parts_of(run: RunRow) -> ScoreParts:
    return ScoreParts.model_validate(run.scores["pre"])


def section(report: ReportRow, title: str) -> str:
    return " ".join(next(one for one in report.brief.sections if one.title == title).lines)


async def test_a_verdict_on_an_assumption_is_an_entry_with_a_status(tmp_path: Path, database_url: str) -> None:
    """N14."""
    async with a_scripted_house(tmp_path / "home", database_url) as house:
        await a_night(house, sample_repository(tmp_path / "sample"))
        (made,) = await house.house.records.find(AssumptionRow)
        assert made.status == "open"
        for status in ("rejected", "confirmed"):
            said = AssumptionVerdict.model_validate({"assumption": made.id, "status": status})
            await review.submit(house.house.books, RATED.model_copy(update={"assumptions": (said,)}), by="ann")
            (row,) = await house.house.records.find(AssumptionRow)
            assert row.status == status
        page = await page_of(house.house, "")
        assert [one.status for one in page.assumptions] == ["confirmed"]
        assert page.reviewed is not None
        assert any("ann confirmed the assumption: The plan of job 1" in one.text for one in page.reviewed.recorded)
        strange = RATED.model_copy(update={"assumptions": (AssumptionVerdict(assumption="asm_x", status="confirmed"),)})
        with pytest.raises(Misuse, match="no such assumption"):
            await review.submit(house.house.books, strange, by="ann")
        await all_is_well(house)


async def test_the_next_night_does_not_time_out_the_review_of_the_last(tmp_path: Path) -> None:
    """N22: only its due time does."""
    async with a_scripted_house(tmp_path / "home") as house:
        await a_night(house, sample_repository(tmp_path / "sample"))
        await house.begin(orders("Something else"))
        first = (await house.house.records.find(SessionRow))[0]
        assert first.state is SessionState.ENDED
        (pending,) = await house.house.records.find(EvaluationRow, session=first.id)
        assert pending.capture_status == "pending"
        await house.to_the_brief()
        await house.pass_time(hours=30)
        (late,) = await house.house.records.find(EvaluationRow, session=first.id)
        assert late.capture_status == "pending"
        await house.pass_time(hours=7)
        (over,) = await house.house.records.find(EvaluationRow, session=first.id)
        assert over.capture_status == "timeout"
        await all_is_well(house)


async def test_one_source_never_makes_the_night_ninety_percent_sure(tmp_path: Path) -> None:
    """N16."""
    async with a_scripted_house(tmp_path / "home") as house:
        report = await a_night(house, sample_repository(tmp_path / "sample"))
        assert [one.confidence for one in report.recommendations] == [0.6]
        assert "drift.single_source" in await flags_of(house)
        assert "60% sure" in section(report, "Recommendations")


async def test_two_sources_may(tmp_path: Path) -> None:
    async with a_scripted_house(tmp_path / "home") as house:
        report = await a_night(
            house, sample_repository(tmp_path / "sample"), checks=(CHECK, "python3 -m compileall -q .")
        )
        assert [one.confidence for one in report.recommendations] == [0.9]
        assert "drift.single_source" not in await flags_of(house)


class Wasteful(RulesBrain):
    """Starts the work, then says the same thing about it again and again."""

    name = "wasteful"

    async def propose(self, sense: Sense) -> BrainAnswer:
        item = sense.items[0]
        about = {"project": item.project, "target": item.work_item, "reason": "because", "agent": item.agent}
        if item.state == "todo":
            start = {
                "kind": ActKind.START,
                "prompt": item.title,
                "tool": "repo_write_pr",
                "writes": True,
                "ordered": True,
            }
            return BrainAnswer(summary="s", proposals=(Proposal.model_validate(about | start),))
        if item.state == "waiting":
            said = Proposal.model_validate(about | {"kind": ActKind.NOTIFY, "message": "Still waiting.", "tier": 4})
            return BrainAnswer(summary="s", proposals=(said,), next_in_seconds=60)
        return BrainAnswer(summary="s")


async def test_a_run_that_wastes_its_acts_is_stopped(tmp_path: Path) -> None:
    """N16: hard guardrails stop the run, and the brief says which one."""
    flags = {"gate.same_action_minutes": 0.01, "gate.same_project_minutes": 0.01, "asks.approve_plan_minutes": 600}
    async with a_scripted_house(tmp_path / "home", brain=Wasteful(), flags=flags) as house:
        report = await a_night(house, sample_repository(tmp_path / "sample"))
        (job,) = await house.house.records.find(JobRow)
        assert job.state is JobState.STOPPED
        assert "acts repeated or left nothing new" in job.why
        (run,) = await house.house.records.find(RunRow)
        assert run.status == "stopped"
        assert report.recommendations[0].became == "stopped"


class Risky(ScriptedAgent):
    """Names a risk for a file that it does not change in the end."""

    async def plan(self, assignment: Task) -> Plan:
        plan = await super().plan(assignment)
        return plan.model_copy(update={"files": ("sample/other.py",), "risks": ("other.py may be imported elsewhere",)})

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        return await super().execute(assignment, plan)


async def test_an_agent_knows_the_checks_that_were_found_and_no_tradeoff_denies_them(tmp_path: Path) -> None:
    """The housekeeper used to write "no checks were given" beside "checks green" (N13, B6 of title 7)."""
    source = sample_repository(tmp_path / "sample", FAULTS | {"Makefile": "test:\n\tpython3 check.py\n"})
    async with a_house(tmp_path / "home") as house:
        report = await a_night(house, source, checks=())
        (job,) = await house.house.records.find(JobRow)
        assert job.plan is not None
        assert job.plan.approach[-1].startswith("Run the checks before")
        merge = next(one for one in report.recommendations if one.text.startswith("Merge"))
        assert "checks green" in merge.text
        assert not any("no check" in one for one in merge.tradeoffs), merge.tradeoffs


async def test_a_tradeoff_belongs_to_the_delivered_work_or_is_left_out(tmp_path: Path) -> None:
    """N13."""
    async with a_scripted_house(tmp_path / "home", agents={"housekeeper": Risky(GOOD)}) as house:
        report = await a_night(house, sample_repository(tmp_path / "sample"))
        (merge,) = report.recommendations
        assert not any("other.py" in one for one in merge.tradeoffs)
        assert merge.tradeoffs == ("1 file, +1 -5 to review",)


class TakenBack(Risky):
    """Plans what it changes, names a risk, and takes a part of it back."""

    async def plan(self, assignment: Task) -> Plan:
        return (await super().plan(assignment)).model_copy(update={"files": ("sample/greet.py",)})

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        done = await super().execute(assignment, plan)
        return done.model_copy(update={"dropped": (Dropped(subject="Change other.py", why="The checks failed."),)})


async def test_the_risk_of_a_part_that_was_taken_back_is_no_tradeoff(tmp_path: Path) -> None:
    """N13: nothing says which part of the plan a risk was about."""
    async with a_scripted_house(tmp_path / "home", agents={"housekeeper": TakenBack(GOOD)}) as house:
        report = await a_night(house, sample_repository(tmp_path / "sample"))
        assert report.recommendations[0].tradeoffs == ("1 file, +1 -5 to review",)


async def test_the_lines_about_what_is_next_and_about_authority_come_from_the_records(tmp_path: Path) -> None:
    """N13."""
    async with a_scripted_house(tmp_path / "home", flags={"server.time_zone": "UTC"}) as house:
        report = await a_night(house, sample_repository(tmp_path / "sample"))
        (evaluation,) = await house.house.records.find(EvaluationRow)
        said = section(report, "Next without input")
        assert "1 pull request stays open" in said
        assert f"{evaluation.due_at:%d %b %H:%M}" in said
        assert section(report, "Authority") == "code: suggest; this is its first night."
        accepted = Given(recommendation=report.recommendations[0].id, outcome=ReviewOutcome.ACCEPTED)
        await review.submit(house.house.books, RATED.model_copy(update={"outcomes": (accepted,)}), by="ann")
        second = await another_night(house)
        assert section(second, "Authority") == "code: suggest, as before; 1 of 1 verdict accepted so far."


async def test_no_part_of_the_score_is_a_constant(tmp_path: Path) -> None:
    """N15: a known finding is not novel, evidence about a base that moved is not fresh."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home") as house:
        await a_night(house, source)
        (first,) = await house.house.records.find(RunRow)
        assert parts_of(first).novelty == 1
        await another_night(house)
        second = (await house.house.records.find(RunRow))[-1]
        assert parts_of(second).novelty == 0


class Slow(ScriptedAgent):
    """The person commits to the branch while it works."""

    def __init__(self, source: Path) -> None:
        super().__init__(GOOD)
        self._source = source

    async def execute(self, assignment: Task, plan: Plan) -> Done:
        (self._source / "NEWS").write_text("new\n")
        git(self._source, "add", "NEWS")
        git(self._source, "commit", "-q", "-m", "Meanwhile")
        return await super().execute(assignment, plan)


async def test_evidence_about_a_base_that_moved_is_not_fresh(tmp_path: Path) -> None:
    """N15."""
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home", agents={"housekeeper": Slow(source)}) as house:
        await a_night(house, source)
        assert {row.fresh for row in await house.house.records.find(EvidenceRow)} == {False}
        (run,) = await house.house.records.find(RunRow)
        assert parts_of(run).evidence == pytest.approx(0.5 * 0.9)


class Straying(RulesBrain):
    """Does its work, and notifies about things that no one ordered."""

    name = "straying"

    async def propose(self, sense: Sense) -> BrainAnswer:
        item = sense.items[0]
        about = {"project": item.project, "reason": "because", "agent": item.agent}
        if item.state != "todo":
            return BrainAnswer(summary="s")
        start = {"kind": ActKind.START, "target": item.work_item, "prompt": item.title, "tool": "repo_write_pr"}
        stray = {"kind": ActKind.NOTIFY, "target": "the weather", "message": "It rains.", "tier": 4}
        made = (about | stray, about | start | {"writes": True, "ordered": True})
        return BrainAnswer(summary="s", proposals=tuple(Proposal.model_validate(one) for one in made))


async def test_acts_that_serve_no_item_lower_the_alignment(tmp_path: Path) -> None:
    """N15."""
    async with a_scripted_house(
        tmp_path / "home", brain=Straying(), flags={"gate.same_action_minutes": 0.01, "gate.same_project_minutes": 0.01}
    ) as house:
        await a_night(house, sample_repository(tmp_path / "sample"))
        (run,) = await house.house.records.find(RunRow)
        assert parts_of(run).alignment == 0.5


async def test_work_that_only_waited_for_its_turn_is_no_risk(tmp_path: Path) -> None:
    async with a_scripted_house(tmp_path / "home", flags={"jobs.max_in_all": 1}) as house:
        for name in ("one", "two"):
            await house.project(sample_repository(tmp_path / name), name=name, checks=(CHECK,))
        work = tuple(OrderedWork(project=name, title="Tidy up") for name in ("one", "two"))
        await house.begin(orders(work=work))
        await house.to_the_brief()
        (report,) = await house.house.records.find(ReportRow)
        refused = [act.code for act in await house.house.records.find(ActRow) if act.state == "refused"]
        assert "gate.crowded" in refused
        assert "Refused" not in section(report, "Risks and unknowns")
