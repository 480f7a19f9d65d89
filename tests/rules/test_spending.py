"""No budget is overshot by more than one request, whatever comes in whatever order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from midwatch.rules.budget.spending import (
    KINDS,
    LEAST_OUTPUT,
    NOTHING,
    Amount,
    BudgetUse,
    Ceilings,
    Whose,
    estimated_tokens,
    fitting_output,
    may_spend,
)

small = st.integers(0, 60)
amounts = st.builds(Amount, small, small, st.just(1))
ceilings = st.builds(
    Ceilings, *(st.one_of(st.none(), st.integers(0, 150)) for _ in range(2)), st.one_of(st.none(), st.integers(0, 9))
)


def budget(spent: Amount = NOTHING, reserved: Amount = NOTHING, **limits: int) -> BudgetUse:
    return BudgetUse(Whose.JOB, Ceilings(**limits), spent, reserved)


@given(ceilings, st.lists(st.tuples(amounts, st.integers(0, 100), st.booleans()), max_size=40))
def test_a_budget_is_overshot_by_one_request_at_most(limits: Ceilings, steps: list[tuple[Amount, int, bool]]) -> None:
    """Requests come and end in any order; each uses some share of what was set aside for it."""
    spent, under_way, dearest = NOTHING, list[tuple[Amount, Amount]](), NOTHING
    for wanted, share, comes in steps:
        held = sum((one for one, _ in under_way), NOTHING)
        if comes and may_spend([BudgetUse(Whose.RUN, limits, spent, held)], wanted).answer == "yes":
            used = Amount(wanted.usd_micros * share // 100, wanted.tokens * share // 100, 1)
            under_way.append((wanted, used))
            dearest = Amount(*(max(dearest.of(kind), used.of(kind)) for kind in KINDS))
        elif under_way:
            spent += under_way.pop(share % len(under_way))[1]
    spent += sum((used for _, used in under_way), NOTHING)
    for kind in KINDS:
        ceiling = limits.of(kind)
        over = 0 if kind == "requests" else dearest.of(kind)
        assert ceiling is None or spent.of(kind) <= ceiling + over


@given(ceilings, amounts, amounts, amounts)
def test_what_is_spent_says_no_and_what_is_promised_says_wait(
    limits: Ceilings, spent: Amount, reserved: Amount, wanted: Amount
) -> None:
    answer = may_spend([BudgetUse(Whose.JOB, limits, spent, reserved)], wanted)
    gone = [kind for kind in KINDS if wanted.of(kind) and spent.of(kind) >= _limit(limits, kind)]
    assert (answer.answer == "no") == bool(gone)
    if answer.answer == "wait":
        assert answer.kind is not None
        assert reserved.of(answer.kind)
        assert may_spend([BudgetUse(Whose.JOB, limits, spent)], wanted).answer == "yes"


@given(ceilings, amounts, amounts, amounts)
def test_more_spent_never_allows_more(limits: Ceilings, spent: Amount, more: Amount, wanted: Amount) -> None:
    order = ["yes", "wait", "no"]
    before = may_spend([BudgetUse(Whose.JOB, limits, spent)], wanted)
    after = may_spend([BudgetUse(Whose.JOB, limits, spent + more)], wanted)
    assert order.index(after.answer) >= order.index(before.answer)


@given(st.lists(st.builds(BudgetUse, st.sampled_from(Whose), ceilings, amounts, amounts), max_size=3), amounts)
def test_the_strictest_budget_decides_in_whatever_order(budgets: list[BudgetUse], wanted: Amount) -> None:
    order = ["yes", "wait", "no"]
    each = [order.index(may_spend([one], wanted).answer) for one in budgets]
    assert order.index(may_spend(budgets, wanted).answer) == max(each, default=0)
    assert may_spend(budgets[::-1], wanted).answer == may_spend(budgets, wanted).answer


def test_the_sentences_say_whose_ceiling_and_how_much() -> None:
    spent = budget(Amount(usd_micros=2_500_000, tokens=9), usd_micros=2_000_000)
    promised = budget(Amount(tokens=9), Amount(tokens=5), tokens=10)
    assert may_spend([spent], Amount(1, 1, 1)).why == snapshot("The job has used $2.50 of $2.")
    assert may_spend([promised], Amount(1, 1, 1)).why == snapshot(
        "Requests under way may use up what the job has left of 10 tokens."
    )


def test_a_subscription_is_not_stopped_by_dollars() -> None:
    assert may_spend([budget(usd_micros=0)], Amount(tokens=5, requests=1)).answer == "yes"
    assert may_spend([budget(usd_micros=0)], Amount(usd_micros=1)).answer == "no"


def test_a_request_is_estimated_before_it_leaves() -> None:
    assert estimated_tokens(0) == 1
    assert estimated_tokens(401) == 101


@given(
    st.integers(1, 200_000),
    st.integers(1, 20),
    ceilings,
    amounts,
    st.integers(0, 50_000_000),
)
def test_a_limit_is_cut_to_what_is_left_and_never_raised(
    asked: int, answers: int, left: Ceilings, taken: Amount, price: int
) -> None:
    limit = fitting_output(asked, answers, left, taken, price)
    made = limit * answers
    assert 1 <= limit <= asked
    if limit < asked and made > max(LEAST_OUTPUT, answers):
        assert left.usd_micros is None or taken.usd_micros + made * price // 1_000_000 <= left.usd_micros
        assert left.tokens is None or taken.tokens + made <= left.tokens


def test_what_is_left_is_the_least_that_any_budget_has() -> None:
    small, large = budget(Amount(5), usd_micros=20), budget(Amount(1, 2), Amount(1, 3), usd_micros=90, tokens=30)
    assert may_spend([small, large], Amount(1, 1, 1)).left == Ceilings(usd_micros=15, tokens=25)
    assert may_spend([budget()], Amount(1, 1, 1)).left == Ceilings()


def test_nothing_is_never_owed() -> None:
    with pytest.raises(ValueError, match="never negative"):
        Amount(1) - Amount(2)


def _limit(limits: Ceilings, kind: str) -> float:
    ceiling = getattr(limits, kind)
    return float("inf") if ceiling is None else ceiling
