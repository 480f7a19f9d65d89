"""Routes about access: people, one-time links, tokens."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field

from midwatch.errors import Refused
from midwatch.evening import accounts as door
from midwatch.surfaces.api.access import Caller, Governs, Person, Reads, TheCaller, TheHouse
from midwatch.terms.people import Role, Scope
from midwatch.terms.records import PersonRow, TokenRow
from midwatch.terms.term import Term

router = APIRouter()


class Me(Term):
    """Who the caller is, and what they may do."""

    name: str
    role: Role
    scopes: tuple[Scope, ...]
    way: Literal["socket", "login", "token"]


class LinkMade(Term):
    """A one-time link, and how long it is valid."""

    path: str
    hours: float


class TokenMade(TokenRow):
    """A new token with its secret, which is shown only here."""

    secret: str


class NewLink(Term):
    """A one-time link to make."""

    role: Role = Role.VIEWER
    person: str = ""


class RoleEdit(Term):
    """A person's new role."""

    role: Role


class NewToken(Term):
    """A token to make."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    scopes: Annotated[tuple[Scope, ...], Field(min_length=1, max_length=4)] = (Scope.READ,)
    person: str = ""
    days: Annotated[int | None, Field(ge=1, le=3650)] = 90


@router.get("/me", dependencies=[Reads])
async def me(caller: TheCaller) -> Me:
    """Return who the caller is."""
    return Me(name=caller.name, role=caller.role, scopes=tuple(sorted(caller.scopes)), way=caller.way)


@router.post("/people/links", dependencies=[Governs])
async def link(house: TheHouse, caller: TheCaller, new: NewLink) -> LinkMade:
    """Make a one-time link, for a new person or for the new password of a known one; not by token."""
    _a_person(caller, "A token cannot make links: what comes of one is a person, who stays when the token is over.")
    secret = await door.invite(house.entrance, new.role, by=caller.name, person=new.person)
    return LinkMade(path=f"/welcome?key={secret}", hours=door.LINK_LIVES.total_seconds() / 3600)


@router.patch("/people/{name}", dependencies=[Governs])
async def set_role(house: TheHouse, caller: TheCaller, name: str, edit: RoleEdit) -> PersonRow:
    """Change a person's role; not by token."""
    _a_person(caller, "A token cannot change roles: the role stays when the token is over.")
    return await door.set_role(house.entrance, name, edit.role, by=caller.name)


@router.delete("/people/{name}", dependencies=[Governs])
async def remove(house: TheHouse, caller: TheCaller, name: str) -> PersonRow:
    """Remove a person's access; an owner's not by token."""
    if (await door.person_named(house.entrance, name)).role is Role.OWNER:
        _a_person(caller, "A token cannot remove an owner.")
    return await door.remove(house.entrance, name, by=caller.name)


@router.post("/tokens", dependencies=[Governs])
async def issue(house: TheHouse, caller: TheCaller, new: NewToken) -> TokenMade:
    """Make a token; its secret is in this answer and nowhere else. Not by token."""
    _a_person(caller, "A token cannot make tokens.")
    whose = new.person or (caller.name if caller.way == "login" else "")
    if not whose:
        raise Refused("Say whose token it is.", hint="midwatch token new NAME --person WHO")
    row, secret = await door.issue_token(
        house.entrance, new.name, frozenset(new.scopes), person=whose, by=caller.name, days=new.days
    )
    return TokenMade(**dict(row), secret=secret)


def _a_person(caller: Caller, why_not: str) -> None:
    """Refuse a program: what it makes could be more than it, and last longer."""
    if caller.way == "token":
        raise Refused(why_not, hint="Log in, or use the command line.")


@router.delete("/tokens/{name}", dependencies=[Governs])
async def revoke(house: TheHouse, person: Person, name: str) -> TokenRow:
    """Revoke a token."""
    return await door.revoke_token(house.entrance, name, by=person)
