"""Mirrors: the person's repository is read and never changed, and a mirror survives anything."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from midwatch.errors import Misuse, Refused, Unknown
from midwatch.workshop.git.mirrors import GitMirrors
from tests.workshop.repository import Repository, set_traps

REFRESH = """
import asyncio, sys
from pathlib import Path
from midwatch.workshop.git.mirrors import GitMirrors
asyncio.run(GitMirrors(Path(sys.argv[1])).refresh("shop", Path(sys.argv[2])))
"""


def refresh_elsewhere(home: Path, person: Repository) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", REFRESH, str(home), str(person.path)])


def mirrored(mirrors: GitMirrors) -> dict[str, str]:
    return Repository(mirrors.path("shop")).refs()


async def test_inspection_tells_branch_head_and_every_uncommitted_path(person: Repository, mirrors: GitMirrors) -> None:
    person.write({"new file.txt": "?", "src/app.py": "x = 2\n"})
    person.git("mv", "README.md", "READ ME.md")
    facts = await mirrors.inspect(person.path / "src")
    assert (facts.path, facts.branch, facts.head) == (str(person.path), "main", person.head)
    assert facts.dirty == ("READ ME.md", "new file.txt", "src/app.py")


async def test_inspection_lists_at_most_fifty_paths(person: Repository, mirrors: GitMirrors) -> None:
    person.write({f"n{number:03}": "" for number in range(80)})
    assert len((await mirrors.inspect(person.path)).dirty) == 50


async def test_inspection_changes_nothing_and_runs_nothing_of_the_repository(
    person: Repository, mirrors: GitMirrors, tmp_path: Path
) -> None:
    proof = tmp_path / "proof"
    set_traps(person, proof)
    os.utime(person.path / "README.md", (1e9, 1e9))  # a stale index entry, which plain `git status` would rewrite
    before = person.picture()
    await mirrors.inspect(person.path)
    await mirrors.refresh("shop", person.path)
    assert not proof.exists()
    assert person.picture() == before


async def test_a_bare_repository_is_fine(person: Repository, mirrors: GitMirrors, tmp_path: Path) -> None:
    person.git("clone", "--quiet", "--bare", str(person.path), str(tmp_path / "bare.git"))
    facts = await mirrors.inspect(tmp_path / "bare.git")
    assert (facts.branch, facts.head, facts.dirty) == ("main", person.head, ())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
async def test_a_repository_of_another_user_can_be_read(person: Repository, mirrors: GitMirrors) -> None:
    for path in [person.path, *person.path.rglob("*")]:
        os.lchown(path, 4321, 4321)
    assert (await mirrors.inspect(person.path)).branch == "main"
    await mirrors.refresh("shop", person.path)
    assert await mirrors.head_of("shop", "main") == person.head


@pytest.mark.parametrize(
    ("prepare", "error", "words"),
    [
        (lambda person: shutil.rmtree(person.path), Misuse, "not a folder"),
        (lambda person: shutil.rmtree(person.path / ".git"), Misuse, "not a git repository"),
        (lambda person: person.git("switch", "--quiet", "--orphan", "empty"), Misuse, "no commits"),
        (lambda person: person.git("checkout", "--quiet", "--detach"), Misuse, "detached"),
        (lambda person: person.commit("LFS", {".gitattributes": "*.bin filter=lfs diff=lfs\n"}), Refused, "LFS"),
        (lambda person: person.git("config", "extensions.partialClone", "origin"), Refused, "partial"),
    ],
)
async def test_what_stands_in_the_way_is_said_plainly(
    person: Repository, mirrors: GitMirrors, prepare: object, error: type[Exception], words: str
) -> None:
    assert callable(prepare)
    prepare(person)
    with pytest.raises(error, match=words) as caught:
        await mirrors.inspect(person.path)
    assert getattr(caught.value, "hint", "")


async def test_submodules_are_refused_by_name(person: Repository, mirrors: GitMirrors) -> None:
    person.git("update-index", "--add", "--cacheinfo", f"160000,{person.head},vendor/lib")
    person.git("commit", "--quiet", "--message", "Submodule")
    with pytest.raises(Refused, match="vendor/lib"):
        await mirrors.inspect(person.path)


async def test_a_mirror_follows_heads_and_tags_and_forgets_deleted_ones(
    person: Repository, mirrors: GitMirrors
) -> None:
    person.git("branch", "old")
    person.git("tag", "v1")
    await mirrors.refresh("shop", person.path)
    assert mirrored(mirrors) == person.refs()
    first = person.head
    assert await mirrors.update("shop", person.path, "main", job="job_1") == first
    person.git("branch", "-D", "old")
    person.git("branch", "old/deeper")
    person.git("tag", "--force", "v1", person.commit("Second"))
    await mirrors.refresh("shop", person.path)
    assert mirrored(mirrors) == {**person.refs(), "refs/midwatch/keep/job_1": first}


async def test_a_mirror_needs_nothing_of_the_person_afterwards(person: Repository, mirrors: GitMirrors) -> None:
    base = person.head
    head = person.commit("More", {"src/app.py": "x = 2\n"})
    await mirrors.refresh("shop", person.path)
    shutil.rmtree(person.path)
    assert "+x = 2" in await mirrors.diff("shop", base, head)
    assert await mirrors.show_file("shop", base, "src/app.py") == b"x = 1\n"
    (commit,) = await mirrors.log("shop", base, head)
    assert (commit.sha, commit.subject, commit.files, commit.insertions, commit.deletions) == (head, "More", 1, 1, 1)
    assert not (mirrors.path("shop") / "objects" / "info" / "alternates").exists()


async def test_a_diff_shows_lines_that_attributes_would_hide(person: Repository, mirrors: GitMirrors) -> None:
    base = person.head
    head = person.commit("Hide", {".gitattributes": "* -diff\n", "src/app.py": "secret = 1\n\0"})
    await mirrors.refresh("shop", person.path)
    assert "+secret = 1" in await mirrors.diff("shop", base, head)
    assert "Binary" not in await mirrors.diff("shop", base, head)
    (commit,) = await mirrors.log("shop", base, head)
    assert (commit.insertions, commit.deletions) == (3, 1)


async def test_unknown_names_are_told_and_options_do_not_pass_for_commits(
    person: Repository, mirrors: GitMirrors
) -> None:
    with pytest.raises(Unknown, match="no mirror"):
        await mirrors.head_of("shop", "main")
    await mirrors.refresh("shop", person.path)
    with pytest.raises(Unknown, match="no branch"):
        await mirrors.head_of("shop", "nope")
    with pytest.raises(Unknown, match="no file"):
        await mirrors.show_file("shop", person.head, "nope.py")
    with pytest.raises(Misuse):
        await mirrors.diff("shop", "--output=/tmp/x", person.head)
    with pytest.raises(Misuse):
        await mirrors.refresh("../shop", person.path)


@pytest.mark.crash
async def test_leftovers_of_a_killed_git_do_not_stop_the_next_refresh(person: Repository, mirrors: GitMirrors) -> None:
    await mirrors.refresh("shop", person.path)
    person.commit("Second")
    mirror = mirrors.path("shop")
    for name in ("packed-refs.lock", "refs/heads/main.lock", "HEAD.lock", "config.lock", "objects/pack/tmp_pack_x"):
        (mirror / name).parent.mkdir(parents=True, exist_ok=True)
        (mirror / name).touch()
    await mirrors.refresh("shop", person.path)
    assert await mirrors.head_of("shop", "main") == person.head


@pytest.mark.crash
async def test_a_half_created_mirror_is_built_again(person: Repository, mirrors: GitMirrors) -> None:
    for name in ("shop.making", "shop.git"):
        (mirrors.path("shop").parent / name / "objects").mkdir(parents=True)
    await mirrors.refresh("shop", person.path)
    assert await mirrors.head_of("shop", "main") == person.head


@pytest.mark.crash
@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75, 0.9, 1.0])
async def test_a_refresh_killed_at_any_point_is_made_good_by_the_next(
    person: Repository, mirrors: GitMirrors, home: Path, share: float
) -> None:
    for number in range(30):
        person.git("update-ref", f"refs/heads/b{number}", person.head)
    begun_at = time.monotonic()
    refresh_elsewhere(home.with_name("rehearsal"), person).wait()
    process = refresh_elsewhere(home, person)
    await asyncio.sleep((time.monotonic() - begun_at) * share)
    process.send_signal(signal.SIGKILL)
    process.wait()
    await mirrors.refresh("shop", person.path)
    assert mirrored(mirrors) == person.refs()
    Repository(mirrors.path("shop")).git("fsck", "--strict")


async def test_a_lock_is_kept_while_an_orphaned_git_still_works(person: Repository, mirrors: GitMirrors) -> None:
    async with mirrors.held("shop") as (mirror, git):
        holding = asyncio.create_task(git.run(mirror, "-c", "alias.nap=!sleep 1; echo rested", "nap"))
        await asyncio.sleep(0.2)
    # Our own hold is gone, as after kill -9; the git process we started still shares the lock.
    waiting = asyncio.create_task(mirrors.refresh("shop", person.path))
    done, _ = await asyncio.wait({holding, waiting}, return_when=asyncio.FIRST_COMPLETED)
    assert done == {holding}
    await waiting


async def test_two_processes_refresh_one_mirror_at_once(person: Repository, mirrors: GitMirrors, home: Path) -> None:
    for number in range(20):
        person.git("update-ref", f"refs/heads/b{number}", person.head)
    processes = [refresh_elsewhere(home, person) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert mirrored(mirrors) == person.refs()
