"""Groups of acts that rules refer to."""

from typing import Final

from midwatch.terms.acts import WAITING, ActKind, External, Proposal
from midwatch.terms.records import PastAct

EFFECTS: Final = frozenset(
    {
        ActKind.START,
        ActKind.START_RUN,
        ActKind.STOP,
        ActKind.RESTART,
        ActKind.RESOLVE,
        ActKind.DELEGATE,
        ActKind.SCHEDULE,
        ActKind.CREATE_PROJECT,
        ActKind.UPDATE_WORK_ITEM,
    }
)
"""Acts that change something. Only these have cooldowns: waiting, talking and looking may follow each other at once."""

TOUCHING: Final = EFFECTS | {ActKind.MERGE}
"""Acts that a protected, blocked or skipped project does not allow."""

STARTING: Final = frozenset({ActKind.START, ActKind.START_RUN})
"""Acts that take in new work."""

AGENT_WORK: Final = STARTING | {ActKind.RESTART}
"""Acts that set an agent to work."""

SPENDING: Final = AGENT_WORK | {ActKind.SEARCH, ActKind.RESEARCH, ActKind.DELEGATE}
"""Acts that use up budgets; anything with an estimate counts as well."""

SAYING: Final = WAITING | {ActKind.REPORT, ActKind.NOTIFY}
"""Acts that wait or only say something; they need no session."""

NEEDS_PROJECT: Final = frozenset(
    {
        ActKind.START,
        ActKind.START_RUN,
        ActKind.STOP,
        ActKind.RESTART,
        ActKind.UPDATE_WORK_ITEM,
        ActKind.MERGE,
    }
)

NEEDS_TARGET: Final = frozenset({ActKind.RESOLVE, ActKind.UPDATE_WORK_ITEM, ActKind.MERGE})

COOLDOWNS: Final = frozenset({"gate.cooldown_action", "gate.cooldown_project"})

PASSING: Final = COOLDOWNS | frozenset(
    f"gate.{code}"
    for code in (
        "busy",
        "crowded",
        "disk_short",
        "memory_short",
        "outside_session",
        "running_already",
    )
)
"""Reasons that pass by themselves; any other refusal stays until a person changes something."""

LOOKING: Final = frozenset({ActKind.SEARCH, ActKind.RESEARCH})


def only_waits(act: PastAct) -> bool:
    """Whether an act was refused for a reason that passes by itself: nothing was decided about it yet."""
    return act.state == "refused" and act.code in PASSING


def touches_the_world(proposal: Proposal) -> bool:
    """Whether doubt about it is worth a person's time: it changes, writes or reaches outside."""
    return proposal.kind in TOUCHING or proposal.writes or proposal.external is not External.NONE


def spends(proposal: Proposal) -> bool:
    """Whether it uses up money, tokens or time of the session."""
    return proposal.kind in SPENDING or proposal.estimated_usd_micros > 0


def plain(kind: ActKind) -> str:
    """Name an act the way a person would."""
    return kind.value.replace("_", " ")
