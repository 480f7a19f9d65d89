"""What each level makes of each act (SPEC 8): the lookup; the table is in `terms/acts.py`, beside its sentences."""

from midwatch.rules.gate.act_groups import LOOKING
from midwatch.terms.acts import MATRIX, WEB, Proposal, Source
from midwatch.terms.trust import GateOutcome, Level


def outcome_at(proposal: Proposal, level: Level) -> GateOutcome:
    """Look an act up; a search that does not say where it looks counts as one of the web."""
    if proposal.kind in LOOKING and proposal.source in {Source.WEB, None}:
        return WEB[level]
    return MATRIX[proposal.kind, level]
