"""The state of the world at one moment, from a few queries without git; the brain and the gate decide by it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from midwatch.night.rounds.contracts import contract_for, item_for
from midwatch.night.rounds.work_state import item_seen, retries_counted
from midwatch.ports.books import Books
from midwatch.ports.journal import Moment
from midwatch.rules.budget.time_boxes import boxed
from midwatch.rules.gate.act_groups import only_waits
from midwatch.rules.gate.contract import authority_of
from midwatch.rules.people.asks import agrees
from midwatch.rules.people.notices import is_quiet
from midwatch.rules.recovery.liveness import PLACE
from midwatch.rules.recovery.tries import GUIDANCE, failed_in_a_row, forgiven_at
from midwatch.settings import Settings, gate_limits, quiet_hours
from midwatch.settings.zone import local_time
from midwatch.terms.acts import WAITING, ActKind, ItemSense, Proposal, Proposer, Sense
from midwatch.terms.agents import SignalKind
from midwatch.terms.asks import AskState
from midwatch.terms.facts import Budget, Budgets, Facts, ProjectFacts, RunningJob
from midwatch.terms.figures import micros
from midwatch.terms.jobs import JobState
from midwatch.terms.projects import Flag, SessionState
from midwatch.terms.records import (
    AskRow,
    JobRow,
    MessageRow,
    PastAct,
    ProjectRow,
    PullRequestRow,
    SessionRow,
    SignalRow,
)
from midwatch.terms.trust import Isolation


@dataclass(frozen=True, slots=True)
class World:
    """One consistent snapshot."""

    now: datetime
    head: int
    session: SessionRow
    projects: dict[str, ProjectRow]
    jobs: tuple[JobRow, ...]
    running: tuple[JobRow, ...]
    pull_requests: tuple[PullRequestRow, ...]
    acts: tuple[PastAct, ...]
    asks: tuple[AskRow, ...]
    answered: tuple[AskRow, ...]
    questions: tuple[SignalRow, ...]
    """The questions that agents asked tonight."""
    messages: tuple[MessageRow, ...]
    settings: Settings
    free_memory: int
    free_disk: int
    isolation: Isolation

    def name_of(self, project: str) -> str:
        """Return the project's name for people."""
        if project in self.projects:
            return self.projects[project].name
        ordered = [item["work_item"] for item in self.session.items if item["project"] == project]
        return item_for(self.session, ordered[0]).project if ordered else project

    def _target_name(self, target: str) -> str:
        """Return what a sentence calls the target of an act; empty if it is none of tonight's."""
        titles = [item["title"] for item in self.session.items if item["work_item"] == target]
        numbers = [f"job {job.number}" for job in self.jobs if job.id == target]
        numbers += [f"ask {ask.number}" for ask in (*self.asks, *self.answered) if ask.id == target]
        return f"“{titles[0][:60]}”" if titles else numbers[0] if numbers else ""

    def _target_exists(self, proposal: Proposal) -> bool:
        """Whether the target is one of tonight's, in the project of the proposal; the project itself always is."""
        if not proposal.target:
            return True
        places = {item["work_item"]: item["project"] for item in self.session.items}
        rows: tuple[JobRow | AskRow | SignalRow | PullRequestRow, ...]
        rows = (*self.jobs, *self.asks, *self.answered, *self.questions, *self.pull_requests)
        places |= {row.id: row.project for row in rows}
        if proposal.target not in places:
            return False
        return not proposal.project or places[proposal.target] in {proposal.project, ""}

    def _for_person(self, target: str) -> bool:
        """Whether the target is an ask that only a person answers: all are, except those of an agent's question."""
        from_agents = {one.ask for one in self.questions}
        return any(ask.id == target and ask.id not in from_agents for ask in (*self.asks, *self.answered))

    def _tainted(self) -> bool:
        """Whether a job of tonight read untrusted text: the brain is shown what its jobs say, so it may repeat it."""
        return any(job.tainted for job in self.jobs)

    def at_work(self) -> tuple[JobRow, ...]:
        """List the jobs that have a place or wait for one; a job that waits for anything else leaves its place."""
        return tuple(job for job in self.running if job.state is not JobState.WAITING or job.cause == PLACE)

    def on_whose_word(self, proposal: Proposal) -> Proposer:
        """Return who stands behind a proposal: a person who said to go on with what failed, else the brain.

        A person's word is bound by scopes and budgets, not by level or cooldowns, and is not asked about again.
        """
        tried = [job for job in self.jobs if job.work_item == proposal.target]
        if proposal.kind is not ActKind.RESTART or not tried or tried[-1].ended_at is None:
            return Proposer.BRAIN
        last = tried[-1]
        said = [ask for ask in self.answered if ask.kind in GUIDANCE and ask.project == last.project]
        since = [ask for ask in said if ask.settled_at and last.ended_at and ask.settled_at >= last.ended_at]
        agreed = any(ask.answered_by and agrees(ask.answer) for ask in since)
        return Proposer.PERSON if agreed else Proposer.BRAIN

    def items(self) -> tuple[ItemSense, ...]:
        """Return the ordered work, each item with its state."""
        return tuple(item_seen(self, item) for item in self.session.items)

    def sense(self) -> Sense:
        """Return what the brain sees."""
        return Sense(
            now=self.now,
            session=self.session.id,
            round=self.session.rounds,
            level=self.session.level,
            orders=self.session.orders,
            items=self.items(),
            open_asks=len(self.asks),
            answers=tuple(f"{ask.question} {ask.answer} {ask.answer_text}".strip() for ask in self.answered),
            messages=tuple(message.text for message in self.messages),
            state_version=self.head,
            budget_left=self._affordable(),
        )

    def _affordable(self) -> bool:
        """Whether none of the night's limits is used up."""
        all_of = self.budgets()
        each = (all_of.usd_micros, all_of.tokens, all_of.seconds, all_of.rounds)
        return all(budget.room_for(0) or not budget.limit for budget in each)

    def counts(self) -> dict[str, JsonValue]:
        """Return the counts of this snapshot, for the journal."""
        return {
            "state_version": self.head,
            "jobs_running": len(self.at_work()),
            "open_asks": len(self.asks),
            "items": {item.work_item: item.state for item in self.items()},
        }

    def budgets(self) -> Budgets:
        """Return what was spent and granted; reservations for running requests are only in the ledger."""
        limits = self.session.orders.limits
        began = self.session.started_at or self.now
        return Budgets(
            usd_micros=Budget(spent=sum(job.usd_micros for job in self.jobs), limit=micros(limits.usd)),
            tokens=Budget(spent=sum(job.tokens for job in self.jobs), limit=limits.tokens),
            seconds=Budget(spent=int((self.now - began).total_seconds()), limit=limits.minutes * 60),
            rounds=Budget(spent=max(0, self.session.rounds - 1), limit=limits.rounds),
            attention=Budget(reserved=len(self.asks), limit=self.settings.notices.daily_budget),
        )

    def facts_for(self, proposal: Proposal) -> Facts:
        """Return all facts that the gate may use for one proposal."""
        done = [act for act in self.acts if act.state == "done" and act.ended_at]
        same_kind = [act for act in done if (act.kind, act.about) == (proposal.kind.value, proposal.about)]
        same_project = [act for act in done if act.project and act.project == proposal.project]
        contract = contract_for(self.session, proposal, self.projects, self.settings)
        return Facts(
            now=local_time(self.settings, self.now),
            level=self.session.level,
            in_session=self.session.state is SessionState.AUTONOMOUS and not self.session.paused,
            authority=authority_of(contract),
            contract=contract,
            project=self._project(proposal),
            target_exists=self._target_exists(proposal),
            target_name=self._target_name(proposal.target),
            target_for_person=self._for_person(proposal.target),
            same_action_at=_latest(same_kind),
            same_project_at=_latest(act for act in same_project if act.kind not in QUIET_KINDS),
            jobs_running=len(self.at_work()),
            free_memory_bytes=self.free_memory,
            free_disk_bytes=self.free_disk,
            budgets=self.budgets(),
            quiet_hours=self._quiet(),
            isolation=self.isolation,
            tainted=self._tainted(),
            retries_of_cause=self._retries(proposal),
            spin=self._spin(proposal),
            limits=gate_limits(self.settings),
        )

    def _project(self, proposal: Proposal) -> ProjectFacts | None:
        row = self.projects.get(proposal.project)
        if row is None:
            return (
                ProjectFacts(id=proposal.project, name=self.name_of(proposal.project), known=False)
                if proposal.project
                else None
            )
        own = [job for job in self.jobs if job.project == row.id]
        running = [job for job in self.running if job.project == row.id]
        last = (running or own)[-1] if running or own else None
        return ProjectFacts(
            id=row.id,
            name=row.name,
            protected=Flag.PROTECTED in row.flags or row.name in self.settings.gate.protected_projects,
            blocked=Flag.BLOCKED in row.flags,
            skipped=Flag.SKIPPED in row.flags,
            job=RunningJob(
                id=last.id,
                started_at=last.started_at or last.created_at,
                running=not last.state.over,
                in_error=last.state is JobState.FAILED or boxed(last),
            )
            if last
            else None,
            jobs_running=len(running),
            open_pull_request=any(one.project == row.id for one in self.pull_requests),
            retries_in_a_row=len(failed_in_a_row(own, forgiven_at(self.answered, row.id, self.jobs))),
        )

    def _retries(self, proposal: Proposal) -> int:
        restarts = proposal.kind is ActKind.RESTART
        return retries_counted(self, proposal.target, proposal.project) if restarts else 0

    def _spin(self, proposal: Proposal) -> int:
        count = 0
        for act in reversed([act for act in self.acts if act.kind not in WAITING_KINDS and _counts_as_spin(act)]):
            if (act.kind, act.about) != (proposal.kind.value, proposal.about) or act.result:
                break
            count += 1
        return count

    def _quiet(self) -> bool:
        start, end = quiet_hours(self.settings)
        return is_quiet(local_time(self.settings, self.now), start=start, end=end)


WAITING_KINDS = frozenset(kind.value for kind in WAITING)
QUIET_KINDS = WAITING_KINDS | {ActKind.NOTIFY.value, ActKind.REPORT.value, ActKind.ASK_USER.value, ActKind.NOTE.value}


async def look(books: Books, session: SessionRow) -> World:
    """Read the state, only of tonight's projects: a thousand other projects cost nothing."""
    at, settings, machine = books.clock.now(), books.settings(), books.machine
    free = (machine.free_memory(), machine.free_disk(), machine.isolation())
    return await books.records.at_once(lambda now: _seen(now, session, at, settings, free))


def _seen(
    now: Moment, session: SessionRow, at: datetime, settings: Settings, free: tuple[int, int, Isolation]
) -> World:
    concerned = tuple(sorted({item["project"] for item in session.items}))
    active = tuple(state for state in JobState if not state.over)
    free_memory, free_disk, isolation = free
    return World(
        now=at,
        head=now.head,
        session=session,
        projects={row.id: row for row in now.find(ProjectRow, id=concerned, removed=False)},
        jobs=now.find(JobRow, session=session.id),
        running=now.find(JobRow, state=active),
        pull_requests=now.find(PullRequestRow, project=concerned, state="open"),
        acts=now.find(PastAct, session=session.id),
        asks=now.find(AskRow, state=AskState.OPEN),
        answered=now.find(AskRow, session=session.id, state=(AskState.ANSWERED, AskState.EXPIRED)),
        questions=now.find(SignalRow, session=session.id, says=SignalKind.NEEDS_INPUT),
        messages=now.find(MessageRow, session=session.id),
        settings=settings,
        free_memory=free_memory,
        free_disk=free_disk,
        isolation=isolation,
    )


def _latest(acts: Iterable[PastAct]) -> datetime | None:
    return max((act.ended_at for act in acts if act.ended_at), default=None)


def _counts_as_spin(act: PastAct) -> bool:
    """Whether an act counts as a repetition; one that is still being judged, or only has to wait, does not."""
    return act.state != "judged" and not only_waits(act)
