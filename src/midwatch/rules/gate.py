"""The gate: turns what somebody would like to happen into what may happen, with reasons."""

from collections.abc import Sequence
from typing import Final

from midwatch.rules import leave, permissions, room, standing
from midwatch.rules.conditions import BRAIN, EVERYONE, PERSON, Condition, Finding
from midwatch.rules.kinds import plain
from midwatch.terms.acts import Proposal
from midwatch.terms.english import reason
from midwatch.terms.facts import Facts
from midwatch.terms.trust import Outcome, Verdict

CONDITIONS: Final[tuple[Condition, ...]] = (
    # what never happens
    Condition(permissions.forbidden_kind, EVERYONE),
    Condition(permissions.external_high, EVERYONE),
    Condition(permissions.forbidden_action, EVERYONE),
    # what it is about
    Condition(standing.project_unknown, EVERYONE),
    Condition(standing.target_unknown, EVERYONE),
    Condition(standing.blocked, EVERYONE),
    Condition(standing.protected, BRAIN),
    Condition(standing.skipped, BRAIN),
    Condition(standing.resolve_personal, BRAIN),
    # what was signed
    Condition(permissions.contract_missing, EVERYONE),
    Condition(permissions.contract_elsewhere, EVERYONE),
    Condition(permissions.effect_unnamed, EVERYONE),
    Condition(permissions.peer_unnamed, EVERYONE),
    Condition(permissions.tool_unnamed, EVERYONE),
    Condition(permissions.tool_denied, EVERYONE),
    Condition(permissions.tool_unlisted, EVERYONE),
    Condition(permissions.path_outside, EVERYONE),
    Condition(permissions.do_not_touch, EVERYONE),
    Condition(permissions.writes_off, BRAIN),
    Condition(permissions.unordered_write, BRAIN),
    Condition(permissions.tainted_delegate, BRAIN),
    Condition(permissions.tainted_memory, BRAIN),
    Condition(permissions.tainted_project, BRAIN),
    # whether there is room
    Condition(leave.agent_uncontained, PERSON),
    Condition(room.running_already, EVERYONE),
    Condition(room.busy, EVERYONE),
    Condition(room.crowded, EVERYONE),
    Condition(room.memory_short, EVERYONE),
    Condition(room.disk_short, EVERYONE),
    Condition(room.nothing_to_stop, EVERYONE),
    Condition(room.nothing_to_restart, EVERYONE),
    Condition(room.budget_usd, EVERYONE),
    Condition(room.budget_tokens, EVERYONE),
    Condition(room.budget_seconds, EVERYONE),
    Condition(room.budget_rounds, EVERYONE),
    # what a brain must wait for
    Condition(room.young_job, BRAIN),
    Condition(room.pull_request_open, BRAIN),
    Condition(room.retries_of_cause, BRAIN),
    Condition(room.retries_of_project, BRAIN),
    Condition(standing.cooldown_action, BRAIN),
    Condition(standing.cooldown_project, BRAIN),
    Condition(standing.spin, BRAIN),
    # what it may only say
    Condition(standing.outside_session, BRAIN),
    Condition(permissions.write_unlevelled, BRAIN),
    Condition(room.attention_spent, BRAIN),
    # what it must ask
    Condition(leave.approval_always, BRAIN),
    Condition(leave.council_objects, BRAIN),
    Condition(leave.uncertain, BRAIN),
    # what the level grants
    Condition(leave.isolation_caps, BRAIN),
    Condition(leave.by_level, BRAIN),
    Condition(leave.by_command, PERSON),
    Condition(leave.notice_urgency, BRAIN),
)
"""Every question of the gate, in order, and whom it binds. Of equal answers the first one decides."""

_STRICTEST_FIRST: Final = {outcome: rank for rank, outcome in enumerate(Outcome)}


def judge(proposal: Proposal, facts: Facts, *, conditions: Sequence[Condition] = CONDITIONS) -> Verdict:
    """The strictest answer wins: what refuses, then what only says, then what asks; nobody's yes means no."""
    found = [finding for condition in conditions if (finding := condition.find(proposal, facts)) is not None]
    if not found:
        return Verdict(outcome=Outcome.REFUSE, reasons=(reason("gate.nothing_allows", act=plain(proposal.kind)),))
    found.sort(key=lambda finding: _STRICTEST_FIRST[finding.outcome])
    return _verdict(found[0], found)


def _verdict(deciding: Finding, found: Sequence[Finding]) -> Verdict:
    """Reasons that would have allowed it are no reasons for a stricter answer."""
    stricter = [finding for finding in found if finding.outcome is not Outcome.EXECUTE]
    counted = stricter or found
    asks = deciding.outcome is Outcome.ASK_FIRST
    return Verdict(
        outcome=deciding.outcome,
        reasons=tuple(finding.reason for finding in counted),
        deadline_minutes=deciding.minutes if asks else None,
        silence=deciding.silence.value if asks and deciding.silence else "",
    )
