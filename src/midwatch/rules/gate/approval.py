"""Conditions about permission: the level, isolation, the council's doubts, approvals, how urgent a notice may be."""

from typing import Final

from midwatch.rules.gate.act_groups import AGENT_WORK, plain, touches_the_world
from midwatch.rules.gate.conditions import ConditionResult, refuse, say_only
from midwatch.rules.gate.levels import HOUSEKEEPER, effective_level
from midwatch.rules.gate.matrix import outcome_at
from midwatch.rules.people.asks import SILENCE, minutes_to_end_of_next_day
from midwatch.rules.people.notices import brain_tier
from midwatch.terms.acts import ActKind, Proposal
from midwatch.terms.asks import AskKind, Silence, Tier
from midwatch.terms.english import reason
from midwatch.terms.facts import Facts
from midwatch.terms.trust import GateOutcome, Isolation, Level

_CODE: Final = {
    GateOutcome.EXECUTE: "gate.allowed",
    GateOutcome.EXECUTE_AND_TELL: "gate.allowed_tell",
    GateOutcome.ASK_FIRST: "gate.allowed_ask",
    GateOutcome.SAY_ONLY: "gate.allowed_say",
    GateOutcome.REFUSE: "gate.allowed_never",
}


def by_level(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """The level decides which acts run, which run and are reported, which are asked and which are only suggested."""
    outcome = outcome_at(proposal, facts.level)
    why = reason(_CODE[outcome], level=facts.level, act=plain(proposal.kind))
    minutes, silence = _terms(proposal, facts) if outcome is GateOutcome.ASK_FIRST else (None, None)
    return ConditionResult(outcome, why, minutes, silence)


def by_command(proposal: Proposal, _facts: Facts) -> ConditionResult | None:
    """What a person asks for is done, unless another condition objects."""
    return ConditionResult(GateOutcome.EXECUTE, reason("gate.commanded", act=plain(proposal.kind)))


def isolation_caps(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A model-driven agent behind weak walls gets no more permission than they justify."""
    held = effective_level(facts.level, facts.isolation, proposal.agent, forced=facts.limits.forced_isolation)
    outcome = outcome_at(proposal, held)
    if held is facts.level or outcome is outcome_at(proposal, facts.level):
        return None
    why = reason("gate.isolation_caps", isolation=facts.isolation, agent=proposal.agent, level=held)
    minutes, silence = _terms(proposal, facts) if outcome is GateOutcome.ASK_FIRST else (None, None)
    return ConditionResult(outcome, why, minutes, silence)


def agent_uncontained(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Without isolation no model-driven agent is started, not even by a person's command, unless this is forced."""
    if proposal.kind not in AGENT_WORK or proposal.agent == HOUSEKEEPER:
        return None
    if facts.isolation is not Isolation.NONE or facts.limits.forced_isolation:
        return None
    return refuse("gate.agent_uncontained", agent=proposal.agent)


def approval_always(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A tool that the orders want confirmed is confirmed at each use."""
    scope = facts.contract.constraints.tool_policy.scopes.get(proposal.tool) if facts.contract else None
    if scope is None or scope.requires_approval != "always":
        return None
    why = reason("gate.approval_always", tool=proposal.tool)
    return ConditionResult(GateOutcome.ASK_FIRST, why, facts.limits.confirm_minutes, SILENCE[AskKind.CONFIRM_ACT])


def council_objects(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """When enough voices object, a person is asked first."""
    objections = facts.council.objections
    if objections < facts.limits.objections_that_ask or not touches_the_world(proposal):
        return None
    why = reason("gate.council_objects", objections=objections)
    return ConditionResult(GateOutcome.ASK_FIRST, why, *_terms(proposal, facts))


def uncertain(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """An uncertain proposal asks a person for guidance."""
    agreement, limits = facts.council.agreement, facts.limits
    doubted = agreement is not None and agreement < limits.min_agreement
    if not touches_the_world(proposal) or not (doubted or proposal.confidence < limits.min_confidence):
        return None
    agreed = "unknown" if agreement is None else f"{agreement:.0%}"
    why = reason("gate.uncertain", confidence=proposal.confidence, agreement=agreed)
    return ConditionResult(GateOutcome.ASK_FIRST, why, limits.guidance_minutes, SILENCE[AskKind.GUIDANCE_UNCERTAIN])


def notice_urgency(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """At observe a brain sends only quiet notices; at no level does it send an urgent one."""
    if proposal.kind is not ActKind.NOTIFY:
        return None
    if facts.level is Level.OBSERVE and proposal.tier < Tier.SUMMARY:
        return say_only("gate.notice_loud", level=facts.level, tier=proposal.tier)
    if brain_tier(proposal.tier) != proposal.tier:
        return ConditionResult(GateOutcome.EXECUTE, reason("gate.notice_lowered"))
    return None


def _terms(proposal: Proposal, facts: Facts) -> tuple[float | None, Silence]:
    """A merge is a decision for the morning; every other act is confirmed soon or not done."""
    if proposal.kind is ActKind.MERGE:
        return facts.limits.decision_minutes or minutes_to_end_of_next_day(facts.now), SILENCE[AskKind.DECISION]
    return facts.limits.confirm_minutes, SILENCE[AskKind.CONFIRM_ACT]
