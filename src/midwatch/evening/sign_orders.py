"""From a draft of orders to a night that has started: draft, check, sign, start."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from midwatch.errors import MidwatchError, Misuse, Refused, Unknown
from midwatch.evening.context import Evening
from midwatch.evening.projects import current_level
from midwatch.evening.shown_sheet import BETWEEN, orders_hash, require_shown
from midwatch.journal.events import Event
from midwatch.journal.events import session as ev
from midwatch.journal.events.preflight import SigningDropped
from midwatch.journal.events.projects import LevelChanged, WorkAdded
from midwatch.ports.books import Books
from midwatch.ports.clock import Ids
from midwatch.ports.journal import Records
from midwatch.rules.paths import require_patterns
from midwatch.rules.people.ceilings import refuse_beyond
from midwatch.settings import Settings, careful_limits, granted_ceilings, session_limits
from midwatch.settings.zone import local_time
from midwatch.terms.jobs import RepositoryFacts
from midwatch.terms.orders import Orders
from midwatch.terms.preflight import PreflightState
from midwatch.terms.projects import SessionState, WorkStatus
from midwatch.terms.records import PreflightRow, ProjectRow, SessionRow, WorkRow
from midwatch.terms.trust import Level

LONGEST_TITLE = 300
Part = Literal["goals", "work", "until", "day"]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps orders from being signed: the part to fix, and the error `start` would raise."""

    part: Part
    error: MidwatchError


async def draft(evening: Evening, orders: Orders, *, by: str, source: str = "") -> SessionRow:
    """Open a briefing with these orders, or replace the open draft."""
    books = evening.books
    await _check(evening, orders)
    await _refuse_past(evening, orders)
    orders = _filled(books.settings(), orders)
    open_drafts = await books.records.find(SessionRow, state=SessionState.BRIEFING)
    if open_drafts and not open_drafts[-1].signed_by:
        changed = ev.OrdersChanged(session=open_drafts[-1].id, orders=orders)
        await books.journal.record(changed, *_no_longer_signed(open_drafts[-1], orders), actor=by)
        return await books.records.get(SessionRow, open_drafts[-1].id)
    opened = ev.SessionOpened(session=books.ids.new("ses"), orders=orders, source=source)
    await books.journal.record(opened, actor=by)
    return await books.records.get(SessionRow, opened.session)


def _no_longer_signed(draft: SessionRow, orders: Orders) -> tuple[Event, ...]:
    """A signature that waits was given for another sheet."""
    if not draft.signing_by or draft.signing_hash.partition(BETWEEN)[0] == orders_hash(orders):
        return ()
    why = f"they were changed after {draft.signing_by} pressed Sign."
    return (SigningDropped(session=draft.id, why=why),)


async def current_draft(records: Records) -> SessionRow:
    """Find the orders that wait to be signed."""
    open_drafts = await records.find(SessionRow, state=SessionState.BRIEFING)
    if not open_drafts:
        raise Unknown(
            "There are no orders to sign.",
            hint="Write some: midwatch brief --example > orders.toml, edit it, midwatch brief --file orders.toml",
        )
    return open_drafts[-1]


async def start(evening: Evening, *, by: str, shown: str = "", capped: bool = False) -> SessionRow:
    """Sign the open draft and begin the night. One confirmation, and nothing starts without it (N25).

    Who is `capped` signs only what an owner granted.

    `shown` is the hash of the sheet the person looked at; another sheet is not signed in its place. It is empty only
    where one program wrote and signs the orders itself.
    """
    books = evening.books
    session = await current_draft(books.records)
    orders = session.orders
    if shown:
        await require_shown(books, session, shown)
    if capped:
        await refuse_ungranted(books, orders)
    for _, check in CHECKS:
        await check(evening, orders)
    projects = await _check(evening, orders)
    repositories = await _inspected(evening, orders)
    events = await _events(books, session, projects, repositories, by)
    await books.journal.record(*events, actor=by)
    return await books.records.get(SessionRow, session.id)


async def refuse_ungranted(books: Books, orders: Orders) -> None:
    """Raise where orders go beyond what an owner granted to everybody else (SPEC 9)."""
    standing = await current_level(books.records, books.settings())
    refuse_beyond(orders, granted_ceilings(books.settings(), standing))


async def obstacles(evening: Evening, orders: Orders, *, with_repositories: bool = True) -> tuple[Obstacle, ...]:
    """Return everything that keeps these orders from being signed now, without signing them."""
    found: list[Obstacle] = []
    repositories: tuple[tuple[Part, Check], ...] = (("work", _inspected),) if with_repositories else ()
    looks = (*CHECKS, *repositories)
    for part, check in looks:
        try:
            await check(evening, orders)
        except MidwatchError as error:
            if error.message not in {one.error.message for one in found}:
                found.append(Obstacle(part, error))
    return tuple(found)


async def _events(
    books: Books,
    session: SessionRow,
    projects: tuple[ProjectRow, ...],
    repositories: tuple[RepositoryFacts, ...],
    by: str,
) -> list[Event]:
    orders = session.orders
    now = books.clock.now()
    ends_at = now + timedelta(minutes=orders.limits.minutes)
    if orders.until is not None:
        ends_at = min(ends_at, orders.until)
    items, added = await _items(books.records, books.ids, orders, projects)
    before, signed = await current_level(books.records, books.settings()), orders_hash(orders)
    known = await books.records.find(PreflightRow, session=session.id, orders_hash=signed, state=PreflightState.ENDED)
    earlier = await books.records.find(SessionRow, state=SessionState.DEBRIEF)
    return [
        *(ev.SessionEnded(session=one.id, reason="the next night began") for one in earlier),
        *added,
        ev.OrdersSigned(session=session.id, orders_hash=signed, by=by, preflight=known[-1].id if known else ""),
        *_for_this_night(session.id, orders, before),
        ev.SessionStarted(
            session=session.id, level=orders.level, ends_at=ends_at, items=items, repositories=repositories
        ),
    ]


def _for_this_night(session: str, orders: Orders, standing: Level) -> tuple[Event, ...]:
    """Record a level that differs from the standing one: it is for this night, and a higher one counts as forced."""
    if orders.level is standing:
        return ()
    raised = orders.level.rank > standing.rank
    reason = "signed orders"
    return (LevelChanged(level=orders.level, previous=standing, forced=raised, reason=reason, session=session),)


async def _items(
    records: Records, ids: Ids, orders: Orders, projects: tuple[ProjectRow, ...]
) -> tuple[tuple[ev.OrderedItem, ...], list[Event]]:
    """Match every order with a work item: an existing one, by number or title, or a new one."""
    items: list[ev.OrderedItem] = []
    added: list[Event] = []
    for ordered, project in zip(orders.pieces(), projects, strict=True):
        known = [
            row
            for row in await records.find(WorkRow, project=project.id)
            if row.status is not WorkStatus.DONE and ordered.title in {row.title, f"#{row.number}"}
        ]
        taken = {item.work_item for item in items}
        row = next((one for one in known if one.id not in taken), None)
        title = row.title if row else ordered.title
        name = row.id if row else ids.new("work")
        if row is None:
            added.append(WorkAdded(item=name, project=project.id, title=title, next_step="ordered for tonight"))
        items.append(ev.OrderedItem(work_item=name, project=project.id, title=title))
    return tuple(items), added


async def _check(evening: Evening, orders: Orders) -> tuple[ProjectRow, ...]:
    """Everything the orders name must exist."""
    found = []
    if fault := next((one.fault for one in orders.work if one.fault), ""):
        raise Misuse(f"A piece of work is not clear: {fault}.", hint="Compare: midwatch brief --example")
    require_patterns((*orders.do_not_touch, *(path for piece in orders.pieces() for path in piece.paths)))
    for ordered in orders.pieces():
        try:
            found.append(await evening.books.records.get(ProjectRow, ordered.project))
        except Unknown as unknown:
            raise Unknown(
                f"The orders name an unknown project {ordered.project!r}.",
                hint="List them: midwatch project; add one: midwatch project add PATH",
            ) from unknown
        if not ordered.title.strip() or len(ordered.title) > LONGEST_TITLE:
            raise Misuse("A piece of work needs a title of a few words.", hint=f"At most {LONGEST_TITLE} characters.")
        if ordered.agent not in evening.agents:
            raise Misuse(
                f"The orders name an unknown agent {ordered.agent!r}.",
                hint=f"Agents: {', '.join(sorted(evening.agents))}. What others need: midwatch agent list",
            )
    return tuple(found)


async def _need_goals(_evening: Evening, orders: Orders) -> None:
    if not orders.goals:
        raise Refused("The orders have no goals, so the night cannot start.", hint='Add some: goals = ["..."]')


async def _need_work(_evening: Evening, orders: Orders) -> None:
    if not orders.work:
        raise Refused("The orders name no work, so the night cannot start.", hint="Add a [[work]] table.")


async def _inspected(evening: Evening, orders: Orders) -> tuple[RepositoryFacts, ...]:
    """Look at every repository the orders name."""
    projects = await _check(evening, orders)
    return tuple([await evening.inspector.inspect(row.path) for row in _distinct(projects)])


async def _refuse_past(evening: Evening, orders: Orders) -> None:
    if orders.until is not None and orders.until <= evening.books.clock.now():
        raise Misuse("The orders end in the past.", hint="Set `until` to a later time, or leave it out.")


def _filled(settings: Settings, orders: Orders) -> Orders:
    """Keep what the orders say, lower or higher, fill in the rest before signing, and remember which lines those are.

    Limits that are not named are the usual ones; orders without any limit get a small budget.
    """
    unsaid = orders.left_unsaid()
    named = {name: getattr(orders.limits, name) for name in orders.limits.model_fields_set}
    rest = session_limits(settings) if "limits" in orders.model_fields_set else careful_limits(settings)
    return orders.model_copy(update={"limits": rest.model_copy(update=named), "unsaid": unsaid})


async def _refuse_one_too_many(evening: Evening, _orders: Orders) -> None:
    """Refuse a night above the daily limit; a day is counted in the person's time zone."""
    settings = evening.books.settings()
    today, most = local_time(settings, evening.books.clock.now()).date(), settings.autonomous.max_daily_sessions
    began = [row.started_at for row in await evening.books.records.find(SessionRow, ad_hoc=False) if row.started_at]
    if sum(local_time(settings, at).date() == today for at in began) >= most:
        raise Refused(
            f"No more sessions can start today: the daily maximum is {most}.",
            hint="Wait until tomorrow, or raise the setting autonomous.max_daily_sessions.",
        )


Check = Callable[[Evening, Orders], Awaitable[object]]
CHECKS: Final[tuple[tuple[Part, Check], ...]] = (
    ("goals", _need_goals),
    ("work", _need_work),
    ("day", _refuse_one_too_many),
    ("work", _check),
    ("until", _refuse_past),
)
"""What must hold before a night is signed, in the order of reporting; repositories are checked last."""


def _distinct(projects: tuple[ProjectRow, ...]) -> list[ProjectRow]:
    return list({row.id: row for row in projects}.values())
