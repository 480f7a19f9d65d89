"""What is different between two sheets of orders, for a person who read the first and is about to sign the second."""

from collections.abc import Iterable
from typing import Final

from midwatch.terms.figures import dollars, micros, span
from midwatch.terms.orders import Limits, OrderedWork, Orders
from midwatch.terms.records import ProjectRow
from midwatch.views.text.plain import clean, listed

LONGEST = 120
LINE_NAMES: Final = {
    "level": "Level",
    "limits.usd": "Money",
    "limits.tokens": "Tokens",
    "limits.minutes": "Time",
    "limits.rounds": "Rounds",
    "permissions.tools": "What is allowed",
    "permissions.domains": "Domains",
    "permissions.external": "Effects outside",
    "permissions.silence_approves": "Silence",
}
"""The lines that have a default, as the sheet calls them."""


def sheet_changes(before: Orders, after: Orders) -> tuple[str, ...]:
    """Name each difference in one line, in the order of the sheet."""
    old, new = before.permissions, after.permissions
    silence = ("silence approves a plan", "silence approves nothing")
    found = (
        _turned("Level", before.level.value, after.level.value),
        *_entries("Goal", before.goals, after.goals),
        *_entries("Success criterion", before.success_criteria, after.success_criteria),
        _turned("Notes", before.notes, after.notes),
        *_work(before.work, after.work),
        *_limits(before.limits, after.limits),
        _turned("Until", str(before.until or "no time named"), str(after.until or "no time named")),
        *_entries("Permission", old.tools, new.tools),
        *_entries("Effect outside", old.external, new.external),
        *_entries("Domain", old.domains, new.domains),
        _turned("Silence", silence[not old.silence_approves], silence[not new.silence_approves]),
        *_entries("Protected path", before.do_not_touch, after.do_not_touch),
        *(f"{LINE_NAMES[one]} is not a default any more" for one in before.unsaid if one not in after.unsaid),
        *(f"{LINE_NAMES[one]} is a default now" for one in after.unsaid if one not in before.unsaid),
    )
    return tuple(one for one in found if one)


def bounds_now(plan_minutes: float, files: int, lines: int) -> str:
    """Say what the settings add to every sheet."""
    return f"Settings: a plan waits {span(plan_minutes)}; a job changes at most {files} files and {lines} lines"


def project_now(row: ProjectRow, *, protected: bool) -> str:
    """Say what a project adds to a sheet: where work begins, what proves it, and what agents may do there."""
    facts = {
        "at": (row.path, row.branch),
        "never touched": row.do_not_touch,
        "checks": row.checks or ("found ones",),
        "setup": (row.setup or "by its lockfiles",),
        "tools": row.tools or ("as ordered",),
        "always allowed": row.always_tools,
        "it is": (*row.flags, *(("protected by the settings",) if protected else ())),
        "pull requests at": (row.forge,) if row.forge else (),
    }
    said = (f"{name} {', '.join(clean(one, LONGEST) for one in values) or 'nothing'}" for name, values in facts.items())
    return f"Project {clean(row.name)}: {'; '.join(said)}"


def _turned(name: str, old: str, new: str) -> str:
    return "" if old == new else f"{name}: {clean(new, LONGEST) or 'none'} (was: {clean(old, LONGEST) or 'none'})"


def _entries(name: str, old: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    before, after = tuple(old), tuple(new)
    return (
        *(f"{name} added: {clean(one, LONGEST)}" for one in after if one not in before),
        *(f"{name} removed: {clean(one, LONGEST)}" for one in before if one not in after),
    )


def _work(old: tuple[OrderedWork, ...], new: tuple[OrderedWork, ...]) -> tuple[str, ...]:
    added, gone = [one for one in new if one not in old], [one for one in old if one not in new]
    same = {(one.title, one.where) for one in added} & {(one.title, one.where) for one in gone}
    lines = [f"Work {_how(one, same, 'added')}: {_called(one)}" for one in added]
    lines += [f"Work removed: {_called(one)}" for one in gone if (one.title, one.where) not in same]
    if not lines and old != new:
        lines.append("The order of the work is different")
    return tuple(lines)


def _how(one: OrderedWork, same: set[tuple[str, tuple[str, ...]]], otherwise: str) -> str:
    return "changed" if (one.title, one.where) in same else otherwise


def _called(one: OrderedWork) -> str:
    return f"{clean(one.title, LONGEST)} ({listed(one.where)})"


def _limits(old: Limits, new: Limits) -> tuple[str, ...]:
    reserve = [f"{one.leave_percent} %" + (f" at {one.leave_at:%H:%M}" if one.leave_at else "") for one in (old, new)]
    return (
        _turned("Time", span(old.minutes), span(new.minutes)),
        _turned("Rounds", f"{old.rounds:,}", f"{new.rounds:,}"),
        _turned("Money", dollars(micros(old.usd)), dollars(micros(new.usd))),
        _turned("Tokens", f"{old.tokens:,}", f"{new.tokens:,}"),
        _turned("Left for you", *reserve),
    )
