"""Decides the tool calls of one attempt: by the rules, or by a person where the rules say so."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from midwatch.journal.events.crew import ToolCallDecided
from midwatch.journal.events.jobs import JobClaimed, PathAllowed
from midwatch.night.asks.held_calls import Asking, HeldAnswer
from midwatch.night.context import Workspace
from midwatch.night.jobs.job_limits import (
    files_allowed,
    lists_of,
    ordered_paths,
    proof_request,
    scope_of,
    taint_of,
    tainted,
)
from midwatch.ports.books import Books
from midwatch.ports.room import Room
from midwatch.rules.checks.discovery import NONE
from midwatch.rules.tools.tool_calls import ToolCall, ToolFacts, ToolOutcome, ToolVerdict, decide, shown
from midwatch.rules.tools.tool_lists import always_for
from midwatch.terms.agents import Decision, Errand
from midwatch.terms.contract import RunContract
from midwatch.terms.records import JobRow, ProjectRow, SessionRow
from midwatch.terms.trust import Isolation


@dataclass(frozen=True, slots=True)
class _Case:
    """One call that is being decided."""

    name: str
    tool: str
    shown: str


class Decider:
    """Decides each call of one attempt; a call that was refused once is not asked about again.

    A restart loses nothing: the journal knows whether untrusted text was read, and the asks know what was refused.
    An agent that read untrusted text stays tainted for the whole job, because its conversation continues.
    """

    def __init__(
        self, books: Books, workspace: Workspace, job: JobRow, contract: RunContract, errand: Errand, room: Room
    ) -> None:
        self._books = books
        self._workspace = workspace
        self._job = job
        self._contract = contract
        self._errand = errand
        self._root = str(room.inside)
        self._signals = str(room.signals_inside)
        self._epoch = room.epoch
        self._asking = Asking(books, workspace.wake_ups, job, room)
        self._number = 0
        self._own: tuple[str, ...] | None = None
        self._isolation: Isolation | None = None

    async def __call__(self, tool: str, given: Mapping[str, Any]) -> Decision:
        """Allow or deny a call, and record the decision before anything happens."""
        call = ToolCall(tool, given)
        self._number += 1
        case = _Case(f"{self._job.epoch}.{self._number}", tool, shown(call))
        question = self._asking.question(tool, case.shown)
        facts = await self._facts()
        verdict = decide(call, facts)
        if verdict.outcome is ToolOutcome.ASK and await self._asking.refused(question):
            verdict = decide(call, replace(facts, denied_before=True))
        if verdict.outcome is not ToolOutcome.ASK:
            allowed = verdict.outcome is ToolOutcome.ALLOW
            await self._record(case, verdict, "allow" if allowed else "deny", verdict.first.text)
            return Decision(allowed=allowed, why=verdict.why)
        await self._record(case, verdict, "ask", verdict.first.text)
        said = await self._asking.about(question, verdict.first.text, always_for(call, facts))
        if said.yes:
            await self._open(verdict.opens, said)
        await self._record(case, verdict, "allow" if said.yes else "deny", said.text, by=said.by)
        return Decision(allowed=said.yes, why=said.text)

    async def _open(self, files: tuple[str, ...], said: HeldAnswer) -> None:
        """Keep the yes, so that quarantine and delivery honour it."""
        for path in files:
            allowed = PathAllowed(job=self._job.id, path=path, by=said.by, ask=said.ask)
            await self._books.journal.record(allowed, actor=said.by, key=f"path:{said.ask}:{path}")

    async def _facts(self) -> ToolFacts:
        session = await self._books.records.get(SessionRow, self._job.session)
        project = await self._books.records.get(ProjectRow, self._job.project)
        constraints, settings = self._contract.constraints, self._books.settings()
        domains = tuple(name for one in constraints.tool_policy.scopes.values() for name in one.allowed_domains)
        lists = lists_of(settings, project, self._contract)
        return ToolFacts(
            errand=self._errand,
            level=session.level,
            allowed_paths=ordered_paths(session.orders, project, scope_of(self._contract)),
            root=self._root,
            work_paths=self._contract.paths,
            opened=await files_allowed(self._books.journal, self._books.records, self._job),
            do_not_touch=constraints.do_not_touch,
            allowed_tools=lists.without_walls,
            narrowing=lists.written,
            own_commands=await self._own_commands(project),
            isolation=await self._walls(),
            allowed_domains=(*settings.sandbox.domains, *domains),
            scratch=("/tmp", self._signals),  # noqa: S108 - inside, it is the job's own
            tainted=await tainted(self._books.journal, self._books.records, self._job),
        )

    async def _own_commands(self, project: ProjectRow) -> tuple[str, ...]:
        """The job's checks, those found in its base included, and the project's setup."""
        if self._own is None:
            self._own = await self._workspace.proofs.commands(proof_request(self._job, self._contract))
        return (*self._own, project.setup) if project.setup not in {"", NONE} else self._own

    async def _walls(self) -> Isolation:
        """The isolation of the attempt that made the room: an agent may have run since before a restart."""
        if self._isolation is None:
            same = self._epoch == self._job.epoch
            self._isolation = self._job.isolation if same else await self._walls_then()
        return self._isolation

    async def _walls_then(self) -> Isolation:
        after, page = 0, 1000
        while entries := await self._books.journal.entries(after=after, limit=page, kinds=("job.claimed",)):
            for entry in entries:
                claim = entry.event
                if isinstance(claim, JobClaimed) and (claim.job, claim.epoch) == (self._job.id, self._epoch):
                    return claim.isolation
            after = entries[-1].seq
        return Isolation.NONE

    async def _record(
        self, case: _Case, verdict: ToolVerdict, said: Literal["allow", "deny", "ask"], why: str, *, by: str = ""
    ) -> None:
        event = ToolCallDecided(
            job=self._job.id,
            epoch=self._job.epoch,
            call=case.name,
            tool=case.tool,
            shown=case.shown,
            verdict=said,
            code=verdict.first.code,
            why=why,
            by=by,
            taints=verdict.taints and said == "allow",
        )
        # The first call that taints is recorded under a key, so that later calls can find it.
        taint = taint_of(self._job.id)
        first = event.taints and await self._books.journal.known(taint) is None
        await self._books.journal.record(event, key=taint if first else "")
