"""Whether a change's own tests prove anything: they must fail without it."""

import re
import shlex
from collections.abc import Mapping, Sequence

from midwatch.rules.checks.cheating import FileFact, FileKind
from midwatch.rules.checks.check_runs import Results
from midwatch.rules.checks.test_source import language_of, read_tests
from midwatch.terms.jobs import CheckResult, Doubt

_PYTEST = re.compile(r"(?:^|[;&|]\s*)((?:\S+=\S+\s+)*(?:\S*python[\d.]*\s+-m\s+pytest|\S*pytest))(?:\s|$)")
_NODE = re.compile(r"(?:^|[;&|]\s*)(\S*node\s+--test)(?:\s|$)")
_FIX = re.compile(
    r"\b(?:fix(?:es|ed)?|bugs?|mends?|mended|repairs?|repaired|corrects?|corrected|regression)\b", re.IGNORECASE
)
_STYLE = re.compile(
    r"\([A-Z]+\d+\)|\b(?:lint\w*|style|format\w*|imports?|typos?|spelling|white ?space|unused)\b|"
    r"\b(?:docs?|links?|comments?)\b",
    re.IGNORECASE,
)
_NOTHING_RAN = 5
_NOT_STARTED = (126, 127)


def new_tests(files: Sequence[FileFact]) -> dict[str, tuple[str, ...]]:
    """Name the tests a change adds, by file; tests that only moved are not new."""
    tests = [file for file in files if file.kind is FileKind.TEST]
    old = {
        body for file in tests if file.before is not None for body in read_tests(file.path, file.before).tests.values()
    }
    found = {}
    for file in tests:
        if file.after is None or not language_of(file.path):
            continue
        there = read_tests(file.path, file.before or "").tests
        added = read_tests(file.path, file.after).tests.items()
        names = tuple(name for name, body in added if name not in there and body not in old)
        if names:
            found[file.path] = names
    return found


def narrow_command(commands: Sequence[str], tests: Mapping[str, tuple[str, ...]]) -> str:
    """Give a command that runs just these tests, in the way the checks run theirs; '' where none is known."""
    languages = {language_of(path) for path in tests}
    files = " ".join(shlex.quote(path) for path in sorted(tests))
    if languages == {"py"}:
        for command in commands:
            if found := _PYTEST.search(command):
                names = sorted({name.partition(" ")[0] for names in tests.values() for name in names})
                return f"{found[1]} -q {files} -k {shlex.quote(' or '.join(names))}"
    if languages == {"js"}:
        for command in commands:
            if found := _NODE.search(command):
                return f"{found[1]} {files}"
    return ""


def judge_narrow(result: CheckResult) -> str:
    """Judge new tests that were run alone on the base."""
    if result.exit_code in _NOT_STARTED:
        return "unclear"
    return "pass_on_base" if result.exit_code in (0, _NOTHING_RAN) else "fail_on_base"


def judge_whole(before: Sequence[CheckResult], with_tests: Sequence[CheckResult]) -> str:
    """Judge new tests by what all checks said of the base without and with them."""
    earlier = {one.command: one for one in before}
    unclear = False
    for one in with_tests:
        base = earlier.get(one.command)
        if base is None or base.flaky:
            continue
        if not one.green and (base.green or (one.failures or 0) > (base.failures or 0)):
            return "fail_on_base"
        unclear = unclear or (base.red and one.failures is None)
    return "unclear" if unclear or not with_tests else "pass_on_base"


def claims_a_fix(texts: Sequence[str]) -> bool:
    """Whether the work claims to fix behaviour; what a linter asks for is not behaviour."""
    clauses = [clause for text in texts for clause in re.split(r"[.;,\n]", text)]
    return any(_FIX.search(clause) and not _STYLE.search(clause) for clause in clauses)


def doubts_about_tests(
    said: str, files: Sequence[FileFact], claims: Sequence[str], runs: tuple[Results, Results]
) -> tuple[Doubt, ...]:
    """Report, never as grave: a test that passes without the work proves nothing about it.

    Where a check was red before and is green now, that check shows the fix.
    """
    if said == "pass_on_base":
        text = "New tests pass without the change too, so they prove nothing."
        return (Doubt(kind="proves_nothing", text=text, grave=False),)
    earlier = {one.command for one in runs[0] if one.red}
    shown = any(one.green and one.command in earlier for one in runs[1])
    code = any(file.kind is FileKind.CODE and language_of(file.path) for file in files)
    if said == "none" and code and not shown and claims_a_fix(claims):
        return (Doubt(kind="no_new_test", text="No new test shows what was fixed.", grave=False),)
    return ()
