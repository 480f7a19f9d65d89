"""Checks: a fresh checkout is judged, and an agent that moves the goalposts is found out."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from midwatch.errors import Unavailable
from midwatch.ports.workspace import JobPlace, ProofRequest
from midwatch.rules.checks.check_runs import judge_proof
from midwatch.rules.checks.discovery import NamedCheck
from midwatch.rules.checks.test_counts import count_tests
from midwatch.terms.jobs import CheckResult, Proof
from midwatch.terms.trust import Isolation
from midwatch.workshop.checks.checks import Checking, FreshTree, run_checks
from midwatch.workshop.checks.proof import Prover
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.sandbox import disk
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.walls.entry import place_inside
from midwatch.workshop.sandbox.walls.spec import SandboxSpec
from tests.workshop.repository import Repository

MINUTE = timedelta(minutes=1)
PLACE = JobPlace("shop", "job_1")
UNITTEST = f"{sys.executable} -m unittest discover -s tests -t ."
BROKEN = "def double(n):\n    return n\n"
FIXED = "def double(n):\n    return 2 * n\n"
TEST = (
    "import unittest\nfrom app import double\n\n\nclass Doubling(unittest.TestCase):\n"
    "    def test_it(self):\n        self.assertEqual(double(2), 4)\n"
)


def result(command: str = "test", code: int = 0, failures: int | None = None) -> CheckResult:
    return CheckResult(command=command, exit_code=code, failures=failures)


def named(*commands: str) -> tuple[NamedCheck, ...]:
    return tuple(NamedCheck(command) for command in commands)


GREEN, RED = result(), result(code=1)


def always(checking: Checking) -> FreshTree:
    """Give the same tree each time: what one check leaves shows whether another one ran."""

    @contextlib.asynccontextmanager
    async def fresh() -> AsyncIterator[Checking]:
        yield checking

    return fresh


@pytest.fixture
def checking(tmp_path: Path, enclosure: Enclosure) -> Checking:
    """A tree and an empty home, in walls of each kind."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "empty").mkdir()
    walls = SandboxSpec(tree=tmp_path / "tree", home=tmp_path / "empty", environment={"CI": "true"})
    return Checking(enclosure, walls, tmp_path / "logs" / "checks.log", MINUTE)


async def test_a_check_runs_in_the_tree_with_a_clean_environment(
    checking: Checking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    first, second = await run_checks(always(checking), named("pwd; env", "echo bad >&2; exit 3"))
    assert (first.exit_code, second.exit_code) == (0, 3)
    assert first.tail.startswith(str(place_inside(checking.walls, checking.enclosure.isolation)))
    assert "SECRET_TOKEN" not in first.tail
    assert {"CI=true", "LANG=C.UTF-8"} <= set(first.tail.split())
    assert second.tail == "bad\n"
    assert "$ pwd; env\n" in checking.log.read_text()


async def test_a_check_that_takes_too_long_is_red(checking: Checking) -> None:
    (only,) = await run_checks(always(replace(checking, wall=timedelta(seconds=1.5))), named("sleep 600"))
    assert only.exit_code == 124


@pytest.mark.parametrize(
    ("writes", "told"),
    [
        ("head -c 8388608 /dev/zero >big", "wrote more than 2 MiB"),
        ("head -c 8388608 /dev/zero >$HOME/big", "wrote more than 2 MiB"),
        ("touch $(seq 2000)", "wrote more than 500 files"),
        ("ln -s there $HOME/link && for n in $(seq 2000); do ln there $n; done", "wrote more than 500 files"),
    ],
)
async def test_a_check_that_writes_too_much_is_stopped_and_says_so(
    checking: Checking, monkeypatch: pytest.MonkeyPatch, writes: str, told: str
) -> None:
    """Without a watch it would write until the disk is full, or sleep until its time is up."""
    monkeypatch.setattr(disk, "EVERY_SECONDS", 0.05)
    limits = replace(checking.walls.limits, written_bytes=2 << 20, written_files=500)
    command = f"{writes}; sleep 600"
    (checking.walls.tree / "there").write_bytes(bytes(4 << 20))
    narrow = replace(checking, walls=replace(checking.walls, limits=limits))
    first, second = await run_checks(always(narrow), named(command, "true"))
    assert (first.red, second.green) == (True, True), "what was there before does not count"
    assert first.failing_line == f"The check `{command}` {told}, so it was stopped."
    assert first.failing_line in first.tail


async def test_stopping_leaves_the_remaining_checks_unrun(checking: Checking) -> None:
    stop, tree = asyncio.Event(), checking.walls.tree
    both = named("touch begun; sleep 600", "touch second")
    running = asyncio.create_task(run_checks(always(replace(checking, stop=stop)), both))
    while not (tree / "begun").exists():  # noqa: ASYNC110 - another process makes the file
        await asyncio.sleep(0.01)
    stop.set()
    (only,) = await running
    assert only.exit_code == 143
    assert not (tree / "second").exists()


async def test_a_tool_the_person_has_and_the_job_has_not_is_named_with_its_folder(
    checking: Checking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "polish").write_text("#!/bin/sh\necho polished\n")
    (folder / "polish").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    (without,) = await run_checks(
        always(replace(checking, enclosure=replace(checking.enclosure, path="/usr/bin:/bin"))), named("polish")
    )
    lent = replace(checking.enclosure, toolchains=(folder,), path=f"{folder}:/usr/bin:/bin")
    (with_it,) = await run_checks(always(replace(checking, enclosure=lent)), named("polish"))
    assert without.exit_code == 127
    assert f"add {folder} to sandbox.toolchains" in without.tail or checking.enclosure.isolation is Isolation.NONE
    assert (with_it.exit_code, with_it.tail) == (0, "polished\n")


@pytest.mark.parametrize(
    ("output", "failures"),
    [
        ("FAILED t.py::a\n=== 3 failed, 2 passed, 1 error in 0.12s ===\n", 4),
        ("1 failed, 2 passed, 3 warnings in 61.03s (0:01:01)\n", 1),
        ("\x1b[31m\x1b[1m2 failed\x1b[0m, \x1b[32m1 passed\x1b[0m\x1b[31m in 0.01s\x1b[0m\n", 2),
        ("===== 12 passed in 0.50s =====", 0),
        ("!!! Interrupted: 2 errors during collection !!!\n2 errors in 0.10s", 2),
        ("Ran 5 tests in 0.001s\n\nFAILED (failures=2, errors=1, skipped=4)\n", 3),
        ("Ran 5 tests in 0.001s\n\nOK (skipped=1)\n", 0),
        ("make: *** [test] Error 1\n", None),
        ("", None),
    ],
)
def test_failures_are_read_from_summaries(output: str, failures: int | None) -> None:
    counted = count_tests(output)
    assert (counted.failed if counted else None) == failures


@pytest.mark.parametrize(
    ("before", "delivered", "restored", "verdict"),
    [
        ((), (), (), "no_checks"),
        ((GREEN,), (GREEN,), (GREEN,), "green"),
        ((RED,), (GREEN,), (GREEN,), "green"),
        ((GREEN,), (GREEN,), (RED,), "red_when_restored"),
        ((RED,), (GREEN,), (RED,), "red_when_restored"),
        ((GREEN,), (GREEN,), (), "red_when_restored"),
        ((RED,), (RED,), (RED,), "still_red"),
        ((GREEN,), (RED,), (RED,), "worse"),
        ((), (RED,), (RED,), "worse"),
        ((result(code=1, failures=3),), (result(code=1, failures=2),), (result(code=1, failures=2),), "still_red"),
        ((result(code=1, failures=3),), (result(code=1, failures=4),), (result(code=1, failures=4),), "worse"),
        ((result(code=1, failures=3),), (result(code=1, failures=1),), (result(code=1, failures=5),), "worse"),
        ((result(code=1, failures=3),), (result(code=2, failures=1),), (result(code=2, failures=1),), "worse"),
        ((result(code=1, failures=3),), (RED,), (RED,), "worse"),
        ((RED, result("lint")), (RED, result("lint", 1)), (RED, result("lint", 1)), "worse"),
    ],
)
def test_verdicts(
    before: tuple[CheckResult, ...],
    delivered: tuple[CheckResult, ...],
    restored: tuple[CheckResult, ...],
    verdict: str,
) -> None:
    assert judge_proof(before, delivered, restored).verdict == verdict


class Court:
    """A project with one failing test, an agent's change to it, and its proof."""

    def __init__(self, person: Repository, checkouts: Checkouts, logs: Path) -> None:
        self.person, self.checkouts, self.logs = person, checkouts, logs
        files = {"app.py": BROKEN, "tests/__init__.py": "", "tests/test_app.py": TEST}
        self.base = person.commit("Base", {**files, "Makefile": f"test:\n\t{UNITTEST}\n"})

    async def hear(
        self, files: dict[str, str], *commands: str, may_change: tuple[str, ...] = (), links: tuple[str, str] = ("", "")
    ) -> Proof:
        if links[0]:
            self.person.git("rm", "-rq", links[0])
            (self.person.path / links[0]).symlink_to(links[1])
        head = self.person.commit("Work", files)
        await self.checkouts.mirrors.refresh("shop", self.person.path)
        asked = ProofRequest(PLACE, self.base, head, commands or (UNITTEST,), MINUTE, may_change)
        return await Prover(self.checkouts, Enclosure(), self.logs).prove(asked)


@pytest.fixture
def court(person: Repository, checkouts: Checkouts, tmp_path: Path) -> Court:
    return Court(person, checkouts, tmp_path / "logs")


async def test_an_honest_repair_is_green_and_needs_no_third_run(court: Court) -> None:
    proof = await court.hear({"app.py": FIXED, "tests/test_more.py": TEST})
    assert proof.verdict == "green"
    assert proof.before[0].failures == 1
    assert proof.restored == proof.delivered
    assert not (court.logs / "checks-restored.log").exists()


async def test_editing_the_test_to_pass_counts_as_red(court: Court) -> None:
    proof = await court.hear({"tests/test_app.py": TEST.replace("4)", "2)")})
    assert (proof.verdict, proof.delivered[0].green) == ("red_when_restored", True)


async def test_the_orders_may_allow_tests_to_change(court: Court) -> None:
    proof = await court.hear({"tests/test_app.py": TEST.replace("4)", "2)")}, may_change=("tests/**",))
    assert proof.verdict == "green"


async def test_deleting_the_test_counts_as_red(court: Court) -> None:
    court.person.git("rm", "-q", "tests/test_app.py")
    proof = await court.hear({"tests/test_easy.py": TEST.replace("double(2), 4", "1, 1")})
    assert proof.verdict == "red_when_restored"


async def test_editing_the_makefile_counts_as_red(court: Court) -> None:
    proof = await court.hear({"Makefile": "test:\n\ttrue\n"}, "make test")
    assert proof.verdict == "red_when_restored"


async def test_new_configuration_that_shadows_the_old_is_taken_away(court: Court) -> None:
    proof = await court.hear({"GNUmakefile": "test:\n\ttrue\n"}, "make test")
    assert proof.verdict == "red_when_restored"


async def test_a_link_in_place_of_the_tests_does_not_lead_the_restoring_astray(court: Court) -> None:
    easy = {"easy/__init__.py": "", "easy/test_app.py": TEST.replace("double(2), 4", "1, 1")}
    proof = await court.hear(easy, links=("tests", "easy"))
    assert (proof.verdict, proof.delivered[0].green) == ("red_when_restored", True)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("[project]\nname = 'a'\n", "[project]\nname = 'a'\ndependencies = ['b']\n", "green"),
        ("[project]\nname = 'a'\n", "[project]\nname = 'a'\n[tool.pytest.ini_options]\n", "red_when_restored"),
        ("", "[tool.uv]\nx = 1\n", "green"),
        ("", "not toml at all [", "red_when_restored"),
    ],
)
async def test_pyproject_matters_only_where_it_speaks_of_checks(court: Court, old: str, new: str, verdict: str) -> None:
    court.base = court.person.commit("Pyproject", {"pyproject.toml": old, "app.py": FIXED})
    quoted = old.replace("'", "'\\''")
    proof = await court.hear({"pyproject.toml": new}, f"printf %s '{quoted}' | cmp -s - pyproject.toml && exit 1; true")
    assert proof.verdict == verdict


async def test_no_commands_prove_nothing(court: Court, checkouts: Checkouts) -> None:
    await checkouts.mirrors.refresh("shop", court.person.path)
    asked = ProofRequest(PLACE, court.base, court.base, (), MINUTE)
    assert (await Prover(checkouts, Enclosure(), court.logs).prove(asked)).verdict == "no_checks"


async def test_a_stopped_proof_gives_no_verdict_and_leaves_no_checkout(
    court: Court, checkouts: Checkouts, mirrors: GitMirrors, home: Path
) -> None:
    await mirrors.refresh("shop", court.person.path)
    stop = asyncio.Event()
    stop.set()
    asked = ProofRequest(PLACE, court.base, court.base, ("sleep 600",), MINUTE, stop=stop)
    with pytest.raises(Unavailable, match="stopped"):
        await Prover(checkouts, Enclosure(), court.logs).prove(asked)
    assert list((home / "checkouts" / "job_1").iterdir()) == []
