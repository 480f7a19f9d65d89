"""Which entry caused which: from the cause an entry names, or else from the thing it is about."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from midwatch.journal.entry import Entry
from midwatch.journal.events import Event
from midwatch.journal.events.jobs import JobCreated
from midwatch.journal.events.session import AskOpened

_LEANS: Final[dict[str, str]] = {
    "project.changed": "project",
    "project.tool_allowed": "ask",
    "project.tool_taken_back": "project",
    "project.removed": "project",
    "goal.set": "goal project",
    "goal.closed": "goal",
    "work.added": "project",
    "work.changed": "item",
    "person.changed": "person",
    "person.removed": "person",
    "person.entered": "person",
    "person.left": "person",
    "token.issued": "person",
    "token.revoked": "token",
    "settings.applied": "proposal",
    "settings.discarded": "proposal",
    "preflight.begun": "session",
    "preflight.checked": "preflight",
    "preflight.ended": "preflight",
    "message.said": "session",
    "round.called": "session",
    "round.planned": "round",
    "council.spoke": "round",
    "act.judged": "round",
    "act.ended": "act",
    "round.ended": "round",
    "ask.opened": "subject session",
    "notice.raised": "subject session",
    "notice.sent": "push notice",
    "notice.routed": "notice",
    "push.failed": "push",
    "ask.postponed": "ask",
    "tool.called": "job session",
    "tool.finished": "invocation",
    "mission.created": "session",
    "run.started": "mission session",
    "run.finished": "run",
    "job.created": "act run session",
    "model.called": "job",
    "agent.began": "job",
    "agent.ended": "job",
    "agent.limited": "job",
    "signal.seen": "job",
    "signal.answered": "signal job",
    "signal.passed": "job",
    "milestone.reached": "job",
    "tool_call.decided": "job",
    "connection.seen": "job",
    "setup.finished": "job",
    "process.orphaned": "job",
    "checkout.removed": "job",
    "evidence.found": "job run",
    "claim.made": "run",
    "artifact.kept": "job run",
    "assumption.made": "run",
    "run.scored": "run",
    "pull_request.reworded": "pull_request",
    "stack.begun": "session",
    "stack.made": "stack",
    "stack.merged": "stack",
    "stack.commented": "stack",
    "stack.undone": "stack",
    "pull_request.merged": "pull_request",
    "pull_request.reopened": "pull_request",
    "pull_request.closed": "pull_request",
    "pull_request.changed": "pull_request",
}
"""By kind: the things an entry depends on, the best first. Other kinds depend on the first thing they are about."""

_SPEAKS: Final[dict[str, str]] = {
    "project.added": "project",
    "goal.set": "goal",
    "work.added": "item",
    "person.added": "person",
    "token.issued": "token",
    "settings.proposed": "proposal",
    "session.opened": "session",
    "orders.changed": "session",
    "signing.asked": "session",
    "signing.dropped": "session",
    "orders.signed": "session",
    "session.started": "session",
    "session.paused": "session",
    "session.resumed": "session",
    "session.debriefing": "session",
    "session.ended": "session",
    "preflight.begun": "preflight",
    "review.submitted": "session",
    "review.timed_out": "session",
    "assumption.settled": "session",
    "report.written": "session report",
    "round.called": "round",
    "round.planned": "round",
    "act.judged": "act",
    "act.ended": "act",
    "ask.opened": "ask",
    "ask.answered": "ask",
    "ask.expired": "ask",
    "ask.withdrawn": "ask",
    "notice.raised": "notice",
    "signal.seen": "signal",
    "signal.answered": "signal",
    "push.begun": "push",
    "tool.called": "invocation",
    "mission.created": "mission",
    "run.started": "run",
    "job.created": "job",
    "job.mirrored": "job",
    "job.prepared": "job",
    "job.planned": "job",
    "plan.returned": "job",
    "job.approved": "job",
    "job.executed": "job",
    "job.bundled": "job",
    "job.quarantined": "job",
    "job.verified": "job",
    "job.repaired": "job",
    "job.delivered": "job",
    "job.waits": "job",
    "job.woken": "job",
    "job.granted": "job",
    "job.path_allowed": "job",
    "job.warned": "job",
    "job.boxed": "job",
    "job.stop_requested": "job",
    "job.ended": "job",
    "pull_request.opened": "job pull_request",
    "stack.begun": "stack",
    "stack.made": "stack",
    "stack.merged": "stack",
    "stack.undone": "stack",
}
"""By kind: the things of which this is now the latest entry. Nothing follows from claims and failures."""

_QUIETLY: Final = {"job.claimed": "job", "job.box_opened": "job", "job.stumbled": "job", "checkin.made": "session"}


class Lean(NamedTuple):
    """A thing an entry depends on: its latest entry is of these kinds, and its text has this id."""

    thing: str
    text: str
    kinds: frozenset[str]


def leans_on(event: Event) -> tuple[Lean, ...]:
    """List the things an entry depends on, the best first."""
    if event.kind in _BEGIN:
        return ()
    wanted = _LEANS.get(event.kind) or _SPEAKS.get(event.kind) or _QUIETLY.get(event.kind, "")
    return tuple(_lean(event, field, thing) for field in wanted.split() if (thing := _thing(event, field)))


def speaks_for(event: Event) -> list[str]:
    """Name the things of which this is now the latest entry."""
    return things(event, _SPEAKS.get(event.kind, ""))


def _lean(event: Event, field: str, thing: str) -> Lean:
    kinds = frozenset(_SPEAKS) if field == "subject" else _SPEAKERS.get(field, frozenset())
    return Lean(thing, str(getattr(event, "session", "")) if field == "round" else thing, kinds)


_SPEAKERS: Final[dict[str, frozenset[str]]] = {
    field: frozenset(kind for kind, fields in _SPEAKS.items() if field in fields.split())
    for field in {one for fields in _SPEAKS.values() for one in fields.split()}
}
OWNED: Final = _SPEAKERS["job"] | _SPEAKERS["ask"]
"""Kinds of entries about a job or an ask; they count for its owner too."""
_BEGIN: Final = frozenset({"project.added", "person.added", "settings.proposed", "session.opened"})
"""These have no earlier cause."""


class Threads:
    """The causes of each entry, found in one pass; `belongs` names the owners of jobs and asks that began earlier."""

    def __init__(self, entries: Iterable[Entry], belongs: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.causes: dict[int, tuple[int, ...]] = {}
        self._last_word: dict[str, int] = {}
        self._belongs: dict[str, tuple[str, ...]] = dict(belongs or {})
        for entry in entries:
            self._follow(entry)

    def _follow(self, entry: Entry) -> None:
        event = entry.event
        found = self._nearer(entry.because, self._leaning(event))
        self.causes[entry.seq] = tuple(seq for seq in found if seq < entry.seq)
        match event:
            case JobCreated(job=job, run=run, work_item=item):
                self._belongs[job] = (run, item)
            case AskOpened(ask=ask, draft=draft):
                self._belongs[ask] = (draft.subject,)
            case _:
                pass
        for thing in speaks_for(event):
            self._say(thing, entry.seq)

    def _say(self, thing: str, seq: int) -> None:
        self._last_word[thing] = seq
        for owner in self._belongs.get(thing, ()):
            self._last_word[owner] = seq

    def _leaning(self, event: Event) -> tuple[int, ...]:
        known = [self._last_word[one.thing] for one in leans_on(event) if one.thing in self._last_word]
        return tuple(known[:1])

    def _nearer(self, because: tuple[int, ...], leaning: tuple[int, ...]) -> tuple[int, ...]:
        """Entries written together all name what woke their writer; among themselves they are linked step by step."""
        if not because or not leaning or leaning[0] <= max(because):
            return because or leaning
        return (*leaning, *(cause for cause in because if not self._reaches(leaning[0], cause)))

    def _reaches(self, seq: int, cause: int) -> bool:
        seen, left = set[int](), [seq]
        while left:
            here = left.pop()
            if here == cause:
                return True
            left += [one for one in self.causes.get(here, ()) if one >= cause and one not in seen]
            seen.add(here)
        return False

    def effects(self, seq: int) -> tuple[int, ...]:
        """What followed directly."""
        return tuple(later for later, causes in self.causes.items() if seq in causes)


def things(event: Event, fields: str) -> list[str]:
    named = (_thing(event, field) for field in fields.split())
    return [name for name in named if name]


def _thing(event: Event, field: str) -> str:
    if field == "round":
        return f"{getattr(event, 'session', '')}.{getattr(event, 'number', '')}"
    source = event.draft if field == "subject" and isinstance(event, AskOpened) else event
    value = getattr(source, field, "")
    return str(getattr(value, "id", value))
