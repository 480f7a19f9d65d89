"""Checkouts: complete or absent, private, and never trusted afterwards."""

import asyncio
from pathlib import Path

import pytest

from midwatch.errors import Misuse, Refused, Unknown
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.mirrors import GitMirrors
from tests.workshop.repository import Repository, set_traps


@pytest.fixture
async def clone(person: Repository, mirrors: GitMirrors, checkouts: Checkouts) -> Repository:
    await mirrors.refresh("shop", person.path)
    return Repository(await checkouts.private_clone("shop", "job_1", 1, person.head))


async def test_a_private_clone_is_on_its_own_branch_with_no_remote(
    person: Repository, clone: Repository, mirrors: GitMirrors, home: Path
) -> None:
    assert clone.path == home / "checkouts" / "job_1" / "1" / "tree"
    assert clone.git("symbolic-ref", "HEAD") == "refs/heads/agent/job_1"
    assert clone.head == person.head
    assert clone.git("remote") == ""
    assert clone.git("status", "--porcelain") == ""
    assert (clone.path / "src" / "app.py").read_text() == "x = 1\n"
    alternates = (clone.path / ".git" / "objects" / "info" / "alternates").read_text().strip()
    assert alternates == str(mirrors.path("shop") / "objects")
    assert clone.git("config", "user.email")


async def test_a_private_clone_has_the_tags_and_is_what_git_calls_sound(
    person: Repository, mirrors: GitMirrors, checkouts: Checkouts
) -> None:
    person.git("tag", "v1")
    person.git("tag", "--annotate", "--message", "Second", "v2")
    person.git("branch", "master")
    person.git("branch", "other")
    await mirrors.refresh("shop", person.path)
    clone = Repository(await checkouts.private_clone("shop", "job_1", 1, person.head))
    names = {"refs/heads/master", "refs/tags/v1", "refs/tags/v2"}  # master: what a new mirror's HEAD names
    assert clone.refs() == {name: person.refs()[name] for name in names} | {"refs/heads/agent/job_1": person.head}
    assert clone.git("describe") == "v2"
    assert clone.git("fsck", "--strict") == ""
    clone.write({"new.txt": "work"})
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "--message", "Work")
    assert clone.git("rev-list", "--count", "v2..HEAD") == "1"


async def test_the_same_attempt_gets_the_same_clone_and_the_next_a_new_one(
    person: Repository, clone: Repository, checkouts: Checkouts
) -> None:
    clone.write({"half-done.txt": "work"})
    assert await checkouts.private_clone("shop", "job_1", 1, person.head) == clone.path
    assert (clone.path / "half-done.txt").exists()
    second = await checkouts.private_clone("shop", "job_1", 2, person.head)
    assert second != clone.path
    assert not (second / "half-done.txt").exists()


async def test_two_at_once_get_one_whole_clone(person: Repository, mirrors: GitMirrors, checkouts: Checkouts) -> None:
    await mirrors.refresh("shop", person.path)
    paths = await asyncio.gather(*(checkouts.private_clone("shop", "job_1", 1, person.head) for _ in range(3)))
    assert len(set(paths)) == 1
    assert Repository(paths[0]).git("status", "--porcelain") == ""


@pytest.mark.crash
async def test_what_a_killed_clone_left_does_not_count_as_a_clone(
    person: Repository, mirrors: GitMirrors, checkouts: Checkouts, home: Path
) -> None:
    await mirrors.refresh("shop", person.path)
    (home / "checkouts" / "job_1" / "1.making" / "tree" / ".git").mkdir(parents=True)
    tree = await checkouts.private_clone("shop", "job_1", 1, person.head)
    assert Repository(tree).head == person.head


async def test_a_clone_outlives_the_person_deleting_and_collecting(person: Repository, clone: Repository) -> None:
    person.git("switch", "--quiet", "--orphan", "other")
    person.commit("Other")
    person.git("branch", "-D", "main")
    person.git("reflog", "expire", "--expire=now", "--all")
    person.git("gc", "--quiet", "--prune=now")
    assert clone.git("fsck", "--strict") == ""


async def test_a_fresh_checkout_has_nothing_of_an_earlier_one(
    person: Repository, mirrors: GitMirrors, checkouts: Checkouts
) -> None:
    await mirrors.refresh("shop", person.path)
    first = await checkouts.fresh("shop", "job_1", person.head, "before")
    (first / "conftest.py").write_text("")
    assert await checkouts.fresh("shop", "job_1", person.head, "before") == first
    assert sorted(path.name for path in first.iterdir()) == [".git", "README.md", "src"]


async def test_a_passing_checkout_passes(person: Repository, mirrors: GitMirrors, checkouts: Checkouts) -> None:
    await mirrors.refresh("shop", person.path)
    async with checkouts.passing("shop", "job_1", person.head, "x") as tree:
        (tree / "locked").mkdir()
        (tree / "locked" / "file").touch()
        (tree / "locked").chmod(0o500)
    assert not tree.parent.exists()


async def test_discarding_a_job_removes_all_of_it(clone: Repository, checkouts: Checkouts, home: Path) -> None:
    await checkouts.discard("job_1")
    assert not clone.path.exists()
    assert not (home / "checkouts" / "job_1").exists()
    await checkouts.discard("job_1")


async def test_a_bundle_holds_the_commits_and_runs_nothing_the_agent_left(
    person: Repository, clone: Repository, checkouts: Checkouts, tmp_path: Path
) -> None:
    head = clone.commit("Work", {"src/app.py": "x = 2\n"})
    proof = tmp_path / "proof"
    set_traps(clone, proof)
    assert await checkouts.head("job_1", 1) == head
    bundle = await checkouts.bundle("job_1", 1, person.head, head)
    assert not proof.exists()
    assert person.git("bundle", "list-heads", str(bundle)).split()[0] == head


async def test_the_head_of_a_clone_is_found_in_packed_refs_and_detached(
    clone: Repository, checkouts: Checkouts
) -> None:
    clone.git("pack-refs", "--all")
    assert await checkouts.head("job_1", 1) == clone.head
    clone.git("checkout", "--quiet", "--detach")
    assert await checkouts.head("job_1", 1) == clone.head


async def test_a_head_that_points_elsewhere_is_not_followed(clone: Repository, checkouts: Checkouts) -> None:
    (clone.path / ".git" / "HEAD").write_text("ref: refs/heads/../../../../x\n")
    with pytest.raises(Refused):
        await checkouts.head("job_1", 1)
    (clone.path / ".git" / "HEAD").write_text("ref: /etc/passwd\n")
    with pytest.raises(Unknown):
        await checkouts.head("job_1", 1)


async def test_nothing_committed_and_a_commit_nobody_made_are_refused(
    person: Repository, clone: Repository, checkouts: Checkouts
) -> None:
    assert clone.head == person.head
    with pytest.raises(Refused, match="nothing"):
        await checkouts.bundle("job_1", 1, person.head, person.head)
    with pytest.raises(Refused, match="no commit"):
        await checkouts.bundle("job_1", 1, person.head, "1" * 40)
    with pytest.raises(Misuse):
        await checkouts.bundle("job_1", 1, person.head, "--all")


async def test_the_diff_so_far_shows_commits_and_springs_no_trap(
    person: Repository, clone: Repository, checkouts: Checkouts, tmp_path: Path
) -> None:
    base = person.head
    assert await checkouts.diff_so_far("job_1", 1, base) == ""
    clone.write({"src/app.py": "x = 2\n"})
    assert await checkouts.diff_so_far("job_1", 1, base) == "", "what is not committed is not shown"
    clone.git("commit", "-qam", "More")
    sprung = tmp_path / "sprung"
    set_traps(clone, sprung)
    shown = await checkouts.diff_so_far("job_1", 1, base)
    assert "-x = 1\n+x = 2\n" in shown
    assert not sprung.exists()
    assert not (clone.path.parent / "desk").exists()
