"""A plan is held against the orders before a person sees it (A3, N19)."""

from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.gate.contract import WRITE, faults
from midwatch.terms.contract import Constraints, RunContract, ToolPolicy, ToolScope
from midwatch.terms.jobs import Plan

names = st.lists(st.sampled_from(["src/a.py", "src/b/c.py", "docs/x.md", "secrets/k", "Makefile"]), unique=True)


def contract(scope: ToolScope | None, *avoid: str) -> RunContract:
    policy = ToolPolicy(scopes={WRITE: scope} if scope else {})
    bounds = Constraints(tool_policy=policy, do_not_touch=avoid)
    return RunContract(project_id="p", mission_id="m", objective="o", constraints=bounds)


def plan(files: list[str], *, estimate_files: int = 0, estimate_lines: int = 0) -> Plan:
    sizes = {"estimate_files": estimate_files, "estimate_lines": estimate_lines}
    return Plan.model_validate({"summary": "s", "files": tuple(files), **sizes})


@given(names)
def test_everything_is_inside_where_everything_is_allowed(files: list[str]) -> None:
    assert faults(plan(files), contract(ToolScope())) == ()


@given(names)
def test_a_fault_names_exactly_the_files_that_are_outside(files: list[str]) -> None:
    found = faults(plan(files), contract(ToolScope(allowed_paths=("src/**",))))
    outside = [name for name in files if not name.startswith("src/")]
    assert bool(found) == bool(outside)
    assert all(name in found[0] for name in outside)


@given(names)
def test_what_is_not_to_be_touched_is_a_fault_wherever_it_lies(files: list[str]) -> None:
    assert bool(faults(plan(files), contract(ToolScope(), "secrets/**"))) == ("secrets/k" in files)


@given(names, st.integers(0, 10), st.integers(0, 6))
def test_what_it_names_counts_as_much_as_what_it_guesses(files: list[str], guessed: int, most: int) -> None:
    found = faults(plan(files, estimate_files=guessed), contract(ToolScope(max_files_changed=most)))
    assert bool(found) == (max(len(files), guessed) > most)


def test_orders_that_allow_no_change_allow_no_plan() -> None:
    assert faults(plan(["a"]), contract(None)) == ("The orders allow no changes at all.",)


def test_too_many_lines_are_told_with_what_is_allowed() -> None:
    (said,) = faults(plan(["a"], estimate_lines=900), contract(ToolScope(max_diff_lines=800)))
    assert said == "It would change about 900 lines; at most 800 are allowed."
