"""Which checks a project has of its own, and which of them say nothing (X8)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.checks.discovery import NONE, Looked, join_checks, propose_checks, proves_nothing
from midwatch.terms.jobs import CheckResult, CheckSource, SuiteCount


@pytest.mark.parametrize(
    ("texts", "paths", "placed", "proposed"),
    [
        ({}, (), (), ()),
        ({"Makefile": "all:\n\ttrue\ntest: all\n\tpytest\n"}, (), (), ("make test",)),
        ({"Makefile": "check:\n\tpytest\n", "go.mod": "module a"}, (), (), ("make check",)),
        ({"Makefile": "test := 3\nall:\n"}, ("tests/test_a.py",), (), ()),
        ({"justfile": "test:\n  pytest\n"}, (), (), ("just test",)),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, (), (), ("python3 -m pytest -q",)),
        ({"pytest.ini": ""}, (), (".venv",), (".venv/bin/python -m pytest -q",)),
        ({}, ("src/a.py", "tests/test_a.py"), (), ("python3 -m pytest -q",)),
        ({"tox.ini": "[testenv]\ncommands = x\n"}, (), (), ("tox -q",)),
        ({"noxfile.py": ""}, (), (), ("nox",)),
        ({"package.json": json.dumps({"scripts": {"test": "jest"}})}, (), (), ("npm test",)),
        ({"package.json": json.dumps({"scripts": {"test": "jest"}})}, ("pnpm-lock.yaml",), (), ("pnpm test",)),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, (), (), ()),
        ({"package.json": "not json"}, ("a.test.js",), (), ("node --test",)),
        ({"package.json": '{"scripts": []}'}, (), (), ()),
        ({"Cargo.toml": "", "go.mod": ""}, (), (), ("cargo test", "go test ./...")),
    ],
)
def test_checks_are_found(
    texts: dict[str, str], paths: tuple[str, ...], placed: tuple[str, ...], proposed: tuple[str, ...]
) -> None:
    if "Makefile" in texts and not proposed:
        assert propose_checks(Looked(texts)) == ()
    else:
        assert propose_checks(Looked(texts, (*texts, *paths), placed)) == proposed


def test_orders_come_first_and_each_once() -> None:
    joined = join_checks(("make  test", "lint"), ("make test", "types"), ("make test", "cargo test"))
    assert [(one.command, one.source.value) for one in joined] == [
        ("make  test", "orders"),
        ("lint", "orders"),
        ("types", "project"),
        ("cargo test", "found"),
    ]


def test_a_tool_that_was_named_is_not_run_again_the_way_we_guess() -> None:
    assert [one.command for one in join_checks(("pytest tests/unit",), (), ("python3 -m pytest -q",))] == [
        "pytest tests/unit"
    ]


def test_one_word_says_that_there_are_none() -> None:
    assert join_checks((), (NONE,), ()) == ()


commands = st.lists(st.sampled_from(["make test", "pytest", "lint", "a b", NONE, " "]), max_size=4).map(tuple)


@given(commands, commands, commands)
def test_joining_keeps_every_order_and_repeats_nothing(
    ordered: tuple[str, ...], project: tuple[str, ...], found: tuple[str, ...]
) -> None:
    joined = [one.command for one in join_checks(ordered, project, found)]
    assert len(set(joined)) == len(joined)
    meant = [one for one in dict.fromkeys(ordered) if one.strip() and one != NONE]
    assert joined[: len(meant)] == meant


def found(code: int, tail: str = "", counted: SuiteCount | None = None) -> CheckResult:
    return CheckResult(command="x", exit_code=code, tail=tail, source=CheckSource.FOUND, counted=counted)


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (found(127), "its tool is not there"),
        (found(2, "make: *** No rule to make target 'test'.  Stop."), "its tool is not there"),
        (found(1, "/usr/bin/python3: No module named pytest"), "its tool is not there"),
        (found(2, "sh: 1: pytest: not found\nmake: *** [Makefile:2: test] Error 127"), "its tool is not there"),
        (found(1, "ERROR: No matching distribution found for x"), "it needs the network"),
        (found(5, "no tests ran in 0.01s", SuiteCount()), "it ran no test"),
        (found(0, "", SuiteCount()), "it ran no test"),
        (found(0, "", SuiteCount(skipped=1)), ""),
        (found(1, "1 failed in 0.1s", SuiteCount(failed=1)), ""),
        (found(0), ""),
    ],
)
def test_what_is_found_and_cannot_run_proves_nothing(result: CheckResult, why: str) -> None:
    assert proves_nothing(result) == why


def test_a_check_that_somebody_named_is_never_left_out() -> None:
    assert proves_nothing(found(127).model_copy(update={"source": CheckSource.ORDERS})) == ""
