"""Learns names from entries alone, counted as the records count: what the records say is compared with it."""

from collections.abc import Iterable
from datetime import datetime

from pydantic import Field

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events import jobs as ev
from midwatch.journal.events.projects import ProjectAdded, WorkAdded
from midwatch.journal.events.session import ActJudged, AskOpened, OrdersSigned, SessionOpened
from midwatch.journal.events.stack import StackBegun
from midwatch.views.text.names import Called, Names, named


class LearnedNames(Names):
    """The names learned so far, and how many things of each kind were named."""

    counts: dict[str, int] = Field(default_factory=dict)

    def count(self, noun: str) -> int:
        """How many there were of a kind; also the number of the newest."""
        return self.counts.get(noun, 0)


def introduce(names: LearnedNames, event: Event, at: datetime | None = None) -> LearnedNames:
    """Learn the name of what this event begins, counted as the records count; a command has a time and no number."""
    if isinstance(event, SessionOpened) and event.ad_hoc:
        command = Called(id=event.session, noun="night", ad_hoc=True, at=at)
        return LearnedNames(**dict(named([command], names)) | {"counts": names.counts})
    if isinstance(event, OrdersSigned) and event.session in names.things:
        return names
    found = _begun(event, names)
    if found is None:
        return names
    number = names.count(found.noun) + 1
    known = named([found.model_copy(update={"number": number})], names)
    return LearnedNames(**dict(known) | {"counts": {**names.counts, found.noun: number}})


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
        case OrdersSigned(session=new):
            return Called(id=new, noun="night")
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


def names_after(entries: Iterable[Entry], names: LearnedNames | None = None) -> LearnedNames:
    """Learn every name these entries bring."""
    known = names or LearnedNames()
    for entry in entries:
        known = introduce(known, entry.event, entry.at)
    return known
