"""What a person's review says about a job's pull request; merging several at once needs a yes for each (X12, N25)."""

from collections.abc import Iterable, Mapping
from typing import Final

from midwatch.terms.report import Recommendation, ReviewOutcome

TAKEN: Final = frozenset({ReviewOutcome.ACCEPTED, ReviewOutcome.MODIFIED})


def about(job: str, recommended: Iterable[Recommendation]) -> Recommendation | None:
    """Find what was recommended about a job's delivery: the first about it; what it found besides comes later."""
    return next((one for one in recommended if one.why == f"trace:{job}"), None)


def verdict_on(job: str, recommended: Iterable[Recommendation], outcomes: Mapping[str, ReviewOutcome]) -> ReviewOutcome:
    one = about(job, recommended)
    return ReviewOutcome.PENDING if one is None else outcomes.get(one.id, ReviewOutcome.PENDING)
