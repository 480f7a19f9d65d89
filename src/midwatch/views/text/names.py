"""The names people read: `job 2` for `job_01J...`, counted exactly as the records count them."""

from collections.abc import Iterable, Mapping

from pydantic import Field

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events import jobs as ev
from midwatch.journal.events.projects import ProjectAdded, WorkAdded
from midwatch.journal.events.session import ActJudged, AskOpened, SessionOpened
from midwatch.journal.events.stack import StackBegun
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


class Names(Term):
    """The name of each thing, and the session it belongs to."""

    projects: dict[str, str] = Field(default_factory=dict)
    things: dict[str, str] = Field(default_factory=dict)
    sessions: dict[str, str] = Field(default_factory=dict)
    counts: dict[str, int] = Field(default_factory=dict)

    def of(self, name: str, otherwise: str) -> str:
        """Return a thing's short name; without one, a plain word, since ids mean nothing to a reader."""
        return self.things.get(name) or self.projects.get(name) or otherwise

    def project(self, name: str) -> str:
        return self.projects.get(name, "a project")

    def count(self, noun: str) -> int:
        """How many there were of a kind; also the number of the newest."""
        return self.counts.get(noun, 0)

    def projects_only(self) -> "Names":
        """Forget single things and keep the counts, so that a view does not grow with the years."""
        return self.model_copy(update={"things": {}})


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


def introduce(names: Names, event: Event) -> Names:
    """Learn the name of what this event begins, counted as the records count."""
    found = _begun(event, names)
    if found is None:
        return names
    number = names.count(found.noun) + 1
    counts = {**names.counts, found.noun: number}
    return named([found.model_copy(update={"number": number})], names.model_copy(update={"counts": counts}))


def _begun(event: Event, names: Names) -> Called | None:
    match event:
        case ProjectAdded(project=project):
            return Called(id=project.id, noun="project", title=project.name)
        case WorkAdded(item=new, title=title):
            return Called(id=new, noun="work", title=title)
        case ActJudged(act=new, session=session, proposal=act):
            return Called(id=new, noun="act", title=act.kind.value, project=act.project, session=session)
        case ev.PullRequestOpened(pull_request=new, job=job):
            return Called(id=new, noun="pull request", session=names.sessions.get(job, ""))
        case _:
            return _numbered(event)


def _numbered(event: Event) -> Called | None:
    match event:
        case SessionOpened(session=new, ad_hoc=ad_hoc):
            return Called(id=new, noun="night", ad_hoc=ad_hoc)
        case ev.RunStarted(run=new, session=session):
            return Called(id=new, noun="run", session=session)
        case ev.JobCreated(job=new, session=session):
            return Called(id=new, noun="job", session=session)
        case AskOpened(ask=new, session=session):
            return Called(id=new, noun="ask", session=session)
        case StackBegun(stack=new, session=session):
            return Called(id=new, noun="stack", session=session)
        case _:
            return None


def names_after(entries: Iterable[Entry], names: Names | None = None) -> Names:
    """Learn every name these entries bring."""
    known = names or Names()
    for entry in entries:
        known = introduce(known, entry.event)
    return known
