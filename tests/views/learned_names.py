"""Learns names from entries alone, counted as the records count: what the records say is compared with it."""

from collections.abc import Iterable

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events import jobs as ev
from midwatch.journal.events.projects import ProjectAdded, WorkAdded
from midwatch.journal.events.session import ActJudged, AskOpened, SessionOpened
from midwatch.journal.events.stack import StackBegun
from midwatch.views.text.names import Called, Names, named


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
