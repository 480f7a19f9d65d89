"""Starts preflights of tonight's orders, and finds the last result (X10)."""

import contextlib
from dataclasses import dataclass

from midwatch.errors import MidwatchError
from midwatch.evening import sign_orders
from midwatch.evening.context import Evening
from midwatch.evening.shown_sheet import BETWEEN, orders_hash
from midwatch.journal.events import Event
from midwatch.journal.events.preflight import PreflightBegun, SigningAsked
from midwatch.ports.books import Books
from midwatch.ports.journal import Records
from midwatch.rules.people.preflight import still_holds
from midwatch.settings import Settings
from midwatch.terms.orders import Limits, Orders
from midwatch.terms.preflight import PreflightPlan, PreflightState, ProjectTried
from midwatch.terms.projects import SessionState
from midwatch.terms.records import PreflightRow, ProjectRow, SessionRow
from midwatch.terms.trust import Level


@dataclass(frozen=True, slots=True)
class WaitingSignature:
    """What a person signs if the preflight finds nothing bad: the hash of the sheet they were shown.

    Who is `capped` signs only what an owner granted.
    """

    shown: str
    capped: bool


async def begin(
    evening: Evening, *, by: str, to_sign: bool = False, anyway: bool = False, signature: WaitingSignature | None = None
) -> PreflightRow:
    """Start a preflight of everything the open draft needs; one that already runs for the same plan is returned.

    `to_sign` first raises what keeps the orders from being signed whatever a preflight finds, and accepts a recent
    preflight that found nothing bad; with `anyway`, any recent one. A `signature` is given if it finds nothing bad.
    """
    books = evening.books
    session = await sign_orders.current_draft(books.records)
    await _refuse_unsignable(evening, session.orders, thoroughly=to_sign)
    plan = await plan_of(books.records, books.settings(), session.orders)
    last = await latest(books.records, session)
    if last is not None and last.plan == plan and (_running(last) or (to_sign and holds(books, last, anyway=anyway))):
        if signature:
            await books.journal.record(*_asked(session, signature, by, last.id), actor=by)
        return last
    return await _begun(books, plan, session, signature, by)


def _asked(
    session: SessionRow | None, signature: WaitingSignature | None, by: str, preflight: str
) -> tuple[Event, ...]:
    if session is None or signature is None:
        return ()
    asked = SigningAsked(
        session=session.id,
        orders_hash=signature.shown.partition(BETWEEN)[0],
        by=by,
        preflight=preflight,
        shown=signature.shown,
        capped=signature.capped,
    )
    return (asked,)


def _running(row: PreflightRow) -> bool:
    return row.state is PreflightState.RUNNING


async def begin_alone(evening: Evening, project: str, *, by: str) -> PreflightRow:
    """Start a preflight of one project, with every agent that could work in it."""
    row = await evening.books.records.get(ProjectRow, project)
    plan = PreflightPlan(
        level=Level.CAUTIOUS, limits=Limits(), projects=(tried(row),), agents=tuple(sorted(evening.agents))
    )
    return await _begun(evening.books, plan, None, None, by)


async def _begun(
    books: Books, plan: PreflightPlan, session: SessionRow | None, signature: WaitingSignature | None, by: str
) -> PreflightRow:
    name = books.ids.new("pre")
    about = (session.id, orders_hash(session.orders)) if session else ("", "")
    begun = PreflightBegun(preflight=name, session=about[0], orders_hash=about[1], plan=plan)
    await books.journal.record(begun, *_asked(session, signature, by, name), actor=by)
    return await books.records.get(PreflightRow, name)


async def _refuse_unsignable(evening: Evening, orders: Orders, *, thoroughly: bool) -> None:
    for found in await sign_orders.obstacles(evening, orders, with_repositories=thoroughly):
        raise found.error


async def latest(records: Records, session: SessionRow) -> PreflightRow | None:
    """Find the last preflight of exactly these orders."""
    rows = await records.find(PreflightRow, session=session.id)
    same = [row for row in rows if row.orders_hash == orders_hash(session.orders)]
    return same[-1] if same else None


async def standing(books: Books) -> tuple[PreflightRow | None, bool]:
    """Return the last preflight of tonight's draft, and whether it is enough for signing."""
    drafts = await books.records.find(SessionRow, state=SessionState.BRIEFING)
    last = await latest(books.records, drafts[-1]) if drafts else None
    if last is None:
        return None, False
    same = last.plan == await plan_of(books.records, books.settings(), drafts[-1].orders)
    return (last if same else None), same and holds(books, last)


def holds(books: Books, row: PreflightRow, *, anyway: bool = False) -> bool:
    """Return whether a preflight is recent enough, and found nothing bad unless `anyway`."""
    minutes = books.settings().preflight.fresh_minutes
    ended_at = row.ended_at if row.state is PreflightState.ENDED else None
    bad = bool(row.bad or row.error) and not anyway
    return still_holds(ended_at, books.clock.now(), minutes, bad=bad)


async def plan_of(records: Records, settings: Settings, orders: Orders) -> PreflightPlan:
    """List everything these orders need."""
    rows: dict[str, ProjectRow] = {}
    ordered: dict[str, dict[tuple[str, ...], None]] = {}
    for piece in orders.pieces():
        with contextlib.suppress(MidwatchError):  # what names no project is refused elsewhere
            row = await records.get(ProjectRow, piece.project)
            rows[row.id] = row
            ordered.setdefault(row.id, {})[piece.checks] = None
    return PreflightPlan(
        level=orders.level,
        limits=orders.limits,
        projects=tuple(tried(row, *ordered[name]) for name, row in rows.items()),
        agents=tuple(dict.fromkeys(work.agent for work in orders.work)),
        channels=tuple(settings.channels.by_name()),
    )


def tried(row: ProjectRow, *ordered: tuple[str, ...]) -> ProjectTried:
    """Copy what a preflight needs to know of a project, and the checks that each piece of work in it names."""
    named = (check for checks in (*ordered, row.checks) for check in checks)
    return ProjectTried(
        id=row.id,
        name=row.name,
        path=row.path,
        branch=row.branch,
        setup=row.setup,
        checks=tuple(dict.fromkeys(named)),
        project_checks=row.checks,
        ordered=ordered,
    )


async def may_sign(books: Books, *, anyway: str = "") -> bool:
    """Return whether signing needs no new preflight: a recent one is good, or the person has seen its bad lines.

    `anyway` names the preflight whose bad lines the person has seen.
    """
    last, rests = await standing(books)
    return rests or (last is not None and last.id == anyway and last.state is PreflightState.ENDED)
