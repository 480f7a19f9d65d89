"""What the Live page remembers of the newest night: its picture, milestones, decisions, and each job's last line."""

import asyncio
from collections import deque
from typing import Final

from midwatch.compose.house import House
from midwatch.journal.entry import Entry
from midwatch.journal.events.session import ActJudged, CouncilSpoke, SessionStarted
from midwatch.terms.acts import WAITING
from midwatch.terms.projects import SessionState
from midwatch.terms.records import SessionRow
from midwatch.views.entries.tags import MILESTONES
from midwatch.views.pages.council import DECIDING
from midwatch.views.pages.live.jobs import LAST_LINES
from midwatch.views.pages.live.night import FEED_ROWS
from midwatch.views.pages.live.night_picture import PICTURED

PAGE: Final = 1000
LATEST: Final = (SessionState.AUTONOMOUS, SessionState.DEBRIEF)
KINDS: Final = tuple(sorted({"session.started", "job.ended", *PICTURED, *MILESTONES, *DECIDING, *LAST_LINES}))


class NightCourse:
    """Follows the journal from the beginning of the newest night, as often as it is asked to."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.pictured: list[Entry] = []
        """The entries of the picture."""
        self.milestones: deque[Entry] = deque(maxlen=FEED_ROWS)
        self.decided: list[Entry] = []
        """The decisions of the last round that did more than wait, and what the council said to them."""
        self._of = ""
        """The session that is shown."""
        self._opinions: Entry | None = None
        """What the council said last; the decision follows it."""
        self.last: dict[str, Entry] = {}
        """The last entry about each job that is not over."""
        self._upto = 0
        self._reading = asyncio.Lock()

    async def session(self) -> SessionRow | None:
        """The night under way or the one that waits for its review; otherwise the last session opened.

        A command that a person starts beside a night does not take its place.
        """
        find = self._house.records.find
        nights = await find(SessionRow, state=LATEST, ad_hoc=False)
        found = nights or await find(SessionRow, state=LATEST) or await find(SessionRow)
        return found[-1] if found else None

    async def catch_up(self) -> None:
        """Read what is new."""
        async with self._reading:
            self._upto = self._upto or await self._before()
            while page := await self._house.journal.entries(after=self._upto, limit=PAGE, kinds=KINDS):
                for entry in page:
                    if isinstance(entry.event, SessionStarted) and await self._is_shown(entry.event.session):
                        self._begin(entry.event.session)
                    self._take(entry)
                self._upto = page[-1].seq

    async def _is_shown(self, session: str) -> bool:
        shown = await self.session()
        return shown is not None and shown.id == session

    async def _before(self) -> int:
        """Find the place before the beginning of what is shown: older entries are not."""
        shown, history = await self.session(), self._house.history
        begun = await history.about([shown.id], ("session.started",)) if shown else ()
        last = begun[0] if begun else await history.last_of(("session.started",))
        return last.seq - 1 if last else 0

    def _take(self, entry: Entry) -> None:
        event = entry.event
        if event.kind in PICTURED:
            self.pictured.append(entry)
        if event.kind in MILESTONES:
            self.milestones.append(entry)
        self._decide(entry)
        job = str(getattr(event, "job", ""))
        if event.kind == "job.ended":
            self.last.pop(job, None)
        elif event.kind in LAST_LINES:
            self.last[job] = entry

    def _decide(self, entry: Entry) -> None:
        event = entry.event
        if not isinstance(event, CouncilSpoke | ActJudged) or event.session != self._of:
            return
        if isinstance(event, CouncilSpoke):
            self._opinions = entry
        if isinstance(event, ActJudged) and event.proposal.kind not in WAITING:
            if self.decided and _round_of(self.decided[-1]) != (event.session, event.number):
                self.decided.clear()
            self.decided += [one for one in (self._opinions, entry) if one is not None]

    def _begin(self, session: str) -> None:
        self._of = session
        for kept in (self.pictured, self.milestones, self.decided, self.last):
            kept.clear()


def _round_of(entry: Entry) -> tuple[str, int] | None:
    event = entry.event
    return (event.session, event.number) if isinstance(event, CouncilSpoke | ActJudged) else None
