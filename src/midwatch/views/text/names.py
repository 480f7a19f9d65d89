"""The names people read: `job 2` for `job_01J...`, counted exactly as the records count them."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from pydantic import Field

from midwatch.terms.term import Term
from midwatch.views.text.plain import clean, spaced


class Called(Term):
    """What a record says about a thing's name."""

    id: str
    noun: str
    number: int = 0
    title: str = ""
    project: str = ""
    session: str = ""
    ad_hoc: bool = False


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
        return f"{at:%H:%M} UTC" if self.to_local is _as_it_is else f"{self.to_local(at):%H:%M}"


def named(found: Iterable[Called], before: Names | None = None) -> Names:
    """Name things by their short names; acts by what they are and where, so projects come first."""
    known = before or Names()
    rows = tuple(found)
    projects = known.projects | {one.id: clean(one.title, 63) for one in rows if one.noun == "project"}
    things = {one.id: _name(one, projects) for one in rows if one.noun != "project"}
    sessions = {one.id: one.session for one in rows if one.session}
    return known.model_copy(
        update={"projects": projects, "things": known.things | things, "sessions": known.sessions | sessions}
    )


def _name(one: Called, projects: Mapping[str, str]) -> str:
    """Work items and acts are named by what they are, not by a number."""
    match one.noun:
        case "work":
            return f"“{clean(one.title, 60)}”"
        case "act":
            where = projects.get(one.project)
            return spaced(one.title) + (f" in {where}" if where else "")
        case _:
            return f"{'command' if one.ad_hoc else one.noun} {one.number}"
