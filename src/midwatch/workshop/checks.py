"""Runs the orders' checks on fresh checkouts and judges what they prove."""

import asyncio
import os
import re
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from midwatch.errors import Unavailable
from midwatch.terms.jobs import CheckResult, Proof
from midwatch.workshop.check_files import to_restore
from midwatch.workshop.checkouts import Checkouts
from midwatch.workshop.errand import run_leashed
from midwatch.workshop.folders import remove
from midwatch.workshop.mirrors import Mirrors
from midwatch.workshop.paths import matches

TAIL_CHARACTERS = 2_000
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PYTEST = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s", re.MULTILINE)
_UNITTEST = re.compile(r"^(?:FAILED \((.*)\)|OK(?: \(.*\))?)$", re.MULTILINE)
_COUNT = re.compile(r"(\d+) (?:failed|errors?)\b")
_UNITTEST_COUNT = re.compile(r"(?:failures|errors|unexpected successes)=(\d+)")


@dataclass(frozen=True)
class Work:
    """A delivered change whose checks are to be run."""

    project: str
    job: str
    base: str
    head: str


@dataclass(frozen=True)
class CheckPlan:
    """What to run, how long each command may take, and which check files the orders let the agent change."""

    commands: tuple[str, ...]
    wall: timedelta
    may_change: tuple[str, ...] = ()


async def run_checks(
    tree: Path, commands: tuple[str, ...], *, log: Path, wall: timedelta, stop: asyncio.Event | None = None
) -> tuple[CheckResult, ...]:
    """Run each command in the tree with a clean environment and an empty home, until all ran or `stop` is set."""
    results: list[CheckResult] = []
    home = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="midwatch-check-"))
    try:
        for command in commands:
            await asyncio.to_thread(_head_line, log, command)
            ended = await run_leashed(
                ["/bin/sh", "-c", command],
                cwd=tree,
                env=_environment(home),
                log=log,
                wall=wall,
                idle=wall,  # a test suite may well be silent until its end
                stop=stop,
            )
            results.append(
                CheckResult(
                    command=command,
                    exit_code=ended.exit_code,
                    seconds=ended.seconds,
                    tail=ended.tail[-TAIL_CHARACTERS:],
                    failures=count_failures(ended.tail),
                )
            )
            if stop is not None and stop.is_set():
                break
    finally:
        await asyncio.to_thread(remove, home)
    return tuple(results)


def _environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.pathsep.join(os.get_exec_path()),
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "CI": "true",
    }


def _head_line(log: Path, command: str) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as file:
        file.write(f"$ {command}\n")


def count_failures(output: str) -> int | None:
    """Read the number of failed tests from a pytest or unittest summary; None where there is no such line."""
    plain = _COLOURS.sub("", output)
    if found := _PYTEST.findall(plain):
        return sum(int(count) for count in _COUNT.findall(found[-1]))
    if found := _UNITTEST.findall(plain):
        return sum(int(count) for count in _UNITTEST_COUNT.findall(found[-1]))
    return None


def judge_proof(
    before: tuple[CheckResult, ...], delivered: tuple[CheckResult, ...], restored: tuple[CheckResult, ...]
) -> Proof:
    """Say what three runs prove; green only as delivered, not with the base's own check files, counts as red."""
    return Proof(before=before, delivered=delivered, restored=restored, verdict=_verdict(before, delivered, restored))


def _verdict(
    before: tuple[CheckResult, ...], delivered: tuple[CheckResult, ...], restored: tuple[CheckResult, ...]
) -> str:
    if not delivered:
        return "no_checks"
    if all(result.green for result in delivered):
        return "green" if restored and all(result.green for result in restored) else "red_when_restored"
    earlier = {result.command: result for result in before}
    redder = any(_redder(earlier.get(result.command), result) for result in (*delivered, *restored))
    return "worse" if redder else "still_red"


def _redder(before: CheckResult | None, after: CheckResult) -> bool:
    """Whether a check got worse; what nobody saw red before was not red."""
    if after.green:
        return False
    if before is None or before.green:
        return True
    if before.failures is None:
        return False
    # Fewer failures with a higher exit code is a run that broke off, as pytest's 2 after its 1.
    return after.failures is None or after.failures > before.failures or after.exit_code > before.exit_code


async def restore_check_files(tree: Path, mirrors: Mirrors, work: Work, may_change: tuple[str, ...] = ()) -> int:
    """Give a fresh checkout of the work the base's check files back, and tell how many that were.

    Existing tests and everything that configures tests, linters, make or CI go back to base; such configuration that
    is new goes away; new tests stay. `pyproject.toml`, `setup.cfg` and `package.json` only if what they say about
    checks changed. Git does the writing, because it does not follow links the agent may have put in the way.
    """
    changes = await mirrors.changes(work.project, work.base, work.head)

    async def read(commit: str, path: str) -> bytes:
        return await mirrors.show_file(work.project, commit, path)

    meant = tuple(change for change in changes if not matches(change.path, may_change))
    back, away = await to_restore(meant, read, work.base, work.head)
    by_list = ("--pathspec-from-file=-", "--pathspec-file-nul")
    if away:
        command = ("--literal-pathspecs", "rm", "--quiet", "--force", *by_list)
        await mirrors.git.run(tree, *command, stdin="\0".join(away).encode())
    if back:
        command = ("--literal-pathspecs", "checkout", "--quiet", work.base, *by_list)
        await mirrors.git.run(tree, *command, stdin="\0".join(back).encode())
    return len(back) + len(away)


async def prove(
    checkouts: Checkouts,
    work: Work,
    plan: CheckPlan,
    *,
    logs: Path,
    before: tuple[CheckResult, ...] | None = None,
    stop: asyncio.Event | None = None,
) -> Proof:
    """Run the checks on the base, on the work, and on the work with the base's check files; then judge.

    `before` is the base's result where it is known already, as in a repair round.
    """
    if not plan.commands:
        return judge_proof((), (), ())

    if before is None:
        async with checkouts.passing(work.project, work.job, work.base, "before") as tree:
            before = await _checked(tree, plan, logs / "checks-before.log", stop)
    async with checkouts.passing(work.project, work.job, work.head, "delivered") as tree:
        delivered = await _checked(tree, plan, logs / "checks-delivered.log", stop)
    async with checkouts.passing(work.project, work.job, work.head, "restored") as tree:
        changed = await restore_check_files(tree, checkouts.mirrors, work, plan.may_change)
        restored = await _checked(tree, plan, logs / "checks-restored.log", stop) if changed else delivered
    return judge_proof(before, delivered, restored)


async def _checked(tree: Path, plan: CheckPlan, log: Path, stop: asyncio.Event | None) -> tuple[CheckResult, ...]:
    results = await run_checks(tree, plan.commands, log=log, wall=plan.wall, stop=stop)
    if stop is not None and stop.is_set():
        raise Unavailable("The checks were stopped before they had an answer.", hint="Resume the job to run them.")
    return results
