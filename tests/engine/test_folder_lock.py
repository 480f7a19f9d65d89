"""One server per data folder, and the lock goes with the process, however it dies."""

from pathlib import Path

import pytest

from midwatch.engine.lease import FolderLock
from midwatch.errors import Refused
from tests.engine.workers import hold_the_folder
from tests.store import processes
from tests.store.processes import CONTEXT


@pytest.mark.crash
def test_a_second_server_is_told_who_is_there_until_that_one_is_killed(tmp_path: Path) -> None:
    here, there = CONTEXT.Pipe()
    holder = processes.start(hold_the_folder, tmp_path, there)
    pid = here.recv()
    lock = FolderLock(tmp_path)
    with pytest.raises(Refused, match=f"already running .* \\(process {pid}\\)") as refused:
        lock.take()
    assert "midwatch down" in refused.value.hint
    holder.kill()
    processes.finish(holder)
    lock.take()
    lock.release()


def test_the_lock_can_be_taken_again_after_release(tmp_path: Path) -> None:
    first, second = FolderLock(tmp_path), FolderLock(tmp_path)
    first.take()
    with pytest.raises(Refused):
        second.take()
    first.release()
    first.release()
    second.take()
    second.release()


def test_two_folders_do_not_know_each_other(tmp_path: Path) -> None:
    locks = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        locks.append(FolderLock(tmp_path / name))
        locks[-1].take()
    assert len(locks) == 2, "neither was refused because of the other"
    with pytest.raises(Refused):
        FolderLock(tmp_path / "a").take()
    for lock in locks:
        lock.release()
