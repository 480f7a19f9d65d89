"""The audit: the chain, the rebuild and the invariants, read from journal, records and machine."""

import asyncio
from typing import Any

from midwatch.compose.house import House
from midwatch.journal.entry import Entry
from midwatch.rules.invariants.invariants import MachineSeen, check, check_machine
from midwatch.rules.invariants.records_seen import RecordsSeen, Violation
from midwatch.surfaces.queries.replay import every_entry
from midwatch.terms import records as rec

KINDS = (
    *(rec.SessionRow, rec.ActRow, rec.RunRow, rec.JobRow, rec.AskRow, rec.PullRequestRow),
    *(rec.NoticeRow, rec.DeliveryRow, rec.TimerRow),
)


def verify(house: House) -> dict[str, Any]:
    """Walk the chain and compare the records with a rebuild on the side."""
    result = house.audit()
    return {"entries": result.entries, "broken": result.broken, "differs": list(result.differs)}


async def violations(house: House) -> tuple[Violation, ...]:
    """Check every invariant; of a night that goes on meanwhile, as it was at one moment."""
    before = await house.workshop.rooms.living()
    now = await house.records.at_once(*KINDS)
    seen = RecordsSeen(
        sessions=now.of(rec.SessionRow),
        acts=now.of(rec.ActRow),
        runs=now.of(rec.RunRow),
        jobs=now.of(rec.JobRow),
        asks=now.of(rec.AskRow),
        pull_requests=now.of(rec.PullRequestRow),
        notices=now.of(rec.NoticeRow),
        deliveries=now.of(rec.DeliveryRow),
        timers=now.of(rec.TimerRow),
        held=await house.doors.ledger.held(),
    )
    entries = tuple(entry for entry in await every_entry(house) if entry.seq <= now.head)
    after = await house.workshop.rooms.living()
    machine = MachineSeen(
        living=tuple(one for one in before if one in after),  # at that moment; others began or ended since
        leaks=await asyncio.to_thread(_leaks, house, entries),
    )
    return (*check(entries, seen), *check_machine(seen.jobs, machine))


def _leaks(house: House, entries: tuple[Entry, ...]) -> tuple[tuple[str, str], ...]:
    """Search the journal, the logs and the blobs for the known secrets, in every known spelling."""
    reveals = house.redactor.reveals
    found = {(name, f"entry {entry.seq}") for entry in entries for name in reveals(_text(entry))}
    files = [*house.home.glob("jobs/*/*.log"), *house.home.glob("*.log"), *house.home.glob("blobs/**/*")]
    for file in files:
        if file.is_file():
            found |= {(name, str(file.relative_to(house.home))) for name in reveals(file.read_bytes())}
    return tuple(sorted(found))


def _text(entry: Entry) -> bytes:
    return f"{entry.actor} {entry.key} {entry.event.model_dump_json()}".encode(errors="surrogatepass")
