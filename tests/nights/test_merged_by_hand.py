"""What a person merges with git, without asking Midwatch, is noticed when anybody looks next (A3 of title 7)."""

import json
from pathlib import Path

import pytest

from midwatch.errors import Stale
from midwatch.morning import build_stack, merge_stack, pull_requests
from midwatch.store.rebuild import audit
from midwatch.surfaces.queries.audit import violations
from midwatch.terms.forges import BY_HAND
from midwatch.terms.projects import WorkStatus
from midwatch.terms.records import JobRow, ProjectRow, PullRequestRow, ReportRow, WorkRow
from tests.nights.house import TestHouse, git
from tests.nights.stacked import EIGHT, a_dawn_of, ends, reviews
from tests.surfaces.visitor import visiting, welcome

THREE = {name: EIGHT[name] for name in ("Alpha", "Amend", "Old name")}
GREEN = ("true",)


async def pulls(house: TestHouse) -> dict[str, PullRequestRow]:
    return {row.title: row for row in await house.house.records.find(PullRequestRow)}


async def all_is_well(house: TestHouse) -> None:
    assert await violations(house.house) == ()
    found = audit(house.house.url)
    assert (found.broken, found.differs) == ("", ())


SHOWN = {
    "/morning": "is merged into <code>main</code> as <code>{}</code>",
    "/jobs/1": "Pull request 1 is merged into <code>main</code> as <code>{}</code>",
    "/morning/stack/1": "Pull request 1 was merged since the stack was made.",
}


@pytest.mark.parametrize("where", SHOWN)
async def test_a_page_shows_it_as_merged(tmp_path: Path, where: str) -> None:
    async with a_dawn_of(tmp_path, THREE, checks=GREEN) as (house, source):
        await ends(house)
        await reviews(house)
        git(source, "merge", "-q", "--no-ff", "-m", "Mine", "agent/job_alpha")
        merge = git(source, "rev-parse", "HEAD")
        git(source, "commit", "-q", "--allow-empty", "-m", "And on")
        async with visiting(house.house) as visitor:
            await welcome(house.house, visitor)
            text = (await visitor.get(where)).text
            assert "Merge all 3 into main" not in text
            assert SHOWN[where].format(merge[:12]) in text
            morning = (await visitor.get("/morning")).text
            assert "Pull request 1 of job 1 in sample, Alpha, is merged already." in morning
            assert "Pull request 1 of job 1 in sample was merged after this brief was written." in morning
            assert "Pull request 1 was merged since the stack was made." in morning
            assert "Merge pull request 1" not in morning.partition('id="brief"')[0]
        row = (await pulls(house))["Alpha"]
        assert (row.state, row.merged_sha) == ("merged", merge)
        assert {name for name, one in (await pulls(house)).items() if one.state == "open"} == {"Amend", "Old name"}
        job = await house.house.records.get(JobRow, row.job)
        assert (await house.house.records.get(WorkRow, job.work_item)).status is WorkStatus.DONE
        (said,) = [one for one in await house.house.journal.entries() if one.event.kind == "pull_request.merged"]
        assert (said.actor, getattr(said.event, "by", "")) == (BY_HAND, BY_HAND)
        await all_is_well(house)


READS = ("/morning", "/pull_requests", "/jobs/1", "/stacks", "/stacks/1", "/stacks/newest", "/status")


@pytest.mark.parametrize("path", READS)
async def test_a_program_that_asks_is_answered_so(tmp_path: Path, path: str) -> None:
    async with a_dawn_of(tmp_path, THREE, checks=GREEN) as (house, source):
        await ends(house)
        git(source, "merge", "-q", "agent/job_alpha")  # a fast-forward leaves no merge commit
        async with visiting(house.house) as visitor:
            await welcome(house.house, visitor)
            await visitor.api("GET", path)
            row = (await pulls(house))["Alpha"]
            assert (row.state, row.merged_sha) == ("merged", row.head)
            morning = (await visitor.api("GET", "/morning")).json()
            (advice,) = [one for one in morning["recommendations"] if "request 1 " in one["text"]]
            assert (advice["text"], advice["ask"]) == (
                "Pull request 1 of job 1 in sample, Alpha, is merged already.",
                "",
            )
            assert morning["since"] == ["Pull request 1 of job 1 in sample was merged after this brief was written."]


async def test_the_server_notices_by_itself_and_before_it_writes_the_brief(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, THREE, checks=GREEN) as (house, source):
        git(source, "merge", "-q", "--no-ff", "-m", "Mine", "agent/job_amend")
        report = await ends(house)
        assert "Pull request 2 of job 2 in sample, Amend (" in json.dumps([one.text for one in report.recommendations])
        assert [one.text for one in report.recommendations if one.text.endswith("is merged already.")]
        git(source, "merge", "-q", "--no-ff", "-m", "Mine", "agent/job_alpha")
        await house.house.forge_watch.look_around()
        assert {row.state for name, row in (await pulls(house)).items() if name != "Old name"} == {"merged"}
        await all_is_well(house)


async def test_rejecting_what_was_merged_by_hand_closes_nothing_and_a_new_stack_is_without_it(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, THREE, checks=GREEN) as (house, source):
        report = await ends(house)
        git(source, "merge", "-q", "--no-ff", "-m", "Mine", "agent/job_alpha")
        async with visiting(house.house) as visitor:
            await welcome(house.house, visitor)
            no = {
                one.id: "rejected"
                for one in report.recommendations
                if one.text.startswith("Merge pull request 1 of job 1 in sample,")
            }
            body = {"usefulness": 4, "trust": 4, "brevity": 4}
            said = [{"recommendation": name, "outcome": outcome} for name, outcome in no.items()]
            assert (await visitor.api("POST", "/morning/review", body | {"outcomes": said})).status_code == 200
        assert (await pulls(house))["Alpha"].state == "merged"


async def test_a_merge_by_hand_can_be_taken_back_and_made_again(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, THREE, checks=GREEN) as (house, source):
        await ends(house)
        before = git(source, "rev-parse", "main")
        job = await house.house.records.get(JobRow, "1")
        for words in ("Mine", "Mine after all"):
            git(source, "merge", "-q", "--no-ff", "-m", words, "agent/job_alpha")
            await house.house.look_here()
            assert (await pulls(house))["Alpha"].state == "merged"
            await pull_requests.unmerge(house.house.books, house.house.forges, job, by="ann")
            assert (git(source, "rev-parse", "main"), (await pulls(house))["Alpha"].state) == (before, "open")
        await all_is_well(house)


async def test_a_merge_of_our_own_that_is_not_recorded_yet_is_nobody_elses(tmp_path: Path) -> None:
    """A look may come between the merge and its entry, or after a crash there."""
    async with a_dawn_of(tmp_path, THREE, checks=GREEN) as (house, source):
        await ends(house)
        await reviews(house)
        row = (await pulls(house))["Old name"]
        project = await house.house.records.get(ProjectRow, row.project)
        merged = await house.house.forges.local.merge(project.id, project.path, row.job, row.head, "main", row.title)
        await house.house.look_here()
        assert (await pulls(house))["Old name"].state == "open"
        job = await house.house.records.get(JobRow, row.job)
        mine = await pull_requests.merge(house.house.books, house.house.forges, job, by="ann")
        assert (mine.state, mine.merged_sha, bool(mine.undo)) == ("merged", merged.sha, True)
        await pull_requests.unmerge(house.house.books, house.house.forges, job, by="ann")
        moved = house.house.forges.local.advance

        async def looks_meanwhile(asked: object) -> object:
            answer = await moved(asked)  # type: ignore[arg-type]
            await house.house.look_here()
            return answer

        house.house.forges.local.advance = looks_meanwhile  # type: ignore[assignment,method-assign]
        stack = await merge_stack.take(house.house.morning, "1", by="ann")
        assert stack.state.value == "merged"
        assert git(source, "rev-parse", "main") == stack.tip
        await all_is_well(house)


async def test_a_stack_whose_branch_was_merged_by_hand_is_not_merged(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, THREE, checks=GREEN) as (house, source):
        await ends(house)
        await reviews(house)
        git(source, "merge", "-q", "--no-ff", "-m", "Mine", "agent/job_alpha")
        with pytest.raises(Stale, match="moved since the stack was verified"):
            await merge_stack.take(house.house.morning, "1", by="ann")
        async with visiting(house.house) as visitor:
            await welcome(house.house, visitor)
            await visitor.post("/morning/stack/1/check")
        await house.settle()
        row = await merge_stack.newest(house.house.records)
        assert [step.title for step in row.order] == ["Amend", "Old name"]
        assert not row.left_out
        assert (await build_stack.begin_again(house.house.books, "sample", by="ann")).number == 3


async def test_a_project_whose_folder_is_away_keeps_no_page_from_being_shown(tmp_path: Path) -> None:
    async with a_dawn_of(tmp_path, THREE, checks=GREEN) as (house, source):
        await ends(house)
        source.rename(tmp_path / "away")
        async with visiting(house.house) as visitor:
            await welcome(house.house, visitor)
            assert (await visitor.get("/morning")).status_code == 200
        assert len(await house.house.records.find(ReportRow)) == 1
        assert {row.state for row in (await pulls(house)).values()} == {"open"}
