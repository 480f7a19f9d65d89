"""What a condition of the gate is, and what it finds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from midwatch.terms.acts import Proposal, Proposer
from midwatch.terms.asks import Silence
from midwatch.terms.english import reason
from midwatch.terms.facts import Facts
from midwatch.terms.trust import GateOutcome, Reason


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """The most a condition lets happen, and why."""

    outcome: GateOutcome
    reason: Reason
    minutes: float | None = None
    silence: Silence | None = None


Check = Callable[[Proposal, Facts], ConditionResult | None]

EVERYONE: Final = frozenset(Proposer)
BRAIN: Final = frozenset({Proposer.BRAIN})
PERSON: Final = frozenset({Proposer.PERSON})


@dataclass(frozen=True, slots=True)
class Condition:
    """One question of the gate and who it applies to."""

    check: Check
    binds: frozenset[Proposer]

    @property
    def name(self) -> str:
        """The name of the rule, as in the source."""
        return self.check.__name__

    def find(self, proposal: Proposal, facts: Facts) -> ConditionResult | None:
        """Ask the question, if it applies to the proposer."""
        return self.check(proposal, facts) if proposal.by in self.binds else None


def project_name(proposal: Proposal, facts: Facts) -> str:
    """Return the name of the proposed project for a sentence."""
    project = facts.project
    return project.called if project is not None and project.id == proposal.project else proposal.project


def about(proposal: Proposal, facts: Facts) -> str:
    """Return what an act is about, as people call it."""
    return (facts.target_name or proposal.target) if proposal.target else project_name(proposal, facts)


def refuse(code: str, **facts: object) -> ConditionResult:
    """Find that it must not happen."""
    return ConditionResult(GateOutcome.REFUSE, reason(code, **facts))


def say_only(code: str, **facts: object) -> ConditionResult:
    """Find that it may only be suggested."""
    return ConditionResult(GateOutcome.SAY_ONLY, reason(code, **facts))
