"""The names people read: `job 2` for `job_01J...`, counted exactly as the records count them."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

from pydantic import Field

from midwatch.terms.records import SessionRow
from midwatch.terms.term import Term
from midwatch.views.text.plain import clean, spaced

MOMENT: Final = "%d %b %H:%M"
COMMAND: Final = "command"


class Called(Term):
    """What a record says about a thing's name."""

    id: str
    noun: str
    number: int = 0
    title: str = ""
    project: str = ""
    session: str = ""
    ad_hoc: bool = False
    at: datetime | None = None
    """When a session was opened: a command is known by this moment, a night by its number."""


def _as_it_is(at: datetime) -> datetime:
    return at


class Names(Term):
    """The name of each thing, the session it belongs to, and the reader's clock."""

    projects: dict[str, str] = Field(default_factory=dict)
    things: dict[str, str] = Field(default_factory=dict)
    sessions: dict[str, str] = Field(default_factory=dict)
    to_local: Callable[[datetime], datetime] = Field(default=_as_it_is, exclude=True)

    def of(self, name: str, otherwise: str) -> str:
        """Return a thing's short name; without one, a plain word, since ids mean nothing to a reader."""
        return self.things.get(name) or self.projects.get(name) or otherwise

    def project(self, name: str) -> str:
        return self.projects.get(name, "a project")

    def clock(self, at: datetime) -> str:
        """Write a moment as the reader's clock shows it; where that clock is not known, say which it is."""
        return self._shown(at, "%H:%M")

    def _shown(self, at: datetime, form: str) -> str:
        return f"{at:{form}} UTC" if self.to_local is _as_it_is else f"{self.to_local(at):{form}}"

    def command(self, at: datetime) -> str:
        """Name a command by the moment when it was given; it has no number."""
        return f"{COMMAND} of {self._shown(at, MOMENT)}"

    def whose(self, session: str) -> str:
        """Say whose entry it is: one night's, which its reader knows, or a command's."""
        name = self.things.get(session, "")
        return f"the {name}" if name.startswith(COMMAND) else "the night"


def session_named(session: SessionRow, to_local: Callable[[datetime], datetime]) -> str:
    """Name a night by its number and a command by its time; at the beginning of a sentence."""
    return f"The {Names(to_local=to_local).command(session.created_at)}" if session.ad_hoc else session.called


def pull_request_called(number: int, job: int, project: str) -> str:
    """Name a pull request with its job and project: it has a number of its own, which alone says too little."""
    return f"pull request {number}{f' of job {job}' if job else ''}{f' in {clean(project, 63)}' if project else ''}"


def named(found: Iterable[Called], before: Names | None = None) -> Names:
    """Name things by their short names; acts by what they are and where, so projects come first."""
    known = before or Names()
    rows = tuple(found)
    projects = {one.id: clean(one.title, 63) for one in rows if one.noun == "project"}
    known = known.model_copy(update={"projects": known.projects | projects})
    things = {one.id: name for one in rows if one.noun != "project" and (name := _name(one, known))}
    sessions = {one.id: one.session for one in rows if one.session}
    return known.model_copy(update={"things": known.things | things, "sessions": known.sessions | sessions})


def _name(one: Called, known: Names) -> str:
    """Work items and acts are named by what they are, a command by its time; a draft of orders has no name yet."""
    match one.noun:
        case "work":
            return f"“{clean(one.title, 60)}”"
        case "night" if one.ad_hoc:
            return known.command(one.at) if one.at else COMMAND
        case "act":
            where = known.projects.get(one.project)
            return spaced(one.title) + (f" in {where}" if where else "")
        case _:
            return f"{one.noun} {one.number}" if one.number else ""
