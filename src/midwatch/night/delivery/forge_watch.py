"""Reads the state of pull requests on their forges: at intervals, on a webhook, and when a person looks."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from midwatch.errors import Limited, MidwatchError, Stale
from midwatch.journal.events.jobs import PullRequestChanged, PullRequestClosed, PullRequestMerged
from midwatch.journal.events.projects import WorkChanged
from midwatch.ports.books import Books
from midwatch.ports.forge import BranchMover, Forges
from midwatch.ports.journal import Journal, Records
from midwatch.terms.forges import BY_HAND, LOCAL, OURSELVES, PullRequestPlace, PullRequestSeen
from midwatch.terms.projects import WorkStatus, is_url
from midwatch.terms.records import JobRow, ProjectRow, PullRequestRow, StackRow
from midwatch.terms.stack import StackState

log = logging.getLogger("midwatch.forges")
SOONEST, LATEST, BUSY = timedelta(minutes=1), timedelta(minutes=15), timedelta(minutes=2)
"""Intervals grow while nothing changes; while checks run, they stay short."""
APART = timedelta(seconds=10)
"""However many webhooks a forge sends, its pull requests are read once in this time; the last one is not lost."""
LONGEST_SECONDS = 30.0
"""A new pull request may have been opened, so look at least this often."""


async def place_of(records: Records, row: PullRequestRow) -> PullRequestPlace:
    """Return where a pull request is, in a form that every forge understands."""
    return row.place((await records.get(ProjectRow, row.project)).path)


async def read_back(journal: Journal, records: Records, forges: Forges, row: PullRequestRow) -> PullRequestSeen:
    """Read an open pull request from its forge, and record what has changed."""
    seen = await forges.named(row.forge).look(await place_of(records, row))
    with contextlib.suppress(Stale):  # it was merged or closed here in the same moment
        if seen.state == "open":
            await _changed(journal, row, seen)
        else:
            await _over(journal, records, row, seen)
    return seen


async def _changed(journal: Journal, row: PullRequestRow, seen: PullRequestSeen) -> None:
    if (seen.url, seen.number, seen.draft, seen.checks) == (row.url, row.there, row.draft, row.checks):
        return
    changed = PullRequestChanged(
        pull_request=row.id,
        forge=row.forge,
        url=seen.url,
        there=seen.number,
        draft=seen.draft,
        checks=seen.checks,
    )
    since = row.seen_at or row.created_at
    await journal.record(changed, actor=row.forge, key=f"changed:{row.id}:{since.isoformat()}")


async def _over(journal: Journal, records: Records, row: PullRequestRow, seen: PullRequestSeen) -> None:
    """Record a merge or close on the forge; for the work it is the same as one made here."""
    job = await records.get(JobRow, row.job)
    by = BY_HAND if row.forge == LOCAL else row.forge
    who = f"{seen.by} on {row.forge}" if seen.by else by
    if seen.state == "merged":
        await journal.record(
            PullRequestMerged(pull_request=row.id, sha=seen.merged_sha, by=by),
            WorkChanged(item=job.work_item, status=WorkStatus.DONE, next_step="", why=f"merged by {who}"),
            actor=by,
            key=f"merged:{row.id}:{seen.merged_sha}",
        )
        return
    why = f"closed on {row.forge}"
    await journal.record(
        PullRequestClosed(pull_request=row.id, by=row.forge, why=why),
        WorkChanged(
            item=job.work_item, status=WorkStatus.BACKLOG, next_step=why, owner="human", why=f"closed by {who}"
        ),
        actor=row.forge,
        key=f"closed:{row.id}",
    )


class ForgeWatch:
    """Reads each open pull request when it is due; due times are kept in memory, so a restart reads all of them.

    Those on this machine are read each time: that is one git command for a project.
    """

    def __init__(self, books: Books, forges: Forges, here: BranchMover) -> None:
        self._books = books
        self._forges = forges
        self._here = here
        self._looking = asyncio.Lock()
        self._wake_up = asyncio.Event()
        self._due: dict[str, datetime] = {}
        self._pause: dict[str, timedelta] = {}
        self._woken: dict[str, datetime] = {}

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            self._wake_up.clear()  # before looking, so that a wake-up during the look is kept
            wait = await self.look_around()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._wake_up.wait()

    async def wake_now(self, forge: str) -> None:
        """Note that a forge may have news: its pull requests are due now, or soon if it sent a webhook just before."""
        now = self._books.clock.now()
        last = self._woken.get(forge, now - APART)
        due = self._woken[forge] = last if last > now else max(now, last + APART)
        for row in await self._books.records.find(PullRequestRow, state="open", forge=forge):
            self._due[row.id] = min(due, self._due.get(row.id, due))
            self._pause.pop(row.id, None)
        self._wake_up.set()

    async def look_around(self) -> float:
        """Read every pull request that is due; return the real seconds until the next."""
        await self.look_here()
        rows = [row for row in await self._books.records.find(PullRequestRow, state="open") if row.forge != LOCAL]
        for gone in self._due.keys() - {row.id for row in rows}:
            del self._due[gone]
            self._pause.pop(gone, None)
        for row in rows:
            if self._due.get(row.id, self._books.clock.now()) <= self._books.clock.now():
                self._due[row.id] = await self._look(row)
        if not self._due:
            return LONGEST_SECONDS
        left = (min(self._due.values()) - self._books.clock.now()) / timedelta(seconds=1)
        return min(LONGEST_SECONDS, max(0.5, self._books.clock.real_seconds(left)))

    async def look_here(self) -> None:
        """Record which pull requests on this machine a person has merged with git, without asking Midwatch."""
        async with self._looking:
            opened = await self._books.records.find(PullRequestRow, state="open", forge=LOCAL)
            projects = await self._books.records.find(ProjectRow, id=tuple({row.project for row in opened}))
            places = {row.id: Path(row.path) for row in projects if not is_url(row.path)}
            branches = {(row.project, row.into) for row in opened if row.project in places}
            for project, into in sorted(branches):
                rows = [row for row in opened if (row.project, row.into) == (project, into)]
                try:
                    await self._merged_by_hand(places[project], into, rows)
                except MidwatchError as error:  # the folder is away, or not a repository any more
                    log.info("%s: %s %s", places[project], error.message, error.hint)
                except Exception:  # one odd repository must not hide the others
                    log.exception("%s: could not be looked at; it is retried", places[project])

    async def _merged_by_hand(self, source: Path, into: str, rows: Sequence[PullRequestRow]) -> None:
        lacking = await self._here.lacking(source, into, [row.head for row in rows])
        for row in (row for row in rows if row.head not in lacking):
            place = await place_of(self._books.records, row)
            seen = await self._forges.named(LOCAL).look(place)
            if seen.state == "merged" and not await self._ours(row, seen):
                with contextlib.suppress(Stale):  # it was merged or closed here in the same moment
                    await _over(self._books.journal, self._books.records, row, seen)

    async def _ours(self, row: PullRequestRow, seen: PullRequestSeen) -> bool:
        """Whether Midwatch made this merge: who asked for it records it, now or when asking again after a crash."""
        stacks = await self._books.records.find(StackRow, project=row.project, state=StackState.MADE)
        return seen.by == OURSELVES or seen.merged_sha in {step.commit for one in stacks for step in one.order}

    async def _look(self, row: PullRequestRow) -> datetime:
        pause = min(LATEST, self._pause.get(row.id, SOONEST / 2) * 2)
        until = None
        try:
            seen = await read_back(self._books.journal, self._books.records, self._forges, row)
            if seen.checks != row.checks:
                pause = SOONEST
            elif seen.checks == "pending":
                pause = min(pause, BUSY)
        except MidwatchError as error:
            until = error.until if isinstance(error, Limited) else None
            if pause >= LATEST or row.id not in self._pause:  # logged at once, and then not every minute
                log.warning("pull request %d: %s %s", row.number, error.message, error.hint)
        except Exception:  # an unexpected answer of one forge must not stop the others
            log.exception("pull request %d: could not be read; it is retried", row.number)
        self._pause[row.id] = pause
        return until or self._books.clock.now() + pause
