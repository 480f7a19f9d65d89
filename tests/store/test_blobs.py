"""Blobs: by their content, whole or not at all, checked when read."""

import asyncio
import hashlib
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from midwatch.errors import Corrupt, Unknown
from midwatch.store.blobs import FolderBlobs
from tests.store import processes
from tests.store.processes import CONTEXT
from tests.store.writers import die

CONTENT = b"a diff\n" * 50_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("content", [b"", b"\x00\xff", CONTENT])
async def test_what_is_kept_comes_back(folder: Path, content: bytes) -> None:
    blobs = FolderBlobs(folder)
    name = await blobs.keep(content)
    assert name == hashlib.sha256(content).hexdigest()
    assert await blobs.fetch(name) == content


async def test_the_same_content_twice_is_one_file(folder: Path) -> None:
    blobs = FolderBlobs(folder)
    name = await blobs.keep(CONTENT)
    written = blobs.path(name).stat()
    assert await blobs.keep(CONTENT) == name
    assert blobs.path(name).stat() == written
    assert files(folder) == [blobs.path(name)]


@pytest.mark.parametrize("damage", [b"", CONTENT[:-1], CONTENT + b"x"])
async def test_a_blob_that_changed_on_disk_is_corrupt(folder: Path, damage: bytes) -> None:
    blobs = FolderBlobs(folder)
    name = await blobs.keep(CONTENT)
    blobs.path(name).write_bytes(damage)
    with pytest.raises(Corrupt, match=name) as found:
        await blobs.fetch(name)
    assert found.value.hint


async def test_a_blob_nobody_kept_is_unknown(folder: Path) -> None:
    with pytest.raises(Unknown, match="no blob abc"):
        await FolderBlobs(folder).fetch("abc")


async def test_threads_that_keep_the_same_at_once_agree(folder: Path) -> None:
    blobs = FolderBlobs(folder)
    for number in range(20):
        content = CONTENT + bytes([number])
        (name,) = set(await asyncio.gather(*(blobs.keep(content) for _ in range(8))))
        assert await blobs.fetch(name) == content
    assert len(files(folder)) == 20


def keep_when_told(folder: Path, go: Any) -> None:
    go.wait()
    asyncio.run(FolderBlobs(folder).keep(CONTENT))


def test_processes_that_keep_the_same_at_once_agree(folder: Path) -> None:
    go = CONTEXT.Event()
    children = [processes.start(keep_when_told, folder, go) for _ in range(4)]
    go.set()
    assert [processes.finish(child) for child in children] == [0] * 4
    (path,) = files(folder)
    assert path.read_bytes() == CONTENT


def keep_and_die(folder: Path, moment: str) -> None:
    def dying(*_: object) -> None:
        die()

    setattr(*{"sync": (os, "fsync"), "rename": (os, "rename")}[moment], dying)
    Path.replace = dying  # type: ignore[assignment]
    FolderBlobs(folder)._keep(CONTENT)


@pytest.mark.crash
@pytest.mark.parametrize("moment", ["sync", "rename"])
async def test_a_kill_leaves_no_half_blob_and_the_next_keep_succeeds(folder: Path, moment: str) -> None:
    assert processes.run(keep_and_die, folder, moment) == -signal.SIGKILL
    blobs, name = FolderBlobs(folder), hashlib.sha256(CONTENT).hexdigest()
    with pytest.raises(Unknown):
        await blobs.fetch(name)
    assert await blobs.keep(CONTENT) == name
    assert await blobs.fetch(name) == CONTENT
