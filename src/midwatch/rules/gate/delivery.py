"""May this finished work be delivered? Asked again at the door, about exactly the paths that would go."""

from typing import Final

from midwatch.rules.gate import permissions, state
from midwatch.rules.gate.conditions import BRAIN, EVERYONE, Condition, ConditionResult, refuse
from midwatch.rules.gate.gate import judge
from midwatch.terms.acts import Proposal
from midwatch.terms.english import reason
from midwatch.terms.facts import Facts
from midwatch.terms.trust import GateOutcome, Level, Verdict


def inside_the_orders(proposal: Proposal, _facts: Facts) -> ConditionResult | None:
    """What nothing forbids, and the orders name, may go."""
    return ConditionResult(GateOutcome.EXECUTE, reason("delivery.inside", effect=proposal.effect))


def held_at_observe(_proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """At observe nothing is delivered that a person did not approve."""
    return refuse("delivery.observe") if facts.level is Level.OBSERVE else None


CONDITIONS: Final[tuple[Condition, ...]] = (
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
    return judge(proposal, facts, conditions=CONDITIONS)
