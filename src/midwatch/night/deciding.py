"""Decides the tool calls of one attempt: by the rules, or by a person where the rules say so."""

import asyncio
from collections.abc import Mapping
from typing import Any

from midwatch.errors import MidwatchError
from midwatch.journal.events.crew import ToolCallDecided
from midwatch.journal.events.session import AskOpened, NoticeRaised
from midwatch.night.bounds import scope_of
from midwatch.night.roles import Night
from midwatch.rules.asks import deadline_at
from midwatch.rules.notices import NoticeKind, tier_of
from midwatch.rules.tool_calls import ToolCall, ToolFacts, ToolOutcome, ToolVerdict, decide, shown
from midwatch.settings.zone import local_time
from midwatch.terms.agents import Decision, Errand
from midwatch.terms.asks import AskDraft, AskKind, AskState, Silence
from midwatch.terms.contract import RunContract
from midwatch.terms.records import AskRow, JobRow, SessionRow

LOOK_SECONDS = 0.5


class Decider:
    """Judges each call of one attempt; what was refused once is not asked again."""

    def __init__(self, night: Night, job: JobRow, contract: RunContract, errand: Errand, root: str) -> None:
        self._night = night
        self._job = job
        self._contract = contract
        self._errand = errand
        self._root = root
        self._refused: set[str] = set()
        self._tainted = False
        self._number = 0

    async def __call__(self, tool: str, given: Mapping[str, Any]) -> Decision:
        """Say yes or no, and write it down before anything happens."""
        call = ToolCall(tool, given)
        exactly = shown(call)
        verdict = decide(call, await self._facts(exactly))
        self._number += 1
        self._tainted = self._tainted or verdict.taints
        if verdict.outcome is not ToolOutcome.ASK:
            allowed = verdict.outcome is ToolOutcome.ALLOW
            await self._record(tool, exactly, verdict, "allow" if allowed else "deny")
            return Decision(allowed=allowed, why=verdict.why)
        await self._record(tool, exactly, verdict, "ask")
        by, yes = await self._ask(tool, exactly, verdict)
        await self._record(tool, exactly, verdict, "allow" if yes else "deny", by=by)
        if not yes:
            self._refused.add(exactly)
        said = f"{by} said {'yes' if yes else 'no'}." if by else "Nobody answered in time, so: no."
        return Decision(allowed=yes, why=said)

    async def _facts(self, exactly: str) -> ToolFacts:
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
            scratch=("/tmp",),  # noqa: S108 - inside, it is the job's own
            tainted=self._tainted,
            denied_before=exactly in self._refused,
        )

    async def _record(self, tool: str, exactly: str, verdict: ToolVerdict, said: str, *, by: str = "") -> None:
        first = verdict.reasons[0]
        event = ToolCallDecided.model_validate(
            {
                "job": self._job.id,
                "epoch": self._job.epoch,
                "call": f"{self._job.epoch}.{self._number}",
                "tool": tool,
                "shown": exactly,
                "verdict": said,
                "code": first.code,
                "why": first.text,
                "by": by,
            }
        )
        await self._night.journal.record(event)

    async def _ask(self, tool: str, exactly: str, verdict: ToolVerdict) -> tuple[str, bool]:
        """Hold the call until a person answers or silence has said no."""
        night, settings = self._night, self._night.settings()
        minutes = settings.asks.confirm_act_minutes
        due = deadline_at(AskKind.CONFIRM_ACT, local_time(settings, night.clock.now()), minutes=minutes)
        draft = AskDraft(
            kind=AskKind.CONFIRM_ACT,
            question=f"May job {self._job.number} use {tool}? {exactly}",
            options=("yes", "no"),
            recommendation="no",
            rationale=verdict.reasons[0].text,
            priority=8,
            deadline_minutes=minutes,
            silence=Silence.NOT_DONE,
            blocking=True,
            subject=self._job.id,
            project=self._job.project,
        )
        opened = AskOpened(ask=night.ids.new("ask"), session=self._job.session, draft=draft, due_at=due)
        told = NoticeRaised(
            notice=night.ids.new("ntc"),
            session=self._job.session,
            tier=tier_of(NoticeKind.PLAN_READY),
            text=draft.question,
            subject=opened.ask,
        )
        await night.journal.record(opened, told)
        return await self._answered(opened.ask)

    async def _answered(self, ask: str) -> tuple[str, bool]:
        while True:
            try:
                row = await self._night.records.get(AskRow, ask)
            except MidwatchError:
                return "", False  # a question that cannot be read is a question nobody answered
            if row.state is AskState.ANSWERED:
                return row.answered_by, row.answer.strip().lower() in {"yes", "y", "ok", "approve", "approved"}
            if row.state is not AskState.OPEN:
                return "", False
            await asyncio.sleep(LOOK_SECONDS)
