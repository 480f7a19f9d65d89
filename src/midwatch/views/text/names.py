"""What people call things: `job 2` for `job_01J...`, counted exactly as the records count them."""

from collections.abc import Iterable

from pydantic import Field

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import (
    JobCreated,
    PullRequestOpened,
    RunStarted,
)
from midwatch.journal.events.projects import ProjectAdded, WorkAdded
from midwatch.journal.events.session import ActJudged, AskOpened, SessionOpened
from midwatch.journal.events.stack import StackBegun
from midwatch.terms.term import Term
from midwatch.views.text.plain import clean, spaced


class Names(Term):
    """Who is called what so far, and how many there were of each kind."""

    projects: dict[str, str] = Field(default_factory=dict)
    things: dict[str, str] = Field(default_factory=dict)
    counts: dict[str, int] = Field(default_factory=dict)

    def of(self, name: str, otherwise: str) -> str:
        """Call a thing by its small name; ids say nothing to a reader, so there is a plain word for the rest."""
        return self.things.get(name) or self.projects.get(name) or otherwise

    def project(self, name: str) -> str:
        """Call a project by its name."""
        return self.projects.get(name, "a project")

    def count(self, noun: str) -> int:
        """How many there were of a kind; also the number of the newest."""
        return self.counts.get(noun, 0)

    def projects_only(self) -> "Names":
        """Forget single things and keep the counting, so that a view does not grow with the years."""
        return self.model_copy(update={"things": {}})


def introduce(names: Names, event: Event) -> Names:
    """Learn the name of whatever this event brings into the world."""
    match event:
        case ProjectAdded(project=project):
            return names.model_copy(update={"projects": {**names.projects, project.id: clean(project.name, 63)}})
        case SessionOpened(session=new, ad_hoc=ad_hoc):
            return _numbered(names, new, "night", called="command" if ad_hoc else "night")
        case RunStarted(run=new):
            noun = "run"
        case JobCreated(job=new):
            noun = "job"
        case AskOpened(ask=new):
            noun = "ask"
        case PullRequestOpened(pull_request=new):
            noun = "pull request"
        case StackBegun(stack=new):
            noun = "stack"
        case _:
            return _described(names, event)
    return _numbered(names, new, noun)


def _described(names: Names, event: Event) -> Names:
    """Work items and acts are known by what they are, not by a number."""
    match event:
        case WorkAdded(item=item, title=title):
            called = f"“{clean(title, 60)}”"
        case ActJudged(act=item, proposal=proposal):
            where = names.projects.get(proposal.project)
            called = spaced(proposal.kind.value) + (f" in {where}" if where else "")
        case _:
            return names
    return names.model_copy(update={"things": {**names.things, item: called}})


def _numbered(names: Names, new: str, noun: str, *, called: str = "") -> Names:
    number = names.count(noun) + 1
    things = {**names.things, new: f"{called or noun} {number}"}
    return names.model_copy(update={"things": things, "counts": {**names.counts, noun: number}})


def names_after(entries: Iterable[Entry], names: Names | None = None) -> Names:
    """Learn every name these entries bring."""
    known = names or Names()
    for entry in entries:
        known = introduce(known, entry.event)
    return known
