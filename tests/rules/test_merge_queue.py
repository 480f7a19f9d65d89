"""The order of a stack: nothing in it clashes, nothing larger would do, and who asks in which order is all the same."""

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.morning.merge_queue import EXACT_UPTO, Branch, Clash, choose, greedy, ranked, reason

NAMES = [f"pr_{number:02}" for number in range(16)]


@st.composite
def nights(draw: st.DrawFn, most: int = EXACT_UPTO) -> tuple[tuple[Branch, ...], tuple[Clash, ...]]:
    """Branches, some built on earlier ones, and clashes of one, two or three."""
    names = NAMES[: draw(st.integers(0, most))]
    branches = tuple(
        Branch(
            id=name,
            priority=draw(st.integers(1, 3)),
            proved=draw(st.booleans()),
            size=draw(st.integers(0, 3)),
            opened=place,
            after=frozenset(draw(st.sets(st.sampled_from(names[:place]), max_size=1)) if place else ()),
        )
        for place, name in enumerate(names)
    )
    members = st.sets(st.sampled_from(names), min_size=1, max_size=3).map(frozenset) if names else st.nothing()
    clashes = draw(st.lists(st.builds(Clash, members=members, by_checks=st.booleans()), max_size=12)) if names else []
    return branches, tuple(clashes)


def stands(chosen: tuple[str, ...], branches: tuple[Branch, ...], clashes: tuple[Clash, ...]) -> bool:
    after = {one.id: one.after for one in branches}
    together = set(chosen)
    return not any(clash.members <= together for clash in clashes) and all(after[name] <= together for name in chosen)


@given(nights(16))
def test_a_stack_never_holds_branches_that_clash_or_lack_what_they_stand_on(
    night: tuple[tuple[Branch, ...], tuple[Clash, ...]],
) -> None:
    chosen = choose(*night)
    assert len(chosen) == len(set(chosen))
    assert stands(chosen, *night)


@given(nights(16))
def test_a_stack_is_never_smaller_than_one_taken_branch_by_branch(
    night: tuple[tuple[Branch, ...], tuple[Clash, ...]],
) -> None:
    assert len(choose(*night)) >= len(greedy(*night))


@given(nights(7))
def test_no_larger_set_stands(night: tuple[tuple[Branch, ...], tuple[Clash, ...]]) -> None:
    branches, clashes = night
    larger = len(choose(branches, clashes)) + 1
    sets = itertools.combinations([one.id for one in branches], larger)
    assert not any(stands(chosen, branches, clashes) for chosen in sets)


@given(nights(16), st.randoms(use_true_random=False))
def test_who_is_named_first_makes_no_difference(
    night: tuple[tuple[Branch, ...], tuple[Clash, ...]], dice: random.Random
) -> None:
    branches, clashes = list(night[0]), list(night[1])
    chosen = choose(branches, clashes)
    assert choose(branches, clashes) == chosen
    dice.shuffle(branches)
    dice.shuffle(clashes)
    assert choose(branches, clashes) == chosen


@given(nights(16))
def test_what_stands_on_another_comes_after_it(night: tuple[tuple[Branch, ...], tuple[Clash, ...]]) -> None:
    order = [one.id for one in ranked(night[0])]
    assert sorted(order) == [one.id for one in night[0]]
    assert all(order.index(other) < order.index(one.id) for one in night[0] for other in one.after)


@given(nights())
def test_whatever_is_left_out_has_its_reason(night: tuple[tuple[Branch, ...], tuple[Clash, ...]]) -> None:
    branches, clashes = night
    chosen = choose(branches, clashes)
    for one in branches:
        if one.id not in chosen and one.after <= set(chosen):
            assert reason(one, chosen, clashes) is not None


def test_at_equal_size_the_pressing_then_the_proved_the_small_and_the_old_are_taken() -> None:
    def kept(better: Branch, worse: Branch) -> bool:
        return choose((worse, better), (Clash(frozenset({"better", "worse"})),)) == ("better",)

    assert kept(Branch("better", priority=1, size=900, opened=2), Branch("worse", priority=5, proved=True, opened=1))
    assert kept(Branch("better", proved=True, size=900, opened=2), Branch("worse", opened=1))
    assert kept(Branch("better", size=1, opened=2), Branch("worse", size=2, opened=1))
    assert kept(Branch("better", opened=1), Branch("worse", opened=2))


def test_one_that_clashes_with_two_gives_way_though_it_is_the_best() -> None:
    branches = (Branch("best", priority=1), Branch("a"), Branch("b"))
    clashes = (Clash(frozenset({"best", "a"})), Clash(frozenset({"best", "b"})))
    assert choose(branches, clashes) == ("a", "b")
    assert reason(branches[0], ("a", "b"), clashes) == clashes[0]


def test_three_that_only_clash_as_three_lose_one() -> None:
    branches = tuple(Branch(name, opened=place) for place, name in enumerate("abc"))
    assert choose(branches, (Clash(frozenset("abc")),)) == ("a", "b")
