"""Verifies delivered work on fresh checkouts: the base, the work, and the work with the base's own check files."""

import asyncio
import re
import shlex
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from midwatch.errors import Unavailable
from midwatch.ports.workspace import ProofRequest
from midwatch.rules.checks.cheating import FileFact, WorkFacts, find_doubts
from midwatch.rules.checks.check_runs import Results, judge_proof, to_rerun, to_rerun_on_base, with_reruns
from midwatch.rules.checks.coverage import REPORTS, covered_of
from midwatch.rules.checks.discovery import NamedCheck, join_checks, propose_checks, proves_nothing
from midwatch.rules.checks.new_tests import doubts_about_tests, judge_narrow, judge_whole, narrow_command, new_tests
from midwatch.terms.jobs import CheckResult, Coverage, Proof
from midwatch.workshop.checks.change_facts import (
    changed_lines,
    installed_modules,
    look,
    read_changes,
    read_surroundings,
)
from midwatch.workshop.checks.check_files import to_restore
from midwatch.workshop.checks.checks import Checking, FreshTree, run_check, run_checks
from midwatch.workshop.checks.tracked_files import TrackedFiles
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.rooms.setup import INSIDE, Made, lend
from midwatch.workshop.sandbox import safe_files
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.walls.spec import SandboxSpec


async def restore_check_files(tree: Path, mirrors: GitMirrors, base: str, files: tuple[FileFact, ...]) -> int:
    """Restore the base's check files in a fresh checkout of the work, and return how many there were.

    Existing tests and everything that configures tests, linters, make or CI are restored; configuration of that kind
    that is new is removed; new tests stay. `pyproject.toml`, `setup.cfg` and `package.json` only if what they say about
    checks changed. Git writes the files, because it does not follow links that the agent may have created.
    """
    back, away = to_restore(files)
    by_list = ("--pathspec-from-file=-", "--pathspec-file-nul")
    if away:
        command = ("--literal-pathspecs", "rm", "--quiet", "--force", *by_list)
        await mirrors.git.run(tree, *command, stdin="\0".join(away).encode())
    if back:
        command = ("--literal-pathspecs", "checkout", "--quiet", base, *by_list)
        await mirrors.git.run(tree, *command, stdin="\0".join(back).encode())
    return len(back) + len(away)


@dataclass(frozen=True)
class Prover:
    """Verifies delivered work on fresh checkouts, inside walls."""

    checkouts: Checkouts
    enclosure: Enclosure
    logs: Path
    made: Made | None = None
    """What the project's setup made."""

    async def prove(self, asked: ProofRequest) -> Proof:
        """Run the checks on the base, on the work, and on the work with the base's check files; then judge.

        Results of the base from an earlier round are reused.
        """
        court, earlier = _Court(self, asked), asked.earlier
        checks = await court.checks() if earlier is None else _as_before(earlier)
        files = await read_changes(
            self.checkouts.mirrors,
            asked.place.project,
            (asked.base, asked.head),
            asked.paths,
            tuple(check.command for check in checks),
        )
        mirrors, installed = self.checkouts.mirrors, await asyncio.to_thread(self._installed, checks)
        around = await read_surroundings(mirrors, asked.place.project, asked.base, installed)
        before, notes = (earlier.before, earlier.notes) if earlier else await court.of_base(checks)
        usable = _as_before(Proof(before=before))
        delivered, coverage = await court.of_work(usable, before)
        before, delivered = await court.doubly(before, delivered)
        restored = await court.of_restored(usable, files, delivered)
        # All of it is text that an agent wrote: reading it must not block Midwatch.
        tests = await asyncio.to_thread(new_tests, files)
        said = await court.of_new_tests(usable, tests, before) if tests else "none"
        doubts = await asyncio.to_thread(
            find_doubts, WorkFacts(files, before, delivered, restored, asked.claims, around)
        )
        doubts += await asyncio.to_thread(doubts_about_tests, said, files, asked.claims, (before, delivered))
        proof = judge_proof(before, delivered, restored, doubts)
        found = {"new_tests": said, "new_test_files": tuple(sorted(tests)), "coverage": coverage, "notes": notes}
        return proof.model_copy(update={**found, "head": asked.head})

    def _installed(self, checks: Iterable[NamedCheck]) -> frozenset[str]:
        """Name the modules of Python that checks may import from what is lent or set up."""
        own = (self.made.folder, self.made.folder / INSIDE / ".venv") if self.made else ()
        named = (Path(word) for check in checks for word in check.command.split() if word.startswith("/"))
        pythons = (path.parent.parent for path in named if path.parent.name == "bin")
        return installed_modules((*own, *self.enclosure.toolchains, *pythons, Path("/usr"), Path("/usr/local")))

    async def checks(self, asked: ProofRequest) -> tuple[NamedCheck, ...]:
        """Say which checks there are, without running them."""
        return await _Court(self, asked).checks()

    async def baseline(self, asked: ProofRequest, *alike: ProofRequest) -> Results:
        """Run the checks on the base alone; also those that prove nothing there are returned.

        What `alike` asks for differs only in its checks; a check that several ask for is run once.
        """
        named = {check.command: check for one in (asked, *alike) for check in await _Court(self, one).checks()}
        return await _Court(self, asked).all_of_base(tuple(named.values()))


Prepare = Callable[[Path], Awaitable[None]]
"""What is done to a fresh checkout before a check runs in it."""


def _as_before(proof: Proof) -> tuple[NamedCheck, ...]:
    return tuple(NamedCheck(one.command, one.source) for one in proof.before)


@dataclass(frozen=True)
class _Court:
    """One verification: every run of a check gets a checkout and a home of its own."""

    prover: Prover
    asked: ProofRequest
    _runs: Counter[str] = field(default_factory=Counter)

    async def checks(self) -> tuple[NamedCheck, ...]:
        found: tuple[str, ...] = ()
        if self.asked.finds_checks:
            placed = self.prover.made.placed if self.prover.made else ()
            mirrors = self.prover.checkouts.mirrors
            found = propose_checks(await look(mirrors, self.asked.place.project, self.asked.base, placed))
        ordered = tuple(one for one in self.asked.checks if one not in self.asked.project_checks)
        return join_checks(ordered, self.asked.project_checks, found, self.asked.done_when)

    async def of_base(self, checks: Sequence[NamedCheck]) -> tuple[Results, tuple[str, ...]]:
        """Run the checks on the base; a check we found ourselves that shows nothing there is left out, with a note."""
        results = await self.all_of_base(checks)
        kept = tuple(one for one in results if not proves_nothing(one))
        notes = tuple(
            f"`{one.command}` was found and left out: {why}." for one in results if (why := proves_nothing(one))
        )
        return kept, notes

    async def all_of_base(self, checks: Sequence[NamedCheck]) -> Results:
        if not checks:
            return ()
        return await run_checks(self._fresh(self.asked.base, "before"), checks)

    async def of_work(self, checks: Sequence[NamedCheck], before: Results) -> tuple[Results, Coverage | None]:
        """Run the checks on the work as it was delivered."""
        if not checks:
            return (), None
        mirrors, asked = self.prover.checkouts.mirrors, self.asked
        changed = await changed_lines(mirrors, asked.place.project, asked.base, asked.head)
        found: list[Coverage] = []

        @asynccontextmanager
        async def and_measure() -> AsyncIterator[Checking]:
            async with self._at(asked.head, "delivered") as tree:
                yield tree
                if not found and (one := await measured(tree, changed, [check.command for check in checks])):
                    found.append(one)

        results = await run_checks(and_measure, checks)
        results = await self._again(self._fresh(asked.head, "delivered"), results, to_rerun(before, results))
        return results, found[0] if found else None

    async def doubly(self, before: Results, delivered: Results) -> tuple[Results, Results]:
        """Run the base again where it matters whether it is flaky, and then the work too."""
        asked = to_rerun_on_base(before, delivered)
        if not asked or not self.asked.reruns:
            return before, delivered
        before = await self._again(self._fresh(self.asked.base, "before"), before, asked)
        lucky = {one.command for one in before if one.flaky} & {one.command for one in delivered if one.green}
        if lucky:
            delivered = await self._again(self._fresh(self.asked.head, "delivered"), delivered, tuple(lucky))
        return before, delivered

    async def of_restored(
        self, checks: Sequence[NamedCheck], files: tuple[FileFact, ...], delivered: Results
    ) -> Results:
        """Run the work with the base's check files; where nothing was restored, the earlier result counts."""
        if not checks or not any(to_restore(files)):
            return delivered
        mirrors = self.prover.checkouts.mirrors

        async def restore(tree: Path) -> None:
            await restore_check_files(tree, mirrors, self.asked.base, files)

        fresh = self._fresh(self.asked.head, "restored", restore)
        results = await run_checks(fresh, checks)
        # The result accuses the agent: one run is not enough.
        return await self._again(fresh, results, to_rerun(delivered, results))

    async def of_new_tests(
        self, checks: Sequence[NamedCheck], tests: dict[str, tuple[str, ...]], before: Results
    ) -> str:
        """Put only the new tests onto the base: they must fail there."""
        if not checks:
            return "unclear"
        mirrors = self.prover.checkouts.mirrors

        async def put(tree: Path) -> None:
            command = ("--literal-pathspecs", "checkout", "--quiet", self.asked.head)
            listed = ("--pathspec-from-file=-", "--pathspec-file-nul")
            await mirrors.git.run(tree, *command, *listed, stdin="\0".join(sorted(tests)).encode())

        fresh = self._fresh(self.asked.base, "new-tests", put)
        narrow = narrow_command([check.command for check in checks], tests)
        if narrow:
            (only,) = await run_checks(fresh, (NamedCheck(narrow),))
            return judge_narrow(only)
        return judge_whole(before, await run_checks(fresh, checks))

    async def _again(self, fresh: FreshTree, results: Results, commands: Sequence[str]) -> Results:
        """Run some of the commands again on the same commit, until one ends differently or the limit is reached."""
        again: list[CheckResult] = []
        for one in results:
            result = one
            for _ in range(self.asked.reruns if one.command in commands else 0):
                async with fresh() as tree:
                    run = await run_check(tree, NamedCheck(one.command, one.source))
                result = with_reruns(result, (run.exit_code,))
                if result.flaky:
                    break
            again.append(result)
        return tuple(again)

    def _heed(self, tree: Checking) -> None:
        if tree.stopped:
            raise Unavailable("The checks were stopped before they had an answer.", hint="Resume the job to run them.")

    def _fresh(self, commit: str, label: str, prepare: Prepare | None = None) -> FreshTree:
        return lambda: self._at(commit, label, prepare)

    @asynccontextmanager
    async def _at(self, commit: str, label: str, prepare: Prepare | None = None) -> AsyncIterator[Checking]:
        """Make a fresh checkout with a home of its own and walls around both."""
        place, prover = self.asked.place, self.prover
        self._runs[label] += 1
        # The attempt is in the name: a frozen one that wakes must not remove what a newer one works in.
        named = f"{label}-{place.epoch}.{self._runs[label]}"
        async with prover.checkouts.passing(place.project, place.job, commit, named) as tree:
            home = tree.with_name("home")
            await asyncio.to_thread(home.mkdir)
            walls = SandboxSpec(
                tree=tree,
                home=home,
                objects=(prover.checkouts.mirrors.path(place.project) / "objects",),
                environment={"PYTHONDONTWRITEBYTECODE": "1", "CI": "true"},
                limits=prover.enclosure.limits,
            )
            if prepare is not None:
                await prepare(tree)
            tracked = await TrackedFiles.of(prover.checkouts.mirrors.git, tree)
            if prover.made is not None:
                walls = await asyncio.to_thread(lend, prover.made, walls, prover.enclosure)
            log = prover.logs / f"checks-{label}.log"
            checking = Checking(prover.enclosure, walls, log, self.asked.wall, self.asked.stop, tracked)
            yield checking
            self._heed(checking)


MOST_BYTES = 16 * 1024**2
MOST_REPORT_BYTES = 2 * 1024**2
"""A report is untrusted text, read whole; a longer one is not read."""
WALL = timedelta(minutes=1)
_PYTHON = re.compile(r"(?:^|[\s;&|])(\S*python[\d.]*)\s")
_CONVERT = (
    "p={python}; [ -x .venv/bin/python ] && p=.venv/bin/python; $p -m coverage json -q -o .midwatch-coverage.json"
)
"""A .coverage file is an untrusted database: its own tool opens it, inside the walls."""


async def measured(
    checking: Checking, changed: Mapping[str, frozenset[int]], commands: Iterable[str]
) -> Coverage | None:
    """Count the changed lines that ran, where the project measures coverage; this never fails a job."""
    tree = checking.walls.tree
    if await asyncio.to_thread(safe_files.read, tree, ".coverage", most=MOST_BYTES):
        log = checking.log.with_name("coverage.log")
        converting = replace(checking, log=log, wall=WALL)
        named = [match[1] for command in commands if (match := _PYTHON.search(command))]
        command = _CONVERT.format(python=shlex.quote(named[0] if named else "python3"))
        await converting.enclosure.run(
            converting.walls,
            ["/bin/sh", "-c", command],
            log=log,
            wall=WALL,
            stop=checking.stop,
            watched="The reading of what tests covered",
        )
    for report in REPORTS:
        if found := await asyncio.to_thread(_covered, tree, report, changed):
            return found
    return None


def _covered(tree: Path, report: str, changed: Mapping[str, frozenset[int]]) -> Coverage | None:
    content = safe_files.read(tree, report, most=MOST_REPORT_BYTES)
    return covered_of(changed, report, content.decode(errors="replace")) if content else None
