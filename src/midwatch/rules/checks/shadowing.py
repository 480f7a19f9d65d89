"""New files that an unchanged test imports instead of what it imported before.

Such a file needs to change no test and no settings: a `json.py` in the root is read before the standard library's.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from midwatch.terms.jobs import Doubt


class ChangedFile(NamedTuple):
    """One changed file as it is after the change."""

    path: str
    text: str
    new: bool
    allowed: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What was there before a change: every file, and what the project depends on, by language."""

    paths: frozenset[str] = frozenset()
    dependencies: Mapping[str, frozenset[str]] = field(default_factory=dict)


def shadow_doubts(changed: Iterable[ChangedFile], gone: frozenset[str], before: Surroundings) -> Iterator[Doubt]:
    """Name each new file that stands in front of a module, a header or a package that tests read.

    An empty `__init__.py` beside tests is only said: it moves the place that imports begin at, and often honestly.
    """
    files = tuple(changed)
    kept = before.paths - gone
    roots = _roots(kept | {file.path for file in files})
    others = Surroundings(kept, before.dependencies)
    said: set[str] = set()
    for file in files:
        if (vendored := _vendored(file.path, before.paths)) and vendored not in said:
            said.add(vendored)
            text = f"It changes {vendored}, where dependencies are installed: tests import what it put there."
            yield _doubt(text, file, grave=not file.allowed)
        if file.new and not vendored:
            yield from _of_new(file, roots, others)


def _of_new(file: ChangedFile, roots: frozenset[str], before: Surroundings) -> Iterator[Doubt]:
    instead = (
        _python(file.path, roots, before)
        or _script(file.path, before.paths)
        or _ruby(file.path, before)
        or _elsewhere(file.path)
    )
    if instead:
        yield _doubt(f"It adds {file.path}, which is read instead of {instead}.", file)
    elif mocked := _mocked(file.path, before):
        yield _doubt(f"It adds {file.path}: every test gets it instead of {mocked}.", file, grave=not file.allowed)
    if file.path.endswith("_test.go") and "func TestMain(" in file.text and _beside(file.path, "_test.go", before):
        text = f"It adds a TestMain in {file.path}, which decides how the old tests beside it run."
        yield _doubt(text, file, grave=not file.allowed)
    if file.path.endswith("/__init__.py") and any(map(_PYTHON_TEST.search, _in_folder(file.path, before.paths))):
        runs = bool(_PYTHON_CODE.search(_DOCSTRING.sub("", file.text, count=1)))
        what = "runs before the tests there" if runs else "changes the place that the tests there import from"
        yield _doubt(f"It adds {file.path}, which {what}.", file, grave=runs and not file.allowed)


def _doubt(text: str, file: ChangedFile, *, grave: bool = True) -> Doubt:
    return Doubt(kind="shadows_import", text=text, path=file.path, grave=grave)


def _in_folder(path: str, paths: Iterable[str]) -> Iterator[str]:
    folder = path.rpartition("/")[0]
    return (one for one in paths if one.rpartition("/")[0] == folder)


def _beside(path: str, ending: str, before: Surroundings) -> bool:
    return any(one.endswith(ending) for one in _in_folder(path, before.paths))


_PYTHON_TEST = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")
_DOCSTRING = re.compile(r"\A\s*(?:\"\"\".*?\"\"\"|'''.*?''')", re.DOTALL)
_PYTHON_CODE = re.compile(r"^[ \t]*(?!#|[\"'])\S", re.MULTILINE)
_PYTHON_MODULE = re.compile(r"([A-Za-z_]\w*)(?:\.py|/__init__\.py|(?:\.[\w-]{1,60})?\.(?:so|pyd)|\.pyc)")
_ROOTS = ("src", "lib", "python")
_NOT_IMPORTED = frozenset({"test", "this", "antigravity", "idlelib", "lib2to3", "turtledemo", "conftest", "setup"})
"""Modules of the standard library that no work imports, and files that tools look for by themselves."""


def _roots(paths: frozenset[str]) -> frozenset[str]:
    """Name the folders that Python imports from: the top, src, and where pytest begins for each test."""
    roots = {"", *(root for root in _ROOTS if f"{root}/__init__.py" not in paths)}
    for path in paths:
        if _PYTHON_TEST.search(path):
            folder = path.rpartition("/")[0]
            while folder and f"{folder}/__init__.py" in paths:
                folder = folder.rpartition("/")[0]
            roots.add(folder)
    return frozenset(roots)


def _python(path: str, roots: frozenset[str], before: Surroundings) -> str:
    for root in roots:
        below = path.removeprefix(f"{root}/") if root else path
        module = _PYTHON_MODULE.fullmatch(below) if not root or below != path else None
        name = module[1] if module else ""
        if not name or name in _NOT_IMPORTED or name.startswith(("__", "test_")) or name.endswith("_test"):
            continue
        if name in sys.stdlib_module_names:
            return f"Python's own {name}"
        if name in before.dependencies.get("python", frozenset()):
            return f"the installed {name}"
        if twin := _twin_of(name, root, roots, before.paths):
            return twin
    return _beside_itself(path, before.paths)


def _twin_of(name: str, root: str, roots: frozenset[str], paths: frozenset[str]) -> str:
    """Name a module that is found under the same name from another root; of two, the earlier root wins."""
    for other in sorted(roots - {root}):
        if {root, other} & {"", *_ROOTS}:
            begin = f"{other}/{name}" if other else name
            for path in (f"{begin}.py", f"{begin}/__init__.py"):
                if path in paths:
                    return path
    return ""


def _beside_itself(path: str, paths: frozenset[str]) -> str:
    """Name the module that a package or a compiled module of the same name hides, in any folder."""
    package = re.fullmatch(r"(.+?)(?:/__init__\.py|(?:\.(?:cpython|abi3)[\w-]{0,60})?\.(?:so|pyd))", path)
    return f"{package[1]}.py" if package and f"{package[1]}.py" in paths else ""


_SCRIPT = re.compile(r"(.+?)(?:/index)?\.(?:mjs|js|mts|ts|jsx|tsx)")


def _script(path: str, paths: frozenset[str]) -> str:
    """Name the module that `./cart` meant before: bundlers and test tools try endings in an order of their own."""
    found = _SCRIPT.fullmatch(path)
    if found is None or path.endswith((".d.ts", ".d.mts")):
        return ""
    endings = ("mjs", "js", "mts", "ts", "jsx", "tsx")
    places = (f"{found[1]}{middle}.{ending}" for middle in ("", "/index") for ending in endings)
    return next((place for place in places if place in paths and place != path), "")


_MOCKED = re.compile(r"(?:.*/)?__mocks__/((?:@[\w.-]+/)?[\w.-]+?)(?:/index)?\.[cm]?[jt]sx?")
_OF_NODE = "assert buffer child_process crypto dns events fs http https net os path process stream timers url util zlib"
_NODE = frozenset(_OF_NODE.split())


def _mocked(path: str, before: Surroundings) -> str:
    found = _MOCKED.fullmatch(path)
    name = found[1] if found else ""
    return name if name in _NODE | before.dependencies.get("node", frozenset()) else ""


_RUBY_ROOTS = re.compile(r"(?:lib|spec|test)/([\w/-]+)\.rb")
_OF_RUBY = (
    "minitest rspec test-unit test/unit json set time date yaml psych logger bigdecimal csv erb fileutils forwardable "
    "net/http open3 open-uri optparse ostruct pathname pp securerandom shellwords singleton socket stringio tempfile "
    "timeout tmpdir tsort uri weakref zlib digest delegate benchmark coverage"
)
_RUBY = frozenset(_OF_RUBY.split())
_RUBY_TOOLS = ("lib/rspec/", "lib/minitest/", "lib/test/unit/")


def _ruby(path: str, before: Surroundings) -> str:
    found = _RUBY_ROOTS.fullmatch(path)
    if found is None:
        return ""
    tool = next((tool for tool in _RUBY_TOOLS if path.startswith(tool)), "")
    if tool and not any(one.startswith(tool) for one in before.paths):
        return "the test tool's own"
    name = found[1]
    own = any(one.startswith(f"lib/{name}/") for one in before.paths)
    known = name in _RUBY or name in before.dependencies.get("ruby", frozenset())
    return f"the installed {name}" if known and not own else ""


_VENDORED = re.compile(r"((?:.*?/)?(?:node_modules|site-packages|dist-packages|bower_components|\.venv|venv))/")
_VENDORS = ("go.mod", "composer.json", "Gemfile", "Cargo.toml")
_FIXTURES = re.compile(r"(?:^|/)(?:__)?(?:fixtures?|testdata)(?:__)?/")


def _vendored(path: str, paths: frozenset[str]) -> str:
    """Name the folder of installed dependencies that a file is in."""
    folder, vendor, _ = path.rpartition("vendor/")
    if vendor and folder in {"", *_folders(folder)} and any(f"{folder}{name}" in paths for name in _VENDORS):
        return f"{folder}vendor"
    found = _VENDORED.match(path)
    return found[1] if found and not _FIXTURES.search(found[1]) else ""


def _folders(folder: str) -> Iterator[str]:
    if folder.endswith("/"):
        yield folder


_C_HEADERS = (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic "
    "stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype unistd"
).replace(" ", "|")
_IN_FRONT: Final = (
    (re.compile(rf"(?:(?:include|inc|src|lib|headers|tests?)/)?(?:{_C_HEADERS})\.h"), "the compiler's own"),
    (
        re.compile(
            r"(?:.*/)?(?:gtest/gtest|gmock/gmock|catch2/catch\w*|doctest/doctest|cmocka|unity|criterion)\.h(?:pp)?"
        ),
        "the test tool's own",
    ),
    (
        re.compile(r"(?:.*/)?(?:java|kotlin|groovy|scala)/(?:org/(?:junit|testng|mockito|assertj|hamcrest)|junit)/.*"),
        "the test tool's own",
    ),
    (re.compile(r"(?:.*/)?(?:java|kotlin|groovy|scala)/(?:javax?|kotlin|jakarta)/.*"), "the language's own"),
    (re.compile(r"(?:.*/)?(?:PHPUnit/Framework|Mockery|Pest)/[^/]+\.php"), "the test tool's own"),
    (re.compile(r"lib/(?:ex_unit|mix)/.*\.exs?"), "the language's own"),
)


def _elsewhere(path: str) -> str:
    return next((instead for pattern, instead in _IN_FRONT if pattern.fullmatch(path)), "")
