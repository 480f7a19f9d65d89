"""Entries about requests to models, tool calls, limits and the ends of agents in words."""

from typing import assert_never

from midwatch.journal.events.crew import (
    AgentBegan,
    AgentEnded,
    AgentLimited,
    CrewEvent,
    FuelRead,
    ModelCalled,
    ToolCallDecided,
)
from midwatch.terms.money import dollars, many
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean


def told(event: CrewEvent, names: Names) -> str:
    """Describe what an agent did."""
    if isinstance(event, FuelRead):
        return _fuel(event)
    called = names.of(event.job, "the job")
    name = called[0].upper() + called[1:]
    match event:
        case ModelCalled():
            return f"{name} {_asked(event)}"
        case AgentBegan():
            return f"{name}: {clean(event.agent)} {clean(event.version)} begins to {event.errand.value}"
        case ToolCallDecided():
            return f"{name} {_decided(event)}"
        case AgentLimited():
            until = f" until {event.resets_at:%H:%M} UTC" if event.resets_at else ""
            return f"{name} reached the {clean(event.limit)} limit of {clean(event.provider)} and waits{until}"
        case AgentEnded():
            return f"{name}: its agent ended ({event.outcome.value.replace('_', ' ')}). {clean(event.why)}".rstrip()
    assert_never(event)


def _asked(event: ModelCalled) -> str:
    about = "about " if event.estimated else ""
    cost = f"{about}{many(event.tokens.total)} tokens, {dollars(event.usd_micros)}"
    failed = f" ({clean(event.why)})" if event.why else ""
    return f"asked {clean(event.model) or clean(event.provider)}: {cost}{failed}"


def _decided(event: ToolCallDecided) -> str:
    said = {"allow": "may use", "deny": "may not use", "ask": "asks to use"}[event.verdict]
    by = f", says {clean(event.by)}" if event.by else ""
    return f"{said} {clean(event.tool)}{by}: {clean(event.shown)} ({clean(event.why)})"


def _fuel(event: FuelRead) -> str:
    left = (
        "used up" if event.rejected else "unknown" if event.remaining is None else f"{event.remaining * 100:.0f} % left"
    )
    return f"{clean(event.provider)}, {clean(event.limit)} limit: {left}"
