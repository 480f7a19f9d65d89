"""The logic of `make tryout`: its trees, its lines and its count; the nights themselves are not part of the suite."""

from typing import Any

from tests.agents.model import Edit
from tests.tryout.__main__ import chosen
from tests.tryout.outcomes import Outcome, count, said, why_not
from tests.tryout.person import steps
from tests.tryout.stand import Pair, orders
from tests.tryout.trees import TREES
from tools.agents import AGENTS

PROVEN: dict[str, Any] = {
    "state": "done",
    "stage": "notice",
    "why": "",
    "pull_requests": [{"draft": False}],
    "proof": {"verdict": "green", "new_tests": "fail_on_base"},
}


def test_there_are_six_trees_three_in_python_two_in_node_and_a_compiled_one() -> None:
    assert sorted(tree.registry for tree in TREES) == ["apt", "npm", "npm", "pip", "pip", "pip"]
    assert len(chosen([], [])) == len(AGENTS) * len(TREES) == 18
    assert [(pair.agent, pair.tree.name) for pair in chosen(["codex"], ["click"])] == [("codex", "click")]


def test_every_work_can_be_told_from_the_others_and_changes_whole_lines() -> None:
    titles = [tree.work.title for tree in TREES]
    assert not [one for one in titles for other in titles if one is not other and one in other]
    for tree in TREES:
        for change in (tree.work.edit, tree.work.test):
            if isinstance(change, Edit):
                assert change.old.endswith("\n"), tree.name
                assert change.new.endswith("\n"), tree.name
        assert all(len(steps(agent.name, tree)) == 12 for agent in AGENTS)


def test_orders_name_each_pair_once_at_cautious() -> None:
    text = orders([Pair("codex", tree) for tree in TREES])
    assert text.startswith('level = "cautious"')
    assert text.count("[[work]]") == len(TREES)


def test_only_a_proven_pull_request_without_a_question_counts() -> None:
    assert why_not(PROVEN) == ""
    assert why_not(PROVEN | {"state": "failed", "why": "no"}) == "failed at notice: no"
    assert "without a pull request" in why_not(PROVEN | {"pull_requests": []})
    assert why_not(PROVEN | {"pull_requests": [{"draft": True}]}) == "only a draft"
    assert "still_red" in why_not(PROVEN | {"proof": {"verdict": "still_red", "new_tests": "fail_on_base"}})
    assert "pass_on_base" in why_not(PROVEN | {"proof": {"verdict": "green", "new_tests": "pass_on_base"}})
    pair = Pair("codex", TREES[0])
    good, asked = Outcome(pair), Outcome(pair, questions=("May it run make?",))
    assert said(good).startswith("delivered")
    assert said(asked).startswith("FAILED")
    assert "asked: May it run make?" in said(asked)
    assert count([good, asked]) == "2 pairs, 1 delivered and proven, 1 questions asked, 0 calls denied"
