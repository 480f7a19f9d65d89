"""Milestones of a job: its commits, and the start of its longer stages; reported without interrupting (A11)."""

from midwatch.journal.events import Event
from midwatch.journal.events.signals import MilestoneReached
from midwatch.night.notify.notice import job_notice
from midwatch.ports.books import Books
from midwatch.ports.clock import Ids
from midwatch.ports.journal import Journal
from midwatch.ports.workspace import Rooms
from midwatch.rules.checks.check_runs import kept_back
from midwatch.rules.checks.commit_size import remark_on
from midwatch.rules.people.notices import NoticeKind, tier_of
from midwatch.settings import Settings
from midwatch.terms.figures import some
from midwatch.terms.jobs import Change, Stage
from midwatch.terms.records import JobRow
from midwatch.views.text.plain import as_sentence, clean

MOST_NAMED = 3


class Stones:
    """Watches the commits of one running agent, each head once."""

    def __init__(self, books: Books, rooms: Rooms, job: JobRow, room: int, base: str) -> None:
        self._books = books
        self._rooms = rooms
        self._job = job
        self._room = room
        self._base = base
        self._head = base
        self._many = 0

    async def look(self) -> None:
        """Record the commits since the last look; a restart repeats none."""
        head, subjects = await self._rooms.commits_so_far(self._job.id, self._room, self._base)
        if not head or head == self._head:
            return
        new, self._head, self._many = subjects[self._many :], head, len(subjects)
        if new:
            named = "; ".join(clean(one, 80) for one in new[-MOST_NAMED:])
            text = f"{some(len(new), 'new commit')}: {named}"
            key = f"milestone:{self._job.id}:{head}"
            stone = MilestoneReached(
                job=self._job.id, epoch=self._job.epoch, stone="commits", text=text, commits=len(subjects), head=head
            )
            await _once(self._books.journal, self._books.ids, self._books.settings(), self._job, stone, key)


async def stage_begins(journal: Journal, ids: Ids, settings: Settings, job: JobRow) -> None:
    """Report the start of a stage that may take long; a retry of it is not reported again."""
    match job.stage:
        case Stage.VERIFY:
            stone = MilestoneReached(job=job.id, epoch=job.epoch, stone="checks", text="its checks are running")
        case Stage.REPAIR:
            text = f"repair round {job.repairs + 1} begins"
            stone = MilestoneReached(job=job.id, epoch=job.epoch, stone="repair", text=text)
        case Stage.DELIVER if not kept_back(job.proof, settings.execution.deliver_red):
            stone = MilestoneReached(job=job.id, epoch=job.epoch, stone="pushing", text="its branch is being pushed")
        case _:
            return
    await _once(journal, ids, settings, job, stone, f"milestone:{job.id}:{job.stage.value}:{job.repairs}")


def planned(ids: Ids, settings: Settings, job: JobRow, summary: str) -> tuple[Event, ...]:
    """Report a plan that needs no approval from a person."""
    stone = MilestoneReached(job=job.id, epoch=job.epoch, stone="planned", text=f"it is planned: {clean(summary, 300)}")
    return stone, *_notices(ids, settings, job, stone)


def remarks(settings: Settings, job: JobRow, change: Change) -> tuple[Event, ...]:
    """Report work that was not committed in the pieces asked for."""
    remark = remark_on(change, settings.execution.commit_strategy)
    return (MilestoneReached(job=job.id, epoch=job.epoch, stone="remark", text=remark),) if remark else ()


async def _once(journal: Journal, ids: Ids, settings: Settings, job: JobRow, stone: MilestoneReached, key: str) -> None:
    if await journal.known(key) is None:
        await journal.record(stone, *_notices(ids, settings, job, stone), key=key)


def _notices(ids: Ids, settings: Settings, job: JobRow, stone: MilestoneReached) -> tuple[Event, ...]:
    if not settings.notices.on_progress_milestones:
        return ()
    text = as_sentence(f"Job {job.number} ({job.title}): {stone.text}")
    return (job_notice(ids, job, tier_of(NoticeKind.MILESTONE), text),)
