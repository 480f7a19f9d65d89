"""Marks of work that turns against the checks themselves: they cannot fail, are steered, or are recognised."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from midwatch.terms.jobs import Doubt


class _Mark(NamedTuple):
    kind: str
    pattern: re.Pattern[str]
    text: str
    where: tuple[str, ...]
    always: bool = True
    """Grave even where the orders allow the path: no order asks for a check that cannot fail."""


_SWALLOWS = re.compile(
    r"\|\|[ \t]*(?:true\b|:(?:\s|$)|exit 0|echo)|;[ \t]*(?:true|exit 0)\b|"
    r"^\t?-(?:python|pytest|npm|make|go|cargo)|^[ \t]*exit 0\b|"
    r"\bcontinue-on-error:[ \t]*true|--passWithNoTests\b|--suppress-no-test-exit-code\b|\bset \+e\b",
    re.MULTILINE,
)
_NARROWS = re.compile(
    r"--(?:ignore|deselect|ignore-glob|testPathIgnorePatterns|exclude)\b|(?:^|\s|['\"])-k[ \t=]|\bnorecursedirs\b|"
    r"\bcollect_ignore|\bpytest_ignore_collect\b|\bpytest_collection_modifyitems\b|\bpytest_collect_file\b|"
    r"\bpython_(?:files|functions|classes)[ \t]*=|(?:^|\s|['\"])-p[ \t]+(?!no:cacheprovider)\w"
)
_STEERS = re.compile(
    r"\bpytest_runtest_(?:makereport|call|protocol|setup)\b|\bpytest_pyfunc_call\b|\bpytest_report_teststatus\b|"
    r"\bpytest_sessionfinish\b|\bpytest_exit\b|\bpytest_cmdline_main\b|\bpytest11\b|\bpytest_runtestloop\b|"
    r"\.outcome[ \t]*=|\bexitstatus[ \t]*=(?!=)|\bforce_result\b|\b_pytest\.[ \t.\w]{1,80}=(?!=)|"
    r"\bunittest\.(?:TestCase|TestResult|case|result)\.\w+[ \t]*=(?!=)|\bbuiltins\.\w+[ \t]*=(?!=)|"
    r"\bmacro_rules![ \t]*(?:debug_)?assert(?:_eq|_ne)?\b|#[ \t]*(?:define|undef)[ \t]+(?:assert|NDEBUG)\b|"
    r"^[ \t]*(?:class|module)[ \t]+(?:Minitest|RSpec|Test::Unit)\b|\bMinitest\.after_run\b|"
    r"\bglobal(?:This)?\.(?:expect|assert|test|it|describe)[ \t]*=(?!=)|\bprocess\.exitCode[ \t]*=[ \t]*0|"
    r"\bprocess\.(?:exit|reallyExit)[ \t]*=(?!=)|\bexpect\.extend\([^\n]{0,80}\b(?:toBe|toEqual)\b",
    re.MULTILINE,
)
_RECOGNISES = re.compile(
    r"['\"](?:pytest|unittest|_pytest|nose)['\"][ \t]*(?:not[ \t]+)?in[ \t]+sys\.modules|"
    r"sys\.modules(?:\.get\(|\[)['\"](?:pytest|unittest|_pytest)|\bPYTEST_(?:CURRENT_TEST|VERSION|XDIST\w*)\b|"
    r"\bJEST_WORKER_ID\b|\bVITEST(?:_\w+)?\b|\bNODE_TEST_CONTEXT\b|\b_called_from_test\b|\btesting\.Testing\(\)|"
    r"\bdefined\?\((?:RSpec|Minitest)\)|\bPHPUNIT_(?:COMPOSER_INSTALL|TESTSUITE)\b|\bclass_exists\(['\"]\\*PHPUnit|"
    r"\bClass\.forName\(\"org\.junit|"
    r"inspect\.(?:stack|currentframe)\(\)[^\n]{0,80}test|sys\.argv\[0\][^\n]{0,40}test"
)
_MAY_RECOGNISE = re.compile(r"NODE_ENV[^\n]{0,12}['\"]test['\"]|environ(?:\.get\(|\[)['\"]CI['\"]|process\.env\.CI\b")
_PRETENDS = re.compile(
    r"\b\d+ passed\b|\bpassed in (?:[\d.]+|[$%{]\S{0,40}) ?s\b|"
    r"\b[Rr]an \d+ tests?\b|# pass \d+|[\"']OK[\"']\s{0,40}\)[\s;]{0,40}(?:os\._exit|sys\.exit)"
)
_LEAVES_TEST = re.compile(
    r"\bprocess\.exit\([ \t]*0?[ \t]*\)|\bos\.Exit\([ \t]*0[ \t]*\)|\bprocess::exit\([ \t]*0[ \t]*\)|"
    r"\bSystem\.exit\([ \t]*0[ \t]*\)|\bhalt\([ \t]*0[ \t]*\)|\b_?[eE]xit!?\([ \t]*0[ \t]*\)"
)
_LEAVES = re.compile(r"\bos\._exit\(|\bos\.kill\(os\.getpid\(\)|\batexit\.register\([^\n]{0,80}_exit")

_CHECKS, _ANY = ("config", "build", "test"), ("config", "build", "test", "snapshot", "code")
_MARKS = (
    _Mark("cannot_fail", _SWALLOWS, "It makes {path} pass whatever the tests report.", ("config", "build")),
    _Mark("narrowed", _NARROWS, "It makes {path} leave tests out.", _CHECKS, always=False),
    _Mark("steers_runner", _STEERS, "It changes in {path} how the test tool judges.", _ANY),
    _Mark("knows_runner", _RECOGNISES, "It lets {path} find out whether tests are running.", ("code", "config")),
    _Mark(
        "knows_runner", _MAY_RECOGNISE, "It asks in {path} whether this is a test environment.", ("code",), always=False
    ),
    _Mark("pretends", _PRETENDS, "It writes a test tool's own summary in {path}.", ("code", "config")),
    _Mark("leaves_early", _LEAVES_TEST, "It ends the program from inside {path} before a test can fail.", ("test",)),
    _Mark("leaves_early", _LEAVES, "It ends the program from inside {path} before a test can fail.", _ANY),
)
_ONLY_REPORTED = frozenset({_MAY_RECOGNISE})
_WORDS_ONLY = re.compile(r"\.(?:md|rst|txt|adoc|html?|svg|csv)$|(?:^|/)(?:README|CHANGELOG|LICENSE)[^/]*$")
_SHELL = re.compile(r"\.(?:sh|bash|zsh)$")
_BEFORE_ALL = re.compile(r"(?:^|/)(?:sitecustomize|usercustomize)\.py$|\.pth$")
_SHADOWS = re.compile(
    r"^(?:src/|lib/)?(?:_?pytest|unittest|nose|coverage|pluggy|tox|jest|mocha|vitest|"
    r"iniconfig|packaging|pygments|exceptiongroup|tomli|colorama|_colorize|nox)(?:\.py|/__init__\.py)$"
)


def replaces_runner(path: str) -> bool:
    """Whether a new file under this path stands in for the test tool itself."""
    return _SHADOWS.search(path) is not None


def find(path: str, kind: str, texts: tuple[str | None, str | None], *, allowed: bool) -> Iterator[Doubt]:
    """Find marks that a change added to one file."""
    before, after = texts[0] or "", texts[1]
    if after is None or (kind == "code" and _WORDS_ONLY.search(path)):
        return
    if texts[0] is None and _BEFORE_ALL.search(path):
        yield Doubt(kind="steers_runner", text=f"It adds {path}, which runs before every test.", path=path)
    if texts[0] is None and replaces_runner(path):
        yield Doubt(kind="shadows_runner", text=f"It adds {path}, which replaces the test tool.", path=path)
    for mark in _MARKS:
        # A script that no check calls may have its reasons; it is reported all the same.
        aside = mark.pattern is _SWALLOWS and kind == "code" and _SHELL.search(path) is not None
        if (aside or kind in mark.where) and len(mark.pattern.findall(after)) > len(mark.pattern.findall(before)):
            grave = mark.pattern not in _ONLY_REPORTED and not aside and (mark.always or not allowed)
            yield Doubt(kind=mark.kind, text=mark.text.format(path=path), path=path, grave=grave)
