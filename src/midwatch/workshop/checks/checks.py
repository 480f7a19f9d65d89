"""Runs check commands inside walls, each in a fresh tree of its own, and records how each ended."""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from midwatch.rules.checks.discovery import NamedCheck
from midwatch.rules.checks.missing_tools import TOOLCHAIN_OF, missing_tool
from midwatch.rules.checks.test_counts import count_tests
from midwatch.rules.recovery.failing_output import FailingOutput, failing_output
from midwatch.terms.jobs import CheckResult
from midwatch.terms.trust import Isolation
from midwatch.workshop.checks.tracked_files import RewrittenFiles, TrackedFiles
from midwatch.workshop.sandbox.enclosure import Enclosure
from midwatch.workshop.sandbox.short_command import CommandEnd
from midwatch.workshop.sandbox.walls.spec import SandboxSpec

TAIL_CHARACTERS = 2_000


@dataclass(frozen=True)
class Checking:
    """One tree on which one check is run, inside walls."""

    enclosure: Enclosure
    walls: SandboxSpec
    log: Path
    wall: timedelta
    stop: asyncio.Event | None = None
    tracked: TrackedFiles | None = None
    """What git put into the tree; without it the rewrites of a check are not looked for."""

    @property
    def stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()


FreshTree = Callable[[], AbstractAsyncContextManager[Checking]]
"""Makes a tree, a home and temporary files in which nothing has run yet."""


async def run_checks(fresh: FreshTree, checks: Sequence[NamedCheck]) -> tuple[CheckResult, ...]:
    """Run each command in a fresh tree, until all ran or `stop` is set: what one check writes, no other one reads."""
    results: list[CheckResult] = []
    for check in checks:
        async with fresh() as checking:
            results.append(await run_check(checking, check))
        if checking.stopped:
            break
    return tuple(results)


async def run_check(checking: Checking, check: NamedCheck) -> CheckResult:
    """Run one command in the tree."""
    command = check.command
    await asyncio.to_thread(_head_line, checking.log, command)
    # A test suite may be silent until its end: only the wall limit counts.
    ended = await checking.enclosure.run(
        checking.walls,
        ["/bin/sh", "-c", command],
        log=checking.log,
        wall=checking.wall,
        stop=checking.stop,
        watched=f"The check `{command}`",
    )
    counted = await asyncio.to_thread(count_tests, ended.tail)
    said = await asyncio.to_thread(failing_output, ended.output) if ended.exit_code else FailingOutput()
    advised = advice(command, ended, checking.enclosure.isolation)
    tracked = checking.tracked
    written = await asyncio.to_thread(tracked.rewritten) if tracked is not None else RewrittenFiles()
    return CheckResult(
        command=command,
        exit_code=ended.exit_code,
        seconds=ended.seconds,
        tail=(ended.tail + advised)[-TAIL_CHARACTERS:],
        failing_line=ended.wrote_too_much or said.line,
        failing_part=(said.part + advised).strip("\n") if ended.exit_code else "",
        failures=counted.failed if counted else None,
        source=check.source,
        counted=counted,
        rewrote=written.rewrote,
        touched=written.touched,
    )


def advice(command: str, ended: CommandEnd, isolation: Isolation) -> str:
    """Say what to do where the person has a tool and the job does not: a well-known toolchain is lent by its name."""
    missing = missing_tool(CheckResult(command=command, exit_code=ended.exit_code, tail=ended.tail))
    tool = shutil.which(missing) if missing and isolation is not Isolation.NONE else None
    if tool is None:
        return ""
    add = TOOLCHAIN_OF.get(Path(tool).name) or _home_of(Path(tool))
    return f"\n[midwatch: {tool} is not inside the sandbox; add {add} to sandbox.toolchains]\n"


def _home_of(tool: Path) -> str:
    """Say what to lend for a program: what it is installed in, because a lone program folder is not enough."""
    node, place = shutil.which("node"), tool.resolve()
    if node is not None and tool.parent == Path(node).parent:
        return "node"  # installed by npm into node's own folder
    environment = place.parent.parent
    return str(environment if (environment / "pyvenv.cfg").is_file() else place.parent)


def _head_line(log: Path, command: str) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as file:
        file.write(f"$ {command}\n")
