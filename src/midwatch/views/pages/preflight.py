"""A preflight as people read it: its lines in order, and one sentence for the whole."""

from collections.abc import Iterable
from typing import Final

from midwatch.terms.figures import some
from midwatch.terms.preflight import LineState, PreflightState, What
from midwatch.terms.records import PreflightLineRow, PreflightRow
from midwatch.terms.term import Term
from midwatch.views.text.plain import clean

ABOUT: Final = {
    What.CLONE: "clone",
    What.SETUP: "setup",
    What.CHECKS: "checks",
    What.PUSH: "push",
    What.HELLO: "hello",
    What.QUOTA: "quota",
    What.PING: "ping",
    What.WALLS: "walls",
    What.ROOM: "room",
    What.SLEEP: "sleep",
}
RANK: Final = {what: place for place, what in enumerate(What)}
PROJECT: Final = frozenset({What.CLONE, What.SETUP, What.CHECKS, What.PUSH})


class LineShown(Term):
    """One line: its owner, its subject, its result, and what to do."""

    subject: str
    what: str
    state: LineState
    text: str
    fix: str = ""
    seconds: float = 0.0


class PreflightShown(Term):
    """A preflight as a whole."""

    id: str
    running: bool
    said: str
    lines: tuple[LineShown, ...]
    look: int
    bad: int
    broke: bool
    of: int
    """The least number of lines to expect."""


def preflight_shown(row: PreflightRow, lines: Iterable[PreflightLineRow]) -> PreflightShown:
    """Put the lines in order: projects as ordered, then agents, channels, the machine."""
    places = {one.name: place for place, one in enumerate(row.plan.projects)}

    def place(line: PreflightLineRow) -> tuple[int, int, str, int]:
        mine = line.what in PROJECT
        beside = 0 if mine else 1 + RANK[line.what]
        return beside, places.get(line.subject, 0) if mine else 0, "" if mine else line.subject, RANK[line.what]

    shown = tuple(_line(one) for one in sorted(lines, key=place))
    running = row.state is PreflightState.RUNNING
    return PreflightShown(
        id=row.id,
        running=running,
        said=_said(row, len(shown)),
        lines=shown,
        look=row.look,
        bad=row.bad,
        broke=bool(row.error),
        of=max(row.plan.lines, len(shown)),
    )


def _line(row: PreflightLineRow) -> LineShown:
    return LineShown(
        subject=clean(row.subject, 80),
        what=ABOUT[row.what],
        state=row.state,
        text=clean(row.text, 600),
        fix=clean(row.fix, 600),
        seconds=row.seconds,
    )


def _said(row: PreflightRow, result: int) -> str:
    if row.state is PreflightState.RUNNING:
        return f"Checking: {result} of {max(row.plan.lines, result)} checked so far."
    if row.error:
        return f"The preflight failed: {clean(row.error)}"
    if row.state is PreflightState.REPLACED:
        return "A newer preflight replaced it."
    looks = f"{some(row.look, 'line')} {'is' if row.look == 1 else 'are'} worth a look."
    if row.bad:
        said = f"{'1 thing is' if row.bad == 1 else f'{row.bad} things are'} not ready."
        return f"{said} {looks}" if row.look else said
    return f"Nothing is in the way; {looks}" if row.look else "Everything is ready."


def signed_with(bad: Iterable[PreflightLineRow], *, error: str = "") -> str:
    """Say what was known to be wrong when orders were signed; empty if nothing was."""
    if error:
        return f"Signed after a preflight that failed: {clean(error)}"
    lines = list(bad)
    if not lines:
        return ""
    first = lines[0]
    more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    return f"Signed with {some(len(lines), 'red line')}: {clean(first.subject)}: {clean(first.text)}{more}"
