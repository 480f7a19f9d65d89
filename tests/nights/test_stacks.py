"""The stack at dawn: what it offers really merges and really is green, and taking it happens once or not at all."""

import shlex
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from midwatch.errors import Refused, Stale, Unavailable
from midwatch.journal.events.jobs import PullRequestMerged
from midwatch.journal.events.projects import WorkChanged
from midwatch.morning import build_stack, merge_stack
from midwatch.ports.workspace import ProofRequest
from midwatch.store.rebuild import audit
from midwatch.surfaces.queries.audit import violations
from midwatch.surfaces.queries.replay import every_entry
from midwatch.terms.jobs import Proof
from midwatch.terms.projects import WorkStatus
from midwatch.terms.records import (
    InvocationRow,
    OutcomeRow,
    PullRequestRow,
    ReportRow,
    SessionRow,
    StackRow,
    TimerRow,
    WorkRow,
)
from midwatch.terms.stack import LeftOutWhy, StackState, StackVerdict
from tests.nights.house import TestHouse, git
from tests.nights.scripted import write
from tests.nights.stacked import EIGHT, LINES, a_dawn_of, a_night_of, all_of, ends, green, merges, moved, reviews

PAIR = {name: EIGHT[name] for name in ("Alpha", "Amend")}
THREE = PAIR | {"Beta": EIGHT["Beta"]}


async def all_is_well(house: TestHouse) -> None:
    assert await violations(house.house) == ()
    found = audit(house.house.url)
    assert (found.broken, found.differs) == ("", ())


async def the_stack(house: TestHouse) -> StackRow:
    return (await house.house.records.find(StackRow))[-1]


async def states(house: TestHouse) -> dict[str, str]:
    return {row.title: row.state for row in await house.house.records.find(PullRequestRow)}


def told(row: StackRow) -> dict[str, tuple[str, tuple[int, ...], tuple[str, ...]]]:
    return {one.title: (one.why.value, one.others, one.files) for one in row.left_out}


async def test_the_verified_order_of_eight_branches_is_green_and_nothing_left_out_goes_with_it(tmp_path: Path) -> None:
    """X12: checked by plain git and by running the checks, without any of our code."""
    async with a_dawn_of(tmp_path, EIGHT) as (house, source):
        report = await ends(house)
        await reviews(house)
        row = await the_stack(house)
        assert (row.verdict, [step.title for step in row.order]) == (
            StackVerdict.GREEN,
            ["Alpha", "Amend", "Old name", "Rename"],
        )
        assert told(row) == {
            "Beta": ("conflict", (1,), ("a.txt",)),
            "Rename too": ("conflict", (3,), ("new.txt", "newer.txt", "old.txt")),
            "Remove": ("conflict", (6,), ("gone.txt",)),
            "New name": ("checks", (8,), ()),
        }
        order = tuple(step.branch for step in row.order)
        assert merges(source, tmp_path / "by-hand", order)
        assert green(tmp_path / "by-hand")
        by_hand = git(tmp_path / "by-hand", "rev-parse", "HEAD^{tree}")
        for one in row.left_out:
            tree = tmp_path / one.job
            assert not (merges(source, tree, (*order, one.branch)) and green(tree))
        said = next(section for section in report.brief.sections if section.title == "Decisions needed")
        (line,) = said.lines
        assert line.startswith("sample: 4 of 8 branches merge together; checks green together.")
        assert line.endswith("To merge them: midwatch stack merge --project sample")
        await merge_stack.take(house.house.morning, row.id, by="ann")
        assert git(source, "rev-parse", "main^{tree}") == by_hand
        assert git(source, "status", "--porcelain") == ""
        assert green(source)
        await all_is_well(house)


async def test_a_whole_night_ends_with_its_stack_on_both_databases(tmp_path: Path, database_url: str) -> None:
    async with a_dawn_of(tmp_path, THREE, url=database_url) as (house, source):
        await ends(house)
        await reviews(house)
        row = await the_stack(house)
        assert (row.state, row.verdict, len(row.order), row.check_runs) == (StackState.MADE, StackVerdict.GREEN, 2, 1)
        merged = await merge_stack.take(house.house.morning, "1", by="ann")
        assert (merged.state, merged.settled_by) == (StackState.MERGED, "ann")
        assert git(source, "rev-parse", "main") == row.tip
        assert await states(house) == {"Alpha": "merged", "Amend": "merged", "Beta": "open"}
        work = {item.title: item.status for item in await house.house.records.find(WorkRow)}
        assert work["Alpha"] is WorkStatus.DONE
        assert {one.outcome for one in await house.house.records.find(OutcomeRow)} == {"accepted"}
        kinds = [entry.event.kind for entry in await every_entry(house.house)]
        assert kinds.index("stack.made") < kinds.index("report.written")
        assert not await house.house.records.find(TimerRow, kind="stack")
        await all_is_well(house)


@pytest.mark.sweep
async def test_a_night_of_real_jobs_ends_with_the_same_stack(tmp_path: Path) -> None:
    async with a_night_of(tmp_path, EIGHT) as (house, source):
        row = await the_stack(house)
        assert (row.verdict, len(row.order), len(row.left_out)) == (StackVerdict.GREEN, 4, 4)
        await reviews(house)
        await merge_stack.take(house.house.morning, row.id, by="ann")
        assert green(source)
        await all_is_well(house)


async def test_renames_that_only_go_in_one_order_are_put_into_that_order(tmp_path: Path) -> None:
    """Pairwise all is fine; after both others the rename is too unlike its origin to be seen as one."""
    lines = LINES.splitlines(keepends=True)

    def changed(*places: int) -> str:
        return "".join(f"other words {place}\n" if place in places else line for place, line in enumerate(lines))

    edits = {
        "Move": all_of(moved("a.txt", "b.txt"), write("b.txt", changed(0, 1, 2, 3, 4, 5))),
        # Larger than the move, so that it is ranked first and the order has to be found.
        "Middle": all_of(write("a.txt", changed(9, 10, 11, 12, 13, 14)), write("c.txt", LINES * 3)),
        "End": all_of(write("a.txt", changed(18)), write("d.txt", LINES * 4)),
    }
    async with a_dawn_of(tmp_path, edits) as (house, source):
        await ends(house)
        row = await the_stack(house)
        assert (row.verdict, len(row.order), row.left_out) == (StackVerdict.GREEN, 3, ())
        assert merges(source, tmp_path / "by-hand", tuple(step.branch for step in row.order))


async def test_the_same_change_twice_is_no_conflict(tmp_path: Path) -> None:
    edits = {"Alpha": EIGHT["Alpha"], "Alpha again": EIGHT["Alpha"]}
    async with a_dawn_of(tmp_path, edits) as (house, source):
        await ends(house)
        await reviews(house)
        row = await the_stack(house)
        assert (len(row.order), row.verdict) == (2, StackVerdict.GREEN)
        await merge_stack.take(house.house.morning, row.id, by="ann")
        assert "line one" in (source / "a.txt").read_text()


async def test_priority_one_comes_first_where_only_one_of_two_goes(tmp_path: Path) -> None:
    """Priority 1 is the most pressing: the larger of two branches that clash is taken for it."""
    edits = {name: EIGHT[name] for name in ("Alpha", "Beta", "Remove")}
    async with a_dawn_of(tmp_path, edits) as (house, _):
        night = (await house.house.records.find(SessionRow))[-1]
        pressing = WorkChanged(item=night.items[1]["work_item"], priority=1)
        await house.house.journal.record(pressing)
        await ends(house)
        row = await the_stack(house)
        assert [step.number for step in row.order] == [2, 3]
        assert [one.number for one in row.left_out] == [1]


async def test_three_that_break_the_checks_only_together_lose_one(tmp_path: Path) -> None:
    edits = {name: write(f"part_{name}.txt", name) for name in ("one", "two", "three")}
    check = "test $(ls part_*.txt 2>/dev/null | wc -l) -lt 3"
    async with a_dawn_of(tmp_path, edits, checks=(check,)) as (house, _):
        await ends(house)
        row = await the_stack(house)
        assert (row.verdict, len(row.order)) == (StackVerdict.GREEN, 2)
        assert [(one.why, one.others) for one in row.left_out] == [(LeftOutWhy.CHECKS, (1, 2))]


async def test_work_that_is_not_believed_by_itself_is_in_no_stack(tmp_path: Path) -> None:
    edits = {name: write(f"part_{name}.txt", name) for name in ("One", "Two", "Doubted")}
    async with a_dawn_of(tmp_path, edits) as (house, _):
        await ends(house)
        row = await the_stack(house)
        assert [step.title for step in row.order] == ["One", "Two"]
        assert [(one.title, one.why) for one in row.left_out] == [("Doubted", LeftOutWhy.DRAFT)]


async def test_without_checks_nothing_is_proven_and_that_is_said(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, PAIR, checks=()) as (house, _):
        report = await ends(house)
        assert (await the_stack(house)).verdict is StackVerdict.NO_CHECKS
        assert "nothing is proven together" in str(report.brief)


async def test_a_base_that_is_red_already_is_no_reason_to_leave_anything_out(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, PAIR, checks=("false",)) as (house, _):
        await ends(house)
        row = await the_stack(house)
        assert (row.verdict, len(row.order)) == (StackVerdict.STILL_RED, 2)


async def test_one_branch_makes_no_stack_at_dawn_but_can_be_checked_by_hand(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, {"Alpha": EIGHT["Alpha"]}) as (house, _):
        await ends(house)
        assert not await house.house.records.find(StackRow)
        await build_stack.begin_again(house.house.books, "sample", by="ann")
        await house.settle()
        assert (await the_stack(house)).verdict is StackVerdict.GREEN


async def test_a_base_that_moved_is_refused_and_checked_anew(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, THREE) as (house, source):
        await ends(house)
        await reviews(house)
        (source / "a.txt").write_text((source / "a.txt").read_text().replace("line 1\n", "line none\n"))
        git(source, "commit", "-qam", "Mine")
        mine = git(source, "rev-parse", "main")
        with pytest.raises(Stale, match="moved since the stack was verified"):
            await merge_stack.take(house.house.morning, "1", by="ann")
        assert git(source, "rev-parse", "main") == mine
        again = await build_stack.begin_again(house.house.books, "sample", by="ann")
        assert (await build_stack.begin_again(house.house.books, "sample", by="ann")).id == again.id
        await house.settle()
        row = await the_stack(house)
        assert row.base == mine
        assert [step.title for step in row.order] == ["Amend"]
        assert told(row) == {"Alpha": ("conflict", (), ("a.txt",)), "Beta": ("conflict", (), ("a.txt",))}
        await merge_stack.take(house.house.morning, row.id, by="ann")
        assert len(await house.house.records.find(ReportRow)) == 1
        await all_is_well(house)


async def test_a_dirty_checkout_is_refused_with_the_command_that_works(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, PAIR) as (house, source):
        await ends(house)
        await reviews(house)
        (source / "prices.py").write_text("mine = True\n")
        with pytest.raises(Refused, match="uncommitted changes") as refused:
            await merge_stack.take(house.house.morning, "1", by="ann")
        command = refused.value.hint.split("`")[1]
        git(source, *shlex.split(command)[1:])
        row = await merge_stack.take(house.house.morning, "1", by="ann")
        assert git(source, "rev-parse", "main") == row.tip
        assert (source / "prices.py").read_text() == "mine = True\n"
        assert await states(house) == {"Alpha": "merged", "Amend": "merged"}


async def test_a_stack_is_taken_back_while_its_branch_stands_and_then_offered_again(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, PAIR) as (house, source):
        await ends(house)
        await reviews(house)
        before = git(source, "rev-parse", "main")
        row = await merge_stack.take(house.house.morning, "1", by="ann")
        with pytest.raises(Refused, match="merged already"):
            await merge_stack.take(house.house.morning, "1", by="ann")
        await merge_stack.undo(house.house.books, house.house.forges.local, "1", by="ann")
        assert git(source, "rev-parse", "main") == before
        assert set((await states(house)).values()) == {"open"}
        assert (await merge_stack.take(house.house.morning, "1", by="ann")).state is StackState.MERGED
        git(source, "commit", "-q", "--allow-empty", "-m", "Mine")
        with pytest.raises(Stale, match="moved on"):
            await merge_stack.undo(house.house.books, house.house.forges.local, "1", by="ann")
        assert git(source, "rev-parse", "main~1") == row.tip
        await all_is_well(house)


async def test_a_pull_request_merged_meanwhile_makes_the_stack_stale(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, PAIR) as (house, _):
        await ends(house)
        await reviews(house)
        first = (await the_stack(house)).order[0]
        await house.house.journal.record(PullRequestMerged(pull_request=first.pull_request, sha="0" * 40, by="ann"))
        with pytest.raises(Stale, match="was merged since the stack was made"):
            await merge_stack.take(house.house.morning, "1", by="ann")


async def test_check_runs_are_bounded_and_what_was_proven_is_still_offered(tmp_path: Path) -> None:
    edits = {name: EIGHT[name] for name in ("Alpha", "Amend", "New name", "Old name")}
    async with a_dawn_of(tmp_path, edits) as (house, source):
        limits = house.house.loaded.settings.stack.model_copy(update={"max_check_runs": 2})
        settings = house.house.loaded.settings.model_copy(update={"stack": limits})
        house.house.loaded = replace(house.house.loaded, settings=settings)
        await ends(house)
        row = await the_stack(house)
        assert (row.verdict, row.check_runs) == (StackVerdict.GREEN, 2)
        assert 0 < len(row.order) < 4
        assert merges(source, tmp_path / "by-hand", tuple(step.branch for step in row.order))
        assert green(tmp_path / "by-hand")
        assert LeftOutWhy.UNPROVEN in {one.why for one in row.left_out}


async def test_a_stack_that_breaks_does_not_cost_the_brief(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(_: ProofRequest) -> Proof:
        raise Unavailable("The disk is full.")

    async with a_dawn_of(tmp_path, PAIR) as (house, _):
        monkeypatch.setattr(house.house.workshop.proofs, "prove", broken)
        report = await ends(house)
        await reviews(house)
        row = await the_stack(house)
        assert (row.verdict, row.why) == (StackVerdict.FAILED, "The disk is full.")
        assert "The stack could not be made. The disk is full." in str(report.brief)
        with pytest.raises(Refused, match="could not be made"):
            await merge_stack.take(house.house.morning, "1", by="ann")
        await all_is_well(house)


async def test_a_stack_nobody_makes_is_given_up_and_the_brief_is_written(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, PAIR) as (house, _):

        async def gone(journal: object, stack: str) -> None:
            """The worker that took it died, and nobody took it up."""

        house.house.performer._mornings["stack"] = gone
        with pytest.raises(IndexError):
            await ends(house)
        house.clock.jump_to(house.clock.now() + timedelta(minutes=23))
        await house.settle()
        assert (await the_stack(house)).verdict is StackVerdict.FAILED
        assert len(await house.house.records.find(ReportRow)) == 1
        await build_stack.make(house.house.morning, (await the_stack(house)).id)
        await all_is_well(house)


class OtherForge:
    """Keeps what was said at each pull request, and may be away."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []
        self.away_after = 99

    async def comment(self, pull_request: PullRequestRow, text: str) -> None:
        if len(self.said) >= self.away_after:
            raise Unavailable("The forge does not answer.")
        self.said.append((pull_request.title, text))


async def test_elsewhere_the_order_is_told_once_at_each_pull_request(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, THREE, forge="github") as (house, source):
        await ends(house)
        await reviews(house)
        before = git(source, "rev-parse", "main")
        with pytest.raises(Refused, match="No forge is called github"):
            await merge_stack.take(house.house.morning, "1", by="ann")
        forge = OtherForge()
        morning = replace(house.house.morning, comments=forge)
        row = await merge_stack.take(morning, "1", by="ann")
        assert (row.state, [name for name, _ in forge.said]) == (StackState.COMMENTED, ["Alpha", "Amend"])
        text = forge.said[0][1]
        assert "1. `agent/job_alpha` at " in text
        assert "- `agent/job_beta`: conflicts with `agent/job_alpha` in `a.txt`." in text
        assert "- `python3 check.py`: green" in text
        assert git(source, "rev-parse", "main") == before
        assert set((await states(house)).values()) == {"open"}
        assert len(await house.house.records.find(InvocationRow, tool="forge_comment", status="ok")) == 2
        with pytest.raises(Refused, match="commented already"):
            await merge_stack.take(morning, "1", by="ann")
        await all_is_well(house)


async def test_a_forge_that_was_away_is_told_at_the_next_try_and_nobody_twice(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, THREE, forge="github") as (house, _):
        await ends(house)
        await reviews(house)
        forge = OtherForge()
        forge.away_after = 1
        morning = replace(house.house.morning, comments=forge)
        for _ in range(2):
            with pytest.raises(Unavailable, match="does not answer"):
                await merge_stack.take(morning, "1", by="ann")
        forge.away_after = 99
        row = await merge_stack.take(morning, "1", by="ann")
        assert (row.state, [name for name, _ in forge.said]) == (StackState.COMMENTED, ["Alpha", "Amend"])
        await all_is_well(house)


async def test_a_stack_lands_only_what_the_person_accepted(tmp_path: Path) -> None:
    """A3: one key merged what was rejected, and what nobody had looked at."""
    edits = {name: write(f"part_{name}.txt", name) for name in ("One", "Two", "Three", "Four")}
    async with a_dawn_of(tmp_path, edits) as (house, source):
        await ends(house)
        before = git(source, "rev-parse", "main")
        with pytest.raises(Refused, match="Pull requests 1, 2, 3 and 4 have no verdict yet"):
            await merge_stack.take(house.house.morning, "1", by="ann")
        await reviews(house, Two="rejected", Three="deferred", Four="pending")
        with pytest.raises(Refused, match="Pull request 2 was rejected"):
            await merge_stack.take(house.house.morning, "1", by="ann")
        assert git(source, "rev-parse", "main") == before
        row = await the_stack(house)
        assert (row.number, [step.title for step in row.order]) == (2, ["One"])
        assert {one.title: one.why for one in row.left_out} == {
            "Two": LeftOutWhy.REJECTED,
            "Three": LeftOutWhy.DEFERRED,
            "Four": LeftOutWhy.UNREVIEWED,
        }
        await merge_stack.take(house.house.morning, row.id, by="ann")
        assert sorted(one.name for one in source.glob("part_*")) == ["part_One.txt"]
        await all_is_well(house)
