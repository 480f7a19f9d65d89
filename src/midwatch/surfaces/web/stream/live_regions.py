"""The Live page's parts, drawn from the records once and sent to all readers."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final

from markupsafe import Markup

from midwatch.compose.house import House
from midwatch.journal.entry import Entry
from midwatch.journal.events.session import SessionStarted
from midwatch.rules.morning.tally import tally
from midwatch.surfaces.queries.job_lines import lines_of
from midwatch.surfaces.queries.names import NameBook
from midwatch.surfaces.web.site.page import fragment
from midwatch.surfaces.web.site.pictures import timeline_svg
from midwatch.terms import records as rec
from midwatch.terms.asks import AskState
from midwatch.terms.projects import SessionState
from midwatch.views.pages.channels import NoticeShown, notices_shown
from midwatch.views.pages.live import FEED_ROWS, FeedRow, feed_rows, gauges, jobs_shown, night_shown
from midwatch.views.pages.night_picture import PICTURED, night_picture
from midwatch.views.pages.open_asks import asks_shown
from midwatch.views.text.progress import progress
from midwatch.views.text.quota import fuel_shown

REGIONS: Final = ("banner", "asks", "timeline", "gauges", "jobs", "notices", "controls")
"""The parts of the page that a message may redraw, by the id of their element."""
LATEST: Final = (SessionState.AUTONOMOUS, SessionState.DEBRIEF)
PAGE: Final = 1000
COURSE: Final = tuple(sorted({"session.started", *PICTURED}))


class Painter:
    """Knows the course of the newest night, and draws what changed."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._names = NameBook(house)
        self._course: list[Entry] = []
        """The entries of the picture: those of the newest night of the kinds it shows."""
        self._upto = 0
        self._reading = asyncio.Lock()

    async def paint(self, entries: Sequence[Entry]) -> str:
        """Make one message for a batch of new entries: their rows, and every part they may have changed."""
        await self._catch_up()
        new = fragment("_feed.html", rows=await self.rows(entries))
        parts = [f'<hx-partial hx-target="#feed" hx-swap="afterbegin">{new}</hx-partial>'] if entries else []
        return "\n".join([*parts, await self.regions(changed(entries))])

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
        await self._catch_up()
        shown = await self._shown(wanted)
        return {name: Markup(fragment(f"_{name}.html", **shown)) for name in wanted}  # noqa: S704  our own template's words

    async def newest(self) -> tuple[int, tuple[FeedRow, ...]]:
        """Return the rows a page begins with, newest first, and the place they reach to."""
        await self._catch_up()
        head = await self._house.records.head()
        entries = await self._house.journal.entries(after=max(0, head - FEED_ROWS), limit=PAGE)
        return (entries[-1].seq if entries else head), await self.rows(entries)

    async def rows(self, entries: Sequence[Entry]) -> tuple[FeedRow, ...]:
        """Describe entries in words, newest first, as many as the page keeps."""
        kept = entries[-FEED_ROWS:]
        return feed_rows(kept, await self._names.of(kept))

    async def _catch_up(self) -> None:
        async with self._reading:
            self._upto = self._upto or await self._newest_night()
            while page := await self._house.journal.entries(after=self._upto, limit=PAGE, kinds=COURSE):
                for entry in page:
                    if isinstance(entry.event, SessionStarted):
                        self._course.clear()
                    if entry.event.kind in PICTURED:
                        self._course.append(entry)
                self._upto = page[-1].seq

    async def _newest_night(self) -> int:
        """Find the place before the newest night's beginning: older ones are not in the picture."""
        last = await self._house.history.last_of(("session.started",))
        return last.seq - 1 if last else 0

    async def _session(self) -> rec.SessionRow | None:
        """The night under way or the one that waits for its review; otherwise the last one opened."""
        find = self._house.records.find
        nights = await find(rec.SessionRow, state=LATEST, ad_hoc=False)
        found = nights or await find(rec.SessionRow, state=LATEST) or await find(rec.SessionRow)
        return found[-1] if found else None

    async def _shown(self, wanted: Sequence[str]) -> dict[str, Any]:
        find, now = self._house.records.find, self._house.clock.now()
        session = await self._session()
        asks = await find(rec.AskRow, state=AskState.OPEN)
        asked = await find(rec.AskRow, session=session.id) if session else ()
        jobs = (
            await find(rec.JobRow, session=session.id) if session and {"jobs", "asks", "gauges"} & set(wanted) else ()
        )
        beside = await self._commanded(session) if "jobs" in wanted else ()
        projects = {row.id: row for row in await find(rec.ProjectRow)} if jobs or beside or asks else {}
        began = session.started_at if session else None
        attention = self._house.loaded.settings.notices.daily_budget
        lines = await lines_of(self._house, (*jobs, *beside)) if "jobs" in wanted else {}
        about = {job.id: job for job in jobs} | await self._elsewhere(asks, jobs)
        return {
            "night": night_shown(session, **await self._said(session) if "banner" in wanted else {}),
            "gauges": gauges(session, jobs, now, asks=len(asked), attention=attention) if session and began else (),
            "fuel": fuel_shown(await find(rec.FuelRow), now) if "gauges" in wanted else (),
            "asks": asks_shown(asks, about, projects),
            "jobs": jobs_shown((*jobs, *beside), projects, now, lines),
            "notices": await self._notices(session) if "notices" in wanted else (),
            "timeline": self._picture(session) if "timeline" in wanted else "",
            "began": began,
        }

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

    async def _elsewhere(self, asks: Sequence[rec.AskRow], jobs: Sequence[rec.JobRow]) -> dict[str, rec.JobRow]:
        """Fetch the jobs of older nights that have open asks."""
        known = {job.id for job in jobs}
        missing = tuple(ask.subject for ask in asks if ask.subject and ask.subject not in known)
        return {row.id: row for row in await self._house.records.find(rec.JobRow, id=missing)} if missing else {}

    async def _said(self, session: rec.SessionRow | None) -> dict[str, str]:
        """The result of an ended night, or the authority of a running one."""
        if session is None:
            return {}
        if session.state is SessionState.AUTONOMOUS:
            find = self._house.records.find
            runs, jobs = await find(rec.RunRow, session=session.id), await find(rec.JobRow, session=session.id)
            counted = tally(session.works(), jobs, await find(rec.PastAct, session=session.id))
            authority = {"authority": runs[-1].contract.authority_policy.start_level.value} if runs else {}
            return {"progress": progress(counted)} | authority
        reports = await self._house.records.find(rec.ReportRow, session=session.id)
        return {"headline": reports[-1].brief.headline} if reports else {}

    def _picture(self, session: rec.SessionRow | None) -> Markup:
        if session is None or session.started_at is None:
            return Markup()
        end = session.debrief_at or session.ended_at or self._house.clock.now()
        return timeline_svg(night_picture(self._course, session.started_at, max(end, session.started_at)))


def changed(entries: Iterable[Entry]) -> frozenset[str]:
    """Return which parts of the page such entries may have changed."""
    found: set[str] = set()
    for entry in entries:
        kind = entry.event.kind
        group = kind.partition(".")[0]
        if group in {"session", "orders", "report", "review"}:
            return frozenset(REGIONS)
        found |= TOUCHES.get(group, frozenset())
        if kind in PICTURED:
            found.add("timeline")
    return frozenset(found)


TOUCHES: Final[dict[str, frozenset[str]]] = {
    "round": frozenset({"banner", "gauges"}),
    "act": frozenset({"gauges"}),
    "ask": frozenset({"asks", "gauges", "jobs"}),
    "job": frozenset({"banner", "jobs", "asks"}),
    "run": frozenset({"banner"}),
    "level": frozenset({"banner"}),
    "model": frozenset({"gauges", "jobs"}),
    "agent": frozenset({"jobs"}),
    "fuel": frozenset({"gauges"}),
    "pull_request": frozenset({"jobs"}),
    "message": frozenset({"banner", "controls"}),
    "notice": frozenset({"notices"}),
    "push": frozenset({"notices"}),
}
