"""The audit: the chain, the rebuild and the invariants, read from journal, records and machine."""

import asyncio
from dataclasses import replace
from typing import Any

from midwatch.compose.house import House
from midwatch.journal.entry import Entry
from midwatch.ports.journal import Moment
from midwatch.rules.invariants.invariants import MachineSeen, check, check_machine
from midwatch.rules.invariants.records_seen import RecordsSeen, Violation
from midwatch.surfaces.queries.replay import every_entry
from midwatch.terms import records as rec


def verify(house: House) -> dict[str, Any]:
    """Walk the chain and compare the records with a rebuild on the side."""
    result = house.audit()
    return {"entries": result.entries, "broken": result.broken, "differs": list(result.differs)}


async def violations(house: House) -> tuple[Violation, ...]:
    """Check every invariant; of a night that goes on meanwhile, as it was at one moment."""
    before = await house.workshop.rooms.living()
    head, recorded = await house.records.at_once(lambda now: (now.head, _recorded(now)))
    seen = replace(recorded, held=await house.doors.ledger.held())
    entries = tuple(entry for entry in await every_entry(house) if entry.seq <= head)
    after = await house.workshop.rooms.living()
    machine = MachineSeen(
        living=tuple(one for one in before if one in after),  # at that moment; others began or ended since
        leaks=await asyncio.to_thread(_leaks, house, entries),
    )
    return (*check(entries, seen), *check_machine(seen.jobs, machine))


def _recorded(now: Moment) -> RecordsSeen:
    return RecordsSeen(
        sessions=now.find(rec.SessionRow),
        acts=now.find(rec.ActRow),
        runs=now.find(rec.RunRow),
        jobs=now.find(rec.JobRow),
        asks=now.find(rec.AskRow),
        pull_requests=now.find(rec.PullRequestRow),
        notices=now.find(rec.NoticeRow),
        deliveries=now.find(rec.DeliveryRow),
        timers=now.find(rec.TimerRow),
    )


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
