"""No budget is overshot by more than one input of each job, whatever comes in whatever order."""

from dataclasses import replace

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
    CostBounds,
    Whose,
    estimated_tokens,
    higher,
    may_spend,
)

small = st.integers(0, 60)
amounts = st.builds(Amount, small, small, st.just(1))
ceilings = st.builds(
    Ceilings, *(st.one_of(st.none(), st.integers(0, 150)) for _ in range(2)), st.one_of(st.none(), st.integers(0, 9))
)


def fixed(amount: Amount) -> CostBounds:
    """A request that costs exactly this."""
    return CostBounds(amount, amount)


@st.composite
def of_any_length(draw: st.DrawFn) -> CostBounds:
    likely, more = draw(amounts), draw(amounts)
    answers = draw(st.integers(0, 20_000))
    entry = Amount(likely.usd_micros + more.usd_micros, likely.tokens + more.tokens, 1)
    return CostBounds(entry, likely, answers, draw(st.integers(0, answers)), draw(st.integers(0, 3_000_000)))


costs = st.builds(fixed, amounts) | of_any_length()


def budget(spent: Amount = NOTHING, reserved: Amount = NOTHING, **limits: int) -> BudgetUse:
    return BudgetUse(Whose.JOB, Ceilings(**limits), spent, reserved)


@given(ceilings, st.lists(st.tuples(st.sampled_from("ab"), costs, st.integers(0, 100), st.booleans()), max_size=40))
def test_a_budget_is_overshot_by_one_input_of_each_job_at_most(
    limits: Ceilings, steps: list[tuple[str, CostBounds, int, bool]]
) -> None:
    """Two jobs of one run; requests come and end in any order; each uses some share of the most it can."""
    spent, under_way = NOTHING, list[tuple[str, Amount, Amount]]()
    entries, least = {"a": NOTHING, "b": NOTHING}, NOTHING
    for job, wanted, share, comes in steps:
        held = sum((one for _, one, _ in under_way), NOTHING)
        mine = sum((one for owner, one, _ in under_way if owner == job), NOTHING)
        shared = BudgetUse(Whose.RUN, limits, spent, held)
        judged = may_spend([BudgetUse(Whose.JOB, Ceilings(), NOTHING, mine), shared], wanted)
        if comes and judged.answer == "yes":
            assert judged.answers <= wanted.answers
            most = wanted.with_answers(judged.answers, wanted.input)
            under_way.append(
                (job, judged.reserve, Amount(most.usd_micros * share // 100, most.tokens * share // 100, 1))
            )
            entries[job] = higher(entries[job], wanted.input)
            least = higher(least, wanted.with_answers(min(wanted.answers, LEAST_OUTPUT), NOTHING))
        elif under_way:
            spent += under_way.pop(share % len(under_way))[2]
    spent += sum((used for _, _, used in under_way), NOTHING)
    over = entries["a"] + entries["b"] + least
    for kind in KINDS:
        ceiling = limits.of(kind)
        assert ceiling is None or spent.of(kind) <= ceiling + (0 if kind == "requests" else over.of(kind))


@given(st.lists(costs, min_size=1, max_size=20), st.integers(0, 100_000))
def test_of_one_job_at_once_one_request_at_most_costs_more_than_was_set_aside(
    wanted: list[CostBounds], ceiling: int
) -> None:
    limits, held, over = Ceilings(usd_micros=ceiling), NOTHING, list[int]()
    for one in wanted:
        judged = may_spend([BudgetUse(Whose.JOB, limits, NOTHING, held)], one)
        if judged.answer == "yes":
            held += judged.reserve
            most = one.with_answers(judged.answers, one.input).usd_micros
            over.append(most - judged.reserve.usd_micros)
    assert sum(excess > 0 for excess in over) <= 1
    assert over[1:] == [0] * len(over[1:])


def test_a_request_without_a_limit_leaves_others_their_part() -> None:
    """Twelve dollars are left, a token costs ten millionths: its model could make all of 128,000 tokens."""
    entry = Amount(0, 0, 1)
    open_ended = CostBounds(entry, entry, 128_000, 32_000, 10_000_000)
    twelve, two = budget(usd_micros=12_000_000), budget(usd_micros=2_000_000)
    assert may_spend([twelve], open_ended).answers == 128_000
    assert may_spend([two], open_ended).answers == 50_000
    assert may_spend([replace(two, reserved=Amount(1_000_000, 1, 1))], open_ended).answers == 32_000
    assert may_spend([replace(two, reserved=Amount(1_900_000, 1, 1))], open_ended).answer == "wait"
    assert may_spend([replace(two, spent=Amount(1_900_000, 1, 1))], open_ended).answers == 10_000
    assert may_spend([replace(two, spent=Amount(1_999_999, 1, 1))], open_ended).answers == LEAST_OUTPUT
    named = CostBounds(entry, entry, 128_000, 128_000, 10_000_000)
    assert may_spend([two], named).answers == 128_000
    assert may_spend([replace(two, reserved=Amount(1_000_000, 1, 1))], named).answer == "wait"


@given(ceilings, amounts, amounts, amounts)
def test_what_is_spent_says_no_and_what_is_promised_says_wait(
    limits: Ceilings, spent: Amount, reserved: Amount, wanted: Amount
) -> None:
    answer = may_spend([BudgetUse(Whose.JOB, limits, spent, reserved)], fixed(wanted))
    gone = [kind for kind in KINDS if wanted.of(kind) and spent.of(kind) >= _limit(limits, kind)]
    assert (answer.answer == "no") == bool(gone)
    if answer.answer == "wait":
        assert answer.kind is not None
        assert reserved.of(answer.kind)
        assert may_spend([BudgetUse(Whose.JOB, limits, spent)], fixed(wanted)).answer == "yes"


@given(ceilings, amounts, amounts, amounts)
def test_more_spent_never_allows_more(limits: Ceilings, spent: Amount, more: Amount, wanted: Amount) -> None:
    order = ["yes", "wait", "no"]
    before = may_spend([BudgetUse(Whose.JOB, limits, spent)], fixed(wanted))
    after = may_spend([BudgetUse(Whose.JOB, limits, spent + more)], fixed(wanted))
    assert order.index(after.answer) >= order.index(before.answer)


@given(st.lists(st.builds(BudgetUse, st.sampled_from(Whose), ceilings, amounts, amounts), max_size=3), amounts)
def test_the_strictest_budget_decides_in_whatever_order(budgets: list[BudgetUse], wanted: Amount) -> None:
    order = ["yes", "wait", "no"]
    each = [order.index(may_spend([one], fixed(wanted)).answer) for one in budgets]
    assert order.index(may_spend(budgets, fixed(wanted)).answer) == max(each, default=0)
    assert may_spend(budgets[::-1], fixed(wanted)).answer == may_spend(budgets, fixed(wanted)).answer


def test_the_sentences_say_whose_ceiling_and_how_much() -> None:
    spent = budget(Amount(usd_micros=2_500_000, tokens=9), usd_micros=2_000_000)
    promised = budget(Amount(tokens=9), Amount(tokens=5), tokens=10)
    assert may_spend([spent], fixed(Amount(1, 1, 1))).why == snapshot("The job has used $2.50 of $2.")
    assert may_spend([promised], fixed(Amount(1, 1, 1))).why == snapshot(
        "Requests under way may use up what the job has left of 10 tokens."
    )


def test_a_subscription_is_not_stopped_by_dollars() -> None:
    assert may_spend([budget(usd_micros=0)], fixed(Amount(tokens=5, requests=1))).answer == "yes"
    assert may_spend([budget(usd_micros=0)], fixed(Amount(usd_micros=1))).answer == "no"


def test_a_request_is_estimated_before_it_leaves() -> None:
    assert estimated_tokens(0) == 1
    assert estimated_tokens(401) == 101


def test_nothing_is_never_owed() -> None:
    with pytest.raises(ValueError, match="never negative"):
        Amount(1) - Amount(2)


def _limit(limits: Ceilings, kind: str) -> float:
    ceiling = getattr(limits, kind)
    return float("inf") if ceiling is None else ceiling
