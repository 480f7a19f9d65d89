"""Collects checkouts by age and size, and removes leftovers of dead attempts; never work that exists only there."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from midwatch.errors import MidwatchError, Unavailable
from midwatch.terms.term import Term
from midwatch.workshop.sandbox.deep_folders import remove
from midwatch.workshop.sandbox.disk import weigh
from midwatch.workshop.upkeep.folders import locked
from midwatch.workshop.upkeep.kept_checkouts import Kept, epochs

log = logging.getLogger("midwatch.tidying")
PATIENCE_SECONDS = 0.5
"""A held lock means that the job is being worked on; it will be collected another time."""

Judge = Callable[[str, int], Awaitable[Kept]]


class Collected(Term):
    """The result for one checkout that was due for removal."""

    job: str
    epoch: int
    path: str
    bytes: int
    removed: bool
    why: str
    failed: bool = False
    """Whether it was to be removed, or looked at, and could not be."""


@dataclass(frozen=True, slots=True)
class GarbageLimits:
    """How old checkouts may get and how much disk space they may take."""

    older_than: timedelta | None
    most_bytes: int | None
    now: datetime


@dataclass(frozen=True, slots=True)
class _Weighed:
    place: Path
    bytes: int
    changed_at: datetime

    @property
    def job(self) -> str:
        return self.place.parent.name


async def collect(home: Path, keep: frozenset[str], limits: GarbageLimits, judge: Judge) -> tuple[Collected, ...]:
    """Clean up, measure, and remove what is due, oldest first; what fails with one checkout stops no other."""
    done: list[Collected] = []
    done += await _sweep_quarantine(home / "quarantine", keep)
    done += await _sweep_leftovers(home / "checkouts", keep)
    standing, unreadable = await asyncio.to_thread(_weigh_all, home / "checkouts")
    done += unreadable
    total = sum(one.bytes for one in standing)
    for one in standing:
        why = "" if one.job in keep else _due(one, total, limits)
        if why:
            done.append(await _tried(home / "checkouts", one, why, judge))
            total -= one.bytes if done[-1].removed else 0
    return tuple(done)


def _due(one: _Weighed, total: int, limits: GarbageLimits) -> str:
    age = limits.now - one.changed_at
    if limits.older_than is not None and age > limits.older_than:
        return f"nothing changed in it for {age.days} days" if age.days else "it is older than the limit"
    if limits.most_bytes is not None and total > limits.most_bytes:
        return "checkouts take more disk space than allowed"
    return ""


async def _tried(folder: Path, one: _Weighed, why: str, judge: Judge) -> Collected:
    try:
        return await _remove(folder, one, why, judge)
    except Exception as error:  # noqa: BLE001 - an agent made it: nothing wrong with it may keep the others
        return _failed(one.place, error, one.bytes)


def _failed(place: Path, error: Exception, size: int = 0) -> Collected:
    log.warning("%s could not be cleaned up", place, exc_info=error)
    why = f"{place} could not be cleaned up: {error}"
    epoch = int(place.name) if place.name.isdigit() else 0
    return Collected(
        job=place.parent.name, epoch=epoch, path=str(place), bytes=size, removed=False, why=why, failed=True
    )


async def _remove(folder: Path, one: _Weighed, why: str, judge: Judge) -> Collected:
    epoch = int(one.place.name)

    def result(why: str, *, removed: bool = False) -> Collected:
        return Collected(job=one.job, epoch=epoch, path=str(one.place), bytes=one.bytes, removed=removed, why=why)

    try:
        async with locked(folder / f"{one.job}.lock", patience_seconds=PATIENCE_SECONDS):
            kept = await judge(one.job, epoch)
            if kept.unique:
                return result(f"it holds work that is nowhere else: {kept.unique[0]}")
            # Moved away first: an interrupted removal must not leave half a clone under a clone's name.
            going = one.place.with_name(f"{epoch}.making")
            await asyncio.to_thread(remove, going)
            await asyncio.to_thread(one.place.rename, going)
            await asyncio.to_thread(remove, going)
            if not await asyncio.to_thread(epochs, going.parent):
                await asyncio.to_thread(remove, going.with_name("home"))  # no process is left to continue it
    except Unavailable:
        return result("it is in use")
    return result(why, removed=True)


def _weigh_all(folder: Path) -> tuple[list[_Weighed], list[Collected]]:
    found: list[_Weighed] = []
    failed: list[Collected] = []
    for place in [job / str(epoch) for job in _jobs(folder) for epoch in epochs(job)]:
        try:
            one = weigh(place)
        except Exception as error:  # noqa: BLE001 - as with a removal
            failed.append(_failed(place, error))
        else:
            found.append(_Weighed(place, one.bytes, datetime.fromtimestamp(one.newest, UTC)))
    return sorted(found, key=lambda one: one.changed_at), failed


def _jobs(folder: Path) -> list[Path]:
    return sorted(job for job in folder.iterdir() if job.is_dir()) if folder.is_dir() else []


async def _sweep_leftovers(folder: Path, keep: frozenset[str]) -> list[Collected]:
    failed: list[Collected] = []
    for job in await asyncio.to_thread(_jobs, folder):
        if job.name not in keep:
            left = (*job.glob("*.making"), *job.glob("fresh-*"), *job.glob("*/desk"))
            failed += await _sweep(folder / f"{job.name}.lock", left)
    return failed


async def _sweep_quarantine(folder: Path, keep: frozenset[str]) -> list[Collected]:
    failed: list[Collected] = []
    for place in await asyncio.to_thread(lambda: list(folder.glob("*.git"))):
        if place.stem.rpartition("-")[0] not in keep:
            failed += await _sweep(place.with_suffix(".lock"), (place,))
    return failed


async def _sweep(lock: Path, leftovers: Iterable[Path]) -> list[Collected]:
    """Remove leftovers under the lock of the job that might still need them; return what could not be removed."""
    places, failed = list(leftovers), list[Collected]()
    if not places:
        return failed
    try:
        async with locked(lock, patience_seconds=PATIENCE_SECONDS):
            for place in places:
                try:
                    await asyncio.to_thread(remove, place)
                except (MidwatchError, OSError) as error:
                    failed.append(_failed(place, error))
    except Unavailable:
        return failed
    return failed
