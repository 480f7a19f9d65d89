"""Entries about agents' signals, the answers to them and milestones in words."""

from typing import assert_never

from midwatch.journal.events.signals import MilestoneReached, SignalAnswered, SignalEvent, SignalPassed, SignalSeen
from midwatch.terms.signals import SignalKind
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean

SAYS = {SignalKind.NEEDS_INPUT: "asks", SignalKind.ERROR: "has trouble", SignalKind.COMPLETED: "says it is done"}
PASSED = {"turn": "in its next turn", "file": "in a file", "prompt": "in its prompt", "call": "with a tool call"}


def told(event: SignalEvent, names: Names) -> str:
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
