"""Entries about stacks in words."""

from typing import assert_never

from midwatch.journal.events.stack import (
    StackBegun,
    StackCommented,
    StackEvent,
    StackMade,
    StackMerged,
    StackUndone,
)
from midwatch.terms.money import some
from midwatch.terms.stack import StackVerdict
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean, spaced


def told(event: StackEvent, names: Names) -> str:
    """Describe what happened to a stack."""
    called = names.of(event.stack, "the stack")
    match event:
        case StackBegun():
            where = f"in {names.project(event.project)} into {clean(event.into)}"
            return f"{clean(event.by)} started a merge check {where}"
        case StackMade():
            return _made(event, names)
        case StackMerged():
            return f"{clean(event.by)} merged {called} as {clean(event.sha[:12])}"
        case StackCommented():
            pulls = some(len(event.pull_requests), "pull request")
            return f"{clean(event.by)} posted the merge order of {called} on {pulls}"
        case StackUndone():
            return f"{clean(event.by)} undid {called}; {some(len(event.pull_requests), 'pull request')} open again"
    assert_never(event)


def _made(event: StackMade, names: Names) -> str:
    where = f"Stack in {names.project(event.project)}"
    if event.verdict is StackVerdict.FAILED:
        return f"{where}: not made. {clean(event.why)}"
    together = f"{len(event.order)} of {some(len(event.order) + len(event.left_out), 'branch', 'branches')}"
    runs = some(event.check_runs, "check run")
    out = f"; left out: {', '.join(f'pull request {one.number}' for one in event.left_out)}" if event.left_out else ""
    return f"{where}: {together} together, {spaced(event.verdict.value)} after {runs}{out}"
