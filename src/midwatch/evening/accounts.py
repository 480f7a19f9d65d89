"""Accounts: logins, links, tokens and roles, and the journal entries about them."""

import asyncio
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Literal

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from midwatch.errors import Hasty, Misuse, Refused, Stranger, Unknown
from midwatch.journal.events import people as ev
from midwatch.ports.clock import Clock, Ids
from midwatch.ports.credentials import CredentialStore
from midwatch.ports.journal import Journal, Records
from midwatch.rules.people.login import (
    MOST_FAILURES,
    MOST_OF_ONE,
    WINDOW,
    is_over,
    objection_to_name,
    objection_to_password,
    wait_before_trying,
)
from midwatch.terms.figures import joined
from midwatch.terms.people import Credential, KeyKind, Login, Role, Scope
from midwatch.terms.records import PersonRow, TokenRow
from midwatch.views.text.plain import clean

LINK_LIVES = timedelta(hours=24)
SEEN_EVERY = timedelta(minutes=5)
"""How often the last use of a login is stored: a write at every request would be a write per click."""
MOST_REMEMBERED = 5000
"""How many names and addresses have their failures counted; new ones push out the oldest."""
TOKEN_PREFIX = "mwt_"  # noqa: S105  so that scanners of leaked secrets recognise it


@dataclass(frozen=True, slots=True)
class Entrance:
    """What authentication needs."""

    journal: Journal
    records: Records
    keys: CredentialStore
    clock: Clock
    ids: Ids
    idle: Callable[[], timedelta]
    longest: Callable[[], timedelta]
    failures: dict[tuple[str, str], list[datetime]] = field(default_factory=dict)


HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
"""argon2id at OWASP's minimum; with 64 MiB per attempt, many logins at once would use up the memory."""


@cache
def decoy() -> str:
    """Hash a random value: a login with an unknown name must take as long as one with a known name."""
    return HASHER.hash(secrets.token_hex(16))


def hashed(secret: str) -> str:
    """Hash a random secret; it has 256 bits, so a fast hash is right."""
    return hashlib.sha256(secret.encode()).hexdigest()


async def anybody(entrance: Entrance) -> bool:
    """Return whether any person exists yet."""
    return bool(await entrance.records.find(PersonRow, removed=False))


async def invite(entrance: Entrance, role: Role, *, by: str, person: str = "") -> str:
    """Make the secret of a one-time link, for a new person or for a known person's new password."""
    known = await person_named(entrance, person) if person else None
    secret = secrets.token_urlsafe(32)
    expires = entrance.clock.now() + LINK_LIVES
    role = known.role if known else role
    subject = known.id if known else ""
    await entrance.keys.keep(
        Credential(id=hashed(secret), kind=KeyKind.LINK, subject=subject, role=role, expires_at=expires)
    )
    await entrance.journal.record(ev.PersonInvited(role=role, person=subject, expires_at=expires), actor=by)
    return secret


async def accept(entrance: Entrance, secret: str, name: str, password: str) -> tuple[PersonRow, str]:
    """Use a one-time link: set name and password, and sign in; return the person and the cookie."""
    link = await entrance.keys.find(KeyKind.LINK, hashed(secret))
    if link is None or (link.expires_at and link.expires_at <= entrance.clock.now()):
        await entrance.journal.record(ev.PersonRefused(name=name[:60], why="link"), actor="stranger")
        raise Stranger("This link was already used, or is older than a day.", hint="Make another: midwatch person link")
    if link.subject:
        name = (await entrance.records.get(PersonRow, link.subject)).name
    # With an invisible character, two people would look like one.
    unclear = "" if clean(name) == name else "A name cannot contain invisible characters."
    if objection := objection_to_name(name) or unclear or objection_to_password(password, name):
        raise Misuse(objection, hint="Try again; the link still works.")
    if not link.subject and await _called(entrance, name):
        raise Misuse(f"The name {name} is already taken.", hint="Choose another name.")
    if not await entrance.keys.use_up(KeyKind.LINK, link.id):
        raise Stranger("This link was already used.", hint="Make another: midwatch person link")
    person = link.subject or entrance.ids.new("per")
    if not link.subject:
        await entrance.journal.record(ev.PersonAdded(person=person, name=name, role=Role(link.role)), actor=name)
    else:
        await entrance.keys.sign_out_everywhere(person)
    kept = await asyncio.to_thread(HASHER.hash, password)
    await entrance.keys.keep(Credential(id=person, kind=KeyKind.PASSWORD, subject=person, secret=kept))
    return await _signed_in(entrance, await entrance.records.get(PersonRow, person), "link")


async def enter(entrance: Entrance, name: str, password: str, *, address: str) -> tuple[PersonRow, str]:
    """Sign in with name and password; return the person and the cookie."""
    now = entrance.clock.now()
    counted = _counted(entrance, name, address)
    waits = [wait_before_trying(tries, now, most) for tries, most in counted]
    if wait := max(waits):
        raise Hasty(f"Too many attempts; try again in {wait.seconds + 1} s.", hint="Wait, then try again.")
    # Before anything is awaited: a hundred tries at once are a hundred tries.
    for tries, _ in counted:
        tries.append(now)
    person = await _called(entrance, name)
    kept = await entrance.keys.find(KeyKind.PASSWORD, person.id) if person else None
    fits = await asyncio.to_thread(_fits, kept.secret if kept else "", password)
    if not fits or person is None:
        throttled = any(wait_before_trying(tries, now, most) for tries, most in counted)
        refused = ev.PersonRefused(name=name[:60], why="throttled" if throttled else "password")
        await entrance.journal.record(refused, actor="stranger")
        raise Stranger("The name or the password is wrong.", hint="A new password: midwatch person link NAME")
    for tries, _ in counted[1:]:
        if now in tries:
            tries.remove(now)
    counted[0][0].clear()
    return await _signed_in(entrance, person, "password")


def _counted(entrance: Entrance, name: str, address: str) -> tuple[tuple[list[datetime], int], ...]:
    """Find the tries of this name from this address, of this name, and from this address, with the most of each."""
    known = name.lower()[:60]
    places = (((known, address), MOST_FAILURES), ((known, ""), MOST_OF_ONE), (("", address), MOST_OF_ONE))
    now = entrance.clock.now()
    counted = []
    for place, most in places:
        # What is counted again counts as the newest, so that new names do not push out the address they come from.
        tries = entrance.failures.pop(place, [])
        tries[:] = [at for at in tries if now - at < WINDOW]
        entrance.failures[place] = tries
        counted.append((tries, most))
    while len(entrance.failures) > MOST_REMEMBERED:
        entrance.failures.pop(next(iter(entrance.failures)))
    return tuple(counted)


async def leave(entrance: Entrance, cookie: str, person: PersonRow) -> None:
    await entrance.keys.sign_out(hashed(cookie))
    await entrance.journal.record(ev.PersonLeft(person=person.id), actor=person.name)


async def by_cookie(entrance: Entrance, cookie: str, *, used: bool = True) -> tuple[PersonRow, Login] | None:
    """Find the person behind this cookie; with `used` false, looking does not keep the login alive."""
    login = await entrance.keys.login(hashed(cookie))
    now = entrance.clock.now()
    if login is None or is_over(login, now, entrance.idle()):
        return None
    found = await entrance.records.find(PersonRow, id=login.person, removed=False)
    if used and found and now - login.seen_at > SEEN_EVERY:
        await entrance.keys.seen(login.id, now)
    return (found[0], login) if found else None


async def by_token(entrance: Entrance, secret: str) -> tuple[PersonRow, TokenRow] | None:
    """Find the person behind this token; None if it is revoked or expired."""
    kept = await entrance.keys.find(KeyKind.TOKEN, hashed(secret))
    if kept is None or (kept.expires_at and kept.expires_at <= entrance.clock.now()):
        return None
    tokens = await entrance.records.find(TokenRow, id=kept.subject, revoked=False)
    people = await entrance.records.find(PersonRow, id=tokens[0].person, removed=False) if tokens else ()
    return (people[0], tokens[0]) if people else None


async def set_role(entrance: Entrance, name: str, role: Role, *, by: str) -> PersonRow:
    """Change a person's role; the last owner stays an owner. A former owner's links and tokens for others end."""
    person = await person_named(entrance, name)
    if role is not Role.OWNER:
        await _not_the_last_owner(entrance, person)
    made = () if role is Role.OWNER else await _made_for_others(entrance, person)
    revoked = (ev.TokenRevoked(token=one.id) for one in made)
    await entrance.journal.record(ev.PersonChanged(person=person.id, role=role), *revoked, actor=by)
    await _forget(entrance, made)
    if person.role is Role.OWNER is not role:
        await entrance.keys.withdraw_links()
    return await entrance.records.get(PersonRow, person.id)


async def remove(entrance: Entrance, name: str, *, by: str) -> PersonRow:
    """Remove a person's access; their logins and tokens end now, and what a former owner made for others."""
    person = await person_named(entrance, name)
    await _not_the_last_owner(entrance, person)
    made = await _made_for_others(entrance, person)
    revoked = (ev.TokenRevoked(token=one.id) for one in made)
    await entrance.journal.record(ev.PersonRemoved(person=person.id), *revoked, actor=by)
    await entrance.keys.forget(person.id)
    await _forget(entrance, made)
    if person.role is Role.OWNER:
        await entrance.keys.withdraw_links()
    return person.model_copy(update={"removed": True})


async def _made_for_others(entrance: Entrance, person: PersonRow) -> tuple[TokenRow, ...]:
    """Find the tokens of other people that this person made: whoever made one has seen its secret."""
    made = await entrance.records.find(TokenRow, issued_by=person.name, revoked=False)
    return tuple(one for one in made if one.person != person.id)


async def _forget(entrance: Entrance, tokens: tuple[TokenRow, ...]) -> None:
    for token in tokens:
        await entrance.keys.forget(token.id)


async def issue_token(
    entrance: Entrance, name: str, scopes: frozenset[Scope], *, person: str, by: str, days: int | None = None
) -> tuple[TokenRow, str]:
    """Make a token for a person; its secret is shown once and never stored."""
    whose = await person_named(entrance, person)
    if beyond := scopes - whose.role.scopes:
        raise Refused(
            f"{whose.name} is {whose.role} and may not {', '.join(sorted(beyond))}; a token cannot either.",
            hint="Give it fewer scopes.",
        )
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = entrance.ids.new("tok")
    expires = entrance.clock.now() + timedelta(days=days) if days else None
    issued = ev.TokenIssued(
        token=token, person=whose.id, name=name, scopes=tuple(s for s in Scope if s in scopes), expires_at=expires
    )
    await entrance.journal.record(issued, actor=by)
    await entrance.keys.keep(Credential(id=hashed(secret), kind=KeyKind.TOKEN, subject=token, expires_at=expires))
    return await entrance.records.get(TokenRow, token), secret


async def revoke_token(entrance: Entrance, name: str, *, by: str) -> TokenRow:
    token = await entrance.records.get(TokenRow, name)
    if not token.revoked:
        await entrance.journal.record(ev.TokenRevoked(token=token.id), actor=by)
        await entrance.keys.forget(token.id)
    return await entrance.records.get(TokenRow, token.id)


async def person_named(entrance: Entrance, name: str) -> PersonRow:
    """Find a person by name, number or id; where there is none, say who there is and how to add one."""
    try:
        return await entrance.records.get(PersonRow, name)
    except Unknown:
        known = [one.name for one in await entrance.records.find(PersonRow, removed=False)]
        there = f"Those who have a login: {joined(known)}." if known else "No person has a login yet."
        raise Unknown(
            f"There is no person {name!r}. {there}",
            hint="Add one with a link and no name, who opens it chooses it: midwatch person link --role viewer",
        ) from None


async def _called(entrance: Entrance, name: str) -> PersonRow | None:
    everyone = await entrance.records.find(PersonRow, removed=False)
    return next((one for one in everyone if one.name.lower() == name.lower()), None)


async def _not_the_last_owner(entrance: Entrance, person: PersonRow) -> None:
    owners = await entrance.records.find(PersonRow, role=Role.OWNER, removed=False)
    if [one.id for one in owners] == [person.id]:
        raise Refused(
            f"{person.name} is the only owner.",
            hint="Make another person an owner first: midwatch person role NAME owner",
        )


async def _signed_in(entrance: Entrance, person: PersonRow, way: Literal["password", "link"]) -> tuple[PersonRow, str]:
    cookie = secrets.token_urlsafe(32)
    now = entrance.clock.now()
    login = Login(
        id=hashed(cookie),
        person=person.id,
        csrf=secrets.token_urlsafe(24),
        seen_at=now,
        expires_at=now + entrance.longest(),
    )
    await entrance.journal.record(ev.PersonEntered(person=person.id, way=way), actor=person.name)
    await entrance.keys.sign_in(login)
    return person, cookie


def _fits(kept: str, password: str) -> bool:
    """Compare in the same time whether or not the person exists."""
    try:
        HASHER.verify(kept or decoy(), password)
    except (VerificationError, InvalidHashError):
        return False
    return bool(kept)
