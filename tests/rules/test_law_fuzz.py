"""Commands against a real bash: what the law lets run without a question is what it read in the line."""

import random
from collections import Counter

import pytest

from midwatch.rules.tools.shell_parser import split_commands
from tests.conftest import missing
from tests.walks import walk
from tools.law_fuzz import Case, allowed, findings_in, fuzz, not_shown
from tools.law_trace import Trial, by_the_machine, by_the_shell, missing_programs

KINDS = ("shell", "walls", "machine")
SAMPLES = [f"{kind} {seed}" for kind in KINDS for seed in range(40)]
TESTED = {"shell 0", "walls 0", "machine 0"}
SIZES = {"shell": 150, "walls": 150, "machine": 40}


@pytest.fixture(autouse=True)
def _sandboxed() -> None:
    for name in missing_programs():
        missing(name, "to see what a command does")


@pytest.mark.parametrize("sample", walk(SAMPLES, TESTED))
def test_nothing_happens_that_the_law_did_not_see(sample: str, request: pytest.FixtureRequest) -> None:
    kind, seed = sample.split()
    several = 20 if request.node.get_closest_marker("sweep") else 1
    size, counted = SIZES[kind], Counter[str]()
    dice = random.Random(int(seed))  # noqa: S311 - to be repeated
    found = list(fuzz(kind, dice, until=lambda run: run >= size * several, counted=counted, size=size))
    assert counted[f"{kind} run"] >= size * several
    assert not found, "\n".join(one.line() for one in found)


HAPPENED = [
    ("shell", "git status", "git status $(pwn)", "started ['pwn']"),
    ("shell", "git status; pwn x", "git status; pwn x y", "started ['pwn', 'x', 'y']"),
    ("shell", "git status s*", "git status src aa", ""),
    ("shell", "echo x >w1", "echo x >w1", ""),
    ("shell", "echo x", "echo x >w1", "wrote ['w1']"),
    ("machine", "sort -o w1 README.md", "sort -o w1 README.md", "wrote ['/ws/w1']"),
    ("machine", "sort README.md", "rm aa", "started ['rm', 'aa']"),
    ("machine", "cat /etc/canary", "cat /etc/canary", "read ['/etc/canary']"),
    ("machine", "git rebase -x pwn HEAD~1", "git rebase -x pwn HEAD~1", "started ['/io/stubs/pwn']"),
    ("machine", "git rm -q aa", "git rm -q aa", ""),
]


@pytest.mark.parametrize(("kind", "read", "command", "what"), HAPPENED)
def test_the_comparison_sees_what_was_not_read(kind: str, read: str, command: str, what: str) -> None:
    happened = by_the_machine([Trial(command)])[0] if kind == "machine" else by_the_shell([command])[0]
    assert happened is not None
    assert not_shown(happened, split_commands(read), kind) == what


def test_inside_walls_a_program_that_no_agent_runs_is_seen() -> None:
    for command in ("echo `sudo x`", "true; git push", "echo x > .git/config"):
        case = Case("walls", (command,))
        assert not allowed(case)
        assert [one.case for one in findings_in([case])] == [case]


def test_a_hostile_name_is_there_for_its_command_alone() -> None:
    named, plain = by_the_machine([Trial("cat *a", (("-na", "x\n"),)), Trial("cat *a")])
    assert (named.started, plain.started) == ((("cat", "-na", "aa"),), (("cat", "aa"),))
