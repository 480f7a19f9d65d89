"""What every forge promises, whichever it is: the same tests on the local one and on GitHub."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from midwatch.errors import Misuse, Refused
from midwatch.terms.forges import BranchSeen
from tests.forges.stands import BRANCH, JOB, PROJECT, Stand, github_stand, local_stand
from tests.workshop.repository import Repository


@pytest.fixture(params=["local", "github"])
async def stand(request: pytest.FixtureRequest, person: Repository, home: Path) -> AsyncIterator[Stand]:
    if request.param == "local":
        yield local_stand(person, home)
        return
    made = github_stand(request.getfixturevalue("watched"), person, home)
    yield made
    assert made.client is not None
    await made.client.close()


async def test_only_the_agents_branch_arrives_and_a_second_time_changes_nothing(stand: Stand) -> None:
    before = stand.there.refs()
    head = await stand.work({"src/app.py": "x = 2\n"})
    assert await stand.deliver(head) == BRANCH
    assert await stand.deliver(head) == BRANCH
    assert stand.there.refs() == {**before, f"refs/heads/{BRANCH}": head}


async def test_opening_twice_opens_once(stand: Stand) -> None:
    head = await stand.work({"src/app.py": "x = 2\n"})
    await stand.deliver(head)
    first = await stand.forge.open(stand.draft(head))
    assert (first.state, first.draft) == ("open", False)
    assert await stand.forge.open(stand.draft(head)) == first
    assert (await stand.forge.look(stand.place(head))).state == "open"
    assert stand.hosted is None or len(stand.hosted.pulls) == 1


async def test_a_draft_is_one(stand: Stand) -> None:
    head = await stand.work({"src/app.py": "x = 2\n"})
    await stand.deliver(head)
    assert (await stand.forge.open(stand.draft(head, draft=True))).draft


async def test_newer_work_follows_and_other_work_is_never_overwritten(stand: Stand) -> None:
    first = await stand.work({"a.txt": "1"})
    await stand.deliver(first)
    second = await stand.work({"b.txt": "2"}, epoch=2, base=first)
    await stand.deliver(second)
    assert stand.there.refs()[f"refs/heads/{BRANCH}"] == second
    theirs = stand.there.git("commit-tree", "main^{tree}", "-p", "main", "-m", "Theirs")
    stand.there.git("update-ref", f"refs/heads/{BRANCH}", theirs)
    with pytest.raises(Refused, match="already exists") as caught:
        await stand.deliver(second)
    assert BRANCH in caught.value.hint
    assert stand.there.refs()[f"refs/heads/{BRANCH}"] == theirs
    assert stand.kept_in_mirror(second)


async def test_a_branch_tells_where_it_lies_and_what_can_follow_on_it(stand: Stand) -> None:
    first = await stand.work({"a.txt": "1"})
    assert await stand.forge.pushed(stand.source, PROJECT, JOB, first) == BranchSeen()
    await stand.deliver(first)
    second = await stand.work({"b.txt": "2"}, epoch=2, base=first)
    beside = await stand.work({"c.txt": "3"}, epoch=3)
    for head, follows in ((first, True), (second, True), (beside, False)):
        there = await stand.forge.pushed(stand.source, PROJECT, JOB, head)
        assert (there.head, not there.in_the_way) == (first, follows)
    theirs = stand.there.git("commit-tree", f"{first}^{{tree}}", "-p", first, "-m", "Theirs")
    stand.there.git("update-ref", f"refs/heads/{BRANCH}", theirs)
    there = await stand.forge.pushed(stand.source, PROJECT, JOB, second)
    assert there.head == theirs
    assert there.in_the_way


async def test_a_merge_on_a_persons_word_is_seen_and_merging_again_tells_the_same(stand: Stand) -> None:
    head = await stand.work({"src/app.py": "x = 2\n"})
    await stand.deliver(head)
    await stand.forge.open(stand.draft(head))
    merged = await stand.forge.merge(PROJECT, stand.source, JOB, head, "main", "Merge job 1")
    assert stand.there.refs()["refs/heads/main"] == merged.sha
    assert merged.undo
    there = await stand.forge.look(stand.place(head))
    assert (there.state, there.merged_sha) == ("merged", merged.sha)
    assert await stand.forge.merge(PROJECT, stand.source, JOB, head, "main", "Merge job 1") == merged


async def test_conflicts_are_refused_and_nothing_moves(stand: Stand) -> None:
    head = await stand.work({"src/app.py": "x = 2\n"})
    await stand.deliver(head)
    await stand.forge.open(stand.draft(head))
    blob = stand.there.blob("x = 3\n")
    tree = stand.there.git("mktree", stdin=f"100644 blob {blob}\tapp.py\n".encode())
    top = stand.there.git("mktree", stdin=f"040000 tree {tree}\tsrc\n".encode())
    other = stand.there.git("commit-tree", top, "-p", "main", "-m", "Meanwhile")
    stand.there.git("branch", "moved", other)
    stand.there.git("update-ref", "refs/heads/main", other)
    if stand.hosted is None:
        stand.there.git("reset", "--hard", "--quiet")
    with pytest.raises(Refused, match=r"conflicts|mergeable"):
        await stand.forge.merge(PROJECT, stand.source, JOB, head, "main", "Merge")
    assert stand.there.refs()["refs/heads/main"] == other


async def test_a_rehearsal_leaves_no_trace(stand: Stand) -> None:
    await stand.work({"src/app.py": "x = 2\n"})
    before = stand.there.refs()
    lines = await stand.forge.rehearse(stand.source, PROJECT)
    assert all(line.good for line in lines), lines
    assert "agent/" in lines[-1].text
    assert stand.there.refs() == before
    assert stand.hosted is None or stand.hosted.pulls == []


async def test_names_that_are_no_names_are_misuse(stand: Stand) -> None:
    head = await stand.work({"src/app.py": "x = 2\n"})
    with pytest.raises(Misuse):
        await stand.forge.deliver(stand.source, PROJECT, "../main", head)
    with pytest.raises(Misuse):
        await stand.forge.deliver(stand.source, PROJECT, JOB, "--mirror")


async def test_closing_and_commenting_leave_the_branch(stand: Stand) -> None:
    head = await stand.work({"src/app.py": "x = 2\n"})
    await stand.deliver(head)
    await stand.forge.open(stand.draft(head))
    await stand.forge.comment(stand.place(head), "Stacked after job 2.")
    await stand.forge.close(stand.place(head))
    await stand.forge.close(stand.place(head))
    assert stand.there.refs()[f"refs/heads/{BRANCH}"] == head
