"""A signature that waits for its preflight: the server carries it out, with the page open or closed (X10, N25)."""

import contextlib

from midwatch.errors import MidwatchError, Stale
from midwatch.evening import preflight, sign_orders
from midwatch.evening.context import Evening
from midwatch.evening.shown_sheet import require_shown
from midwatch.journal.events.preflight import SigningDropped
from midwatch.journal.events.session import NoticeRaised
from midwatch.ports.books import Books
from midwatch.ports.clock import Ids
from midwatch.ports.journal import Journal, Records
from midwatch.terms.asks import Tier
from midwatch.terms.figures import some
from midwatch.terms.people import Role, Scope
from midwatch.terms.preflight import PreflightState
from midwatch.terms.projects import SessionState
from midwatch.terms.records import PersonRow, PreflightRow, SessionRow

AGAIN = "what it needs has changed since it was checked."


async def sign(evening: Evening, *, by: str, shown: str, anyway: str = "", capped: bool = False) -> SessionRow:
    """Sign exactly the sheet that was shown: at once if a recent preflight allows it, else when a new one does.

    `anyway` names the preflight whose bad lines the person has seen. Who is `capped` signs only what an owner granted.
    """
    books = evening.books
    draft = await sign_orders.current_draft(books.records)
    await require_shown(books, draft, shown)
    if capped:
        await sign_orders.refuse_ungranted(books, draft.orders)
    if await preflight.may_sign(books, anyway=anyway):
        return await sign_orders.start(evening, by=by, shown=shown, capped=capped)
    if not draft.signing_by:
        await preflight.begin(evening, by=by, to_sign=True, signature=preflight.WaitingSignature(shown, capped))
    return await books.records.get(SessionRow, draft.id)


async def take_back(books: Books, *, by: str) -> None:
    """Do not sign yet."""
    draft = await sign_orders.current_draft(books.records)
    if draft.signing_by:
        await books.journal.record(SigningDropped(session=draft.id, why=f"{by} took the signature back."), actor=by)


async def carry_out(evening: Evening, name: str) -> None:
    """After a preflight: give the signature that waits for it, or say why not. Doing it twice changes nothing."""
    books = evening.books
    looked = await books.records.get(PreflightRow, name)
    waiting = await books.records.find(SessionRow, id=looked.session, state=SessionState.BRIEFING)
    if not waiting or not waiting[0].signing_by:
        return
    draft = waiting[0]
    last, good = await preflight.standing(books)
    if good:
        await _give(evening, draft)
    elif not await books.records.find(PreflightRow, session=draft.id, state=PreflightState.RUNNING):
        await _drop(books.journal, books.ids, draft, _not_ready(last))


async def _give(evening: Evening, draft: SessionRow) -> None:
    try:
        await require_shown(evening.books, draft, draft.signing_hash)
    except Stale as error:  # a project or a setting on the sheet was changed meanwhile
        await _drop(evening.books.journal, evening.books.ids, draft, error.message)
        return
    signer = await _signer(evening.books.records, draft.signing_by)
    if signer and (lost := _right_lost(signer)):
        await _drop(evening.books.journal, evening.books.ids, draft, lost)
        return
    try:
        capped = draft.signing_capped or (signer is not None and signer.role is not Role.OWNER)
        await sign_orders.start(evening, by=draft.signing_by, shown=draft.signing_hash, capped=capped)
    except Stale:
        now = await evening.books.records.get(SessionRow, draft.id)
        if now.state is SessionState.BRIEFING:
            raise
    except MidwatchError as error:
        await _drop(evening.books.journal, evening.books.ids, draft, error.message)


async def _signer(records: Records, name: str) -> PersonRow | None:
    """Find the person who pressed Sign as they are now; a name that no person ever had is the machine's own user."""
    people = await records.find(PersonRow, name=name)
    return next((one for one in people if not one.removed), people[-1] if people else None)


def _right_lost(signer: PersonRow) -> str:
    """Say why a person may no longer begin a night; nothing where they may."""
    if signer.removed:
        return f"{signer.name}, who signed, was removed since."
    if Scope.OPERATE not in signer.role.scopes:
        return f"{signer.name}, who signed, is {signer.role} now and may not start a night."
    return ""


def _not_ready(last: PreflightRow | None) -> str:
    if last is None:
        return AGAIN
    return f"{some(last.bad, 'thing')} {'is' if last.bad == 1 else 'are'} not ready." if last.bad else last.error


async def _drop(journal: Journal, ids: Ids, draft: SessionRow, why: str) -> None:
    """The page may be closed, so a notice goes out: the person believes that the night runs."""
    told = NoticeRaised(
        notice=ids.new("ntc"), session=draft.id, tier=Tier.ACTION, text=f"The night has not begun: {why}"
    )
    with contextlib.suppress(Stale):
        await journal.record(SigningDropped(session=draft.id, why=why), told)
