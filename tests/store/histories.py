"""Random legal histories: a walk that tries events of every kind and keeps those that the projectors accept."""

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from midwatch.errors import MidwatchError
from midwatch.evening.shown_sheet import orders_hash
from midwatch.journal.events import Event, jobs, morning, preflight, session
from midwatch.terms.jobs import JobState, Stage
from midwatch.terms.projects import SessionState
from midwatch.terms.records import JobRow, SessionRow
from tests.journal.samples import KINDS, sample
from tests.store.opened import Store

NAMED = {
    "project": "prj", "session": "ses", "job": "job", "run": "run", "ask": "ask", "act": "act", "goal": "gol",
    "item": "wrk", "mission": "mis", "notice": "ntc", "invocation": "inv", "proposal": "set", "message": "msg",
    "pull_request": "pr", "artifact": "art", "report": "rep", "stack": "stk", "preflight": "pre",
}  # fmt: skip
"""Fields that name something, with the prefix of its id."""
FOR_STAGE: dict[Stage, type[Event]] = {
    Stage.MIRROR: jobs.JobMirrored,
    Stage.SETUP: jobs.JobPrepared,
    Stage.PLAN: jobs.JobPlanned,
    Stage.APPROVE: jobs.JobApproved,
    Stage.EXECUTE: jobs.JobExecuted,
    Stage.BUNDLE: jobs.JobBundled,
    Stage.QUARANTINE: jobs.JobQuarantined,
    Stage.VERIFY: jobs.JobVerified,
    Stage.REPAIR: jobs.JobRepaired,
    Stage.DELIVER: jobs.JobDelivered,
    Stage.PULL_REQUEST: jobs.PullRequestOpened,
    Stage.NOTICE: jobs.JobEnded,
}
FOR_NIGHT: dict[SessionState, tuple[type[Event], ...]] = {
    SessionState.BRIEFING: (
        session.OrdersChanged,
        preflight.SigningAsked,
        preflight.SigningDropped,
        session.OrdersSigned,
        session.SessionStarted,
        session.SessionStarted,
    ),
    SessionState.AUTONOMOUS: (
        session.RoundCalled,
        session.RoundPlanned,
        session.RoundEnded,
        session.SessionResumed,
        jobs.JobCreated,
    ),
    SessionState.DEBRIEF: (morning.ReportWritten, session.SessionEnded),
    SessionState.ENDED: (session.SessionOpened,),
}


@dataclass
class Walk:
    """A seeded walk over one store."""

    store: Store
    seed: int
    accepted: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    _made: int = 0
    _met: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)  # noqa: S311  a seed, not a secret

    async def step(self) -> bool:
        """Try one event; tell whether it was accepted."""
        event = await self._pick()
        because = sorted({self._dice.randint(1, 9) for _ in range(self._dice.randint(0, 2))})
        try:
            await self.store.journal.record(event, because=because, actor=self._dice.choice(["ann", "midwatch"]))
        except MidwatchError:
            self.refused[event.kind] += 1
            return False
        self.accepted[event.kind] += 1
        for name, prefix in NAMED.items():
            value = getattr(event, name, None)
            if isinstance(known := getattr(value, "id", value), str):
                self._met.setdefault(prefix, []).append(known)
        return True

    async def _pick(self) -> Event:
        way = self._dice.random()
        if way < 0.35 and (job := await self._newest_job()):
            return self._next_for(job)
        if way < 0.5:
            nights = await self.store.records.find(SessionRow)
            return self._next_for_night(nights[-1]) if nights else self._any(session.SessionOpened)
        rare = min(self._dice.sample(sorted(KINDS), 16), key=lambda kind: self.accepted[kind])
        return self._any(KINDS[rare])

    async def _newest_job(self) -> JobRow | None:
        live = [job for job in await self.store.records.find(JobRow) if not job.state.over]
        return live[-1] if live else None

    def _next_for(self, job: JobRow) -> Event:
        if job.state is JobState.STOPPING and self._dice.random() < 0.5:
            return jobs.JobEnded(job=job.id, epoch=job.epoch, state="stopped", why="asked to")
        if job.stage is not Stage.APPROVE and job.state is JobState.WAITING:
            attempt = job.attempt
            return jobs.JobWoken(job=job.id, epoch=job.epoch, stage=job.stage, attempt=attempt, by="its time")
        if job.stage is not Stage.APPROVE and (job.state is not JobState.RUNNING or self._dice.random() < 0.2):
            attempt, worker = job.attempt, f"w{job.epoch + 1}"
            return jobs.JobClaimed(job=job.id, stage=job.stage, attempt=attempt, epoch=job.epoch + 1, worker=worker)
        held_up = (jobs.JobStumbled, jobs.JobWaits, jobs.JobBoxOpened)
        kind = self._dice.choice(held_up) if self._dice.random() < 0.2 else FOR_STAGE[job.stage]
        given: dict[str, Any] = {"job": job.id, "epoch": job.epoch, "stage": job.stage, "plan_hash": "shown"}
        given |= {"repair": self._dice.random() < 0.4, "pull_request": self._new("pr")}
        return sample(kind, **{name: value for name, value in given.items() if name in kind.model_fields})

    def _next_for_night(self, night: SessionRow) -> Event:
        kind = self._dice.choice(FOR_NIGHT[night.state])
        number = night.rounds + (0 if night.round_active else 1)
        given = {"session": self._new("ses") if kind is session.SessionOpened else night.id, "number": number}
        given |= {"report": self._new("rep"), "orders_hash": orders_hash(night.orders)}
        if kind is jobs.JobCreated:
            given |= {"project": f"prj_{self._dice.randint(1, 3)}", **self._begun_or_resumed()}
        return sample(kind, **{name: value for name, value in given.items() if name in kind.model_fields})

    def _begun_or_resumed(self) -> dict[str, Any]:
        known = self._met.get("job", [])
        if known and self._dice.random() < 0.3:
            return {"retry_of": self._dice.choice(known), "job": self._new("job"), "stage": Stage.EXECUTE}
        return {"job": self._new("job"), "stage": Stage.MIRROR}

    def _any(self, kind: type[Event]) -> Event:
        given: dict[str, Any] = {}
        for name, info in kind.model_fields.items():
            if name in NAMED and info.annotation is str:
                met = self._met.get(NAMED[name], [])[-3:]
                given[name] = self._new(NAMED[name]) if not met or self._dice.random() < 0.2 else self._dice.choice(met)
            elif info.annotation is int:
                given[name] = self._dice.randint(1, 3)
        if kind is morning.ReviewSubmitted:
            given["review"] = {"usefulness": 4, "trust": 3, "brevity": 5}
        event = sample(kind, **given)
        inner = {name: part for name in event.__class__.model_fields if hasattr(part := getattr(event, name), "id")}
        return event.model_copy(update={name: self._renamed(name, part) for name, part in inner.items()})

    def _renamed(self, name: str, part: Any) -> Any:
        if name != "project":
            return part.model_copy(update={"id": self._new("x")})
        new = f"prj_{self._dice.randint(1, 3)}"
        return part.model_copy(update={"id": new, "name": new})

    def _new(self, prefix: str) -> str:
        self._made += 1
        return f"{prefix}_n{self._made}"
