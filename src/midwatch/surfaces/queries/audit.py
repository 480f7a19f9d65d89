"""The audit: the chain, the rebuild and the invariants, read from journal, records and machine."""

import asyncio
from typing import Any

from midwatch.compose.house import House
from midwatch.journal.entry import Entry
from midwatch.rules.invariants.invariants import MachineSeen, check, check_machine
from midwatch.rules.invariants.records_seen import RecordsSeen, Violation
from midwatch.surfaces.queries.replay import every_entry
from midwatch.terms import records as rec


def verify(house: House) -> dict[str, Any]:
    """Walk the chain and compare the records with a rebuild on the side."""
    result = house.audit()
    return {"entries": result.entries, "broken": result.broken, "differs": list(result.differs)}


async def violations(house: House) -> tuple[Violation, ...]:
    find = house.records.find
    seen = RecordsSeen(
        sessions=await find(rec.SessionRow),
        acts=await find(rec.ActRow),
        runs=await find(rec.RunRow),
        jobs=await find(rec.JobRow),
        asks=await find(rec.AskRow),
        pull_requests=await find(rec.PullRequestRow),
        notices=await find(rec.NoticeRow),
        deliveries=await find(rec.DeliveryRow),
        timers=await find(rec.TimerRow),
        held=await house.doors.ledger.held(),
    )
    entries = await every_entry(house)
    machine = MachineSeen(
        living=await house.workshop.rooms.living(), leaks=await asyncio.to_thread(_leaks, house, entries)
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
