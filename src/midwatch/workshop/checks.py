"""Runs the orders' checks on fresh checkouts and judges what they prove."""

import asyncio
import re
import shutil
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from midwatch.errors import Unavailable
from midwatch.terms.jobs import CheckResult, Proof
from midwatch.terms.trust import Isolation
from midwatch.workshop.check_files import to_restore
from midwatch.workshop.checkouts import Checkouts
from midwatch.workshop.enclosure import Enclosure
from midwatch.workshop.mirrors import Mirrors
from midwatch.workshop.paths import matches
from midwatch.workshop.setup import Made, lend
from midwatch.workshop.walls.spec import Walls

TAIL_CHARACTERS = 2_000
NOT_FOUND = 127
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
    epoch: int = 0
    """Whose attempt it is: a frozen one that wakes must not clear away what a newer one works in."""


@dataclass(frozen=True)
class CheckPlan:
    """What to run, how long each command may take, and which check files the orders let the agent change."""

    commands: tuple[str, ...]
    wall: timedelta
    may_change: tuple[str, ...] = ()
    made: Made | None = None
    """What the project's setup made."""


@dataclass(frozen=True)
class Checking:
    """One tree on which checks are run, inside walls."""

    enclosure: Enclosure
    walls: Walls
    log: Path
    wall: timedelta
    stop: asyncio.Event | None = None


async def run_checks(checking: Checking, commands: tuple[str, ...]) -> tuple[CheckResult, ...]:
    """Run each command in the tree, in a clean environment, until all ran or `stop` is set."""
    results: list[CheckResult] = []
    log, stop = checking.log, checking.stop
    for command in commands:
        await asyncio.to_thread(_head_line, log, command)
        # A test suite may well be silent until its end: only the wall limit counts.
        ended = await checking.enclosure.run(
            checking.walls, ["/bin/sh", "-c", command], log=log, wall=checking.wall, stop=stop
        )
        results.append(
            CheckResult(
                command=command,
                exit_code=ended.exit_code,
                seconds=ended.seconds,
                tail=(ended.tail + _advice(command, ended.exit_code, checking))[-TAIL_CHARACTERS:],
                failures=count_failures(ended.tail),
            )
        )
        if stop is not None and stop.is_set():
            break
    return tuple(results)


def _advice(command: str, exit_code: int, checking: Checking) -> str:
    """Say what to do where a tool is there for the person and not for the job."""
    tool = shutil.which((command.split() or [""])[0])
    if exit_code != NOT_FOUND or tool is None or checking.enclosure.isolation is Isolation.NONE:
        return ""
    folder = Path(tool).resolve().parent
    return f"\n[midwatch: {tool} is not inside the sandbox; add {folder} to sandbox.toolchains]\n"


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


@dataclass(frozen=True)
class Prover:
    """Proves delivered work on fresh checkouts, inside walls."""

    checkouts: Checkouts
    enclosure: Enclosure
    logs: Path

    async def prove(
        self,
        work: Work,
        plan: CheckPlan,
        *,
        before: tuple[CheckResult, ...] | None = None,
        stop: asyncio.Event | None = None,
    ) -> Proof:
        """Run the checks on the base, on the work, and on the work with the base's check files; then judge.

        `before` is the base's result where it is known already, as in a repair round.
        """
        if not plan.commands:
            return judge_proof((), (), ())
        if before is None:
            before = await self.baseline(work, plan, stop=stop)
        async with self._passing(work, work.head, "delivered") as tree:
            delivered = await self._checked(tree, work, plan, "delivered", stop)
        async with self._passing(work, work.head, "restored") as tree:
            changed = await restore_check_files(tree, self.checkouts.mirrors, work, plan.may_change)
            restored = await self._checked(tree, work, plan, "restored", stop) if changed else delivered
        return judge_proof(before, delivered, restored)

    async def baseline(
        self, work: Work, plan: CheckPlan, *, stop: asyncio.Event | None = None
    ) -> tuple[CheckResult, ...]:
        """Run the checks on the base alone."""
        async with self._passing(work, work.base, "before") as tree:
            return await self._checked(tree, work, plan, "before", stop)

    def _passing(self, work: Work, commit: str, label: str) -> AbstractAsyncContextManager[Path]:
        return self.checkouts.passing(work.project, work.job, commit, f"{label}-{work.epoch}")

    async def _checked(
        self, tree: Path, work: Work, plan: CheckPlan, label: str, stop: asyncio.Event | None
    ) -> tuple[CheckResult, ...]:
        home = tree.with_name("home")
        await asyncio.to_thread(home.mkdir)
        walls = Walls(
            tree=tree,
            home=home,
            objects=(self.checkouts.mirrors.path(work.project) / "objects",),
            environment={"PYTHONDONTWRITEBYTECODE": "1", "CI": "true"},
            limits=self.enclosure.limits,
        )
        if plan.made is not None:
            walls = await asyncio.to_thread(lend, plan.made, walls, self.enclosure)
        log = self.logs / f"checks-{label}.log"
        results = await run_checks(Checking(self.enclosure, walls, log, plan.wall, stop), plan.commands)
        if stop is not None and stop.is_set():
            raise Unavailable("The checks were stopped before they had an answer.", hint="Resume the job to run them.")
        return results
