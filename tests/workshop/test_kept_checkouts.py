"""Clones are kept while they hold work that is nowhere else, and go by age and room when they do not."""

import errno
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from midwatch.errors import Refused
from midwatch.terms.contract import ToolScope
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.quarantine.quarantine import PackedWork, admit
from midwatch.workshop.upkeep import kept_checkouts
from midwatch.workshop.upkeep.folders import locked
from midwatch.workshop.upkeep.kept_checkouts import CANNOT_TELL
from tests.workshop.hostile_trees import TREES
from tests.workshop.repository import Repository, set_traps

LATER = datetime.now(UTC) + timedelta(days=30)
MONTHS = timedelta(days=20)


@pytest.fixture
async def clone(person: Repository, mirrors: GitMirrors, enclosed: Checkouts) -> Repository:
    person.commit("Ignore", {".gitignore": "build/\n"})
    await mirrors.refresh("shop", person.path)
    return Repository(await enclosed.private_clone("shop", "job_1", 1, person.head))


def stash(clone: Repository) -> None:
    for number in range(2):
        clone.write({"src/app.py": f"x = {number + 5}\n"})
        clone.git("stash", "push", "--quiet")


def staged_only(clone: Repository) -> None:
    clone.write({"src/app.py": "x = 2\n"})
    clone.git("add", "src/app.py")
    clone.write({"src/app.py": "x = 1\n"})


def on_another_branch(clone: Repository) -> None:
    clone.git("switch", "--quiet", "--create", "aside")
    clone.commit("Aside", {"src/app.py": "x = 3\n"})
    clone.git("switch", "--quiet", "agent/job_1")
    clone.git("pack-refs", "--all")


def hidden_by_own_excludes(clone: Repository) -> None:
    (clone.path / ".git" / "info").mkdir(exist_ok=True)
    (clone.path / ".git" / "info" / "exclude").write_text("*\n")
    clone.write({"src/novel.py": "n\n"})


def aside(clone: Repository) -> Path:
    """Commit on a branch that only its own file names."""
    clone.git("switch", "--quiet", "--create", "x/aside")
    clone.commit("Aside", {"src/app.py": "x = 3\n"})
    clone.git("switch", "--quiet", "agent/job_1")
    return clone.path / ".git" / "refs" / "heads" / "x"


def behind_a_link(clone: Repository) -> None:
    aside(clone).rename(clone.path / ".git" / "elsewhere")
    (clone.path / ".git" / "refs" / "heads" / "x").symlink_to("../../elsewhere")


def all_behind_a_link(clone: Repository) -> None:
    aside(clone)
    clone.git("checkout", "--quiet", "--detach")
    (clone.path / ".git" / "refs").rename(clone.path / ".git" / "elsewhere")
    (clone.path / ".git" / "refs").symlink_to("elsewhere")


def in_a_long_file(clone: Repository) -> None:
    place = aside(clone) / "aside"
    place.write_text(place.read_text() + "\n" * 5_000)
    assert "x/aside" in clone.git("branch", "--list", "x/aside"), "git can read it"


def in_a_closed_folder(clone: Repository) -> None:
    (clone.path / "src" / "novel").mkdir()
    clone.write({"src/novel/file.py": "n\n"})
    (clone.path / "src" / "novel").chmod(0)


def broken(clone: Repository) -> None:
    (clone.path / ".git" / "index").write_bytes(b"DIRC nonsense")


WORK: dict[str, tuple[Callable[[Repository], object], str]] = {
    "a commit": (lambda clone: clone.commit("Work", {"src/app.py": "x = 2\n"}), "1 branch end with commits"),
    "a commit aside": (on_another_branch, "1 branch end with commits"),
    "stashes": (stash, "2 stashed changes"),
    "staged": (staged_only, "1 staged file (src/app.py)"),
    "edited": (lambda clone: clone.write({"src/app.py": "x = 2\n"}), "1 edited file (src/app.py)"),
    "new": (lambda clone: clone.write({"src/novel.py": "n\n"}), "1 new file (src/novel.py)"),
    "hidden": (hidden_by_own_excludes, "1 new file (src/novel.py)"),
    "deleted": (lambda clone: (clone.path / "src/app.py").unlink(), "1 edited file (src/app.py)"),
    "broken": (broken, "cannot be read"),
    "a branch behind a link": (behind_a_link, "cannot be read"),
    "all branches behind a link": (all_behind_a_link, "cannot be read"),
    "a branch in a long file": (in_a_long_file, "cannot be read"),
    "new, in a closed folder": (in_a_closed_folder, ""),  # root can read it where there are no walls
    "no git folder": (lambda clone: (clone.path / ".git").rename(clone.path / "x"), "cannot be read"),
}


@pytest.mark.parametrize("place", ["refs/heads/x", "refs/heads/x/aside", "packed-refs", "logs/refs/stash"])
async def test_a_clone_whose_branches_cannot_all_be_read_is_kept(
    clone: Repository, enclosed: Checkouts, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A folder that could not be read counted as empty, and the clone with the only copy was removed."""
    clone.git("pack-refs", "--all")
    stash(clone)
    aside(clone)
    closed = (clone.path / ".git" / place).stat()
    opened = os.open

    def failing(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        descriptor = opened(path, flags, mode, dir_fd=dir_fd)
        if os.path.samestat(os.fstat(descriptor), closed):
            os.close(descriptor)
            raise OSError(errno.EIO, "Input/output error")
        return descriptor

    with monkeypatch.context() as for_now:
        for_now.setattr(os, "open", failing)
        (kept,) = await enclosed.standing("job_1")
    assert kept.unique == (CANNOT_TELL,)


async def test_a_clone_with_more_changes_than_can_be_listed_is_kept(
    clone: Repository, enclosed: Checkouts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of changes that was too long to read counted as an empty one."""
    clone.write({f"{number}.txt": "n\n" for number in range(30)})
    monkeypatch.setattr(kept_checkouts, "MOST_STATUS", 200)
    (kept,) = await enclosed.standing("job_1")
    assert kept.unique == (CANNOT_TELL,)


@pytest.mark.parametrize("kind", WORK)
async def test_work_that_is_nowhere_else_is_named_kept_and_never_thrown_away(
    clone: Repository, enclosed: Checkouts, kind: str
) -> None:
    make, words = WORK[kind]
    make(clone)
    (kept,) = await enclosed.standing("job_1")
    assert words in kept.unique[0]
    with pytest.raises(Refused, match="nowhere else"):
        await enclosed.discard("job_1")
    (left,) = await enclosed.collect((), MONTHS, 0, LATER)
    assert not left.removed
    assert words in left.why
    assert clone.path.exists()
    await enclosed.discard("job_1", force=True)
    assert not clone.path.exists()


async def test_a_clone_with_nothing_of_its_own_is_measured_and_collected_by_age(
    person: Repository, clone: Repository, enclosed: Checkouts
) -> None:
    clone.write({"build/out.bin": "x" * 100_000})
    clone.git("update-ref", "refs/heads/again", person.head)
    (clone.path / ".git" / "refs" / "heads" / "nowhere").write_text("1" * 40)
    for file in clone.path.rglob("*"):
        os.utime(file, (0, 0), follow_symlinks=False)  # an agent can set this back, and it must not count
    (kept,) = await enclosed.standing("job_1")
    assert (kept.job, kept.epoch, kept.head, kept.unique) == ("job_1", 1, person.head, ())
    assert kept.bytes > 100_000
    assert abs(kept.changed_at - datetime.now(UTC)) < timedelta(hours=1)
    assert await enclosed.collect((), MONTHS, None, datetime.now(UTC)) == ()
    assert await enclosed.collect(("job_1",), MONTHS, 0, LATER) == ()
    (gone,) = await enclosed.collect((), MONTHS, None, LATER)
    assert (gone.removed, gone.job, gone.bytes) == (True, "job_1", kept.bytes)
    assert not clone.path.exists()
    assert await enclosed.standing("job_1") == ()


@pytest.mark.parametrize("shape", TREES)
async def test_a_hostile_clone_is_judged_and_removed_and_stops_no_other(
    clone: Repository, person: Repository, enclosed: Checkouts, shape: str
) -> None:
    """3,000 nested folders in one used to stop the collecting of all."""
    other = await enclosed.private_clone("shop", "job_2", 1, person.head)
    TREES[shape](clone.path / "hostile")
    (kept,) = await enclosed.standing("job_1")
    done = {one.job: one for one in await enclosed.collect((), MONTHS, None, LATER)}
    assert not any(one.failed for one in done.values())
    assert done["job_2"].removed
    assert not other.exists()
    assert done["job_1"].removed is not bool(kept.unique)
    await enclosed.discard("job_1", force=True)
    assert not clone.path.exists()


async def test_admitted_work_is_in_the_mirror_and_so_may_go(
    person: Repository, clone: Repository, enclosed: Checkouts, home: Path, mirrors: GitMirrors
) -> None:
    head = clone.commit("Work", {"src/app.py": "x = 2\n"})
    bundle = await enclosed.bundle("job_1", 1, person.head, head)
    delivery = PackedWork("shop", "job_1", 1, person.head, head, bundle)
    await admit(home, mirrors, delivery, scope=ToolScope(), do_not_touch=())
    assert (await enclosed.standing("job_1"))[0].unique == ()
    await enclosed.discard("job_1")


async def test_room_is_made_oldest_first_and_only_as_much_as_needed(
    person: Repository, mirrors: GitMirrors, checkouts: Checkouts
) -> None:
    await mirrors.refresh("shop", person.path)
    for number in (1, 2, 3):
        await checkouts.private_clone("shop", f"job_{number}", 1, person.head)
    sizes = {job: (await checkouts.standing(job))[0].bytes for job in ("job_1", "job_2", "job_3")}
    done = await checkouts.collect((), None, sizes["job_2"] + sizes["job_3"], LATER)
    assert [(one.job, one.removed) for one in done] == [("job_1", True)]
    assert await checkouts.collect((), None, sizes["job_2"] + sizes["job_3"], LATER) == ()


@pytest.mark.crash
async def test_leftovers_of_dead_attempts_go_and_those_of_living_ones_stay(
    person: Repository, mirrors: GitMirrors, checkouts: Checkouts, home: Path
) -> None:
    await mirrors.refresh("shop", person.path)
    for job in ("dead", "alive", "busy"):
        for name in ("1.making", "fresh-before", "2/desk"):
            (home / "checkouts" / job / name / "tree").mkdir(parents=True)
        (home / "quarantine" / f"{job}-1.git" / "objects").mkdir(parents=True)
    async with locked(home / "checkouts" / "busy.lock"), locked(home / "quarantine" / "busy-1.lock"):
        await checkouts.collect(("alive",), None, None, LATER)
    left = {str(place.relative_to(home)) for job in (home / "checkouts").iterdir() for place in job.glob("*")}
    expected = {f"checkouts/{job}/{name}" for job in ("alive", "busy") for name in ("1.making", "fresh-before", "2")}
    assert left == {*expected, "checkouts/dead/2"}
    assert {place.name for place in (home / "quarantine").glob("*.git")} == {"alive-1.git", "busy-1.git"}


async def test_looking_for_work_springs_no_trap_and_changes_nothing(
    clone: Repository, enclosed: Checkouts, tmp_path: Path
) -> None:
    clone.write({"src/app.py": "x = 2\n", ".gitattributes": "*.py filter=trap diff=trap\n"})
    set_traps(clone, tmp_path / "sprung")
    clone.git("config", "filter.trap.clean", f"sh -c 'touch {tmp_path / 'sprung'}; cat'")
    before = clone.picture()
    (tmp_path / "sprung").unlink(missing_ok=True)
    assert (await enclosed.standing("job_1"))[0].unique
    assert not (tmp_path / "sprung").exists()
    assert clone.picture() == before
