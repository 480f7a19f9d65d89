"""Conditions about what was signed: forbidden things, outside effects, tools, paths, writes, peers, taint."""

from typing import Final

from midwatch.rules.gate.act_groups import plain
from midwatch.rules.gate.conditions import ConditionResult, project_name, refuse, say_only
from midwatch.rules.gate.levels import effective_level
from midwatch.rules.paths import inside, touches
from midwatch.terms.acts import FORBIDDEN, ActKind, External, Proposal
from midwatch.terms.contract import Constraints, RunContract, ToolScope
from midwatch.terms.facts import Facts
from midwatch.terms.trust import Authority, Level

FORBIDDEN_MEANS: Final[dict[str, frozenset[str]]] = {
    "deploy_prod": frozenset({"deploy", "deploy_prod", "prod_deploy"}),
    "send_external_email": frozenset({"mail_strangers", "email", "mail", "external_email", "send_external_email"}),
    "direct_push_main": frozenset({"push_protected", "push_main", "direct_push_main"}),
}
"""The kinds, effects and tools that a forbidden action covers. Any other name covers itself only."""

LASTING_MEMORY: Final = ("semantic", "strategic")


def forbidden_kind(proposal: Proposal, _facts: Facts) -> ConditionResult | None:
    """Pushing to a protected branch, deploying, paying and mailing strangers are never allowed."""
    return refuse("gate.forbidden_kind", act=plain(proposal.kind)) if proposal.kind in FORBIDDEN else None


def external_high(proposal: Proposal, _facts: Facts) -> ConditionResult | None:
    """An act with a large outside effect never happens."""
    return refuse("gate.external_high") if proposal.external is External.HIGH else None


def effect_unnamed(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A small outside effect happens only if the orders name it."""
    if proposal.external is not External.LOW:
        return None
    named = facts.contract.external_effects if facts.contract else ()
    return None if proposal.effect in named else refuse("gate.effect_unnamed", effect=proposal.effect)


def contract_missing(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Without a contract nothing is written and no tool is used."""
    needs_one = proposal.writes or proposal.tool or proposal.paths
    return refuse("gate.contract_missing") if needs_one and facts.contract is None else None


def contract_elsewhere(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A contract for one project does not permit work in another."""
    contract = facts.contract
    if contract is None or not (proposal.writes or proposal.tool or proposal.paths):
        return None
    if not proposal.project or contract.project_id == proposal.project:
        return None
    return refuse("gate.contract_elsewhere", project=project_name(proposal, facts))


def forbidden_action(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """What the orders forbid is not done under any of its names; without a contract the default list is forbidden."""
    constraints = facts.contract.constraints if facts.contract else Constraints()
    names = {proposal.kind.value, proposal.effect, proposal.tool} - {""}
    for action in constraints.forbidden_actions:
        if names & FORBIDDEN_MEANS.get(action, frozenset({action})) or _is_unasked_docs(action, proposal):
            return refuse("gate.forbidden_action", action=action)
    return None


def _is_unasked_docs(action: str, proposal: Proposal) -> bool:
    return (
        action == "unrequested_longform_docs" and proposal.domain == "docs" and proposal.writes and not proposal.ordered
    )


def tool_unnamed(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A write that does not name its tool cannot be held to a scope."""
    return refuse("gate.tool_unnamed") if proposal.writes and not proposal.tool and facts.contract else None


def tool_denied(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A tool that the contract denies is not used, even if it is also allowed."""
    if facts.contract is None or proposal.tool not in facts.contract.constraints.tool_policy.denied_tools:
        return None
    return refuse("gate.tool_denied", tool=proposal.tool) if proposal.tool else None


def tool_unlisted(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Only tools the contract allows are used."""
    if facts.contract is None or not proposal.tool:
        return None
    allowed = facts.contract.constraints.tool_policy.allowed_tools
    return None if proposal.tool in allowed else refuse("gate.tool_unlisted", tool=proposal.tool)


def path_outside(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Every path must be inside the tool's scope and the work's own paths, or be one that a person allowed."""
    contract = facts.contract
    if contract is None:
        return None
    for path in proposal.paths:
        scope = _scope(contract, proposal.tool)
        if path not in scope.also and not (inside(path, scope.allowed_paths) and _in_work(contract, path)):
            return refuse("gate.path_outside", path=path or "An empty path", tool=proposal.tool or "this run")
    return None


def _scope(contract: RunContract, tool: str) -> ToolScope:
    return contract.constraints.tool_policy.scopes.get(tool, ToolScope())


def _in_work(contract: RunContract, path: str) -> bool:
    return not contract.paths or inside(path, contract.paths)


def do_not_touch(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """What the orders say not to touch is not touched, not even for a person."""
    if facts.contract is None:
        return None
    for path in proposal.paths:
        if touches(path, facts.contract.constraints.do_not_touch):
            return refuse("gate.do_not_touch", path=path)
    return None


def peer_unnamed(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Work and appointments go only to peers and calendars the orders name."""
    if proposal.kind not in {ActKind.DELEGATE, ActKind.SCHEDULE}:
        return None
    peers = facts.contract.peers if facts.contract else ()
    return None if proposal.peer in peers else refuse("gate.peer_unnamed", peer=proposal.peer)


def writes_off(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A brain writes only if the contract lets it."""
    if not proposal.writes or facts.contract is None:
        return None
    allowed = facts.contract.authority_policy.allow_autonomous_write_actions
    return None if allowed else refuse("gate.writes_off")


def write_unlevelled(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """At observe nothing is written, whatever the act is called."""
    held = effective_level(facts.level, facts.isolation, proposal.agent, forced=facts.limits.forced_isolation)
    if not proposal.writes or held is not Level.OBSERVE:
        return None
    return say_only("gate.write_unlevelled", level=held)


def unordered_write(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Unordered work is written only with earned authority that the contract admits for this run."""
    if not proposal.writes or proposal.ordered:
        return None
    most = facts.contract.authority_policy.max_level_this_run if facts.contract else Authority.SUGGEST
    held = min(facts.authority, most, key=lambda authority: authority.rank)
    return None if held is Authority.AUTONOMOUS_LIMITED else say_only("gate.unordered_write", authority=held)


def tainted_delegate(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Untrusted text is not passed on to other agents."""
    return refuse("gate.tainted_delegate") if _tainted(proposal, facts) and proposal.kind is ActKind.DELEGATE else None


def tainted_memory(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Untrusted text does not become lasting memory."""
    lasting = proposal.kind is ActKind.NOTE and proposal.target.strip().casefold().startswith(LASTING_MEMORY)
    return refuse("gate.tainted_memory") if lasting and _tainted(proposal, facts) else None


def tainted_project(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Untrusted text does not add a project."""
    creates = proposal.kind is ActKind.CREATE_PROJECT
    return refuse("gate.tainted_project") if creates and _tainted(proposal, facts) else None


def _tainted(proposal: Proposal, facts: Facts) -> bool:
    return facts.tainted or proposal.tainted
