"""Finds in a failed command's output what failed: the part to read first, and its one line. Nothing else picks lines.

The output is untrusted and may be huge: only its two ends are read, lines are cut before any pattern sees them, and no
pattern can match a long line in more than one way.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from midwatch.rules.recovery.failure_texts import telling_line

EACH_END: Final = 256 * 1024
"""This much is read from the beginning and from the end of the output, in bytes or characters."""
MOST_LINES: Final = 32_000
LONGEST_LINE: Final = 500
LONGEST_HEAD: Final = 300
PART_LINES: Final = 40
PART_CHARACTERS: Final = 3_000
LAST_LINES: Final = 20
_NEAR: Final = 60
"""How many lines below its mark a failure's own line may be."""


@dataclass(frozen=True, slots=True)
class FailingOutput:
    """What a failed command printed about its failure."""

    line: str = ""
    """The one line that says what failed, such as what a traceback raised."""
    part: str = ""
    """The part of the output around it."""


@dataclass(frozen=True, slots=True)
class _Found:
    first: int
    last: int
    line: str


_ESCAPES: Final = re.compile(
    r"\x1b\[[0-9;?]{0,40}[ -/]?[@-~]|\x1b\][^\x07\x1b\n]{0,300}(?:\x07|\x1b\\)|\x1b[@-Z\\^_c]?"
)
_UNSEEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_RAISED: Final = re.compile(
    r"(?:Uncaught )?[A-Za-z_][\w.]{0,120}(?:Error|Exception|Exit|Interrupt|Failure|Timeout|Group)"
    r"(?: \[\w{1,60}\])?(?::|$)"
)
_TRACEBACK: Final = re.compile(r"(?:Exception Group )?Traceback \(most recent call last\)")
_PYTEST: Final = re.compile(r"={3,} (?:FAILURES|ERRORS) ={3,}$")
_PYTEST_TEST: Final = re.compile(r"_{3,} \S.{0,300} _{3,}$")
_PYTEST_SAID: Final = re.compile(r"E {2,}\S|E$")
_PYTEST_SUMMARY: Final = re.compile(r"(?:FAILED|ERROR) \S+")
_UNITTEST: Final = re.compile(r"(?:FAIL|ERROR): \S")
_TAP: Final = re.compile(r" {0,40}not ok\b")
_TAP_ERROR: Final = re.compile(r" {0,40}error: (.{0,400})")
_TAP_PARENT: Final = re.compile(r"['\"]?\d{1,6} subtests? failed")
_BULLET: Final = re.compile(
    r" {0,10}\u25cf (?!Console)|\u2716 failing tests:| {0,10}\d{1,6} failing$| FAIL {1,4}\S{1,200} > "
)
_GO: Final = re.compile(r" {0,40}--- FAIL: ")
_GO_SAID: Final = re.compile(r"panic: | {1,40}\S{1,200}\.go:\d{1,6}: \S| {1,60}\t? {0,10}\t?Error:\s{1,20}\S")
_PANIC: Final = re.compile(r"panic: ")
_RUST: Final = re.compile(r"error(?:\[E\d{4}\])?: (?!could not compile|aborting|test failed|\d+ target)")
_RUST_PANIC: Final = re.compile(r"thread '.{0,200}' (?:\(\d{1,20}\) )?panicked at ")
_COMPILER: Final = re.compile(
    r" {0,8}[^\s:()][^:()]{0,250}:\d{1,7}(?::\d{1,7})?:? (?:- )?(?:fatal )?error\b"  # gcc, mypy, javac, pyright
    r"|[^\s()]{1,250}\(\d{1,7},\d{1,7}\): error "  # tsc
    r"|[^\s:]{1,250}:\d{1,7}:\d{1,7}: [A-Z]{1,5}\d{2,4} "  # ruff, flake8
    r"|(?:\./|vet: )?[^\s:]{1,250}\.go:\d{1,7}:\d{1,7}: "
    r"|(?:\S{0,100}/)?ld: cannot find "
    r"|Would reformat: "
)
_ESLINT: Final = re.compile(r" {1,8}\d{1,7}:\d{1,7} {1,20}error ")
_RUFF: Final = re.compile(r"(?:[A-Z]{1,5}\d{2,4}|invalid-syntax):? ")
_ARROW: Final = re.compile(r" {1,12}--> \S")
_NPM: Final = re.compile(
    r"npm (?:error|ERR!) "
    r"(?!code\b|errno\b|syscall\b|path\b|A complete|Lifecycle|workspace|location|command|[Tt]est failed)\S"
)
_PIP: Final = re.compile(r"ERROR: (?!ResolutionImpossible)\S")
_MAKE: Final = re.compile(r"g?make(?:\[\d{1,4}\])?: (?:\*\*\*|Entering|Leaving|Nothing)")
_TABLE: Final = re.compile(r"[\W_]*$|[^|]*(?:\|[^|]*){3,}$")
"""A line of a table, such as a coverage report's, or one without a word."""
_RULE: Final = re.compile(r"={20,}$|-{20,}$|\*{20,}$")


def failing_output(output: str) -> FailingOutput:
    """Choose the failing part of an output, and its line; the last lines where no failure is recognised."""
    lines = _lines(output)
    for find in _FINDERS:
        if (found := find(lines)) is not None and found.line.strip():
            return FailingOutput(_head(found.line), _part(lines[found.first : found.last + 1]))
    spoken = [line for line in lines if line.strip()]
    if not spoken:
        return FailingOutput()
    worded = [line for line in spoken if not _TABLE.match(line)] or spoken
    telling = telling_line("\n".join(line for line in worded if not _MAKE.match(line))) or telling_line(
        "\n".join(worded)
    )
    return FailingOutput(_head(telling or worded[-1]), _part(spoken[-LAST_LINES:]))


def two_ends(begin: bytes, end: bytes, left_out: int) -> str:
    """Join the two ends of an output that were read; what lies between is said in a line of its own."""
    if not left_out:
        return (begin + end).decode(errors="replace")
    gap = f"\n[{left_out:,} bytes are left out here]\n"
    return begin.decode(errors="replace") + gap + end.decode(errors="replace")


def _lines(output: str) -> list[str]:
    if len(output) > 2 * EACH_END:
        output = f"{output[:EACH_END]}\n{output[-EACH_END:]}"
    plain = _ESCAPES.sub("", output.replace("\r\n", "\n").replace("\r", "\n"))
    kept = plain.split("\n")
    if len(kept) > MOST_LINES:
        kept = [*kept[: MOST_LINES // 2], *kept[-MOST_LINES // 2 :]]
    return [_UNSEEN.sub("", line[:LONGEST_LINE]).rstrip() for line in kept]


def _head(line: str) -> str:
    said = " ".join(line.split())
    return said if len(said) <= LONGEST_HEAD else f"{said[: LONGEST_HEAD - 1]}\u2026"


def _part(lines: list[str]) -> str:
    """Cut a long part in its middle: how it begins says which test, how it ends says why."""
    if len(lines) > PART_LINES:
        begin, end = PART_LINES // 3, PART_LINES - PART_LINES // 3
        lines = [*lines[:begin], f"[{len(lines) - begin - end} lines are left out here]", *lines[-end:]]
    text = "\n".join(lines).strip("\n")
    if len(text) <= PART_CHARACTERS:
        return text
    return f"{text[: PART_CHARACTERS // 3]}\n[cut here]\n{text[-(PART_CHARACTERS - PART_CHARACTERS // 3) :]}"


def _first(lines: list[str], pattern: re.Pattern[str], begin: int = 0, end: int | None = None) -> int:
    places = range(begin, len(lines) if end is None else min(end, len(lines)))
    return next((at for at in places if pattern.match(lines[at])), -1)


def _until(lines: list[str], begin: int, ends: Callable[[str], object], most: int = _NEAR) -> int:
    """Return the last line before one that ends the part."""
    places = range(begin, min(len(lines), begin + most))
    return next((at - 1 for at in places if ends(lines[at])), places.stop - 1)


def _with_values(lines: list[str], at: int) -> str:
    """Read a line that ends with a colon together with the next that says something."""
    said = lines[at].strip()
    if not said.endswith(":"):
        return said
    after = next((one.strip() for one in lines[at + 1 : at + 5] if one.strip()), "")
    return f"{said} {after}".strip()


def _pytest(lines: list[str]) -> _Found | None:
    section = _first(lines, _PYTEST)
    begin = _first(lines, _PYTEST_TEST, section + 1) if section >= 0 else -1
    if begin >= 0:
        last = _until(lines, begin + 1, lambda line: _PYTEST_TEST.match(line) or line.startswith("==="), MOST_LINES)
    else:
        said = _first(lines, _PYTEST_SAID)
        if said < 0 or (
            not _PYTEST_SAID.match(lines[min(said + 1, len(lines) - 1)]) and not _is_raised(lines[said][1:])
        ):
            return None
        begin = max(0, said - 12)
        last = _until(lines, said, lambda line: not _PYTEST_SAID.match(line))
    return _Found(begin, last, _what_pytest_said(lines[begin : last + 1]))


def _what_pytest_said(block: list[str]) -> str:
    """Read the last group of `E` lines, which is what was raised in the end."""
    marked = [at for at, line in enumerate(block) if _PYTEST_SAID.match(line)]
    if not marked:
        return next((line for line in reversed(block) if line.strip()), "")
    begin = marked[-1]
    while begin and _PYTEST_SAID.match(block[begin - 1]):
        begin -= 1
    group = [block[at][1:].strip() for at in range(begin, marked[-1] + 1)]
    return next((one for one in group if _RAISED.match(one)), next((one for one in group if one), ""))


def _is_raised(line: str) -> bool:
    return _RAISED.match(line.strip()) is not None


def _unittest(lines: list[str]) -> _Found | None:
    for at in range(1, len(lines) - 1):
        if _UNITTEST.match(lines[at]) and _RULE.match(lines[at - 1]) and _has_rule(lines[at + 1 : at + 8]):
            rule = next(one for one in range(at + 1, at + 8) if _RULE.match(lines[one]))
            last = _until(lines, rule + 1, _RULE.match, MOST_LINES)
            raised = _last_raised(lines[rule + 1 : last + 1])
            return _Found(at, last, raised[1] if raised else lines[at])
    return None


def _has_rule(lines: list[str]) -> bool:
    return any(_RULE.match(line) for line in lines)


def _last_raised(lines: list[str]) -> tuple[int, str] | None:
    """Find the last traceback: where it begins, and the line that says what was raised."""
    begin = next((at for at in range(len(lines) - 1, -1, -1) if _TRACEBACK.match(_bare(lines[at]))), -1)
    if begin < 0:
        return None
    depth = _depth(lines[begin])
    after = range(begin + 1, min(len(lines), begin + 1 + MOST_LINES))
    at = next((one for one in after if lines[one].strip() and _depth(lines[one]) <= depth), -1)
    return (begin, _bare(lines[at])) if at >= 0 else (begin, lines[begin])


def _bare(line: str) -> str:
    return line.lstrip(" |+-")


def _depth(line: str) -> int:
    return len(line) - len(_bare(line))


def _traceback(lines: list[str]) -> _Found | None:
    raised = _last_raised(lines)
    if raised is None:
        return None
    begin, said = raised
    last = next((at for at in range(begin + 1, len(lines)) if _bare(lines[at]) == said), begin)
    return _Found(begin, _until(lines, last + 1, lambda line: not line.strip(), 3), said)


def _tap(lines: list[str]) -> _Found | None:
    fallback: _Found | None = None
    for at, line in enumerate(lines):
        if not _TAP.match(line) or "# TODO" in line or "# SKIP" in line:
            continue
        detailed = at + 1 < len(lines) and lines[at + 1].strip() == "---"
        last = _until(lines, at + 1, lambda one: one.strip() == "...") if detailed else at
        named = next((one for one in range(at + 1, last + 1) if _TAP_ERROR.match(lines[one])), -1)
        said = _tap_said(lines, named) if named >= 0 else line
        if not _TAP_PARENT.match(said):
            return _Found(at, last, said)
        fallback = fallback or _Found(at, last, said)
    return fallback


def _tap_said(lines: list[str], at: int) -> str:
    given = lines[at].partition("error:")[2].strip()
    if given[:1] in {"|", ">"}:
        below = next((one for one in range(at + 1, min(len(lines), at + 6)) if lines[one].strip()), at)
        return _with_values(lines, below)
    return given.strip("'\"")


def _bullet(lines: list[str]) -> _Found | None:
    """Jest, vitest, mocha and node's own reporter: the mark of the first failing test, then what it raised."""
    at = _first(lines, _BULLET)
    if at < 0:
        return None
    end = min(len(lines), at + _NEAR)
    spoken = [one for one in range(at + 1, end) if lines[one].strip()]
    jest = "\u25cf" in lines[at]
    said = next((one for one in spoken if _is_raised(lines[one])), spoken[0] if spoken else at)
    if jest and spoken:
        said = spoken[0]
    following = next((one for one in range(said + 1, end) if _BULLET.match(lines[one])), end)
    return _Found(at, following - 1, _with_values(lines, said))


def _go(lines: list[str]) -> _Found | None:
    failed = _first(lines, _GO)
    if failed < 0:
        at = _first(lines, _PANIC)
        return None if at < 0 else _Found(at, min(len(lines) - 1, at + 15), lines[at])
    below = _first(lines, _GO_SAID, failed + 1, failed + _NEAR)
    over = _first(lines, re.compile(r"\s*(?:FAIL|ok)\s"), failed + 1, failed + _NEAR)
    if below >= 0 and (over < 0 or below < over):
        return _Found(
            failed, _until(lines, below + 1, re.compile(r"\s*(?:FAIL\b|ok\s|--- |=== )").match, 30), lines[below]
        )
    above = [at for at in range(max(0, failed - _NEAR), failed) if _GO_SAID.match(lines[at])]
    return _Found(above[0], failed, lines[above[0]]) if above else _Found(failed, failed + 1, lines[failed])


def _rust(lines: list[str]) -> _Found | None:
    for at, line in enumerate(lines):
        if _RUST.match(line):
            return _Found(at, _until(lines, at + 1, lambda one: not one.strip()), line)
        if _RUST_PANIC.match(line):
            last = _until(
                lines, at + 1, lambda one: not one.strip() or one.startswith(("stack backtrace", "note:")), 20
            )
            above = [one for one in range(max(0, at - 3), at) if lines[one].startswith("---- ")]
            said = lines[at + 1] if line.endswith(":") and at + 1 < len(lines) else line.partition("panicked at ")[2]
            return _Found((above or [at])[0], last, said)
    return None


def _compiler(lines: list[str]) -> _Found | None:
    for at, line in enumerate(lines):
        arrow = at + 1 < len(lines) and _ARROW.match(lines[at + 1])
        if _COMPILER.match(line) or (arrow and _RUFF.match(line)):
            return _Found(max(0, at - 1), min(len(lines) - 1, at + 30), line)
        if _ESLINT.match(line):
            above = next((lines[one] for one in range(at - 1, -1, -1) if lines[one][:1].strip()), "")
            return _Found(max(0, at - 1), min(len(lines) - 1, at + 30), f"{above}:{line.strip()}" if above else line)
    return None


def _thrown(lines: list[str]) -> _Found | None:
    """An exception without a heading of its own, such as node's: with what stands above it and its frames."""
    places = [at for at, line in enumerate(lines) if _RAISED.match(line)]
    if not places:
        return None
    at = places[-1]
    return _Found(max(0, at - 5), _until(lines, at + 1, lambda line: not line.strip(), 12), _with_values(lines, at))


def _doctest(lines: list[str]) -> _Found | None:
    at = _first(lines, re.compile(r"Failed example:$"))
    if at < 0:
        return None
    return _Found(max(0, at - 1), _until(lines, at + 1, _RULE.match), _with_values(lines, at))


def _summary(lines: list[str]) -> _Found | None:
    """What pytest lists at its end, for runs whose options leave out everything else."""
    at = _first(lines, _PYTEST_SUMMARY)
    return None if at < 0 else _Found(at, min(len(lines) - 1, at + 20), lines[at])


def _npm(lines: list[str]) -> _Found | None:
    at = _first(lines, _NPM)
    return None if at < 0 else _Found(at, min(len(lines) - 1, at + 10), lines[at])


def _pip(lines: list[str]) -> _Found | None:
    at = _first(lines, _PIP)
    return None if at < 0 else _Found(max(0, at - 5), min(len(lines) - 1, at + 10), lines[at])


_FINDERS: Final[Iterable[Callable[[list[str]], _Found | None]]] = (
    _pytest,
    _unittest,
    _tap,
    _bullet,
    _go,
    _rust,
    _compiler,
    _traceback,
    _doctest,
    _thrown,
    _summary,
    _npm,
    _pip,
)
"""The first that recognises its tool decides; what names one failing test comes before what may only mention one."""
