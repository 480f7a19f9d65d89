"""Whether everything adds up: the chain, the rebuild, the invariants, read from journal and records alone."""

from typing import Any

from midwatch.compose import House
from midwatch.journal.entry import Entry
from midwatch.rules.invariants import RecordsSeen, Violation, check
from midwatch.store.audit import audit
from midwatch.terms import records as rec

PAGE = 1000


async def every_entry(house: House, *, kinds: tuple[str, ...] = ()) -> tuple[Entry, ...]:
    """Read the whole journal, page by page."""
    found: list[Entry] = []
    after = 0
    while page := await house.journal.entries(after=after, limit=PAGE, kinds=kinds):
        found += page
        after = page[-1].seq
    return tuple(found)


def verify(house: House) -> dict[str, Any]:
    """Walk the chain and compare the records with a rebuild on the side."""
    result = audit(house.url)
    return {"entries": result.entries, "broken": result.broken, "differs": list(result.differs)}


async def violations(house: House) -> tuple[Violation, ...]:
    """Check the invariants."""
    find = house.records.find
    seen = RecordsSeen(
        sessions=await find(rec.SessionRow),
        acts=await find(rec.ActRow),
        runs=await find(rec.RunRow),
        jobs=await find(rec.JobRow),
        asks=await find(rec.AskRow),
        pull_requests=await find(rec.PullRequestRow),
        notices=await find(rec.NoticeRow),
        invocations=await find(rec.InvocationRow),
        timers=await find(rec.TimerRow),
    )
    return check(await every_entry(house), seen)
