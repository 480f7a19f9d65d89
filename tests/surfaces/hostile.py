"""A real night told again with other words: every text in its journal replaced, harmless or hostile, one for one."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from pathlib import Path
from typing import Any

from midwatch.errors import MidwatchError
from midwatch.evening.shown_sheet import orders_hash
from midwatch.journal.entry import Entry
from midwatch.journal.events import Event, crew, jobs, morning, people, projects, session, workshop
from midwatch.terms.asks import AskDraft, AskKind, held_question
from midwatch.terms.jobs import Stage
from midwatch.terms.orders import Orders
from midwatch.terms.records import JobRow
from midwatch.terms.report import Given, Review, ReviewOutcome
from midwatch.terms.term import Term
from tests.journal.samples import KINDS, sample
from tests.nights.house import TestHouse, a_house, orders, sample_repository
from tests.surfaces.payloads import ALL

CORE = "x\"'><b onx=1>&lt;i>\u202e\x1b[31m\u200b\u3164{{7*7}}"
"""Stands in every text; the other payloads follow it in turn, so that each stands somewhere."""
OURS = re.compile(r"[a-z]+_\w+|[0-9a-f]{40,64}|sample|")
"""Ids, hashes, our own words with an underscore, the project's name (letters only, by its rule), nothing."""
CALM_LOG = "calm\n" * len(ALL) + json.dumps({"text": "calm\n" * 4}) + "\n"
CALM_DIFF = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@ calm\n-a = 1\n+a = 2\n"

DRAFT = Orders.model_validate(
    {
        "goals": ("A goal",),
        "success_criteria": ("A criterion",),
        "notes": "A note",
        "do_not_touch": ("a path",),
        "permissions": {"domains": ("a domain",), "external": ("an effect",), "tools": ("a tool",)},
        "work": (
            {"project": "sample", "title": "A title", "checks": ("a check",), "paths": ("a way",)},
            {"project": "nobody knows it", "title": "Another", "agent": "somebody"},
        ),
    }
)


def payload(number: int, mark: str = "") -> str:
    """One hostile text; half of a surrogate pair no database takes."""
    return (CORE + mark + ALL[number % len(ALL)]).encode(errors="ignore").decode()


@dataclass
class Words:
    """Gives every text another, the same one each time: what was equal stays equal, and what differed is seen to."""

    hostile: bool
    first: int = 0
    """Where in the payloads to begin."""
    given: dict[str, str] = field(default_factory=dict)

    def of(self, text: str) -> str:
        if OURS.fullmatch(text):
            return text
        number = len(self.given)
        new = payload(self.first + number, str(number)) if self.hostile else f"calm words {number}"
        return self.given.setdefault(text, new)

    def told(self, value: Any) -> Any:
        """The same value with every text in it replaced that is not one of a few words of ours."""
        if isinstance(value, Enum):
            return value
        if isinstance(value, str):
            return self.of(value)
        if isinstance(value, tuple | list):
            return type(value)(self.told(one) for one in value)
        if isinstance(value, dict):
            return {self.of(key): self.told(one) for key, one in value.items()}
        if isinstance(value, Term):
            fixed = {name for name, info in type(value).model_fields.items() if "Literal" in str(info.annotation)}
            return value.model_copy(update={name: self.told(one) for name, one in value if name not in fixed})
        return value


@dataclass(frozen=True)
class Day:
    """What one real night wrote down."""

    entries: tuple[Entry, ...]

    def first(self, kind: type[Event]) -> Any:
        return next(one.event for one in self.entries if isinstance(one.event, kind))

    def until(self, kind: type[Event]) -> tuple[Entry, ...]:
        """All before the first of a kind."""
        end = next(at for at, one in enumerate(self.entries) if isinstance(one.event, kind))
        return self.entries[:end]

    def ids(self) -> dict[str, str]:
        """Names that any later event may use."""
        job, run = self.first(jobs.JobCreated), self.first(jobs.RunStarted)
        return {
            "session": job.session,
            "job": job.job,
            "run": run.run,
            "project": job.project,
            "item": job.work_item,
            "work_item": job.work_item,
            "act": job.act,
            "mission": run.mission,
            "pull_request": self.first(jobs.PullRequestOpened).pull_request,
            "assumption": self.first(morning.AssumptionMade).assumption.id,
        }


async def a_day(folder: Path) -> Day:
    """Live through one night that has a little of everything."""
    async with a_house(folder / "home") as opened:
        await opened.project(sample_repository(folder / "sample"))
        more: dict[str, Any] = {"success_criteria": ("It is tidy",), "notes": "Mind the gap", "do_not_touch": ("docs",)}
        await opened.begin(orders("Tidy up", **more))
        await opened.to_the_brief()
        await opened.settle()
        return Day(await opened.house.journal.entries(limit=10_000))


def beside_a_night(day: Day) -> Sequence[Event]:
    """What people and agents say while a night is under way."""
    ids = day.ids()
    question = AskDraft(
        kind=AskKind.QUESTION,
        question="Which one?",
        options=("the left one", "the right one"),
        recommendation="the right one",
        rationale="It is shorter",
        project=ids["project"],
    )
    of_house = (projects.ProjectChanged, projects.GoalSet, projects.SettingsProposed, projects.LevelChanged)
    of_night = (session.CheckInMade, session.MessageSaid, session.SessionPaused, session.NoticeRaised)
    due = day.entries[-1].at + timedelta(days=9)
    return (
        *(_made(kind, ids) for kind in of_house),
        projects.WorkAdded(item="work_extra", project=ids["project"], title="Another thing", next_step="Look"),
        session.AskOpened(ask="ask_extra", session=ids["session"], draft=question, due_at=due),
        *(_made(kind, ids) for kind in of_night),
        *_reached_out(ids["job"]),
        *_asked_models(ids),
        *_at_the_door(),
    )


def at_work(day: Day) -> Sequence[Event]:
    """What goes wrong while an agent works."""
    ids = day.ids()
    epoch = max(one.event.epoch for one in day.until(jobs.JobExecuted) if isinstance(one.event, jobs.JobClaimed))
    held_up = {"job": ids["job"], "epoch": epoch, "stage": Stage.EXECUTE, "attempt": 1}
    stumbled = sample(jobs.JobStumbled, **held_up)
    ended = sample(jobs.JobEnded, job=ids["job"], epoch=epoch, state="failed")
    draft = AskDraft(kind=AskKind.GUIDANCE_ERROR, question="What now?", options=("go on",), subject=ids["job"])
    return (
        sample(workshop.SetupFinished, job=ids["job"], project=ids["project"], epoch=epoch),
        *_reached_out(ids["job"]),
        *_asked_models(ids),
        sample(jobs.JobGranted, job=ids["job"]),
        sample(jobs.PathAllowed, job=ids["job"]),
        sample(jobs.JobWaits, until=None, **held_up),
        sample(jobs.JobWoken, **held_up),
        stumbled,
        session.SessionPaused(session=ids["session"], why="A pause"),
        session.SessionResumed(session=ids["session"]),
        _made(jobs.JobStopRequested, ids),
        ended,
        session.AskOpened(ask="ask_extra", session=ids["session"], draft=draft, due_at=None),
        session.AskWithdrawn(ask="ask_extra", why="Not needed"),
        session.AskOpened(ask="ask_left", session=ids["session"], draft=draft, due_at=None),
        *(_made(kind, ids) for kind in (projects.GoalSet, projects.GoalClosed, projects.SettingsProposed)),
        _made(projects.SettingsDiscarded, ids),
    )


def after_a_night(day: Day) -> Sequence[Event]:
    """All that was not told yet, and a new draft at the end."""
    ids = day.ids()
    told = {one.event.kind for one in day.entries}
    rest = [kind for name, kind in KINDS.items() if name not in told and not name.startswith(("person", "token"))]
    later = {morning.ReviewSubmitted, morning.ReviewTimedOut, session.SessionEnded, projects.ProjectRemoved}
    return (
        *beside_a_night(day),
        *(_made(kind, ids) for kind in rest if kind not in later),
        session.SessionOpened(session="ses_next", orders=DRAFT, source="A source"),
    )


def reviewed(day: Day) -> Sequence[Event]:
    """A morning to its end, and the next evening's first and second thoughts."""
    ids = day.ids()
    report = day.first(morning.ReportWritten)
    given = tuple(
        Given(recommendation=one.id, outcome=ReviewOutcome.REJECTED, reason="No") for one in report.recommendations
    )
    review = Review(usefulness=4, trust=3, brevity=5, outcomes=given, notes="A word")
    return (
        _made(jobs.PullRequestClosed, ids),
        morning.ReviewSubmitted(session=ids["session"], by="somebody", review=review),
        _made(session.SessionEnded, ids),
        session.SessionOpened(session="ses_next", orders=Orders(), source="A source"),
        session.OrdersChanged(session="ses_next", orders=DRAFT),
    )


def _reached_out(job: str) -> Sequence[Event]:
    """What an agent tried: the names of hosts are its own words, and reasons may quote them."""
    tried = [
        workshop.ConnectionSeen(job=job, epoch=1, host=f"host {number}", port=1, verdict="refused", why=f"no {number}")
        for number in range(12)
    ]
    return (*tried, workshop.ConnectionSeen(job=job, epoch=1, host="far", port=1, verdict="allowed", why="it may"))


def _asked_models(ids: dict[str, str]) -> Sequence[Event]:
    """What an agent that asks a model does: its tools, its commands and what a provider says are strangers' words."""
    told = {"job": ids["job"], "epoch": 1}
    calls = [
        sample(crew.ToolCallDecided, verdict=verdict, shown=f"run {number}", tool="a tool", **told)
        for number, verdict in enumerate(("allow", "deny", "ask") * 5)
    ]
    held = AskDraft(
        kind=AskKind.CONFIRM_ACT,
        question="exactly",
        options=("yes", "no"),
        rationale="It leaves the checkout",
        subject=ids["job"],
    )
    kinds = (crew.AgentBegan, crew.ModelCalled, crew.AgentLimited, crew.AgentEnded)
    return (
        *(sample(kind, **told) for kind in kinds),
        *calls,
        session.AskOpened(ask="ask_held", session=ids["session"], draft=held, due_at=None),
        crew.FuelRead(provider="a provider", limit="a limit", remaining=0.4),
        crew.FuelRead(provider="a provider", limit="another", remaining=0, rejected=True),
    )


def _at_the_door() -> Sequence[Event]:
    known = {"person": "per_x", "token": "tok_x"}
    kinds = (people.PersonAdded, people.TokenIssued, people.PersonEntered, people.PersonRefused, people.PersonInvited)
    more = (people.PersonLeft, people.PersonChanged, people.TokenRevoked)
    return tuple(_made(kind, known) for kind in (*kinds, *more))


def _made(kind: type[Event], ids: dict[str, str]) -> Event:
    known = {"ask": "ask_extra", "goal": "goal_x", "proposal": "set_x", "message": "msg_x", "notice": "ntc_x"}
    whole = {"assumption"} if kind is morning.AssumptionMade else set()  # there it is the thing itself, not its id
    given = {name: value for name, value in (known | ids).items() if name in kind.model_fields.keys() - whole}
    if kind is projects.SettingsProposed:
        given["changes"] = {"rounds.interval_seconds": 400, "owner.name": "A name"}  # type: ignore[assignment]
    if kind is projects.ProjectChanged:
        given |= {"flags": ()}  # type: ignore[dict-item]
    return sample(kind, **given)


@asynccontextmanager
async def a_house_of(
    folder: Path, words: Words, entries: Sequence[Entry], more: Sequence[Event]
) -> AsyncIterator[tuple[TestHouse, set[str]]]:
    """Write a journal again in other words; gives the house and the kinds that it took."""
    async with a_house(folder) as opened:
        blob = await opened.house.blobs.keep((_diff() if words.hostile else CALM_DIFF).encode())
        taken: set[str] = set()
        signed: Orders | None = None
        for entry in entries:
            event = words.told(entry.event)
            if isinstance(event, session.SessionOpened):
                signed = event.orders
            if isinstance(event, session.OrdersSigned) and signed:
                event = event.model_copy(update={"orders_hash": orders_hash(signed)})
            if isinstance(event, jobs.JobQuarantined):
                event = event.model_copy(update={"diff_blob": blob})
            opened.clock.jump_to(max(entry.at, opened.clock.now()))
            await opened.house.journal.record(event, actor=words.of(entry.actor), because=entry.because)
            taken.add(event.kind)
        prompt = await opened.house.blobs.keep((_log() if words.hostile else CALM_LOG).encode())
        for event in more:
            try:
                await opened.house.journal.record(
                    _held(words.told(event), words, prompt), actor=words.of("somebody"), because=(1, 2)
                )
            except MidwatchError:
                continue  # not in this state of the night; the test asks in the end what no house took
            taken.add(event.kind)
        for row in await opened.house.records.find(JobRow):
            path = opened.house.workshop.rooms.log(row.id, "agent")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_log() if words.hostile else CALM_LOG, newline="")
        yield opened, taken


def _held(event: Event, words: Words, prompt: str) -> Event:
    """What an agent was told is a blob that is there; a held call is asked in our words around its own."""
    if isinstance(event, crew.AgentBegan):
        return event.model_copy(update={"prompt_blob": prompt})
    if isinstance(event, session.AskOpened) and event.ask == "ask_held":
        question = held_question(1, words.of("a tool"), words.of("exactly"))
        return event.model_copy(update={"draft": event.draft.model_copy(update={"question": question})})
    return event


def _log() -> str:
    lines = [re.sub("[\r\n\x0b\x0c\x85\u2028\u2029]", " ", payload(number)) for number in range(len(ALL))]
    return "\n".join((*lines, json.dumps({"text": f"{CORE}\n\nevent: ended\ndata: x\n"}), ""))


def _diff() -> str:
    lines = [f"+{line}" for number in range(0, len(ALL), 9) for line in payload(number).splitlines()]
    name = "<img src=x onerror=alert(1)>\u202e.html"
    head = f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -0,0 +1,{len(lines)} @@ {CORE}"
    return "\n".join((head, *lines, ""))
