"""Entries about requests to models, tool calls, limits and the ends of agents in words."""

from typing import assert_never

from midwatch.journal.events import crew as ev
from midwatch.journal.events import workshop as workshop_events
from midwatch.journal.events.signals import MilestoneReached, SignalAnswered, SignalEvent, SignalPassed, SignalSeen
from midwatch.terms.agents import SignalKind
from midwatch.terms.figures import dollars, many, size
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean


def sentence(event: ev.CrewEvent, names: Names) -> str:
    if isinstance(event, ev.FuelRead):
        return _fuel(event)
    called = names.of(event.job, "the job")
    name = called[0].upper() + called[1:]
    match event:
        case ev.ModelCalled():
            return f"{name} {_asked(event)}"
        case ev.AgentBegan():
            return f"{name}: {clean(event.agent)} {clean(event.version)} begins to {event.errand.value}"
        case ev.ToolCallDecided():
            return f"{name} {_decided(event)}"
        case ev.AgentLimited():
            until = f" until {names.clock(event.resets_at)}" if event.resets_at else ""
            return f"{name} reached the {clean(event.limit)} limit of {clean(event.provider)} and waits{until}"
        case ev.AgentEnded():
            return f"{name}: its agent ended ({event.outcome.value.replace('_', ' ')}). {clean(event.why)}".rstrip()
    assert_never(event)


def _asked(event: ev.ModelCalled) -> str:
    about = "about " if event.estimated else ""
    cost = f"{about}{many(event.tokens.total)} tokens, {dollars(event.usd_micros)}"
    failed = f" ({clean(event.why)})" if event.why else ""
    return f"asked {clean(event.model) or clean(event.provider)}: {cost}{failed}"


def _decided(event: ev.ToolCallDecided) -> str:
    said = {"allow": "may use", "deny": "may not use", "ask": "asks to use"}[event.verdict]
    by = f", says {clean(event.by)}" if event.by else ""
    return f"{said} {clean(event.tool)}{by}: {clean(event.shown)} ({clean(event.why)})"


def _fuel(event: ev.FuelRead) -> str:
    left = (
        "used up" if event.rejected else "unknown" if event.remaining is None else f"{event.remaining * 100:.0f} % left"
    )
    return f"{clean(event.provider)}, {clean(event.limit)} limit: {left}"


SAYS = {SignalKind.NEEDS_INPUT: "asks", SignalKind.ERROR: "has trouble", SignalKind.COMPLETED: "says it is done"}
PASSED = {"turn": "in its next turn", "file": "in a file", "prompt": "in its prompt", "call": "with a tool call"}


def signal_sentence(event: SignalEvent, names: Names) -> str:
    """Describe what an agent reported, or what was sent to it."""
    called = names.of(event.job, "the job")
    name = called[0].upper() + called[1:]
    match event:
        case SignalSeen(refused=refused) if refused:
            return f"{name} wrote a signal: {clean(refused)}"
        case SignalSeen():
            return f"{name} {SAYS[event.says]}: {clean(event.text, 360)}"
        case SignalAnswered():
            where = f" ({clean(event.why)})" if event.why else ""
            return f"{name} is answered by {clean(event.by)}{where}: {clean(event.answer)}"
        case SignalPassed(signals=()):
            return f"{name} received {PASSED[event.how]}: {clean(event.text)}"
        case SignalPassed():
            return f"{name} got the answer {PASSED[event.how]}"
        case MilestoneReached():
            return f"{name}: {clean(event.text, 360)}"
    assert_never(event)


def workshop_sentence(event: workshop_events.WorkshopEvent, names: Names) -> str:
    """Describe what happened around a job."""
    called = names.of(event.job, "the job")
    name = called[0].upper() + called[1:]
    match event:
        case workshop_events.ConnectionSeen():
            return f"{name} {_reached(event)}"
        case workshop_events.SetupFinished(reused=True):
            return f"{name} reuses the setup of {names.project(event.project)}."
        case workshop_events.SetupFinished():
            return f"{name} had {names.project(event.project)} set up in {event.seconds:.0f} s: {clean(event.command)}"
        case workshop_events.ProcessOrphaned():
            end = "It was ended." if event.ended else "It could not be ended; look at the machine."
            return f"A process of {called} was still running: {clean(event.why)} {end}"
        case workshop_events.CheckoutRemoved():
            return f"The checkouts of {called} were removed, {size(event.freed_bytes)} freed: {clean(event.why)}"
    assert_never(event)


def _reached(event: workshop_events.ConnectionSeen) -> str:
    place = f"{clean(event.host) or 'nowhere'}:{event.port}"
    match event.verdict:
        case "allowed":
            return f"reached {place} ({size(event.bytes_out)} out, {size(event.bytes_in)} in)."
        case "refused":
            return f"was refused {place}: {clean(event.why)}"
        case "cut":
            return f"was cut off from {place}: {clean(event.why)}"
        case "failed":
            return f"could not reach {place}: {clean(event.why)}"
    assert_never(event.verdict)
