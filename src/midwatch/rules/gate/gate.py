"""The gate: decides what may come of a proposal, with reasons."""

from collections.abc import Sequence
from typing import Final

from midwatch.rules.gate import approval, capacity, permissions, state
from midwatch.rules.gate.act_groups import plain
from midwatch.rules.gate.conditions import BRAIN, EVERYONE, PERSON, Condition, ConditionResult, refuse
from midwatch.terms.acts import Proposal
from midwatch.terms.english import reason
from midwatch.terms.facts import Facts
from midwatch.terms.trust import GateOutcome, Level, Verdict

CONDITIONS: Final[tuple[Condition, ...]] = (
    # what never happens
    Condition(permissions.forbidden_kind, EVERYONE),
    Condition(permissions.external_high, EVERYONE),
    Condition(permissions.forbidden_action, EVERYONE),
    # what it is about
    Condition(state.project_unknown, EVERYONE),
    Condition(state.target_unknown, EVERYONE),
    Condition(state.blocked, EVERYONE),
    Condition(state.protected, BRAIN),
    Condition(state.skipped, BRAIN),
    Condition(state.resolve_personal, BRAIN),
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
    Condition(approval.agent_uncontained, PERSON),
    Condition(capacity.running_already, EVERYONE),
    Condition(capacity.busy, EVERYONE),
    Condition(capacity.crowded, EVERYONE),
    Condition(capacity.memory_short, EVERYONE),
    Condition(capacity.disk_short, EVERYONE),
    Condition(capacity.nothing_to_stop, EVERYONE),
    Condition(capacity.nothing_to_restart, EVERYONE),
    Condition(capacity.budget_usd, EVERYONE),
    Condition(capacity.budget_tokens, EVERYONE),
    Condition(capacity.budget_seconds, EVERYONE),
    Condition(capacity.budget_rounds, EVERYONE),
    # what a brain must wait for
    Condition(capacity.young_job, BRAIN),
    Condition(capacity.pull_request_open, BRAIN),
    Condition(capacity.retries_of_cause, BRAIN),
    Condition(capacity.retries_of_project, BRAIN),
    Condition(state.cooldown_action, BRAIN),
    Condition(state.cooldown_project, BRAIN),
    Condition(state.spin, BRAIN),
    # what it may only say
    Condition(state.outside_session, BRAIN),
    Condition(permissions.write_unlevelled, BRAIN),
    Condition(capacity.attention_spent, BRAIN),
    # what it must ask
    Condition(approval.approval_always, BRAIN),
    Condition(approval.council_objects, BRAIN),
    Condition(approval.uncertain, BRAIN),
    # what the level grants
    Condition(approval.isolation_caps, BRAIN),
    Condition(approval.by_level, BRAIN),
    Condition(approval.by_command, PERSON),
    Condition(approval.notice_urgency, BRAIN),
)
"""Every question of the gate, in order, and who it applies to. Of equal answers the first one decides."""

_STRICTEST_FIRST: Final = {outcome: rank for rank, outcome in enumerate(GateOutcome)}


def judge(proposal: Proposal, facts: Facts, *, conditions: Sequence[Condition] = CONDITIONS) -> Verdict:
    """The strictest answer wins: a refusal, then a suggestion, then a question; without any yes the answer is no."""
    found = [finding for condition in conditions if (finding := condition.find(proposal, facts)) is not None]
    if not found:
        return Verdict(outcome=GateOutcome.REFUSE, reasons=(reason("gate.nothing_allows", act=plain(proposal.kind)),))
    found.sort(key=lambda finding: _STRICTEST_FIRST[finding.outcome])
    return _verdict(found[0], found)


def _verdict(deciding: ConditionResult, found: Sequence[ConditionResult]) -> Verdict:
    """Reasons that would have allowed it are no reasons for a stricter answer."""
    stricter = [finding for finding in found if finding.outcome is not GateOutcome.EXECUTE]
    counted = stricter or found
    asks = deciding.outcome is GateOutcome.ASK_FIRST
    return Verdict(
        outcome=deciding.outcome,
        reasons=tuple(finding.reason for finding in counted),
        deadline_minutes=deciding.minutes if asks else None,
        silence=deciding.silence.value if asks and deciding.silence else "",
    )


def inside_the_orders(proposal: Proposal, _facts: Facts) -> ConditionResult | None:
    """What nothing forbids, and the orders name, may go."""
    return ConditionResult(GateOutcome.EXECUTE, reason("delivery.inside", effect=proposal.effect))


def held_at_observe(_proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """At observe nothing is delivered that a person did not approve."""
    return refuse("delivery.observe") if facts.level is Level.OBSERVE else None


DELIVERY_CONDITIONS: Final[tuple[Condition, ...]] = (
    Condition(permissions.forbidden_kind, EVERYONE),
    Condition(permissions.external_high, EVERYONE),
    Condition(permissions.forbidden_action, EVERYONE),
    Condition(state.project_unknown, EVERYONE),
    Condition(state.blocked, EVERYONE),
    Condition(permissions.contract_missing, EVERYONE),
    Condition(permissions.contract_elsewhere, EVERYONE),
    Condition(permissions.effect_unnamed, EVERYONE),
    Condition(permissions.tool_unnamed, EVERYONE),
    Condition(permissions.tool_denied, EVERYONE),
    Condition(permissions.tool_unlisted, EVERYONE),
    Condition(permissions.path_outside, EVERYONE),
    Condition(permissions.do_not_touch, EVERYONE),
    Condition(permissions.writes_off, EVERYONE),
    Condition(held_at_observe, BRAIN),
    Condition(inside_the_orders, EVERYONE),
)
"""The gate's own questions about scope; room, cooldowns and the level were asked when the work began."""


def judge_delivery(proposal: Proposal, facts: Facts) -> Verdict:
    """Work that stayed inside what was signed may be handed over."""
    return judge(proposal, facts, conditions=DELIVERY_CONDITIONS)
