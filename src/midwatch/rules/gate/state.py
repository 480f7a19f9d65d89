"""Conditions about the current state: the project, the target, the session, cooldowns, spin."""

from datetime import UTC, datetime, timedelta

from midwatch.rules.gate.act_groups import AGENT_WORK, EFFECTS, NEEDS_PROJECT, NEEDS_TARGET, SAYING, TOUCHING, plain
from midwatch.rules.gate.conditions import ConditionResult, about, project_name, refuse, say_only
from midwatch.terms.acts import WAITING, ActKind, Proposal, Proposer
from midwatch.terms.facts import Facts


def project_unknown(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """An act about an unknown project is refused."""
    if proposal.kind in WAITING or proposal.kind is ActKind.CREATE_PROJECT:
        return None
    if not proposal.project and proposal.kind not in NEEDS_PROJECT:
        return None
    project = facts.project
    if project is not None and project.known and project.id == proposal.project:
        return None
    return refuse("gate.project_unknown", project=project_name(proposal, facts))


def blocked(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """In a blocked project a brain changes nothing and no agent is started."""
    if facts.project is None or not facts.project.blocked:
        return None
    spared = AGENT_WORK if proposal.by is Proposer.PERSON else TOUCHING
    concerns = proposal.kind in spared or proposal.writes
    return refuse("gate.blocked", project=facts.project.called) if concerns else None


def protected(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A protected project is for people only."""
    if facts.project is None or not facts.project.protected:
        return None
    concerns = proposal.kind in TOUCHING or proposal.writes
    return refuse("gate.protected", project=facts.project.called) if concerns else None


def skipped(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A skipped project is left alone for now."""
    if facts.project is None or not facts.project.skipped:
        return None
    concerns = proposal.kind in TOUCHING or proposal.writes
    return refuse("gate.skipped", project=facts.project.called) if concerns else None


def target_unknown(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """An act needs a target that exists."""
    if proposal.kind not in TOUCHING or proposal.kind is ActKind.CREATE_PROJECT:
        return None
    unnamed = not proposal.target and proposal.kind in NEEDS_TARGET
    missing = bool(proposal.target) and not facts.target_exists
    return refuse("gate.target_unknown", target=facts.target_name or proposal.target) if unnamed or missing else None


def resolve_personal(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """What was asked of the person is answered by the person."""
    if proposal.kind is ActKind.RESOLVE and facts.target_for_person:
        return refuse("gate.resolve_personal", target=facts.target_name or proposal.target)
    return None


def outside_session(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """Outside a session a brain only suggests."""
    if facts.in_session or proposal.kind in SAYING:
        return None
    return say_only("gate.outside_session", act=plain(proposal.kind))


def cooldown_action(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """The same act on the same target has a cooldown."""
    if proposal.kind not in EFFECTS or not within(facts, facts.same_action_at, facts.limits.same_action):
        return None
    span = facts.limits.same_action
    until = _until(facts, facts.same_action_at, span)
    return refuse("gate.cooldown_action", about=about(proposal, facts), minutes=_minutes(span), until=until)


def cooldown_over(proposal: Proposal, facts: Facts) -> datetime | None:
    """Say when no cooldown holds this act any more; nothing where none holds it now."""
    limits = facts.limits
    since = ((facts.same_action_at, limits.same_action), (facts.same_project_at, limits.same_project))
    held = [_aware(then) + span for then, span in since if then is not None and within(facts, then, span)]
    return max(held, default=None) if proposal.kind in EFFECTS else None


def cooldown_project(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """A project has a cooldown after each act."""
    if proposal.kind not in EFFECTS or not within(facts, facts.same_project_at, facts.limits.same_project):
        return None
    span = facts.limits.same_project
    until = _until(facts, facts.same_project_at, span)
    named = project_name(proposal, facts)
    return refuse("gate.cooldown_project", project=named, minutes=_minutes(span), until=until)


def spin(proposal: Proposal, facts: Facts) -> ConditionResult | None:
    """An act that was repeated without a new result is refused."""
    if proposal.kind in WAITING or facts.spin < facts.limits.spin:
        return None
    return refuse("gate.spin", about=about(proposal, facts) or "nothing in particular", spin=facts.spin)


def within(facts: Facts, then: datetime | None, span: timedelta) -> bool:
    """Whether something happened less than this long ago; a time in the future counts as just now."""
    return then is not None and _aware(facts.now) - _aware(then) < span


def _aware(at: datetime) -> datetime:
    """A time without a zone is taken as UTC: the gate must answer, not raise."""
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _until(facts: Facts, then: datetime | None, span: timedelta) -> str:
    """Say when a cooldown is over, in the time zone of the facts."""
    try:
        over = (_aware(then or facts.now) + span).astimezone(facts.now.tzinfo or UTC)
    except OverflowError:  # at the end of all time
        return "a later time"
    return f"{over:%H:%M}"


def _minutes(span: timedelta) -> float:
    return span / timedelta(minutes=1)
