"""Starts holders, finds them again after a restart, and lists those that no record claims."""

import asyncio
import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from midwatch.errors import Broken, Misuse, Stale, Unavailable
from midwatch.workshop.holding import records, tree
from midwatch.workshop.holding.ending import Ending, read_ending, write_ending
from midwatch.workshop.holding.held import HeldProgram, settle
from midwatch.workshop.holding.nursery import BEGIN, Nursery
from midwatch.workshop.holding.spec import Spec

FIRST_FD, LAST_FD = 3, 255
_PAUSE, _TRIES = 0.02, 1500


@dataclass(frozen=True)
class EndedProgram:
    """The agent has ended, and its holder recorded how."""

    place: Path
    state: records.State | None
    ending: Ending


@dataclass(frozen=True)
class Lost:
    """How the agent ended is unknown; none of its processes run, and this is what is known."""

    place: Path
    why: str
    state: records.State | None = None
    ending: Ending | None = None


@dataclass(frozen=True)
class Orphan:
    """A living holder that no record claims."""

    place: Path
    epoch: int
    state: records.State | None


async def launch(spec: Spec, nursery: Nursery | None = None) -> HeldProgram:
    """Start a holder for this job and epoch, or return the one that was started first; older epochs are stopped."""
    _check(spec)
    for epoch in await asyncio.to_thread(records.epochs, spec.folder):
        if epoch > spec.epoch:
            raise _overtaken(spec)
        if epoch < spec.epoch:
            older = await _adopt_epoch(records.epoch_folder(spec.folder, epoch), None)
            if isinstance(older, HeldProgram):
                await older.stop(spec.limits.grace, epoch=spec.epoch)
    answer, complaint = await _begin(spec, nursery)
    if answer == "stale":
        raise _overtaken(spec)
    place = records.epoch_folder(spec.folder, spec.epoch)
    found = await _adopt_epoch(place, None) if answer else None
    if isinstance(found, HeldProgram):
        return found
    if found is not None and found.state is not None:
        return HeldProgram(place, found.state, None, None)
    raise Broken(
        f"The holder for {place} did not start.",
        hint=f"Look at {place / records.COMPLAINTS} and at the free memory and disk of this machine.",
        because=(complaint,) if complaint else (),
    )


async def adopt(
    folder: Path, nonce: str | None = None, *, epoch: int | None = None
) -> HeldProgram | EndedProgram | Lost:
    """Find a job's newest holder again; with a nonce, accept only that one.

    With an epoch, the holder learns it at once: it refuses requests for an older one from now on. If it already knows
    a newer one, it refuses this one too, as Stale.
    """
    known = await asyncio.to_thread(records.epochs, folder)
    if not known:
        return Lost(folder, "nothing was ever started here")
    found = await _adopt_epoch(records.epoch_folder(folder, known[-1]), nonce)
    if isinstance(found, HeldProgram) and epoch is not None:
        found.epoch = epoch
        with contextlib.suppress(Unavailable):  # it is ending, or is frozen; its next answer will show which
            await found.beat()
    return found


def find_orphans(root: Path, claimed: Mapping[Path, int]) -> list[Orphan]:
    """List living holders below `root` whose folder and epoch no record claims."""
    orphans = []
    for place in sorted(root.glob("*/epoch-*")):
        epoch = int(place.name.removeprefix("epoch-"))
        if claimed.get(place.parent) != epoch and _is_locked(place):
            orphans.append(Orphan(place, epoch, records.read_state(place)))
    return orphans


async def _adopt_epoch(place: Path, nonce: str | None) -> HeldProgram | EndedProgram | Lost:
    state = await _state_of(place)
    if state is not None and nonce is not None and state.nonce != nonce:
        return Lost(place, "it is not the holder that was recorded", state)
    why = await asyncio.to_thread(read_ending, place) is None and _why_not_ours(state)
    if state is not None and not why:
        pins = [_pin(state.holder, state.holder_start), _pin(state.guardian, state.guardian_start)]
        held = HeldProgram(place, state, *pins)
        if pins[0] is not None and read_ending(place) is None:
            return held
        ending = await held.wait()  # the guardian may still be cleaning up
    else:
        if why:
            await _end_unreadable(place)
        ending = await asyncio.to_thread(settle, place, why or "its holder was killed")
    return Lost(place, ending.why, state, ending) if ending.how == "lost" else EndedProgram(place, state, ending)


def _why_not_ours(state: records.State | None) -> str:
    if state is None:
        return "its state cannot be read"
    return "" if state.boot == tree.boot_id() else "the machine was restarted"


async def _state_of(place: Path) -> records.State | None:
    """Read the state, with retries while a holder is just starting."""
    for _ in range(_TRIES):
        if (place / records.STATE).exists() or not await asyncio.to_thread(_is_locked, place):
            break
        await asyncio.sleep(_PAUSE)
    return await asyncio.to_thread(records.read_state, place)


async def _end_unreadable(place: Path) -> None:
    """End an agent whose holder cannot be asked; a living holder writes the verdict itself."""
    await asyncio.to_thread(tree.kill_all, lambda: tree.marked(f"{records.MARK}={records.mark_of(place)}"))
    for _ in range(_TRIES):
        if not await asyncio.to_thread(_is_locked, place):
            return
        await asyncio.sleep(_PAUSE)


def _pin(pid: int, start: int) -> int | None:
    """Open first, compare afterwards: a pinned process number cannot pass to another process between the two."""
    with tree.pinned(pid, start) as pidfd:
        return os.dup(pidfd) if pidfd is not None else None


def _is_locked(place: Path) -> bool:
    try:
        lock = os.open(place / records.LOCK, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


async def _begin(spec: Spec, nursery: Nursery | None) -> tuple[str, str]:
    result = spec.to_bytes(secrets.token_hex(16))
    if nursery is not None and (answer := await asyncio.to_thread(nursery.begin, result)):
        return answer, ""
    # Without an answer the nursery may still have begun it: then this one finds the epoch taken, and so finds it.
    process = await asyncio.create_subprocess_exec(
        *BEGIN,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={},
        cwd="/",
        start_new_session=True,
    )
    out, complaint = await process.communicate(result)
    return out.decode(), complaint.decode(errors="replace")[-2000:]


def _check(spec: Spec) -> None:
    if not spec.argv:
        raise Misuse("There is no command to hold.", hint="Give at least one word in argv.")
    if wrong := [number for number in spec.fds if not FIRST_FD <= number <= LAST_FD]:
        raise Misuse(f"File number {wrong[0]} cannot be passed.", hint=f"Use numbers from {FIRST_FD} to {LAST_FD}.")
    if spec.ports and spec.control is None:
        raise Misuse(
            "Ports were named, but no control socket to receive them.",
            hint="Pass the control socket that the walls have.",
        )


def _overtaken(spec: Spec) -> Stale:
    hint = "Leave the job alone; this claim on it is over."
    return Stale(f"A newer epoch than {spec.epoch} has begun for {spec.folder.name}.", hint=hint)


def put_away(place: Path) -> None:
    """Delete an epoch's output, and its last words from the verdict; who held it and how it ended are kept.

    Safe to repeat; what a crash left half deleted is deleted the next time.
    """
    ending = read_ending(place)
    if ending is None:
        raise Misuse(
            f"The agent of {place} has not ended, so its output cannot be removed yet.",
            hint="Wait for its end, or stop it, and read its output first.",
        )
    for name in (records.OUT, records.ERR):
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(place / name)
    for name in (records.SOCKET, records.RESERVE):
        (place / name).unlink(missing_ok=True)
    if ending.last_words or ending.last_errors:
        write_ending(place, replace(ending, last_words="", last_errors=""))
