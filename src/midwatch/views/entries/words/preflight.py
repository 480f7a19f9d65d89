"""Entries about a preflight in words: what was checked, and the result."""

from typing import assert_never

from midwatch.journal.events.preflight import PreflightBegun, PreflightChecked, PreflightEnded, PreflightEvent
from midwatch.terms.preflight import LineState
from midwatch.views.text.plain import clean, listed

MARKS = {LineState.OK: "ready", LineState.LOOK: "worth a look", LineState.BAD: "not ready"}


def told(event: PreflightEvent) -> str:
    """Describe the start, one line or the end of a preflight."""
    match event:
        case PreflightBegun(plan=plan):
            projects = listed(tuple(one.name for one in plan.projects)) or "the machine"
            text = f"A preflight of {projects} began"
        case PreflightChecked(subject=subject, text=said, state=state):
            text = f"Preflight, {MARKS[state]}: {clean(subject)}: {clean(said, 360)}"
        case PreflightEnded(error=error):
            text = f"The preflight failed: {clean(error)}" if error else "The preflight ended"
        case _:
            assert_never(event)
    return text
