"""Entries about people, logins and tokens in words."""

from typing import assert_never

from midwatch.journal.events.people import (
    PeopleEvent,
    PersonAdded,
    PersonChanged,
    PersonEntered,
    PersonInvited,
    PersonLeft,
    PersonRefused,
    PersonRemoved,
    TokenIssued,
    TokenRevoked,
)
from midwatch.views.text.plain import clean

Listed = PersonAdded | PersonChanged | PersonRemoved | TokenIssued | TokenRevoked
"""Who may log in."""
Passing = PersonInvited | PersonEntered | PersonLeft | PersonRefused
"""Logins and logouts."""
WHY = {"password": "wrong name or password", "throttled": "too many attempts", "link": "the link is used up or too old"}


def told(event: PeopleEvent) -> str:
    """Describe a change of access, or a login."""
    if isinstance(event, Listed):
        return _listed(event)
    return _passing(event)


def _listed(event: Listed) -> str:
    match event:
        case PersonAdded():
            text = f"{clean(event.name)} was added as {event.role}"
        case PersonChanged():
            text = f"A person's role is now {event.role}"
        case PersonRemoved():
            text = "A person's access was removed"
        case TokenIssued():
            text = f"A token was made: {clean(event.name, 60)} ({', '.join(event.scopes)})"
        case TokenRevoked():
            text = "A token was revoked"
        case _:
            assert_never(event)
    return text


def _passing(event: Passing) -> str:
    match event:
        case PersonInvited(person=""):
            text = f"A one-time link for a new {event.role} was made"
        case PersonInvited():
            text = "A one-time link for a new password was made"
        case PersonEntered():
            text = f"A person logged in by {event.way}"
        case PersonLeft():
            text = "A person logged out everywhere" if event.everywhere else "A person logged out"
        case PersonRefused():
            text = f"{clean(event.name, 60) or 'Unknown'} could not log in: {WHY[event.why]}"
        case _:
            assert_never(event)
    return text
