"""Pull requests that GitHub would not open at first: the work goes on with one branch and one of them (A8, A10)."""

from pathlib import Path
from typing import Any

import pytest

from midwatch.errors import Away, Refused
from midwatch.forges.github.forge import GitHubForge
from midwatch.morning import pull_requests
from midwatch.night.asks import settlement
from midwatch.night.commands import steering
from midwatch.night.delivery.deliver import branch_for
from midwatch.rules.people.asks import GO_ON
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.records import ActRow, JobRow, NoticeRow, PlanRow, ProjectRow, PullRequestRow
from midwatch.terms.trust import Level
from tests.forges.github_door import Watched
from tests.forges.github_fake import Hosted, Pull
from tests.forges.stands import TOKEN
from tests.forges.test_github_nights import at_github, the_one
from tests.nights.house import TestHouse, orders
from tests.nights.test_recovery import until_asked
from tests.workshop.repository import Repository


async def refused(house: TestHouse, watched: Watched) -> JobRow:
    """Let a night come as far as the branch, and not to its pull request."""
    watched.fake.tokens[TOKEN].pulls = False
    await house.begin(orders("Tidy up"))
    await house.to_the_brief()
    (job,) = await house.house.records.find(JobRow)
    assert (job.state, job.stage, job.branch) == (JobState.FAILED, Stage.PULL_REQUEST, f"agent/{job.id}")
    return job


async def resumed(house: TestHouse, job: JobRow) -> JobRow:
    again = await steering.resume_job(house.house.books, job, by="ann")
    await house.settle()
    return await house.house.records.get(JobRow, again.id)


def branches(hosted: Hosted) -> list[str]:
    return [name.removeprefix("refs/heads/") for name in hosted.git.refs() if name != "refs/heads/main"]


async def test_the_branch_that_was_pushed_gets_the_pull_request_however_often_it_was_refused(
    watched: Watched, tmp_path: Path
) -> None:
    async with at_github(watched, tmp_path) as (house, hosted):
        first = await refused(house, watched)
        second = await resumed(house, first)
        assert (second.state, second.stage) == (JobState.FAILED, Stage.PULL_REQUEST)
        watched.fake.tokens[TOKEN].pulls = True
        third = await resumed(house, second)
        assert third.state is JobState.DONE, third.why
        assert branches(hosted) == [first.branch] == [pull.head for pull in hosted.pulls]
        row = await the_one(house)
        assert (row.job, row.branch, row.head) == (third.id, first.branch, hosted.tip(first.branch))
        merged = await pull_requests.merge(house.house.books, house.house.forges, third, by="ann")
        assert (merged.state, merged.merged_sha) == ("merged", hosted.tip("main"))


async def test_newer_work_moves_the_branch_forward(watched: Watched, tmp_path: Path) -> None:
    """What a person added in the checkout that was kept is delivered on the same branch."""
    async with at_github(watched, tmp_path) as (house, hosted):
        first = await refused(house, watched)
        before = hosted.tip(first.branch)
        more = kept_checkout(house, first).commit("Add a word", {"sample/word.txt": "a word\n"})
        watched.fake.tokens[TOKEN].pulls = True
        second = await resumed(house, first)
        assert second.state is JobState.DONE, second.why
        assert (branches(hosted), hosted.tip(first.branch)) == ([first.branch], more)
        assert before != more
        assert [pull.head for pull in hosted.pulls] == [first.branch]


async def test_a_branch_that_arrived_though_nobody_heard_so_is_found_as_well(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first push is never written down; the second moves the branch, and is cut off before anybody wrote that."""
    real, lost = GitHubForge.deliver, [Away("github hung up."), Refused("The certificate of github was not accepted.")]

    async def deliver(self: GitHubForge, *given: Any) -> str:
        branch = await real(self, *given)
        if lost:
            raise lost.pop()
        return branch

    monkeypatch.setattr(GitHubForge, "deliver", deliver)
    async with at_github(watched, tmp_path) as (house, hosted):
        await house.begin(orders("Tidy up"))
        await house.to_the_brief()
        (first,) = await house.house.records.find(JobRow)
        assert (first.state, first.stage, first.branch) == (JobState.FAILED, Stage.DELIVER, "")
        more = kept_checkout(house, first).commit("Add a word", {"sample/word.txt": "a word\n"})
        second = await resumed(house, first)
        await house.pass_time(minutes=5)
        second = await house.house.records.get(JobRow, second.id)
        assert (second.state, second.attempt, lost) == (JobState.DONE, 1, []), second.why
        assert branches(hosted) == [f"agent/{first.id}"] == [pull.head for pull in hosted.pulls]
        assert hosted.tip(f"agent/{first.id}") == more


@pytest.mark.parametrize("case", ["moved", "rewritten", "closed"])
async def test_a_branch_that_is_not_ours_to_move_any_more_stays_and_the_person_is_told(
    watched: Watched, tmp_path: Path, case: str
) -> None:
    async with at_github(watched, tmp_path) as (house, hosted):
        first = await refused(house, watched)
        said = {
            "moved": "was changed by another person",
            "rewritten": "has work that this does not follow from",
            "closed": "had its pull request #1 closed on github",
        }
        if case == "moved":
            theirs = hosted.git.git("commit-tree", f"{first.branch}^{{tree}}", "-p", first.branch, "-m", "Theirs")
            hosted.git.git("update-ref", f"refs/heads/{first.branch}", theirs)
        elif case == "rewritten":
            kept_checkout(house, first).git("commit", "--quiet", "--amend", "--message", "Said differently")
        else:
            hosted.pulls.append(Pull(1, "By hand", "", first.branch, "main", draft=False, state="closed"))
        stood = hosted.tip(first.branch)
        watched.fake.tokens[TOKEN].pulls = True
        second = await resumed(house, first)
        assert (second.state, second.branch) == (JobState.DONE, f"agent/{second.id}"), second.why
        assert hosted.tip(first.branch) == stood
        assert [pull.head for pull in hosted.pulls if pull.state == "open"] == [second.branch]
        remark = f"{first.branch} {said[case]} and was left unchanged; this work is on {second.branch} instead."
        (row,) = await house.house.records.find(PullRequestRow)
        assert remark in row.remarks
        ready = [one.text for one in await house.house.records.find(NoticeRow, subject=second.id)]
        assert any(remark in text for text in ready)


async def test_work_that_somebody_merged_by_hand_gets_no_second_pull_request(watched: Watched, tmp_path: Path) -> None:
    """Opened, squashed and its branch deleted on the forge, before the job goes on."""
    async with at_github(watched, tmp_path) as (house, hosted):
        first = await refused(house, watched)
        head = hosted.tip(first.branch)
        squashed = hosted.git.git("commit-tree", f"{head}^{{tree}}", "-p", "main", "-m", "Squashed")
        hosted.git.git("update-ref", "refs/heads/main", squashed)
        hosted.git.git("update-ref", "-d", f"refs/heads/{first.branch}")
        by_hand = Pull(
            1, "By hand", "", first.branch, "main", draft=False, state="closed", merged_sha=squashed, stood=head
        )
        hosted.pulls.append(by_hand)
        watched.fake.tokens[TOKEN].pulls = True
        second = await resumed(house, first)
        assert second.state is JobState.DONE, second.why
        assert [pull.number for pull in hosted.pulls] == [1]
        (row,) = await house.house.records.find(PullRequestRow)
        assert (row.there, row.branch) == (1, first.branch)


async def test_what_has_left_once_is_not_sent_another_way_after_a_restart(watched: Watched, tmp_path: Path) -> None:
    """Cut off between the door and the entry about it; meanwhile somebody built upon the branch."""
    async with at_github(watched, tmp_path) as (house, hosted):
        first = await refused(house, watched)
        second = await resumed(house, first)
        assert second.change is not None
        theirs = hosted.git.git("commit-tree", f"{first.branch}^{{tree}}", "-p", first.branch, "-m", "Theirs")
        hosted.git.git("update-ref", f"refs/heads/{first.branch}", theirs)
        project = await house.house.records.get(ProjectRow, second.project)
        chosen = await branch_for(house.house.records, house.house.forges, second, project, second.change.head)
        assert (chosen.bearer, chosen.left) == (first.id, "")


async def test_a_persons_word_opens_the_pull_request_without_the_work_being_done_again(
    watched: Watched, tmp_path: Path
) -> None:
    async with at_github(watched, tmp_path) as (house, hosted):
        watched.fake.tokens[TOKEN].pulls = False
        await house.begin(orders("Tidy up", level=Level.FULL))
        ask = await until_asked(house)
        assert "may not open a pull request" in ask.question
        watched.fake.tokens[TOKEN].pulls = True
        await settlement.answer(house.house.books, ask.id, GO_ON, by="ann")
        await house.to_the_brief()
        first, second = await house.house.records.find(JobRow)
        assert (second.state, second.retry_of) == (JobState.DONE, first.id), second.why
        assert branches(hosted) == [first.branch] == [pull.head for pull in hosted.pulls]
        assert len(await house.house.records.find(PlanRow)) == 1, "nobody planned or worked again"
        (act,) = await house.house.records.find(ActRow, kind="restart", state="done")
        assert second.act == act.id, "it went through the gate"


def kept_checkout(house: TestHouse, job: JobRow) -> Repository:
    """The clone in which a failed job left its work."""
    return Repository(house.house.workshop.checkouts.tree(job.id, job.work_epoch))
