"""Every version of a job's plan: its outcome, and what changed from one to the next."""

import difflib
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from midwatch.terms.jobs import Plan
from midwatch.terms.records import PlanRow
from midwatch.terms.term import Term
from midwatch.views.pages.live.open_asks import safe_undo
from midwatch.views.text.plain import clean, harmless
from midwatch.views.text.states import PLAN_ENDED

PARTS: Final = (("approach", "How"), ("files", "Files"), ("risks", "Risks"), ("checks", "Proved by"))


class Line(Term):
    """A line of a plan: the same in both versions, added, or removed."""

    mark: str
    text: str


class PlanVersion(Term):
    """One version."""

    version: int
    at: datetime
    fate: str
    by: str
    said: str
    wish: str
    summary: str
    changed: tuple[Line, ...]
    """What is different from the version before; nothing for the first."""


def versions_shown(rows: Iterable[PlanRow]) -> tuple[PlanVersion, ...]:
    """Show the versions, oldest first, each beside the one before."""
    shown: list[PlanVersion] = []
    before: Plan | None = None
    for row in sorted(rows, key=lambda row: row.version):
        shown.append(
            PlanVersion(
                version=row.version,
                at=row.created_at,
                fate=PLAN_ENDED.get(row.fate, row.fate),
                by=clean(row.by, 60),
                said=clean(row.said, 800),
                wish=clean(row.wish, 800),
                summary=clean(row.plan.summary, 800),
                changed=difference(before, row.plan) if before else (),
            )
        )
        before = row.plan
    return tuple(shown)


def difference(before: Plan, after: Plan) -> tuple[Line, ...]:
    """Compare two plans line by line; equal lines are left out, except for one around each change."""
    marked = difflib.unified_diff(plan_lines(before), plan_lines(after), n=1, lineterm="")
    return tuple(Line(mark=one[:1], text=one[1:]) for one in marked if not one.startswith(("---", "+++", "@@")))


def plan_lines(plan: Plan) -> list[str]:
    """Write a plan line by line, as it is compared and read."""
    lines = [harmless(plan.summary)]
    for field, title in PARTS:
        lines += [f"{title}: {harmless(one)}" for one in getattr(plan, field)]
    size = (plan.estimate_files, plan.estimate_lines, plan.estimate_minutes)
    if any(size):
        lines.append("Estimate: {} files, {} lines, {} minutes".format(*size))
    lasts = {"Blast radius": plan.blast_radius, "Undo, in the agent's words": safe_undo(plan.undo)}
    return lines + [f"{title}: {harmless(text)}" for title, text in lasts.items() if text]
