"""A room that grows too much is noticed, whatever else happens on the disk."""

import asyncio
from pathlib import Path

import pytest

from midwatch.workshop.sandbox import disk
from tests.patience import PATIENCE

MIB = 1024**2


async def test_what_others_delete_does_not_hide_what_a_job_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W6."""
    monkeypatch.setattr(disk, "EVERY_SECONDS", 0.01)
    room, ballast = tmp_path / "room", tmp_path / "ballast"
    room.mkdir()
    ballast.write_bytes(bytes(64 * MIB))
    watching = asyncio.create_task(disk.Watch(room, floor=0, most=2 * MIB).until_too_much())
    await asyncio.sleep(0)
    ballast.unlink()
    (room / "big").write_bytes(bytes(4 * MIB))
    async with asyncio.timeout(PATIENCE):
        assert await watching == "The job wrote more than 2 MiB, so it was stopped."
