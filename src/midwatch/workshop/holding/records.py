"""The records in an epoch's folder, written so that a reader finds all of a record or nothing."""

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

STATE, EXIT, SOCKET, LOCK, COMPLAINTS = "state.json", "exit.json", "talk", "lock", "holder.err"
OUT, ERR = "out", "err"
RESERVE = "reserve"
RESERVE_BYTES = 1 << 16
MARK = "MIDWATCH_HELD"
"""In the environment of every held process: processes left by a double fault are found by it."""


@dataclass(frozen=True)
class State:
    """Who holds what: enough to identify the same processes again."""

    nonce: str
    epoch: int
    boot: str
    holder: int
    holder_start: int
    guardian: int
    guardian_start: int
    agent: int
    argv_hash: str
    began: float
    group: str = ""
    """The cgroup that holds the agent's tree if its command joins one, as `walls.threshold` does; or nothing."""


def epoch_folder(folder: Path, epoch: int) -> Path:
    return folder / f"epoch-{epoch:06d}"


def epochs(folder: Path) -> list[int]:
    """List the epochs that were ever begun for a job, oldest first."""
    return sorted(int(path.name[6:]) for path in folder.glob("epoch-*") if path.name[6:].isdigit())


def argv_hash(argv: tuple[str, ...]) -> str:
    """Hash a command line; its words may hold secrets."""
    return hashlib.sha256("\0".join(argv).encode(errors="surrogateescape")).hexdigest()


def mark_of(place: Path) -> str:
    """Derive the mark of an epoch from its path, so that it is known even when the state cannot be read."""
    return hashlib.sha256(os.fsencode(place.resolve())).hexdigest()[:32]


def write_whole(path: Path, content: dict[str, Any], *, over: bool = True) -> None:
    """Write a record beside its place, make it durable, and rename it; not `over` one that already exists."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        draft.touch(mode=0o600)
        with draft.open("w") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        if over:
            draft.replace(path)
        else:
            path.hardlink_to(draft)
    finally:
        draft.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_state(place: Path, state: State) -> None:
    """Record who holds what, and reserve space for the verdict, which must be written even on a full disk."""
    write_whole(place / STATE, asdict(state))
    with contextlib.suppress(OSError), (place / RESERVE).open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, RESERVE_BYTES)


def read_record(path: Path) -> dict[str, Any] | None:
    """Read a record; None when it is absent or incomplete."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def group_of(state: State | None, boot: str) -> str | None:
    """Find the agent's cgroup, if it was made since this boot; no other group gets its name while the machine is up."""
    return state.group if state is not None and state.group and state.boot == boot else None


def read_state(place: Path) -> State | None:
    """Read who holds what; None when it is absent or incomplete."""
    content = read_record(place / STATE)
    known = {one.name for one in fields(State)}
    try:
        # An earlier Midwatch may have begun it, and recorded more than is asked for today.
        return State(**{name: value for name, value in content.items() if name in known}) if content else None
    except TypeError:
        return None
