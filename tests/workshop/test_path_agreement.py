"""One path language: whatever a pattern in the orders means, every place that reads it means the same."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midwatch.crew.housekeeper.bounds.scope import PathScope
from midwatch.errors import Misuse, Refused
from midwatch.evening.orders_file import read_orders
from midwatch.rules.gate import permissions
from midwatch.rules.gate.contract import WRITE, Behind, RunDefaults, compile_contract, faults
from midwatch.rules.paths import inside, pattern_fault, touches
from midwatch.rules.tools.tool_calls import ToolCall, ToolFacts, ToolOutcome, decide
from midwatch.terms.acts import ActKind
from midwatch.terms.agents import Errand
from midwatch.terms.contract import RunContract, ToolScope
from midwatch.terms.jobs import Plan
from midwatch.terms.orders import OrderedWork, Orders
from midwatch.terms.trust import Level
from midwatch.workshop.git.checkouts import Checkouts, folders_named
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.quarantine.quarantine import PackedWork, admit
from tests.rules.worlds import FACTS, easy
from tests.workshop.repository import Repository

PATTERNS = ("docs", "src", "/src/**", "src/", "./src", "src/*", "*.py", "**/deep", "[ab].txt", "app/[slug]/**", "../x")
PATHS = (
    *("docs", "docs/a.md", "lib/docs/a.md", "src/x.py", "src/in/x.py", "lib/src/y.py", "x.py", "deep/z", "p/deep/q"),
    *("a.txt", "sub/b.txt", "[ab].txt", "app/[slug]/page.tsx", "app/s/page.tsx", "SRC/x.py", "Docs/b.md"),
)
BOUNDS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("docs", "/src/**"), ()),
    (("*.py", "app/[slug]/**", "[ab].txt"), ()),
    (("**",), ("src", "**/deep", "app/[slug]/**", "[b].txt")),
)
part = st.text(alphabet="abAB*?[]!-", min_size=1, max_size=4) | st.sampled_from(["**", "docs", "src", ".", "..", ""])
patterns = st.lists(part, min_size=1, max_size=4).map("/".join) | st.sampled_from(PATTERNS)
names = st.text(alphabet="abAB[]-é", min_size=1, max_size=4) | st.sampled_from(["docs", "src", "SRC"])
paths = st.lists(names, min_size=1, max_size=4).map("/".join) | st.sampled_from(PATHS)


def contract(allowed: tuple[str, ...], forbidden: tuple[str, ...]) -> RunContract:
    work = OrderedWork(project="p", title="t", paths=allowed)
    return compile_contract(Orders(do_not_touch=forbidden), work, Behind("p", "m", "w"), RunDefaults())


def by_plan(path: str, bound: RunContract) -> bool:
    return not faults(Plan(summary="s", files=(path,)), bound)


def by_gate(path: str, bound: RunContract) -> bool:
    proposal, facts = easy(ActKind.START, tool=WRITE, paths=(path,)), FACTS.model_copy(update={"contract": bound})
    return permissions.path_outside(proposal, facts) is None and permissions.do_not_touch(proposal, facts) is None


def by_tool_call(path: str, bound: RunContract) -> bool:
    facts = ToolFacts(
        errand=Errand.EXECUTE,
        level=Level.FULL,
        allowed_paths=bound.constraints.tool_policy.scopes[WRITE].allowed_paths,
        work_paths=bound.paths,
        do_not_touch=bound.constraints.do_not_touch,
        allowed_tools=("Write",),
    )
    return decide(ToolCall("Write", {"file_path": f"/ws/{path}"}), facts).outcome is ToolOutcome.ALLOW


def by_list_of_tools(path: str, bound: RunContract) -> bool:
    allowed = bound.constraints.tool_policy.scopes[WRITE].allowed_paths
    listed = tuple(f"Write({pattern})" for pattern in allowed)
    facts = ToolFacts(
        errand=Errand.EXECUTE,
        level=Level.FULL,
        allowed_paths=("**",),
        do_not_touch=bound.constraints.do_not_touch,
        allowed_tools=listed,
    )
    return decide(ToolCall("Write", {"file_path": f"/ws/{path}"}), facts).outcome is ToolOutcome.ALLOW


def by_housekeeper(path: str, bound: RunContract) -> bool:
    return PathScope(paths=bound.paths, avoid=bound.constraints.do_not_touch).allows(path)


READERS: tuple[Callable[[str, RunContract], bool], ...] = (
    by_plan,
    by_gate,
    by_tool_call,
    by_list_of_tools,
    by_housekeeper,
)


@given(patterns, paths)
@example("docs", "lib/docs/a.md")
@example("/src/**", "src/x.py")
@example("*.py", "src/x.py")
def test_whoever_reads_a_pattern_that_allows_reads_the_same(pattern: str, path: str) -> None:
    expected = inside(path, (pattern,))
    bound = contract((pattern,), ())
    assert {reader.__name__: reader(path, bound) for reader in READERS} == {
        reader.__name__: expected for reader in READERS
    }


@given(patterns, paths)
@example("src", "lib/SRC/y.py")
@example("secrets/**", "Secrets")
def test_whoever_reads_a_pattern_that_forbids_reads_the_same(pattern: str, path: str) -> None:
    expected = not touches(path, (pattern,))
    bound = contract(("**",), (pattern,))
    assert {reader.__name__: reader(path, bound) for reader in READERS} == {
        reader.__name__: expected for reader in READERS
    }


@given(patterns, paths)
@example("src/", "src/x.py")
def test_a_clone_by_folders_holds_exactly_what_the_pattern_allows(pattern: str, path: str) -> None:
    for folder in folders_named((pattern,)):
        assert inside(path, (pattern,)) is f"{path}/".startswith(f"{folder}/")


@given(patterns)
def test_orders_are_read_exactly_if_each_pattern_means_something(pattern: str) -> None:
    for text in (f"do_not_touch = ['{pattern}']", f"[[work]]\nproject = 'p'\ntitle = 't'\npaths = ['{pattern}']"):
        if pattern_fault(pattern):
            with pytest.raises(Misuse, match=r"orders.toml, line \d: (paths|do_not_touch): .* is no path pattern"):
                read_orders(text)
        else:
            assert read_orders(text).level is Level.CAUTIOUS


async def test_the_quarantine_lets_in_exactly_what_the_plan_may_name(
    tmp_path: Path, home: Path, mirrors: GitMirrors, checkouts: Checkouts
) -> None:
    person = Repository.begin(tmp_path / "repo", {"README.md": "top\n"})
    await mirrors.refresh("shop", person.path)
    agent = Repository(await checkouts.private_clone("shop", "job_1", 1, person.head))
    made = tuple(path for path in PATHS if path not in {"docs", "SRC/x.py", "Docs/b.md"})
    head = agent.commit("All", dict.fromkeys(made, "x\n"))
    for allowed, forbidden in BOUNDS:
        bundle = await checkouts.bundle("job_1", 1, person.head, head)
        delivery = PackedWork("shop", "job_1", 1, person.head, head, bundle)
        refused: set[str] = set()
        try:
            await admit(home, mirrors, delivery, scope=ToolScope(allowed_paths=allowed), do_not_touch=forbidden)
        except Refused as error:
            refused = {reason.split(" is ")[0] for reason in error.because}
        bound = contract(allowed, forbidden)
        assert refused == {path for path in made if not by_plan(path, bound)}, (allowed, forbidden)
