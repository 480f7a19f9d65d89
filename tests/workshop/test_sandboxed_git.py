"""Bundles and diffs are made inside the walls, by our git, and never larger than we can bear."""

import os
from pathlib import Path

import pytest

from midwatch.errors import Refused, Unknown
from midwatch.workshop.git import sandboxed_git
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.mirrors import GitMirrors
from tests.workshop.repository import Repository, set_traps


@pytest.fixture
async def clone(person: Repository, mirrors: GitMirrors, enclosed: Checkouts) -> Repository:
    await mirrors.refresh("shop", person.path)
    return Repository(await enclosed.private_clone("shop", "job_1", 1, person.head))


async def test_a_bundle_and_a_diff_made_inside_hold_the_work(
    person: Repository, clone: Repository, enclosed: Checkouts, tmp_path: Path
) -> None:
    head = clone.commit("Work", {"src/app.py": "x = 2\n"})
    set_traps(clone, tmp_path / "sprung")
    bundle = await enclosed.bundle("job_1", 1, person.head, head)
    assert person.git("bundle", "list-heads", str(bundle)).split()[0] == head
    person.git("bundle", "verify", "--quiet", str(bundle))
    assert "-x = 1\n+x = 2\n" in await enclosed.diff_so_far("job_1", 1, person.head)
    assert not (tmp_path / "sprung").exists()
    assert not (clone.path.parent / "desk").exists()


async def test_a_clone_that_lost_its_list_of_alternates_can_still_be_packed(
    person: Repository, clone: Repository, enclosed: Checkouts
) -> None:
    head = clone.commit("Work", {"src/app.py": "x = 2\n"})
    (clone.path / ".git" / "objects" / "info" / "alternates").unlink()
    assert (await enclosed.bundle("job_1", 1, person.head, head)).stat().st_size > 100


async def test_a_bundle_above_the_cap_is_refused_in_one_sentence(
    person: Repository, clone: Repository, enclosed: Checkouts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxed_git, "MOST_BYTES", 1 << 20)
    (clone.path / "src" / "noise").write_bytes(os.urandom(3 << 20))
    head = clone.commit("Large")
    with pytest.raises(Refused, match=r"^The work is larger than 1 MiB\.$"):
        await enclosed.bundle("job_1", 1, person.head, head)
    assert not (clone.path.parent / "delivery.bundle").exists()
    assert not (clone.path.parent / "desk").exists()


@pytest.mark.sweep
async def test_a_commit_of_two_gigabytes_is_refused_without_being_held_in_memory(
    person: Repository, mirrors: GitMirrors, checkouts: Checkouts
) -> None:
    await mirrors.refresh("shop", person.path)
    clone = Repository(await checkouts.private_clone("shop", "job_1", 1, person.head))
    noise = os.urandom(1 << 20)
    with (clone.path / "src" / "noise").open("wb") as file:
        for number in range(2048):
            file.write(number.to_bytes(8, "big") + noise[8:])
    clone.git("config", "core.compression", "0")
    clone.git("config", "core.bigFileThreshold", "1m")
    head = clone.commit("Huge")
    with pytest.raises(Refused, match=r"larger than 128 MiB"):
        await checkouts.bundle("job_1", 1, person.head, head)


async def test_objects_the_agent_broke_are_told_in_a_sentence(
    person: Repository, clone: Repository, enclosed: Checkouts
) -> None:
    head = clone.commit("Work", {"src/app.py": "x = 2\n"})
    tree = clone.git("rev-parse", "HEAD^{tree}")
    (clone.path / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(Refused, match="could not be packed"):
        await enclosed.bundle("job_1", 1, person.head, head)


@pytest.mark.parametrize("name", [".git/HEAD", ".git/packed-refs", ".git/refs/heads/agent/job_1"])
async def test_a_pipe_or_a_link_in_place_of_a_ref_holds_nobody_up(
    clone: Repository, checkouts: Checkouts, name: str
) -> None:
    (clone.path / ".git" / "HEAD").write_text("ref: refs/heads/agent/job_1\n")
    (clone.path / ".git" / "refs" / "heads" / "agent" / "job_1").unlink()
    file = clone.path / name
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    with pytest.raises(Unknown):
        await checkouts.head("job_1", 1)
    file.unlink()
    file.symlink_to("/dev/zero")
    with pytest.raises(Unknown):
        await checkouts.head("job_1", 1)


async def test_a_git_folder_that_is_a_link_is_not_followed(
    person: Repository, clone: Repository, checkouts: Checkouts
) -> None:
    (clone.path / ".git").rename(clone.path / "moved")
    (clone.path / ".git").symlink_to(person.path / ".git")
    with pytest.raises(Unknown):
        await checkouts.head("job_1", 1)
