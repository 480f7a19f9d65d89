"""How good a run was, before and after the person has looked, and whether its advice is well supported."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from midwatch.terms.acts import WAITING, ActKind
from midwatch.terms.english import reason
from midwatch.terms.report import Claim, Evidence, FlagKind, Recommendation, ReviewOutcome, ScoreParts
from midwatch.terms.trust import Reason

OUTCOME_WORTH: Final = {
    ReviewOutcome.ACCEPTED: 1.0,
    ReviewOutcome.MODIFIED: 0.7,
    ReviewOutcome.DEFERRED: 0.4,
    ReviewOutcome.REJECTED: 0.0,
}
PENALTY: Final = {FlagKind.WRONG_FACT: 0.1, FlagKind.UNSAFE: 0.3}
MOST_PENALTY: Final = 0.5
LOW_VALUE_ABOVE: Final = 0.4
LOW_VALUE_LEAST_ACTS: Final = 5
SINGLE_SOURCE_MOST: Final = 0.6
"""The most confidence of advice that rests on one source (seed 002, section 9.3)."""
OLD_AFTER_DAYS: Final = 2 * 365
UNDELIVERED: Final = frozenset({"failed", "stopped", "nothing_delivered"})
"""Runs whose evidence and readiness are 0: they left nothing to decide on."""


class SourceRank(StrEnum):
    """How close a source is to the thing itself."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    UNKNOWN = "unknown"


_RANK_QUALITY: Final = {SourceRank.PRIMARY: 0.9, SourceRank.SECONDARY: 0.6, SourceRank.UNKNOWN: 0.3}


@dataclass(frozen=True, slots=True)
class ActDone:
    """One act as the scores see it."""

    kind: ActKind
    target: str = ""
    arguments: str = ""
    """A hash of what it was called with."""
    linked: bool = False
    """It served a current goal or work item."""
    fresh: bool = False
    """It left new evidence, an artifact, a new state or an answer."""


def item_quality(rank: SourceRank, *, age_days: float = 0, hypothesis: bool = False) -> float:
    """A piece of evidence is worth what its source is, less when old, nothing when only supposed."""
    if hypothesis:
        return 0.0
    return clamp(_RANK_QUALITY[rank] - (0.2 if age_days > OLD_AFTER_DAYS else 0.0))


def alignment(acts: Iterable[ActDone]) -> float | None:
    """Of the acts that were work, the share that served a goal or work item."""
    return _share(act.linked for act in acts if act.kind not in WAITING)


def evidence_score(items: Sequence[Evidence], claims: Sequence[Claim]) -> float | None:
    """Good evidence is of quality, comes from two independent origins, and is fresh."""
    origin = {item.id: item.origin for item in items}
    quality = sum(item.quality for item in items) / len(items) if items else None
    doubled = _share(len(origins(claim.evidence, origin)) >= 2 for claim in claims)
    return weighted(((0.5, quality), (0.3, doubled), (0.2, _share(item.fresh for item in items))))


def origins(refs: Iterable[str], origin: dict[str, str]) -> frozenset[str]:
    """Two items of one origin support a claim only once."""
    return frozenset(origin[ref] for ref in refs if ref in origin)


def novelty(findings: Sequence[str], known: Collection[str] = ()) -> float | None:
    """A finding is new when neither memory nor an earlier finding said it."""
    seen = {_folded(one) for one in known}
    new: list[bool] = []
    for finding in findings:
        new.append(_folded(finding) not in seen)
        seen.add(_folded(finding))
    return _share(new)


def readiness(recommendations: Sequence[Recommendation]) -> float | None:
    """A recommendation is ready when it asks clearly, names tradeoffs and confidence, and says why."""
    return _share(
        part
        for rec in recommendations
        for part in (bool(rec.ask), bool(rec.tradeoffs), rec.confidence > 0, bool(rec.why))
    )


def pre(parts: ScoreParts) -> float | None:
    """The score before review; what could not be measured leaves its weight to the rest."""
    return weighted(((0.35, parts.alignment), (0.25, parts.evidence), (0.15, parts.novelty), (0.25, parts.readiness)))


def post(usefulness: int | None, outcomes: Iterable[ReviewOutcome], flags: Iterable[FlagKind] = ()) -> float | None:
    """The score after review: how useful, what became of the advice, less what went wrong; no review, no score."""
    if usefulness is None:
        return None
    worth = [OUTCOME_WORTH[outcome] for outcome in outcomes if outcome is not ReviewOutcome.PENDING]
    mean = sum(worth) / len(worth) if worth else None
    score = weighted(((0.6, (usefulness - 1) / 4), (0.4, mean))) or 0.0
    return clamp(score - min(MOST_PENALTY, sum(PENALTY[flag] for flag in flags)))


def low_value_share(acts: Sequence[ActDone]) -> float | None:
    """Of the acts that were work, the share that repeated an earlier one or left nothing new."""
    seen: set[tuple[ActKind, str, str]] = set()
    low: list[bool] = []
    for act in acts:
        if act.kind in WAITING:
            continue
        key = (act.kind, act.target, act.arguments)
        low.append(key in seen or not act.fresh)
        seen.add(key)
    return _share(low)


def must_abort(
    acts: Sequence[ActDone], *, above: float = LOW_VALUE_ABOVE, least: int = LOW_VALUE_LEAST_ACTS
) -> Reason | None:
    """A run that mostly wastes its acts ends, once there were enough to judge by."""
    work = sum(act.kind not in WAITING for act in acts)
    share = low_value_share(acts) or 0.0
    if work < least or share <= above:
        return None
    return reason("abort.low_value", share=share, acts=work, most=above)


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
    held = tuple(held_back(one, items) for one in recommendations)
    lowered = [
        reason("drift.single_source", recommendation=place, most=SINGLE_SOURCE_MOST)
        for place, (given, kept) in enumerate(zip(recommendations, held, strict=True), 1)
        if kept is not given
    ]
    return held, (*lowered, *drift(held, claims))


def held_back(rec: Recommendation, items: Iterable[Evidence]) -> Recommendation:
    """Advice that rests on one source is not given with much confidence."""
    behind = origins(rec.evidence, {item.id: item.origin for item in items})
    if len(behind) != 1 or rec.confidence <= SINGLE_SOURCE_MOST:
        return rec
    return rec.model_copy(update={"confidence": SINGLE_SOURCE_MOST})


def weighted(parts: Iterable[tuple[float, float | None]]) -> float | None:
    """A weighted mean over what could be measured; nothing measured, no score."""
    measured = [(weight, value) for weight, value in parts if value is not None]
    total = sum(weight for weight, _ in measured)
    return clamp(sum(weight * value for weight, value in measured) / total) if total else None


def clamp(value: float) -> float:
    return min(1.0, max(0.0, value))


def _share(marks: Iterable[bool]) -> float | None:
    counted = list(marks)
    return sum(counted) / len(counted) if counted else None


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
