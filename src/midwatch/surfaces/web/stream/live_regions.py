"""The Live page's parts, drawn from the records once and sent to all readers."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from markupsafe import Markup

from midwatch.compose.house import House
from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobClaimed
from midwatch.journal.events.session import AskAnswered, AskExpired, AskOpened, AskWithdrawn
from midwatch.rules.morning.tally import tally
from midwatch.settings.zone import clock_of
from midwatch.surfaces.queries.asks import shown_asks
from midwatch.surfaces.queries.job_lines import lines_of
from midwatch.surfaces.queries.names import NameBook
from midwatch.surfaces.web.site.page import fragment
from midwatch.surfaces.web.site.pictures import timeline_svg
from midwatch.surfaces.web.stream.night_course import PAGE, NightCourse
from midwatch.terms import records as rec
from midwatch.terms.asks import AskState
from midwatch.terms.jobs import Stage
from midwatch.terms.projects import SessionState
from midwatch.views.pages.channels import NoticeShown, notices_shown
from midwatch.views.pages.council import decisions_shown
from midwatch.views.pages.live.jobs import JobShown, job_groups, jobs_shown, last_line
from midwatch.views.pages.live.night import FEED_ROWS, FeedRow, check_in_shown, counts, feed_rows, gauges, night_shown
from midwatch.views.pages.live.night_picture import PICTURED, night_picture
from midwatch.views.text.quota import fuel_shown

REGIONS: Final = (
    "banner", "counts", "controls", "checkin", "asks", "timeline", "jobs", "council", "gauges", "notices",
)  # fmt: skip
"""The parts of the page that a message may redraw, by the id of their element."""


class Painter:
    """Knows the course of the newest night, and draws what changed."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._names = NameBook(house)
        self._course = NightCourse(house)

    async def paint(self, entries: Sequence[Entry]) -> str:
        """Make one message for a batch of new entries: their rows, and every part they may have changed."""
        await self._course.catch_up()
        new = fragment("_feed.html", rows=await self.rows(entries))
        parts = [f'<hx-partial hx-target="#feed" hx-swap="afterbegin">{new}</hx-partial>'] if entries else []
        regions = changed(entries)
        if "jobs" not in regions:
            parts += [
                f'<hx-partial hx-target="#job-{job.number}" hx-swap="innerMorph">{_row(job)}</hx-partial>'
                for job in await self._jobs_of(entries)
            ]
        return "\n".join([*parts, await self.regions(regions)])

    async def regions(self, names: Iterable[str] = REGIONS) -> str:
        """Draw some parts again, each for its own place."""
        drawn = await self.draw(names)
        return "\n".join(
            f'<hx-partial hx-target="#{name}" hx-swap="innerMorph">{html}</hx-partial>' for name, html in drawn.items()
        )

    async def draw(self, names: Iterable[str] = REGIONS) -> dict[str, Markup]:
        """Draw some parts, by name."""
        wanted = [name for name in REGIONS if name in frozenset(names)]
        if not wanted:
            return {}
        await self._course.catch_up()
        shown = await self._shown(frozenset(wanted))
        return {name: Markup(fragment(f"_{name}.html", **shown)) for name in wanted}  # noqa: S704  our own template's words

    async def newest(self) -> tuple[int, tuple[FeedRow, ...]]:
        """Return the rows a page begins with, newest first, and the place they reach to.

        These are the last entries of every kind, and as many milestones, which may be older.
        """
        await self._course.catch_up()
        head = await self._house.records.head()
        entries = await self._house.journal.entries(after=max(0, head - FEED_ROWS), limit=PAGE)
        begin = entries[0].seq if entries else head
        older = [one for one in self._course.milestones if one.seq < begin]
        return (entries[-1].seq if entries else head), await self.rows((*older, *entries))

    async def rows(self, entries: Sequence[Entry]) -> tuple[FeedRow, ...]:
        """Describe entries in words, newest first, at most as many as the page keeps."""
        kept = entries[-2 * FEED_ROWS :]
        return feed_rows(kept, await self._names.of(kept))

    async def _shown(self, wanted: frozenset[str]) -> dict[str, Any]:
        find, session = self._house.records.find, await self._course.session()
        needed = wanted & {"jobs", "asks", "gauges", "counts"}
        jobs = await find(rec.JobRow, session=session.id) if session and needed else ()
        asks = await find(rec.AskRow, state=AskState.OPEN) if wanted & {"asks", "counts"} else ()
        clock = clock_of(self._house.loaded.settings)
        shown: dict[str, Any] = {"night": night_shown(session, clock, **await self._said(session, wanted))}
        if "counts" in wanted:
            shown["counts"] = await self._counts(session, jobs, len(asks))
        if "asks" in wanted:
            shown["asks"] = await shown_asks(self._house, asks)
        if "jobs" in wanted:
            rows = (*jobs, *await self._commanded(session))
            shown["groups"] = job_groups(await self._jobs(rows), rows)
        if "gauges" in wanted:
            shown |= await self._used(session, jobs)
        if "council" in wanted:
            shown["decisions"] = decisions_shown(self._course.decided, await self._names.of(self._course.decided))
        if "checkin" in wanted:
            shown["last"] = check_in_shown(await find(rec.CheckInRow, session=session.id)) if session else None
        return shown | {
            "notices": await self._notices(session) if "notices" in wanted else (),
            "timeline": self._picture(session) if "timeline" in wanted else "",
        }

    async def _counts(self, session: rec.SessionRow | None, jobs: Sequence[rec.JobRow], asks: int) -> Any:
        """Count a night under way; the brief counts one that is over."""
        if session is None or session.state is not SessionState.AUTONOMOUS:
            return ()
        acts = await self._house.records.find(rec.PastAct, session=session.id)
        return counts(tally(session.works(), jobs, acts), asks)

    async def _used(self, session: rec.SessionRow | None, jobs: Sequence[rec.JobRow]) -> dict[str, Any]:
        find, now = self._house.records.find, self._house.clock.now()
        began = session.started_at if session else None
        asked = len(await find(rec.AskRow, session=session.id)) if session else 0
        attention = self._house.loaded.settings.notices.daily_budget
        return {
            "gauges": gauges(session, jobs, now, asks=asked, attention=attention) if session and began else (),
            "fuel": fuel_shown(await find(rec.FuelRow), now),
            "began": began,
        }

    async def _jobs(self, rows: Sequence[rec.JobRow]) -> tuple[JobShown, ...]:
        projects = {row.id: row for row in await self._house.records.find(rec.ProjectRow)} if rows else {}
        last = {job: entry for job, entry in self._course.last.items() if job in {row.id for row in rows}}
        names = await self._names.of(last.values())
        said = {job: last_line(entry.event, names) for job, entry in last.items()}
        return jobs_shown(rows, projects, self._house.clock.now(), await lines_of(self._house, rows), said)

    async def _jobs_of(self, entries: Sequence[Entry]) -> tuple[JobShown, ...]:
        """Show the jobs on the page that these entries are about."""
        ids = {str(getattr(entry.event, "job", "")) for entry in entries} | await self._asked_about(entries)
        found = await self._house.records.find(rec.JobRow, id=tuple(sorted(ids - {""}))) if ids - {""} else ()
        session = await self._course.session() if found else None
        beside = {job.id for job in await self._commanded(session)} if found else set()
        return await self._jobs([job for job in found if job.id in beside or (session and job.session == session.id)])

    async def _asked_about(self, entries: Sequence[Entry]) -> set[str]:
        settled = {
            one.event.ask
            for one in entries
            if isinstance(one.event, AskOpened | AskAnswered | AskExpired | AskWithdrawn)
        }
        asks = await self._house.records.find(rec.AskRow, id=tuple(sorted(settled))) if settled else ()
        return {ask.subject for ask in asks}

    async def _commanded(self, shown: rec.SessionRow | None) -> tuple[rec.JobRow, ...]:
        """Fetch the running jobs of commands beside the night."""
        find = self._house.records.find
        under_way = await find(rec.SessionRow, state=SessionState.AUTONOMOUS, ad_hoc=True)
        others = tuple(row.id for row in under_way if shown is None or row.id != shown.id)
        return await find(rec.JobRow, session=others) if others else ()

    async def _notices(self, session: rec.SessionRow | None) -> tuple[NoticeShown, ...]:
        if session is None:
            return ()
        result = await self._house.records.find(rec.NoticeRow, session=session.id)
        return notices_shown(result, await self._house.records.find(rec.DeliveryRow, session=session.id))

    async def _said(self, session: rec.SessionRow | None, wanted: frozenset[str]) -> dict[str, str]:
        """The result of an ended night, or the authority of a running one."""
        if session is None or "banner" not in wanted:
            return {}
        if session.state is SessionState.AUTONOMOUS:
            runs = await self._house.records.find(rec.RunRow, session=session.id)
            return {"authority": runs[-1].contract.authority_policy.start_level.value} if runs else {}
        reports = await self._house.records.find(rec.ReportRow, session=session.id)
        return {"headline": reports[-1].brief.headline} if reports else {}

    def _picture(self, session: rec.SessionRow | None) -> Markup:
        if session is None or session.started_at is None:
            return Markup()
        end = session.debrief_at or session.ended_at or self._house.clock.now()
        begin, pictured = session.started_at, self._course.pictured
        return timeline_svg(night_picture(pictured, begin, max(end, begin), session.noun))


def _row(job: JobShown) -> str:
    return fragment("_job_row.html", job=job)


def changed(entries: Iterable[Entry]) -> frozenset[str]:
    """Return which parts of the page such entries may have changed; a job's own row is not one of them."""
    found: set[str] = set()
    for entry in entries:
        kind = entry.event.kind
        group = kind.partition(".")[0]
        if group in {"session", "orders", "report", "review"}:
            return frozenset(REGIONS)
        found |= TOUCHES.get(kind, TOUCHES.get(group, frozenset()))
        if kind in PICTURED and not _goes_on(entry.event):
            found.add("timeline")
    return frozenset(found)


def _goes_on(event: Event) -> bool:
    """A job that goes on with its next stage leaves the picture as it is; each has a dozen of them."""
    return isinstance(event, JobClaimed) and event.epoch > 1 and event.stage is not Stage.PLAN


TOUCHES: Final[dict[str, frozenset[str]]] = {
    "round": frozenset({"banner", "gauges"}),
    "council": frozenset({"council"}),
    "checkin": frozenset({"checkin"}),
    "act": frozenset({"gauges", "counts", "council"}),
    "ask": frozenset({"asks", "gauges", "counts"}),
    "job": frozenset({"counts"}),
    "job.created": frozenset({"counts", "jobs"}),
    "job.planned": frozenset({"counts", "asks"}),
    "job.ended": frozenset({"counts", "jobs"}),
    "plan": frozenset({"counts", "asks"}),
    "run": frozenset({"banner"}),
    "level": frozenset({"banner"}),
    "model": frozenset({"gauges"}),
    "fuel": frozenset({"gauges"}),
    "message": frozenset({"banner", "controls"}),
    "notice": frozenset({"notices"}),
    "push": frozenset({"notices"}),
}
"""By kind, and for all other kinds of a group by the group."""
