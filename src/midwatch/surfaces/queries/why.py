"""Why an entry was written, or a recommendation made: reads only the entries that matter, not the history."""

from collections.abc import Iterable

from midwatch.compose.read_side import ReadSide
from midwatch.errors import Unknown
from midwatch.journal.entry import Entry
from midwatch.journal.events.jobs import JobCreated, RunStarted
from midwatch.journal.events.morning import ReportWritten
from midwatch.journal.events.projects import WorkAdded
from midwatch.journal.events.session import ActJudged, CouncilSpoke
from midwatch.surfaces.queries.names import names_of
from midwatch.views.entries.advice import AdviceExplained, why_recommendation
from midwatch.views.entries.causes import OWNED, Lean, leans_on, speaks_for
from midwatch.views.entries.why import LONGEST, Explanation, why
from midwatch.views.pages.council import DECIDING, DecisionShown, decisions_shown

AHEAD = 1000
"""How many of the following entries are searched for consequences."""
TRIES = 20
OF_JOB = ("job.created", "job.planned", "job.approved", "job.verified")
OF_SESSION = ("session.opened", "orders.changed", "orders.signed")


async def why_entry(house: ReadSide, seq: int) -> tuple[Entry, Explanation]:
    """Explain one entry: its causes upward, and what followed from it."""
    asked = await house.history.at([seq])
    if not asked:
        raise Unknown(f"The journal has no entry {seq}.", hint="List them: midwatch replay")
    later = await house.history.window(after=seq, limit=AHEAD)
    entries = (*await _behind(house, asked[0]), *later)
    names = await names_of(house, entries)
    belongs = await house.history.owners_of(house.history.mentioned(entries))
    return asked[0], why(seq, entries, names, belongs)


async def decision_of(house: ReadSide, asked: Entry) -> tuple[DecisionShown, ...]:
    """Read the decision an entry is part of, with the words of every voice; nothing for other entries."""
    if not isinstance(asked.event, CouncilSpoke | ActJudged):
        return ()
    entries = await house.history.about([asked.event.act], DECIDING)
    return decisions_shown(entries, await names_of(house, entries))


async def _behind(house: ReadSide, asked: Entry) -> tuple[Entry, ...]:
    """Walk from cause to cause, as far as an explanation reaches, and return all of them in order."""
    found, level = {asked.seq: asked}, [asked]
    while level and len(found) <= LONGEST:
        named = {number for entry in level for number in entry.because}
        near = [*await house.history.at(named - found.keys()), *[await _leaning(house, entry) for entry in level]]
        level = list({entry.seq: entry for entry in near if entry and entry.seq not in found}.values())
        found |= {entry.seq: entry for entry in level}
    return tuple(found[number] for number in sorted(found))


async def _leaning(house: ReadSide, entry: Entry) -> Entry | None:
    """Find the latest entry about the best thing an entry depends on."""
    for lean in leans_on(entry.event):
        if last := await _last_word(house, lean, entry.seq):
            return last
    return None


async def _last_word(house: ReadSide, lean: Lean, before: int) -> Entry | None:
    """Find the newest entry about a thing, or about a job or an ask that belongs to it."""
    owned = await house.history.owned_by(lean.thing)
    own = None
    for _ in range(TRIES):
        own = await house.history.last_about([lean.text], lean.kinds, before=own.seq if own else before)
        if own is None or lean.thing in speaks_for(own.event):
            break
    newer = await house.history.last_about(owned, OWNED, before=before, after=own.seq if own else 0)
    return newer or own


async def why_advice(house: ReadSide, name: str) -> AdviceExplained:
    """Explain one recommendation of a brief."""
    reports = await house.history.about([name], ("report.written",))
    entries = await _around(house, reports[-1], name) if reports else ()
    return why_recommendation(entries, name, await names_of(house, entries))


async def _around(house: ReadSide, written: Entry, name: str) -> tuple[Entry, ...]:
    """Read what a recommendation rests on: its job's course, the orders, the evidence, the goals."""
    about, report = house.history.about, written.event
    assert isinstance(report, ReportWritten)  # noqa: S101  asked for by kind
    advice = next((one for one in report.recommendations if one.id == name), None)
    if advice is None:
        return ()
    traced = advice.why.removeprefix("trace:") if advice.why.startswith("trace:") else advice.run
    created = await about(_some(traced), ("job.created",))
    own = (*await about(_some(advice.work_item), ("work.added",)), *await about(_some(advice.run), ("run.started",)))
    jobs = {one.event.job for one in created if isinstance(one.event, JobCreated)}
    acts = {one.event.act for one in created if isinstance(one.event, JobCreated)} - {""}
    found = (
        written,
        *created,
        *own,
        *await about([report.session], OF_SESSION),
        *await about(jobs, OF_JOB),
        *await about(acts, ("act.judged",)),
        *await about(advice.evidence, ("evidence.found",)),
        *await about(_goals(own), ("goal.set",)),
    )
    return tuple(sorted({entry.seq: entry for entry in found}.values(), key=lambda one: one.seq))


def _some(name: str) -> tuple[str, ...]:
    return (name,) if name else ()


def _goals(entries: Iterable[Entry]) -> set[str]:
    found: set[str] = set()
    for entry in entries:
        match entry.event:
            case WorkAdded(goal_links=links):
                found.update(links)
            case RunStarted(contract=contract):
                found.update(contract.goal_links)
            case _:
                pass
    return found
