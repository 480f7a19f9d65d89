"""Scores: between nothing and all, honest about what was not measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.morning.scores import (
    SINGLE_SOURCE_MOST,
    ActDone,
    SourceRank,
    alignment,
    drift,
    evidence_score,
    guarded,
    held_back,
    item_quality,
    low_value_share,
    must_abort,
    novelty,
    post,
    pre,
    readiness,
)
from midwatch.terms.acts import ActKind
from midwatch.terms.report import Claim, Evidence, EvidenceKind, FlagKind, Recommendation, ReviewOutcome, ScoreParts

unit = st.none() | st.floats(0, 1)
parts = st.builds(ScoreParts, alignment=unit, evidence=unit, novelty=unit, readiness=unit)
acts = st.lists(
    st.builds(
        ActDone,
        kind=st.sampled_from([ActKind.START, ActKind.SEARCH, ActKind.WAIT]),
        target=st.sampled_from("ab"),
        linked=st.booleans(),
        fresh=st.booleans(),
    ),
    max_size=12,
)
items = st.lists(
    st.builds(
        Evidence,
        id=st.sampled_from(["e1", "e2", "e3"]),
        kind=st.sampled_from(EvidenceKind),
        citation=st.just("c"),
        origin=st.sampled_from(["o1", "o2"]),
        quality=st.floats(0, 1),
        fresh=st.booleans(),
    ),
    max_size=4,
    unique_by=lambda item: item.id,
)
refs = st.lists(st.sampled_from(["e1", "e2", "e3", "gone"]), max_size=3).map(tuple)
claims = st.lists(st.builds(Claim, id=st.just("c"), text=st.just("t"), evidence=refs, hypothesis=st.booleans()))
recommendations = st.builds(
    Recommendation,
    id=st.just("r"),
    text=st.just("do"),
    confidence=st.floats(0, 1),
    tradeoffs=st.lists(st.just("slow"), max_size=1).map(tuple),
    ask=st.sampled_from(["", "say yes"]),
    why=st.sampled_from(["", "trace:1"]),
    evidence=refs,
    hypothesis=st.booleans(),
)
outcomes = st.lists(st.sampled_from(ReviewOutcome), max_size=5)
flags = st.lists(st.sampled_from(FlagKind), max_size=8)


def item(number: int, origin: str, *, quality: float = 0.9, fresh: bool = True) -> Evidence:
    return Evidence(id=f"e{number}", kind=EvidenceKind.REPO, citation="c", origin=origin, quality=quality, fresh=fresh)


@given(parts, acts, items, claims)
def test_every_score_before_review_lies_between_nothing_and_all_or_is_none(
    parts: ScoreParts, acts: list[ActDone], items: list[Evidence], claims: list[Claim]
) -> None:
    scores = (pre(parts), alignment(acts), low_value_share(acts), evidence_score(items, claims))
    assert all(score is None or 0 <= score <= 1 for score in scores)


@given(st.lists(recommendations, max_size=4), st.none() | st.integers(1, 5), outcomes, flags)
def test_every_score_of_the_morning_lies_between_nothing_and_all_or_is_none(
    recs: list[Recommendation], usefulness: int | None, outcomes: list[ReviewOutcome], flags: list[FlagKind]
) -> None:
    scores = (readiness(recs), post(usefulness, outcomes, flags), novelty([rec.why for rec in recs]))
    assert all(score is None or 0 <= score <= 1 for score in scores)


@given(parts)
def test_a_missing_part_leaves_its_weight_to_the_rest(parts: ScoreParts) -> None:
    known = [value for _, value in parts if value is not None]
    score = pre(parts)
    if score is None:
        assert not known
    else:
        assert min(known) - 1e-9 <= score <= max(known) + 1e-9


def test_the_score_before_review_weighs_as_written() -> None:
    assert pre(ScoreParts(alignment=1, evidence=0, novelty=0, readiness=0)) == pytest.approx(0.35)
    assert pre(ScoreParts(alignment=0, evidence=1, novelty=0, readiness=0)) == pytest.approx(0.25)
    assert pre(ScoreParts(alignment=0, evidence=0, novelty=1, readiness=0)) == pytest.approx(0.15)
    assert pre(ScoreParts(alignment=0, evidence=0, novelty=0, readiness=1)) == pytest.approx(0.25)
    assert pre(ScoreParts(alignment=1, novelty=0)) == pytest.approx(0.7)


@given(st.integers(1, 5), outcomes, flags)
def test_pending_outcomes_count_for_nothing_and_flags_cost_at_most_half(
    usefulness: int, outcomes: list[ReviewOutcome], flags: list[FlagKind]
) -> None:
    score, clean = post(usefulness, outcomes, flags), post(usefulness, outcomes)
    assert score is not None
    assert clean is not None
    assert post(usefulness, [*outcomes, ReviewOutcome.PENDING], flags) == score
    assert max(0, clean - 0.5) <= score <= clean


@pytest.mark.parametrize(
    ("usefulness", "outcomes", "flags", "score"),
    [
        (5, [ReviewOutcome.ACCEPTED], [], 1.0),
        (1, [ReviewOutcome.REJECTED], [], 0.0),
        (3, [ReviewOutcome.MODIFIED, ReviewOutcome.DEFERRED], [], 0.6 * 0.5 + 0.4 * 0.55),
        (5, [], [], 1.0),
        (5, [ReviewOutcome.ACCEPTED], [FlagKind.WRONG_FACT], 0.9),
        (5, [ReviewOutcome.ACCEPTED], [FlagKind.UNSAFE], 0.7),
        (5, [ReviewOutcome.ACCEPTED], [FlagKind.UNSAFE] * 3, 0.5),
    ],
)
def test_the_score_after_review_weighs_as_written(
    usefulness: int, outcomes: list[ReviewOutcome], flags: list[FlagKind], score: float
) -> None:
    assert post(usefulness, outcomes, flags) == pytest.approx(score)


def test_a_review_that_never_came_gives_no_score() -> None:
    assert post(None, [ReviewOutcome.ACCEPTED], [FlagKind.UNSAFE]) is None


def test_evidence_is_worth_what_its_source_is() -> None:
    assert [item_quality(rank) for rank in SourceRank] == [0.9, 0.6, 0.3]
    assert item_quality(SourceRank.PRIMARY, age_days=731) == pytest.approx(0.7)
    assert item_quality(SourceRank.PRIMARY, age_days=730) == 0.9
    assert item_quality(SourceRank.PRIMARY, hypothesis=True) == 0


def test_two_items_of_one_origin_support_a_claim_only_once() -> None:
    claim = [Claim(id="c", text="t", evidence=("e1", "e2"))]
    once = evidence_score([item(1, "o1"), item(2, "o1")], claim)
    twice = evidence_score([item(1, "o1"), item(2, "o2")], claim)
    assert once == pytest.approx(0.5 * 0.9 + 0.2)
    assert twice == pytest.approx(0.5 * 0.9 + 0.3 + 0.2)
    assert evidence_score([], []) is None
    assert evidence_score([], claim) == 0
    assert evidence_score([item(1, "o1", fresh=False)], []) == pytest.approx(0.5 * 0.9 / 0.7)


def test_alignment_looks_only_at_work() -> None:
    done = [ActDone(ActKind.WAIT), ActDone(ActKind.START, linked=True), ActDone(ActKind.SEARCH)]
    assert alignment(done) == 0.5
    assert alignment([ActDone(ActKind.WAIT)]) is None


def test_a_finding_is_new_only_the_first_time() -> None:
    assert novelty(["A  cat", "a cat", "dog", "fish"], ["FISH"]) == 0.5
    assert novelty([]) is None


@given(st.lists(recommendations, min_size=1, max_size=3))
def test_readiness_counts_four_things(recs: list[Recommendation]) -> None:
    have = sum(bool(r.ask) + bool(r.tradeoffs) + (r.confidence > 0) + bool(r.why) for r in recs)
    assert readiness(recs) == pytest.approx(have / (4 * len(recs)))


@given(acts)
def test_a_run_aborts_when_over_two_fifths_of_at_least_five_acts_are_worth_little(acts: list[ActDone]) -> None:
    work = [act for act in acts if act.kind is not ActKind.WAIT]
    keys = [(act.kind, act.target, act.arguments) for act in work]
    low = sum(not act.fresh or keys[n] in keys[:n] for n, act in enumerate(work))
    assert (must_abort(acts) is not None) == (len(work) >= 5 and low * 5 > len(work) * 2)


def test_exactly_two_fifths_is_not_yet_too_much() -> None:
    good = [ActDone(ActKind.SEARCH, target=str(n), fresh=True) for n in range(3)]
    bad = [ActDone(ActKind.SEARCH, target=f"x{n}") for n in range(3)]
    assert must_abort(good + bad[:2]) is None
    assert must_abort(good[:2] + bad) is not None
    assert must_abort(bad) is None


@given(recommendations, claims)
def test_advice_is_flagged_for_each_thing_it_lacks(rec: Recommendation, claims: list[Claim]) -> None:
    codes = [flag.code for flag in drift([rec], claims)]
    assert ("drift.no_tradeoffs" in codes) == (not rec.tradeoffs)
    assert ("drift.no_why" in codes) == (not rec.why)
    assert ("drift.no_support" in codes) == (not rec.evidence and not rec.hypothesis)
    assert codes.count("drift.no_evidence") == sum(not c.evidence and not c.hypothesis for c in claims)


@given(recommendations, items)
def test_a_single_source_holds_confidence_back_once(rec: Recommendation, items: list[Evidence]) -> None:
    lowered = held_back(rec, items)
    behind = {one.origin for one in items if one.id in rec.evidence}
    too_sure = len(behind) == 1 and rec.confidence > SINGLE_SOURCE_MOST
    assert lowered.confidence == (SINGLE_SOURCE_MOST if too_sure else rec.confidence)
    assert guarded([rec], [], items)[0] == (lowered,)
    assert any(flag.code == "drift.single_source" for flag in guarded([rec], [], items)[1]) == too_sure
    assert held_back(lowered, items) == lowered
