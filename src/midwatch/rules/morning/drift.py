"""Whether a recommendation is well supported (seed 002, section 9.3)."""

from collections.abc import Iterable, Sequence
from typing import Final

from midwatch.rules.morning.scores import origins
from midwatch.terms.english import reason
from midwatch.terms.report import Claim, Evidence, Recommendation
from midwatch.terms.trust import Reason

SINGLE_SOURCE_MOST: Final = 0.6


def drift(recommendations: Iterable[Recommendation], claims: Iterable[Claim]) -> tuple[Reason, ...]:
    """Advice without tradeoffs, without a why, or without evidence or the label hypothesis is flagged."""
    flags: list[Reason] = []
    for place, rec in enumerate(recommendations, 1):
        if not rec.tradeoffs:
            flags.append(reason("drift.no_tradeoffs", recommendation=place))
        if not rec.why:
            flags.append(reason("drift.no_why", recommendation=place))
        if not rec.evidence and not rec.hypothesis:
            flags.append(reason("drift.no_support", recommendation=place))
    flags.extend(
        reason("drift.no_evidence", claim=claim.text) for claim in claims if not claim.evidence and not claim.hypothesis
    )
    return tuple(flags)


def guarded(
    recommendations: Sequence[Recommendation], claims: Iterable[Claim], items: Sequence[Evidence]
) -> tuple[tuple[Recommendation, ...], tuple[Reason, ...]]:
    """Hold every recommendation against the soft guardrails: lower its confidence, and flag what it lacks."""
    held = [held_back(one, items) for one in recommendations]
    lowered = [
        reason("drift.single_source", recommendation=place, most=SINGLE_SOURCE_MOST)
        for place, (_, why) in enumerate(held, 1)
        if why is not None
    ]
    kept = tuple(one for one, _ in held)
    return kept, (*lowered, *drift(kept, claims))


def held_back(rec: Recommendation, items: Iterable[Evidence]) -> tuple[Recommendation, Reason | None]:
    """Advice that rests on one source is not given with much confidence."""
    behind = origins(rec.evidence, {item.id: item.origin for item in items})
    if len(behind) != 1 or rec.confidence <= SINGLE_SOURCE_MOST:
        return rec, None
    lowered = rec.model_copy(update={"confidence": SINGLE_SOURCE_MOST})
    return lowered, reason("drift.single_source", recommendation=rec.id, most=SINGLE_SOURCE_MOST)
