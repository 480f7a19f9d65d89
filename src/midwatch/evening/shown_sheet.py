"""What a signature is for: the orders, and what the sheet beside them says of their projects and of the settings."""

import contextlib

from midwatch.errors import MidwatchError, Stale
from midwatch.journal.entry import canonical, digest
from midwatch.journal.events import session as ev
from midwatch.ports.books import Books
from midwatch.ports.journal import Journal, Records
from midwatch.settings import Settings
from midwatch.terms.orders import Orders
from midwatch.terms.projects import Project
from midwatch.terms.records import ProjectRow, SessionRow
from midwatch.views.pages.sheet_changes import bounds_now, project_now, sheet_changes

SHORT = 16
"""Enough digits for each part beside the orders."""
BETWEEN = "_"
SAID_OF_PROJECTS = set(Project.model_fields) - {"id", "purpose", "priority"}


def orders_hash(orders: Orders) -> str:
    """Return the hash that identifies exactly these orders."""
    return digest(canonical(orders.model_dump(mode="json")))


async def sheet_hash(records: Records, settings: Settings, orders: Orders) -> str:
    """Identify exactly what a sheet shows: its orders, and each thing it says beside them."""
    beside = await _beside(records, settings, orders)
    return BETWEEN.join((orders_hash(orders), *(part for part, _ in beside)))


async def _beside(records: Records, settings: Settings, orders: Orders) -> tuple[tuple[str, str], ...]:
    """Return what the settings and each project add to these orders, each as a hash and in words."""
    most = settings.execution
    words = bounds_now(settings.asks.approve_plan_minutes, most.max_files_changed, most.max_diff_lines)
    found = [(digest(words)[:SHORT], words)]
    for name in dict.fromkeys(piece.project for piece in orders.pieces()):
        with contextlib.suppress(MidwatchError):  # what names no project is refused elsewhere
            row = await records.get(ProjectRow, name)
            protected = row.name in settings.gate.protected_projects
            exact = canonical([row.model_dump(mode="json", include=SAID_OF_PROJECTS), protected])
            found.append((digest(exact)[:SHORT], project_now(row, protected=protected)))
    return tuple(found)


async def require_shown(books: Books, session: SessionRow, shown: str) -> None:
    """Refuse a signature for another sheet than the one that was shown, and say what is different now."""
    if shown == await sheet_hash(books.records, books.settings(), session.orders):
        return
    said = "The orders have changed since you were shown them."
    changes = await changes_since(books, session, shown)
    raise Stale(said, hint="Read the sheet again, then sign it.", because=(said, *changes))


async def changes_since(books: Books, session: SessionRow, shown: str) -> tuple[str, ...]:
    """List what is different from the sheet with this hash; nothing where that sheet was never a draft."""
    orders, *before = shown.split(BETWEEN)
    if orders != orders_hash(session.orders):
        return await _orders_since(books.journal, session, orders)
    beside = await _beside(books.records, books.settings(), session.orders)
    were = (*before, *("" for _ in beside))
    return tuple(words for was, (part, words) in zip(were, beside, strict=False) if was != part)


async def _orders_since(journal: Journal, session: SessionRow, orders_shown: str) -> tuple[str, ...]:
    after = 0
    while drafted := await journal.entries(after=after, kinds=("session.opened", "orders.changed")):
        after = drafted[-1].seq
        for event in (entry.event for entry in drafted):
            match event:
                case ev.SessionOpened(orders=orders) | ev.OrdersChanged(orders=orders) if (
                    orders_hash(orders) == orders_shown
                ):
                    return sheet_changes(orders, session.orders)
    return ()
