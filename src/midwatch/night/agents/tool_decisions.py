"""Decides the tool calls of one attempt: by the rules, or by a person where the rules say so."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from midwatch.journal.events.crew import ToolCallDecided
from midwatch.night.asks.held_calls import Asking
from midwatch.night.context import Night
from midwatch.night.jobs.job_limits import scope_of, taint_of, tainted
from midwatch.ports.room import Room
from midwatch.rules.tools.tool_calls import ToolCall, ToolFacts, ToolOutcome, ToolVerdict, decide, shown
from midwatch.terms.agents import Decision, Errand
from midwatch.terms.contract import RunContract
from midwatch.terms.records import JobRow, SessionRow


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

    def __init__(self, night: Night, job: JobRow, contract: RunContract, errand: Errand, room: Room) -> None:
        self._night = night
        self._job = job
        self._contract = contract
        self._errand = errand
        self._root = str(room.inside)
        self._signals = str(room.signals_inside)
        self._asking = Asking(night, job, room)
        self._number = 0

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
        said = await self._asking.about(question, verdict.first.text)
        await self._record(case, verdict, "allow" if said.yes else "deny", said.text, by=said.by)
        return Decision(allowed=said.yes, why=said.text)

    async def _facts(self) -> ToolFacts:
        session = await self._night.records.get(SessionRow, self._job.session)
        scope, constraints = scope_of(self._contract), self._contract.constraints
        domains = tuple(name for one in constraints.tool_policy.scopes.values() for name in one.allowed_domains)
        settings = self._night.settings()
        return ToolFacts(
            errand=self._errand,
            level=session.level,
            allowed_paths=scope.allowed_paths,
            root=self._root,
            work_paths=self._contract.paths,
            do_not_touch=constraints.do_not_touch,
            allowed_tools=settings.execution.allowed_tools,
            allowed_domains=(*settings.sandbox.domains, *domains),
            scratch=("/tmp", self._signals),  # noqa: S108 - inside, it is the job's own
            tainted=await tainted(self._night.journal, self._night.records, self._job),
        )

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
        first = event.taints and await self._night.journal.known(taint) is None
        await self._night.journal.record(event, key=taint if first else "")
