"""Whatever shape an agent gives to folders, they can be measured, listed, copied and removed (W6, X3)."""

import errno
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from midwatch.errors import Broken, Refused, Unavailable
from midwatch.settings.folder import close_to_others
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.sandbox import deep_folders, safe_files
from midwatch.workshop.sandbox.deep_folders import Descent, copy, everything_below, remove
from midwatch.workshop.sandbox.disk import weigh
from tests.workshop.hostile_trees import LONG, TREES, nest
from tests.workshop.repository import Repository

MIB = 1024**2


@pytest.fixture
def top(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "top"
    for place in tmp_path.iterdir():  # pytest's own removal is a recursion
        remove(place)


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("shape", TREES)
def test_every_tree_is_removed_and_nothing_besides(top: Path, shape: str) -> None:
    TREES[shape](top)
    before = _open_files()
    remove(top)
    assert not os.path.lexists(top)
    assert _open_files() == before
    if shape == "links":
        assert (top.with_name("outside") / "kept").read_text() == "kept"


@pytest.mark.parametrize("levels", [2_000, pytest.param(50_000, marks=pytest.mark.sweep)])
def test_what_is_deeper_than_any_path_is_counted_listed_copied_and_removed(top: Path, levels: int) -> None:
    nest(top, levels, LONG, content=bytes(MIB))
    before, other = _open_files(), top.with_name("copy")
    copy(top, other)
    for place in (top, other):
        weight = weigh(place)
        assert weight.files == levels + 2  # the top, and the last one's file
        assert weight.bytes >= MIB
    *_, last = everything_below(top)
    assert last.name == "last"
    remove(top)
    remove(other)
    assert not top.exists()
    assert not other.exists()
    assert _open_files() == before


def test_a_long_list_and_a_deep_one_are_refused_where_git_could_not_read_them_either(top: Path) -> None:
    nest(top / ".git" / "refs", 1_000)
    with pytest.raises(Refused, match="more than 256 levels"):
        list(safe_files.names_below(top, ".git/refs", most=20_000))
    for number in range(30):
        (top / ".git" / "wide" / str(number)).mkdir(parents=True)
    with pytest.raises(Refused, match="more than 20 files and folders"):
        list(safe_files.names_below(top, ".git/wide", most=20))


def test_a_folder_that_is_moved_away_while_we_are_in_it_leads_nowhere_else(top: Path) -> None:
    """Its `..` is another folder then, in which an agent may have put what we must not touch."""
    nest(top / "aside", 40)
    nest(top / "other", 40)
    moved = top.with_name("moved")
    moved.mkdir()
    with Descent(top) as at:
        assert at.down("aside")
        for _ in range(40):
            assert at.down("d")
        (top / "aside").rename(moved / "aside")
        while at.depth:
            at.up()
        assert os.path.samestat(os.fstat(at.here), top.stat())
        assert {name for name, _ in at.entries()} == {"other"}


def test_a_walk_goes_on_beside_what_was_moved_away(top: Path) -> None:
    for name in ("one", "two"):
        nest(top / name, 60)
    seen: list[str] = []
    for at, name, _ in everything_below(top):
        seen.append(name)
        if at.depth == 50 and not (top.with_name("away")).exists():
            first = at.path().split("/")[0]
            (top / first).rename(top.with_name("away"))
    assert seen.count("last") == 2
    assert {"one", "two"} <= set(seen)


def test_folders_that_are_moved_all_the_time_end_the_look(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep_folders, "MOST_RETRACED", 10)
    nest(top / "a", 60)
    with Descent(top) as at:
        for name in ("a", *["d"] * 50):
            assert at.down(name)
        (top / "a" / "/".join("d" * 20)).rename(top / "b")  # what was depth 21
        while at.depth > 21:
            at.up()
        with pytest.raises(Unavailable, match="moved about"):
            at.up()


def test_what_appears_behind_a_removal_is_removed_as_well(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nest(top, 3)
    (top / "x").mkdir()
    late = iter(range(3))
    unlink = os.unlink

    def slow(name: str, *, dir_fd: int) -> None:
        unlink(name, dir_fd=dir_fd)
        for number in late:
            (top / f"late-{number}").mkdir()
            (top / f"late-{number}" / "file").touch()
            return

    monkeypatch.setattr(os, "unlink", slow)
    remove(top)
    assert not top.exists()


def test_what_cannot_be_removed_is_named_and_the_rest_goes(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (top / "in").mkdir(parents=True)
    for name in ("goes", "stays", "goes-too"):
        (top / "in" / name).touch()
    unlink = os.unlink

    def immutable(name: str, *, dir_fd: int) -> None:
        if name == "stays":
            raise PermissionError(1, "Operation not permitted")
        unlink(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", immutable)
    with pytest.raises(Broken, match=r"in/stays \(Operation not permitted\) stays"):
        remove(top)
    assert {path.name for path in (top / "in").iterdir()} == {"stays"}


async def test_what_stays_of_a_checkout_for_a_check_is_no_reason_to_lose_its_result(
    top: Path, person: Repository, mirrors: GitMirrors, checkouts: Checkouts, monkeypatch: pytest.MonkeyPatch
) -> None:
    await mirrors.refresh("shop", person.path)
    with monkeypatch.context() as for_now:
        for_now.setattr(deep_folders, "_mounted_below", lambda _: str(top))
        async with checkouts.passing("shop", "job_1", person.head, "before") as tree:
            pass
        assert tree.exists()
        (stays,) = await checkouts.collect((), None, None, datetime.now(UTC))
        assert stays.failed
    assert await checkouts.collect((), None, None, datetime.now(UTC)) == ()
    assert not tree.exists()


def test_a_mount_is_never_emptied() -> None:
    """Here it is the mount that there always is."""
    with pytest.raises(Broken, match="is a mount"):
        remove(Path("/proc"))


def test_a_copy_has_the_same_names_links_modes_and_times(top: Path) -> None:
    for name in ("a/b/c", "a/c", "b/c", "c"):
        (top / name).mkdir(parents=True)
        (top / name / "tool").write_text(name)
        (top / name / "tool").chmod(0o755)
        os.utime(top / name / "tool", (1_000_000_000, 1_000_000_000))  # what was compiled compares it
        (top / name / "link").symlink_to("tool")
    os.mkfifo(top / "pipe")
    other = top.with_name("other")
    copy(top, other)
    (top / "pipe").unlink()

    def listed(place: Path) -> dict[str, tuple[str, int, float]]:
        files = {path: path.lstat().st_mode for path in place.rglob("*") if not path.is_dir()}
        return {
            str(one.relative_to(place)): (one.read_text(), mode, one.stat().st_mtime) for one, mode in files.items()
        }

    assert listed(other) == listed(top)
    assert len(listed(top)) == 8


@pytest.mark.parametrize("name", ["closed", "b"])
def test_a_copy_that_would_lack_something_is_none(top: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What could not be read was left out, and the copy passed for a whole one."""
    for folder in ("a", "a/closed", "b"):
        (top / folder).mkdir(parents=True)
        (top / folder / "file").touch()
    opened = os.open

    def closed(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == name and dir_fd is not None:
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, flags, mode, dir_fd=dir_fd)

    before = _open_files()
    with monkeypatch.context() as for_now:
        for_now.setattr(os, "open", closed)
        with pytest.raises(Broken, match=rf"{name} cannot be read \(Permission denied\)"):
            copy(top, top.with_name("other"))
        assert len(list(everything_below(top))) > 3, "other walks go on"
    assert _open_files() == before


def test_a_strict_walk_ends_where_folders_are_moved_away_under_it(top: Path) -> None:
    nest(top / "one", 60)

    def walked() -> None:
        for at, _, _ in everything_below(top, strict=True):
            if at.depth == 50:
                for number in (20, 10):  # the way back leads through the second
                    (top / "one" / "/".join("d" * number)).rename(top.with_name(f"away-{number}"))

    with pytest.raises(Broken, match="moved away while it was read"):
        walked()


@pytest.mark.usefixtures("top")
async def test_a_stranger_s_branch_with_a_thousand_slashes_does_not_stop_a_mirror(
    person: Repository, mirrors: GitMirrors
) -> None:
    await mirrors.refresh("shop", person.path)
    refs = mirrors.path("shop") / "refs"
    nest(refs / "heads" / "deep", 3_000)
    (refs / "heads" / "left.lock").touch()
    await mirrors.refresh("shop", person.path)
    assert not (refs / "heads" / "left.lock").exists()
    remove(refs / "heads" / "deep")


def test_a_data_folder_that_was_open_to_others_is_closed_whatever_agents_left_in_it(top: Path) -> None:
    nest(top / "checkouts" / "job_1" / "1" / "tree")
    (top / "midwatch.toml").touch(mode=0o644)
    top.chmod(0o755)
    close_to_others(top)
    assert top.stat().st_mode & 0o077 == 0
    assert (top / "midwatch.toml").stat().st_mode & 0o077 == 0
