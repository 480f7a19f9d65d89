"""What runs of checks say: flaky is neither green nor red, and each failure has its own rounds (X8, A7)."""

from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.checks.check_runs import (
    DOUBTS,
    already_true,
    carry_on,
    failing,
    judge_proof,
    judge_runs,
    may_repair,
    not_yet,
    to_repair,
    to_rerun,
    to_rerun_on_base,
    with_reruns,
)
from midwatch.terms.jobs import NOT_DELIVERABLE, CheckResult, CheckSource, Doubt, Proof, RepairTries

CODES = st.lists(st.integers(0, 3), min_size=1, max_size=6)


def result(code: int = 0, *, command: str = "test", reruns: tuple[int, ...] = ()) -> CheckResult:
    return with_reruns(CheckResult(command=command, exit_code=code), reruns)


results = st.builds(
    result, st.integers(0, 1), command=st.sampled_from("ab"), reruns=st.lists(st.integers(0, 1), max_size=2).map(tuple)
)
one_each = st.lists(results, max_size=2, unique_by=lambda one: one.command).map(tuple)
grave = st.sampled_from([(), (Doubt(kind="deleted_test", text="It deletes a test."),)])


@given(CODES)
def test_runs_are_green_only_if_each_passed_and_red_only_if_each_failed(codes: list[int]) -> None:
    judged = judge_runs(codes)
    assert (judged == "green") == (not any(codes))
    assert (judged == "red") == all(codes)


@given(CODES)
def test_the_order_of_runs_does_not_matter(codes: list[int]) -> None:
    assert judge_runs(codes) == judge_runs(codes[::-1]) == judge_runs(sorted(codes))


@given(CODES, st.integers(0, 3))
def test_what_is_flaky_stays_flaky_whatever_another_run_says(codes: list[int], more: int) -> None:
    assert judge_runs(codes) != "flaky" or judge_runs([*codes, more]) == "flaky"


def test_what_nobody_ran_has_not_passed() -> None:
    assert judge_runs(()) == "red"


@given(one_each, one_each, one_each, grave)
def test_nothing_flaky_red_or_doubted_is_ever_green(
    before: tuple[CheckResult, ...],
    delivered: tuple[CheckResult, ...],
    restored: tuple[CheckResult, ...],
    doubts: tuple[Doubt, ...],
) -> None:
    proof = judge_proof(before, delivered, restored, doubts)
    if proof.verdict == "green":
        assert all(one.green for one in (*delivered, *restored))
        assert delivered
        assert not doubts
    if doubts:
        assert proof.verdict in {"doubted", "worse", "red_when_restored"}


@given(one_each, one_each)
def test_what_goes_back_for_repair_names_what_is_to_be_mended(
    before: tuple[CheckResult, ...], delivered: tuple[CheckResult, ...]
) -> None:
    proof = judge_proof(before, delivered, delivered)
    assert (proof.verdict == "worse") == bool(failing(proof))


def test_a_check_that_is_flaky_on_the_base_alike_is_no_reason_for_repair() -> None:
    flaky = result(1, reruns=(0,))
    assert judge_proof((flaky,), (flaky,), (flaky,)).verdict == "flaky"
    assert judge_proof((result(0),), (flaky,), (flaky,)).verdict == "worse"
    assert judge_proof((result(1),), (flaky,), (flaky,)).verdict == "flaky"


@given(CODES, CODES)
def test_a_check_that_passed_now_and_then_on_the_base_and_never_with_the_work_got_worse(
    base: list[int], work: list[int]
) -> None:
    before, after = result(base[0], reruns=tuple(base[1:])), result(work[0], reruns=tuple(work[1:]))
    if before.flaky:
        proof = judge_proof((before,), (after,), (after,))
        assert (proof.verdict == "worse") == all(work)
        assert bool(to_rerun((before,), (after,))) == all(work), "it may only have been unlucky: run again first"


def test_only_redness_that_is_news_is_run_again() -> None:
    assert to_rerun((result(0),), (result(1),)) == ("test",)
    assert to_rerun((), (result(1),)) == ("test",)
    assert to_rerun((result(1),), (result(1),)) == ()
    assert to_rerun((result(0),), (result(0),)) == ()


def test_the_base_is_asked_again_where_luck_would_look_the_same() -> None:
    flaky = result(1, reruns=(0,))
    assert to_rerun_on_base((result(0),), (flaky,)) == ("test",)
    assert to_rerun_on_base((result(1),), (result(0),)) == ("test",)
    assert to_rerun_on_base((result(0),), (result(0),)) == ()
    assert to_rerun_on_base((result(1, reruns=(1, 1)),), (result(0),)) == ()


def red(*commands: str, tried: tuple[RepairTries, ...] = ()) -> Proof:
    both = tuple(result(int(name in commands), command=name) for name in ("lint", "test"))
    green = tuple(result(command=name) for name in ("lint", "test"))
    return judge_proof(green, both, both).model_copy(update={"tried": tried})


def test_each_failure_has_three_rounds_of_its_own() -> None:
    """A7: three rounds per failure, not three in all."""
    proof, rounds = red("test"), 0
    while may_repair(proof, each=3, rounds=rounds):
        rounds += 1
        proof = carry_on(proof, red("test"))
    assert rounds == 3
    proof = carry_on(proof, red("lint"))
    assert may_repair(proof, each=3, rounds=rounds), "another failure has its own"
    assert to_repair(proof, each=3) == ("lint",)


def test_a_failure_that_comes_back_has_had_its_rounds() -> None:
    proof = red("test", tried=(RepairTries(failure="test", rounds=3),))
    assert not may_repair(proof, each=3, rounds=3)
    assert to_repair(proof, each=3) == ()


@given(st.lists(st.sets(st.sampled_from(("lint", "test")), min_size=1), min_size=30, max_size=30), st.integers(0, 4))
def test_repair_ends_whatever_fails(fails: list[set[str]], each: int) -> None:
    proof, rounds = red(*fails[0]), 0
    for names in fails[1:]:
        if not may_repair(proof, each=each, rounds=rounds):
            break
        rounds += 1
        proof = carry_on(proof, red(*names))
    assert rounds <= 2 * each


def test_doubts_are_a_failure_of_their_own() -> None:
    green = (result(),)
    proof = judge_proof(green, green, green, (Doubt(kind="deleted_test", text="It deletes a test."),))
    assert proof.verdict == "doubted"
    assert to_repair(proof, each=3) == (DOUBTS,)


def condition(code: int, *, reruns: tuple[int, ...] = ()) -> CheckResult:
    return result(code, command="done", reruns=reruns).model_copy(update={"source": CheckSource.DONE_WHEN})


conditions = st.builds(condition, st.integers(0, 1), reruns=st.lists(st.integers(0, 1), max_size=2).map(tuple))


@given(one_each, st.tuples(conditions, conditions, conditions), one_each)
def test_work_whose_condition_is_not_met_is_never_delivered(
    before: tuple[CheckResult, ...], of: tuple[CheckResult, CheckResult, CheckResult], after: tuple[CheckResult, ...]
) -> None:
    proof = judge_proof((of[0], *before), (of[1], *after), (of[2], *after))
    if not (of[1].green and of[2].green):
        assert proof.verdict in NOT_DELIVERABLE
        assert "done" in {one.command for one in failing(proof)}
    else:
        assert proof.verdict != "not_done"


@given(st.lists(st.one_of(results, conditions), max_size=4).map(tuple))
def test_without_commits_it_is_done_only_if_a_condition_and_everything_else_is_green(
    ran: tuple[CheckResult, ...],
) -> None:
    named = any(one.source is CheckSource.DONE_WHEN for one in ran)
    assert (already_true(ran) is not None) == (named and all(one.green for one in ran))
    assert not (already_true(ran) and not_yet(ran))
