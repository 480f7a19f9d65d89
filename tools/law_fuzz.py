"""Hold the law of commands against a real bash: whatever it lets run without a question must be what it read.

usage: python -m tools.law_fuzz [--minutes N] [--seed S] [--kind shell|walls|machine]

Lines come from `law_grammar.py`. Each that the law allows is run in a throw-away sandbox:

- `shell`: nothing but bash's own commands; every other program is only heard, with its words. Without walls, with a
  list that names every command, so that only the reading of the line counts.
- `walls`: the same inside strong walls, with programs that no agent runs (`sudo`, `git push`) in plain sight.
- `machine`: readers and git of this machine with their options, under the list of tools that comes with Midwatch.

A finding is a program that was started, a file that was written or a file far away that was read, and that the law did
not see in the line. It is made smaller and printed. Ends with 1 if there is one.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import product
from operator import le
from posixpath import join, normpath
from typing import Final

from midwatch.rules.tools import command_law
from midwatch.rules.tools import command_lists as lists
from midwatch.rules.tools.shell_parser import Simple, Unclear, split_commands
from midwatch.rules.tools.tool_calls import ToolCall, ToolFacts, ToolOutcome, decide
from midwatch.settings import Settings
from midwatch.terms.agents import Errand
from midwatch.terms.trust import Isolation, Level
from tools.law_grammar import Pieces, machine_pieces, shell_pieces, walled_pieces
from tools.law_trace import CANARY, ROOT, Happened, Trial, by_the_machine, by_the_shell

EVERYTHING: Final = ToolFacts(
    Errand.EXECUTE, Level.CAUTIOUS, ("**",), do_not_touch=("secrets",), allowed_tools=("Bash", "Read")
)
LISTED: Final = replace(
    EVERYTHING, allowed_tools=(*Settings().execution.allowed_tools, "Bash(rm *)", "Bash(cp *)", "Bash(mv *)")
)
WALLED: Final = replace(EVERYTHING, isolation=Isolation.BUBBLEWRAP)
BATCH: Final = 400
_MOST_SHRUNK: Final = 40
_GLOB: Final = frozenset("*?[~")


@dataclass(frozen=True, slots=True)
class Case:
    """One line of one kind."""

    kind: str
    pieces: Pieces
    names: tuple[tuple[str, str], ...] = ()

    @property
    def command(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class Finding:
    """What the law did not see."""

    case: Case
    what: str

    def line(self) -> str:
        names = f"  with {[name for name, _ in self.case.names]}" if self.case.names else ""
        return f"{self.case.kind:<8} {self.case.command!r}{names}\n         {self.what}"


def generated(kind: str, dice: random.Random) -> Case:
    if kind == "machine":
        return Case(kind, *machine_pieces(dice))
    return Case(kind, shell_pieces(dice) if kind == "shell" else walled_pieces(dice))


def allowed(case: Case) -> bool:
    facts = {"shell": EVERYTHING, "walls": WALLED, "machine": LISTED}[case.kind]
    command = case.command
    if "\0" in command or not command.strip():
        return False
    return decide(ToolCall("Bash", {"command": command}), facts).outcome is ToolOutcome.ALLOW


def findings_in(cases: Sequence[Case]) -> Iterator[Finding]:
    """Run cases of one kind that the law allows, and give what it did not see."""
    if not cases:
        return
    if cases[0].kind == "machine":
        seen: Sequence[Happened | None] = by_the_machine([Trial(case.command, case.names) for case in cases])
    else:
        seen = by_the_shell([case.command for case in cases])
    for case, happened in zip(cases, seen, strict=True):
        if happened and (what := unseen(case, happened)):
            yield Finding(case, what)


def unseen(case: Case, happened: Happened) -> str:
    """Say what happened that the law's own reading does not show; empty where it shows everything."""
    if case.kind == "walls":
        bad = [words for words in happened.started if _is_never(words)]
        git = sorted(path for path in happened.written if path.startswith(".git"))
        return f"started {bad}" if bad else f"wrote {git}" if git else ""
    try:
        commands = split_commands(case.command)
    except Unclear:
        return ""
    if "$(cat <<'" in case.command:  # a long message is empty where there is no cat
        happened = replace(happened, started=tuple(words for words in happened.started if CANARY in words[0]))
    return not_shown(happened, commands, case.kind)


def not_shown(happened: Happened, commands: Sequence[Simple], kind: str) -> str:
    """Say what happened that these commands do not show."""
    for words in happened.started:
        if not any(_means(words, command) for command in commands):
            return f"started {list(words)}"
    if kind == "machine" and happened.read:
        return f"read {sorted(happened.read)}"
    shown = tuple(_shown_targets(commands, machine=kind == "machine"))
    written = happened.written - {f"{ROOT}/.git/index"}  # git refreshes what it knows about files when it looks
    if hidden := sorted(path for path in written if not any(_covers(one, path, kind) for one in shown)):
        return f"wrote {hidden}"
    return ""


def _is_never(words: Sequence[str]) -> bool:
    return words[:2] == ("git", "push") or words[0] in lists.NEVER - {"kill", "pkill", "killall"}


def _means(words: Sequence[str], command: Simple) -> bool:
    """Whether a started program is what a command of the line says, or a part of git or grep that it is made of."""
    if "git" in map(lists.basename, command.words) and (words[0] == "git" or "/git-core/git" in words[0]):
        return words[0] != "git" or words[1:2] != ("push",)
    return _fits(words, command) or (command.words[:1] in {("egrep",), ("fgrep",)} and words[0] == "grep")


def _fits(words: Sequence[str], command: Simple) -> bool:
    at = 0
    while at < len(command.words):
        if _matches(tuple(words), command.words[at:], frozenset(one - at for one in command.expands)):
            return True
        if lists.basename(command.words[at]) not in {*lists.PLAIN_LAUNCHERS, "5"} and not command.words[at].startswith(
            "-"
        ):
            return False
        at += 1
    return False


def _matches(words: tuple[str, ...], said: tuple[str, ...], wild: frozenset[int]) -> bool:
    """Whether words are these, where each wildcard may have become any number of words."""
    reached = {0}
    for at, one in enumerate(said):
        if at in wild or one == "$?":
            reached = {to for start in reached for to in range(start, len(words) + 1)}
        else:
            reached = {start + 1 for start in reached if start < len(words) and words[start] == one}
    return len(words) in reached


def _shown_targets(commands: Sequence[Simple], *, machine: bool) -> Iterator[str]:
    cwds = {ROOT if machine else "."}
    for command in commands:
        if command.words[:1] == ("cd",):
            cwds |= {normpath(join(cwd, word)) for cwd in cwds for word in command.words[1:]}
        targets = [one.target for one in command.redirections if one.writes and not one.is_stream]
        argv = command_law._unwrapped(command.words)  # noqa: SLF001 - it is the law's own reading that is held to account
        if argv and machine:
            targets += command_law._written(argv)  # noqa: SLF001
            if lists.bare_name(argv[0]) == "git" and not lists.only_looks(argv):
                yield f"{ROOT}/**"
        yield from (normpath(join(cwd, target)) for cwd, target in product(cwds, targets))


def _covers(shown: str, path: str, kind: str) -> bool:
    if shown.endswith("/**"):
        return path.startswith(shown[:-2]) and (kind != "machine" or "/secrets/" not in path)
    return path == shown or path.startswith(f"{shown}/") or (not _GLOB.isdisjoint(shown) and fnmatchcase(path, shown))


def smaller(finding: Finding) -> Finding:
    """Leave out pieces, then letters, as long as something unseen still happens."""
    for pieces in (finding.case.pieces, None):
        parts = pieces or tuple(finding.case.command)
        finding = replace(finding, case=replace(finding.case, pieces=parts))
        finding = _without_parts(finding)
    return finding


def _without_parts(finding: Finding) -> Finding:
    size = max(1, len(finding.case.pieces) // 2)
    while True:
        pieces = finding.case.pieces
        tries = [replace(finding.case, pieces=pieces[:at] + pieces[at + size :]) for at in range(0, len(pieces), size)]
        found = next((one for one in findings_in([one for one in tries if allowed(one)]) if alike(one, finding)), None)
        if found:
            finding = found
        elif size == 1:
            return finding
        size = max(1, min(size, len(finding.case.pieces)) // (1 if found else 2))


def alike(one: Finding, other: Finding) -> bool:
    """Whether two findings are of the same sort, so that making one smaller does not end at another."""
    sorts = [(finding.what.split()[0], "pwn" in finding.what) for finding in (one, other)]
    return sorts[0] == sorts[1]


def fuzz(
    kind: str, dice: random.Random, *, until: Callable[[int], bool], counted: Counter[str], size: int = BATCH
) -> Iterator[Finding]:
    """Generate, ask the law, and run what it allows, batch by batch."""
    while not until(counted[f"{kind} run"]):
        batch: list[Case] = []
        while len(batch) < size:
            case = generated(kind, dice)
            counted[f"{kind} asked"] += 1
            if allowed(case) and (kind != "shell" or _may_surprise(case)):
                batch.append(case)
        counted[f"{kind} run"] += len(batch)
        yield from findings_in(batch)


def _may_surprise(case: Case) -> bool:
    """A line of plain words needs no shell to be understood."""
    return any(not one.isalnum() and one not in " -;|&." for one in case.command)


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--minutes", type=float, default=10)
    asked.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    asked.add_argument("--kind", choices=("shell", "walls", "machine"), action="append")
    given = asked.parse_args()
    end = time.monotonic() + given.minutes * 60
    counted, found = Counter[str](), dict[str, Finding]()
    kinds = given.kind or ["shell", "walls", "machine"]
    dice = random.Random(given.seed)  # noqa: S311 - to be repeated, not to be secret
    while time.monotonic() < end:
        for kind in kinds:
            bound = counted[f"{kind} run"] + 1
            for finding in fuzz(kind, dice, until=partial(le, bound), counted=counted):
                counted[f"{kind} findings"] += 1
                small = smaller(finding) if len(found) < _MOST_SHRUNK else finding
                if small.case.command not in found:
                    found[small.case.command] = small
                    print(small.line(), flush=True)
    print(
        f"seed {given.seed}: " + ", ".join(f"{number} {name}" for name, number in sorted(counted.items())), flush=True
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
