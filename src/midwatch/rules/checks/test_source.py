"""What the text of a test file holds: its tests with their bodies, its assertions, and the marks that switch it off."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

_Beginning = tuple[int, str, str]
"""Where a function begins, its name, and how far it is indented."""

_PYTHON = re.compile(r"^([ \t]*)(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(", re.MULTILINE)
_SCRIPT = re.compile(
    r"^([ \t]*)(?:it|test|specify)(?:\.each\([^)]{0,200}\))?[ \t]*\([ \t]*(['\"`])(.{0,200}?)\2", re.MULTILINE
)
_GO = re.compile(r"^()func[ \t]+(?:\([^)]{0,100}\)[ \t]*)?(\w+)[ \t]*\(", re.MULTILINE)
_RUST = re.compile(r"#\[(?:\w+::)?test\][^{]{0,300}?\bfn[ \t]{1,20}(\w+)")
_ASSERTS = {
    "py": re.compile(r"\bassert\b|\bself\.assert\w+|\bself\.fail\(|\bpytest\.(?:raises|warns|fail)\b|\.assert_\w+"),
    "js": re.compile(r"\bexpect[ \t]*\(|\bassert(?:\.\w+){0,4}[ \t]*\("),
    "go": re.compile(r"\bt\.(?:Error|Fatal|Fail)\w*|\b(?:assert|require)\.\w+"),
    "rs": re.compile(r"\b(?:debug_)?assert\w*!|\bpanic!"),
}
_OFF = {
    "py": re.compile(
        r"\bmark\.(?:skip|skipif|xfail)\b|\bpytest\.(?:skip|xfail|importorskip)\b|\bunittest\.(?:skip\w*|SkipTest)\b|"
        r"@(?:skip|skipIf|skipUnless|expectedFailure)\b|\bexpectedFailure\b|\bself\.skipTest\b|"
        r"\b__test__[ \t]*=[ \t]*False|\bcollect_ignore\w*"
    ),
    "js": re.compile(
        r"\b(?:it|test|describe|suite|t)\.(?:skip|only|todo|failing|fails)\b|"
        r"\b(?:xit|xtest|xdescribe|fit|fdescribe)[ \t]*\(|\b(?:skip|only|todo)[ \t]*:[ \t]*(?:true|['\"`])"
    ),
    "go": re.compile(r"\b[tb]\.Skip\w*\("),
    "rs": re.compile(r"#\[(?:ignore|should_panic)\b"),
}
_EMPTY = {
    "py": re.compile(
        r"\bassert[ \t]+(?:True|1|not[ \t]+(?:False|0))[ \t]*$|\bassertTrue\([ \t]*(?:True|1)[ \t]*\)|"
        r"\bassertEqual\([ \t]*(\w+),[ \t]*\1[ \t]*\)|\bassert[ \t]+(\w+)[ \t]*==[ \t]*\2[ \t]*$|"
        r"\bassert\b[^\n]{0,200}\bor[ \t]+True\b",
        re.MULTILINE,
    ),
    "js": re.compile(
        r"expect\([ \t]*true[ \t]*\)\.to(?:Be|Equal)\([ \t]*true|assert(?:\.ok)?\([ \t]*(?:true|1)[ \t]*\)"
    ),
    "go": re.compile(r"(?:assert|require)\.True\(t,[ \t]*true[ \t]*\)"),
    "rs": re.compile(r"assert!\([ \t]*true[ \t]*\)"),
}
_LANGUAGES = {
    "py": "py",
    "go": "go",
    "rs": "rs",
    **dict.fromkeys(("js", "mjs", "cjs", "jsx", "ts", "mts", "tsx"), "js"),
}
_COLLECTED = {
    "py": re.compile(r"(?:^|/)(?:test[^/]*|[^/]*_tests?)\.py$"),
    "js": re.compile(r"(?:^|/)(?:tests?|spec|__tests__)/|[.-](?:test|spec)\.[^/]*$|(?:^|/)test[^/]*$"),
    "go": re.compile(r"_test\.go$"),
    "rs": re.compile(r""),
}
"""Files in which test tools look for tests by default."""
_COMMENTS = {"py": re.compile(r"(?m)(?:^|(?<=\s))#.*$"), "js": re.compile(r"(?m)(?:^|(?<=\s))//.*$|^[ \t]*/?\*.*$")}
_COMMENTS |= {"go": _COMMENTS["js"], "rs": _COMMENTS["js"]}


MOST_FUNCTIONS = 5_000
"""Functions read in one file; a file with more is judged by the first of them."""
MOST_DEEP = 10
"""Depth of functions inside functions; deeper ones are read as part of those around them."""


@dataclass(frozen=True, slots=True)
class TestText:
    """What one test file holds."""

    __test__ = False

    tests: dict[str, str]
    """Each collected test's body by its name, without what only looks different."""
    others: dict[str, str]
    """The same of functions that nothing collects."""
    assertions: int
    switched_off: int
    empty: int
    """Assertions that cannot fail."""


NOTHING = TestText({}, {}, 0, 0, 0)


def language_of(path: str) -> str:
    """Name the language of a path that we can read tests in; '' for others."""
    return _LANGUAGES.get(path.rpartition(".")[2], "")


def read_tests(path: str, text: str) -> TestText:
    """Read a test file; what is commented out is not there."""
    language = language_of(path)
    if not language:
        return NOTHING
    plain = _COMMENTS[language].sub("", text)
    functions = _functions(language, plain)
    runs = bool(_COLLECTED[language].search(path))
    collected = {name: body for name, body in functions.items() if runs and _is_collected(language, name)}
    return TestText(
        tests=collected,
        others={name: body for name, body in functions.items() if name not in collected},
        assertions=len(_ASSERTS[language].findall(plain)),
        switched_off=len(_OFF[language].findall(plain)),
        empty=len(_EMPTY[language].findall(plain)),
    )


def _is_collected(language: str, name: str) -> bool:
    return {"py": name.startswith("test"), "go": name.startswith(("Test", "Fuzz")), "js": True, "rs": True}[language]


def _functions(language: str, text: str) -> dict[str, str]:
    """Give each function's body; one of a name that is taken gets its place added, as in two classes."""
    begun = list(islice(_beginnings(language, text), MOST_FUNCTIONS))
    found: dict[str, str] = {}
    for place, end in _spans(begun, len(text)):
        start, name, _ = begun[place]
        body = " ".join(text[start:end].replace(name, "", 1).split())
        key = name if name not in found else f"{name} ({place})"
        found[key] = body
    return found


def _spans(begun: Sequence[_Beginning], length: int) -> list[tuple[int, int]]:
    """Give the place of each function and where it ends: before the next that is not inside it. Each is met once."""
    ends: dict[int, int] = {}
    around: list[int] = []
    for place, (start, _, indent) in enumerate(begun):
        while around and len(indent) <= len(begun[around[-1]][2]):
            ends[around.pop()] = start
        if len(around) < MOST_DEEP:
            around.append(place)
    return sorted((ends | dict.fromkeys(around, length)).items())


def _beginnings(language: str, text: str) -> Iterator[_Beginning]:
    if language == "rs":
        return ((one.start(), one[1], "") for one in _RUST.finditer(text))
    if language == "js":
        return ((one.start(), one[3], one[1]) for one in _SCRIPT.finditer(text))
    pattern = _PYTHON if language == "py" else _GO
    return ((one.start(), one[2], one[1]) for one in pattern.finditer(text))
