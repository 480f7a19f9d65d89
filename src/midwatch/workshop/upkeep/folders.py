"""Names that become folders, and locks that survive kill -9."""

import asyncio
import fcntl
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from midwatch.errors import Misuse, Unavailable

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")


def part(name: str) -> str:
    """Return the name if it can safely be one part of a path and of a ref, else raise Misuse."""
    if not _NAME.fullmatch(name) or ".." in name or name.endswith((".", ".lock")):
        raise Misuse(f"{name!r} cannot name a folder.", hint="Use letters, digits, '_', '-' and single dots.")
    return name


@asynccontextmanager
async def locked(path: Path, *, patience_seconds: float = 600) -> AsyncIterator[int]:
    """Hold an exclusive lock on a file and yield its descriptor; the kernel releases it when every holder is dead.

    A frozen holder counts as dead: its lease has run out, and when it wakes it stops.
    """
    descriptor = await asyncio.to_thread(_open, path)
    try:
        deadline = asyncio.get_running_loop().time() + patience_seconds
        while not (_taken(descriptor) and _is_still(path, descriptor)):
            if await asyncio.to_thread(_held_by_the_frozen, path, descriptor):
                os.close(descriptor)
                descriptor = await asyncio.to_thread(_open, path)
                continue
            if asyncio.get_running_loop().time() > deadline:
                raise Unavailable(
                    f"{path} has been locked for {patience_seconds:.0f} seconds.",
                    hint="Another Midwatch process is using it; wait for it or stop it.",
                )
            await asyncio.sleep(0.02)
        os.pwrite(descriptor, f"{os.getpid():<20}".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether the locked file is the one that has the name; another process may have moved it away."""
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False


def _held_by_the_frozen(path: Path, descriptor: int) -> bool:
    """Move a lock away whose holder is stopped; True where there is another file to try."""
    if not _is_still(path, descriptor):
        return True
    holder = os.pread(descriptor, 20, 0).strip().decode(errors="replace")
    try:
        stat = Path("/proc", holder, "stat").read_bytes() if holder.isdigit() else b""
    except OSError:
        return False
    return stat[stat.rfind(b")") + 2 :][:1] == b"T" and _moved_away(path, descriptor)


def _moved_away(path: Path, descriptor: int) -> bool:
    """Remove the file of a frozen holder; one process at a time, or the second would remove the next holder's file."""
    moving = _open(path.with_name(f"{path.name}.moving"))
    try:
        if not _taken(moving):
            return False
        if _is_still(path, descriptor):
            path.unlink(missing_ok=True)
        return True
    finally:
        os.close(moving)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
