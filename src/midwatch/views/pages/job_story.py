"""What a job's agents did: each prompt, every tool call with its verdict, the cost, how it ended."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final, Literal

from midwatch.journal.entry import Entry
from midwatch.journal.events.crew import AgentBegan, AgentEnded, AgentLimited, ModelCalled, ToolCallDecided
from midwatch.terms.figures import some
from midwatch.terms.term import Term
from midwatch.views.pages.job_line import Spent
from midwatch.views.text.plain import clean
from midwatch.views.text.states import AGENT_RUN_ENDED

STORY: Final = ("agent.began", "agent.ended", "agent.limited", "model.called", "tool_call.decided")
"""The kinds of entries this is made of."""
Verdict = Literal["allowed", "refused", "waits"]
VERDICTS: Final[dict[str, Verdict]] = {"allow": "allowed", "deny": "refused", "ask": "waits"}


class Call(Term):
    """One tool call: exactly what would run, the decision, and who made it where a person was asked."""

    seq: int
    at: datetime
    tool: str
    shown: str
    verdict: Verdict
    code: str
    why: str
    asked: bool = False
    by: str = ""


class LimitReached(Term):
    """A provider's limit that made the work wait."""

    provider: str
    limit: str
    at: datetime
    resets_at: datetime | None


class ErrandDone(Term):
    """One run of an agent's program, from its prompt to its end."""

    epoch: int
    errand: str = ""
    agent: str = ""
    version: str = ""
    model: str = ""
    template: str = ""
    template_version: str = ""
    prompt_blob: str = ""
    began_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: str = ""
    ended: str = ""
    """How it ended, as the rest of a sentence about it; empty while it runs."""
    why: str = ""
    turns: int | None = None
    """How many answers of its model it acted on; nothing while it runs, or if its program does not show them."""
    spent: Spent = Spent()
    cost: str = ""
    """What it cost, in words."""
    estimated: bool = False
    """Whether part of the cost is estimated because the provider did not report it."""
    failed: int = 0
    """Requests that failed at the provider."""
    calls: tuple[Call, ...] = ()
    limits: tuple[LimitReached, ...] = ()


def errands_of(entries: Iterable[Entry], job: str) -> tuple[ErrandDone, ...]:
    """List a job's agent runs in the order they began; what would run is never cut."""
    found: dict[int, ErrandDone] = {}
    for entry in entries:
        event = entry.event
        if not isinstance(event, AgentBegan | AgentEnded | AgentLimited | ModelCalled | ToolCallDecided):
            continue
        if event.job == job:
            known = found.get(event.epoch, ErrandDone(epoch=event.epoch))
            found[event.epoch] = known.model_copy(update=_learned(known, entry.seq, entry.at, event))
    return tuple(found.values())


def turns_in(events: Iterable[object]) -> int | None:
    """Add up the turns of a job's agents; None if one of them did not show its turns (A9)."""
    turns = [event.turns for event in events if isinstance(event, AgentEnded)]
    known = [number for number in turns if number is not None]
    return sum(known) if known and len(known) == len(turns) else None


def _learned(
    known: ErrandDone,
    seq: int,
    at: datetime,
    event: AgentBegan | AgentEnded | AgentLimited | ModelCalled | ToolCallDecided,
) -> dict[str, object]:
    match event:
        case AgentBegan():
            return _began(event, at)
        case AgentEnded():
            ended = AGENT_RUN_ENDED.get(event.outcome.value, event.outcome.value)
            told = {"outcome": event.outcome.value, "ended": ended, "why": clean(event.why, 400), "turns": event.turns}
            return {"ended_at": at, **told}
        case AgentLimited():
            named = {"provider": clean(event.provider, 60), "limit": clean(event.limit, 60)}
            return {"limits": (*known.limits, LimitReached(at=at, resets_at=event.resets_at, **named))}
        case ModelCalled():
            return _paid(known, event)
        case ToolCallDecided():
            return {"calls": _decided(known.calls, seq, at, event)}


def _began(event: AgentBegan, at: datetime) -> dict[str, object]:
    return {
        "errand": event.errand.value,
        "agent": clean(event.agent, 60),
        "version": clean(event.version, 60),
        "model": clean(event.model, 80),
        "template": clean(event.template, 80),
        "template_version": clean(event.template_version, 200),
        "prompt_blob": event.prompt_blob,
        "began_at": at,
    }


def _paid(known: ErrandDone, event: ModelCalled) -> dict[str, object]:
    spent = Spent(
        requests=known.spent.requests + 1,
        tokens=known.spent.tokens + event.tokens.total,
        usd_micros=known.spent.usd_micros + event.usd_micros,
    )
    failed = known.failed + (not 200 <= event.status < 300)
    estimated = known.estimated or event.estimated
    words = [*spent.parts[:-1], f"about {spent.parts[-1]}" if estimated else spent.parts[-1]]
    words += [f"{some(failed, 'request')} failed"] if failed else []
    return {
        "spent": spent,
        "failed": failed,
        "estimated": estimated,
        "cost": " · ".join(words),
        "model": known.model or clean(event.model, 80),
    }


def _decided(calls: tuple[Call, ...], seq: int, at: datetime, event: ToolCallDecided) -> tuple[Call, ...]:
    """A held call is one call: the answer replaces the question."""
    tool = clean(event.tool, 120)
    waiting = [one for one in calls if (one.verdict, one.tool, one.shown) == ("waits", tool, event.shown)]
    call = Call(
        seq=seq,
        at=at,
        tool=tool,
        shown=event.shown,
        verdict=VERDICTS[event.verdict],
        code=event.code,
        why=clean(event.why, 400),
        asked=event.verdict == "ask" or bool(waiting),
        by=clean(event.by, 60),
    )
    return tuple(call if one is waiting[0] else one for one in calls) if waiting else (*calls, call)
