"""What a change to a manifest means for the checks: its dependencies are honest work, its tool settings are not.

`steering.py` has the files that hold nothing but settings. A manifest also says what is built, so most of them cannot
be put back without taking the work apart: what they say differently about checks is a doubt then.
"""

import configparser
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple


class ManifestChange(StrEnum):
    """What a change to a manifest did."""

    NOTHING = "nothing"
    """To the checks: it names dependencies, files, a version."""
    SETTINGS = "settings"
    """Settings of a tool: put back for the second run."""
    BUILD = "build"
    """How checks are built or run: it cannot be put back without the work."""


Differs = Callable[[str, str], bool]
"""Whether two versions say different things about checks; it raises where one cannot be read."""

_UNREADABLE = (ValueError, TypeError, AttributeError, KeyError, RecursionError, configparser.Error)


class _Manifest(NamedTuple):
    files: str
    source: str
    settings: Differs | None = None
    build: Differs | None = None


def change_of(path: str, before: str, after: str) -> ManifestChange | None:
    """Judge a changed manifest; None for what is no manifest. One that cannot be read counts as different."""
    manifest = _manifest_of(path)
    if manifest is None:
        return None
    if manifest.settings is not None and _differ(manifest.settings, before, after):
        return ManifestChange.SETTINGS
    if manifest.build is not None and _differ(manifest.build, before, after):
        return ManifestChange.BUILD
    return ManifestChange.NOTHING


def is_manifest(path: str) -> bool:
    """Whether a file says what is built as well as how it is checked."""
    return _manifest_of(path) is not None


def takes_over(path: str, base: frozenset[str]) -> bool:
    """Whether a new manifest decides about files that were there before it."""
    folder, _, name = path.rpartition("/")
    below = [one for one in base if one.startswith(f"{folder}/" if folder else "")]
    if name == "build.rs":
        return f"{folder}/Cargo.toml".lstrip("/") in base
    if name == "package.json":
        return any(_SCRIPT.search(one) for one in below)
    return bool(folder and below) and any(f"{one}/{name}".lstrip("/") in base for one in _above(folder))


def _above(folder: str) -> Iterator[str]:
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")


def _manifest_of(path: str) -> _Manifest | None:
    name = path.rsplit("/", 1)[-1]
    return next((one for one in MANIFESTS if any(fnmatchcase(name, glob) for glob in one.files.split())), None)


def _differ(differs: Differs, before: str, after: str) -> bool:
    try:
        return differs(before, after)
    except _UNREADABLE:
        return True


def _by(read: Callable[[str], Any]) -> Differs:
    return lambda before, after: bool(read(before) != read(after))


PACKAGING = frozenset(
    {"poetry", "setuptools", "setuptools_scm", "hatch", "pdm", "uv", "flit", "maturin", "scikit-build"}
)
"""Tables of `[tool]` that describe a package; the scripts of hatch and pdm do say how it is checked."""


def _pyproject(text: str) -> Any:
    said = tomllib.loads(text)
    tools = {name: table for name, table in said.get("tool", {}).items() if name not in PACKAGING}
    packaging = said.get("tool", {})
    ways = packaging.get("hatch", {}).get("envs"), packaging.get("pdm", {}).get("scripts")
    return tools, ways, said.get("project", {}).get("entry-points", {}).get("pytest11")


def _setup_cfg(text: str) -> Any:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    packaging = {"metadata", "bdist_wheel", "sdist", "egg_info", "build_ext"}
    return {
        name: dict(parser.items(name))
        for name in parser.sections()
        if name not in packaging and not name.startswith("options")
    }


_PACKAGE_TOOLS = (
    *("scripts", "jest", "mocha", "ava", "tap", "c8", "nyc", "vitest", "jasmine", "eslintConfig", "eslintIgnore"),
    *("prettier", "stylelint", "xo", "standard", "babel", "browserslist", "lint-staged", "wireit", "nx", "turbo"),
    *("husky", "simple-git-hooks", "commitlint", "overrides", "resolutions", "pnpm", "packageManager", "cypress"),
)
_PACKAGE_LOOKUP = ("imports", "exports", "main", "module", "browser")


def _json_object(text: str) -> dict[str, Any]:
    package = json.loads(text or "{}")
    if not isinstance(package, dict):
        raise TypeError
    return package


def _package_json(text: str) -> Any:
    package = _json_object(text)
    return {key: package.get(key) for key in _PACKAGE_TOOLS}


def _package_lookup(before: str, after: str) -> bool:
    """Whether what was found by a name before is another file now; a new name changes nothing for old tests."""
    old, new = _json_object(before), _json_object(after)
    return old.get("type") != new.get("type") or any(not _kept(old.get(key), new.get(key)) for key in _PACKAGE_LOOKUP)


def _kept(old: Any, new: Any) -> bool:
    if isinstance(old, dict) and isinstance(new, dict):
        return all(name in new and new[name] == value for name, value in old.items())
    return old is None or bool(old == new)


def _composer(text: str) -> Any:
    package = _json_object(text)
    loaded = package.get("autoload") or {}
    return {key: package.get(key) for key in ("scripts", "config", "extra", "autoload-dev")}, loaded.get("files")


_CARGO_DEPENDENCIES = frozenset({"dependencies", "dev-dependencies", "build-dependencies"})
_CARGO_TARGETS = ("package", "workspace", "target", "features", "bin", "example", *sorted(_CARGO_DEPENDENCIES))
_CARGO_ELSEWHERE = ("path", "git", "branch", "rev", "tag", "registry", "package")


def _cargo(before: str, after: str) -> bool:
    old, new = tomllib.loads(before), tomllib.loads(after)
    rest = [{key: value for key, value in one.items() if key not in _CARGO_TARGETS} for one in (old, new)]
    package = [
        {key: one.get("package", {}).get(key) for key in ("autotests", "autobins", "build", "links", "default-run")}
        for one in (old, new)
    ]
    return (
        rest[0] != rest[1]
        or package[0] != package[1]
        or not _kept(old.get("features"), new.get("features"))
        or _cargo_workspace(old.get("workspace", {}), new.get("workspace", {}))
        or _cargo_sources(old, new)
    )


def _cargo_workspace(old: dict[str, Any], new: dict[str, Any]) -> bool:
    added = set(new.get("exclude", [])) - set(old.get("exclude", []))
    lost = set(old.get("members", [])) - set(new.get("members", []))
    same = ("default-members", "lints", "resolver")
    return bool(added or lost) or any(old.get(key) != new.get(key) for key in same) or _cargo_sources(old, new)


def _cargo_sources(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether a dependency that was there before now comes from another place."""
    for kind in _CARGO_DEPENDENCIES:
        before, after = old.get(kind, {}), new.get(kind, {})
        if any(_cargo_place(before[name]) != _cargo_place(after[name]) for name in before.keys() & after.keys()):
            return True
    tables = old.get("target", {}), new.get("target", {})
    return any(_cargo_sources(tables[0][name], tables[1][name]) for name in tables[0].keys() & tables[1].keys())


def _cargo_place(dependency: Any) -> Any:
    return [dependency.get(key) for key in _CARGO_ELSEWHERE] if isinstance(dependency, dict) else [None] * 7


def _go(before: str, after: str) -> bool:
    """A new module is left out by `go test ./...` in the one around it, whatever it says."""
    return not before.strip() or bool(_go_mod(before) != _go_mod(after))


def _go_mod(text: str) -> Any:
    """Give the directives that replace or leave out modules."""
    found, block = set(), ""
    for line in text.splitlines():
        words = line.partition("//")[0].split()
        if words[:1] == [")"]:
            block = ""
        elif words[1:] == ["("]:
            block = words[0]
        elif words:
            found.add(" ".join([block, *words] if block else words))
    return {one for one in found if one.startswith(("replace ", "exclude ", "godebug ", "ignore "))}


class _Lines(NamedTuple):
    """Statements of a build script that concern only what is built, one to a line."""

    either: re.Pattern[str]
    """May come and go: a dependency, a source file."""
    added: re.Pattern[str]
    """May come, and does not go: a test."""
    comment: str = "#"


def _statements(rule: _Lines) -> Differs:
    def differs(before: str, after: str) -> bool:
        old, new = (Counter(_plain(text, rule.comment)) for text in (before, after))
        gone = any(not rule.either.fullmatch(line) for line in old - new)
        return gone or any(not (rule.either.fullmatch(line) or rule.added.fullmatch(line)) for line in new - old)

    return differs


def _plain(text: str, comment: str) -> Iterator[str]:
    for line in text.splitlines():
        said = " ".join(line[:500].split())
        if said and not said.startswith(comment):
            yield said


_NOTHING_MORE = re.compile(r"(?!)")
_VERSIONS = r"(?:, ?(['\"])[^'\"]{0,60}\3)*"
_GEMFILE = _Lines(
    re.compile(rf"gem (['\"])([\w-]+)\1{_VERSIONS}(?:, ?(?:require: false|group: \S+))*|group [\w:, ]+ do|end"),
    _NOTHING_MORE,
)
_GRADLE = _Lines(
    re.compile(
        r"\w*(?:[iI]mplementation|[aA]pi|[cC]ompileOnly|[rR]untimeOnly|[aA]nnotationProcessor)"
        r"[ (](?:platform\()?['\"][^'\"]{1,200}['\"]\)*|"
        r"(?:version|group|description) ?=? ?['\"][^'\"]{0,200}['\"]|dependencies ?\{|\}"
    ),
    re.compile(r"include[ (]['\"][\w:.'\", -]{1,300}\)?"),
    comment="//",
)
_FILE_NAME = r"['\"]?[\w./+-]*\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|m|mm|cu|s|S|asm|f90)['\"]?"
_FILE_NAMES = rf"{_FILE_NAME}(?:(?:, ?| ){_FILE_NAME})*,?"
_NO_TEST = r"(?![^\n]*(?i:test))"
_CMAKE_TARGETS = (
    r"(?:add_library|add_executable|target_sources|target_link_libraries|find_package|target_include_directories|"
    r"project|install)\([^()\n]{0,400}\)?"
)
_CMAKE = _Lines(
    re.compile(rf"{_NO_TEST}(?:{_FILE_NAMES}\)?|{_CMAKE_TARGETS}|set\(\w*(?:SRC|SOURCE|HEADER)\w*[^()\n]*\)?)|\)"),
    re.compile(
        rf"{_FILE_NAMES}\)?|{_CMAKE_TARGETS}|enable_testing\(\)|add_subdirectory\([^()\n]{{0,200}}\)|"
        r"add_test\((?:NAME )?[\w.-]+ (?:COMMAND )?[\w. -]+\)"
    ),
)
_MESON_TARGETS = r"\w+ ?= ?(?:files|dependency|executable|library|static_library)\([^()\n]{0,400}\)?"
_MESON = _Lines(
    re.compile(rf"{_NO_TEST}(?:{_FILE_NAMES}[\])]*|{_MESON_TARGETS})|[\])]+"),
    re.compile(rf"{_FILE_NAMES}[\])]*|{_MESON_TARGETS}|test\('[^']+', ?\w+\)|subdir\('[^']+'\)"),
)
_MIX = _Lines(
    re.compile(
        r"\{:\w+, ?\"[^\"]{1,60}\"(?:, ?(?:only: \S+|runtime: (?:true|false)|optional: true))*\},?|\]|"
        r"(?:version|description): \"[^\"]{0,200}\",?"
    ),
    _NOTHING_MORE,
)
_SWIFT = _Lines(
    re.compile(r"\.(?:package|product)\([^\n]{0,300}|\"\w+\",?|[\])]+,?"),
    re.compile(r"\.(?:test)?[tT]arget\([^\n]{0,300}"),
    comment="//",
)
_SBT = _Lines(
    re.compile(r"libraryDependencies [^\n]{0,300}|\"[^\"]+\" %%? [^\n]{0,200}|\)|version := [^\n]{0,100}"),
    _NOTHING_MORE,
    comment="//",
)
_ANYTHING = _Lines(_NOTHING_MORE, _NOTHING_MORE, comment="//")

_XML_WORK = re.compile(
    r"<dependency>(?:(?!<dependency>|systemPath).){0,2000}?</dependency>|<!--(?:(?!<!--).){0,4000}?-->|"
    r"<(?:Package(?:Reference|Version)|ProjectReference)\b[^<>]{0,400}/>|</?dependencies>|</?ItemGroup>|"
    r"<(version|name|description|url|[\w.-]+\.version|(?:Package|Assembly|File)?Version)>[^<]{0,200}</\1>",
    re.DOTALL,
)


def _xml(text: str) -> str:
    """Give what a build file in XML says beside its dependencies and its own version."""
    return " ".join(_XML_WORK.sub(" ", text).split())


MANIFESTS: Final[tuple[_Manifest, ...]] = (
    _Manifest("pyproject.toml", "PyPA: Writing your pyproject.toml", settings=_by(_pyproject)),
    _Manifest("setup.cfg", "Setuptools: Configuring by setup.cfg", settings=_by(_setup_cfg)),
    _Manifest("package.json", "npm: package.json; Node.js: Packages", _by(_package_json), _package_lookup),
    _Manifest("composer.json", "Composer: The composer.json schema", settings=_by(_composer)),
    _Manifest("Cargo.toml", "The Cargo Book: The manifest format", build=_cargo),
    _Manifest("build.rs", "The Cargo Book: Build scripts", build=_statements(_ANYTHING)),
    _Manifest("go.mod", "Go: Modules reference, go.mod files", build=_go),
    _Manifest("Gemfile gems.rb *.gemspec", "Bundler: Gemfile", build=_statements(_GEMFILE)),
    _Manifest("pom.xml", "Maven: POM reference", build=_by(_xml)),
    _Manifest("build.gradle* settings.gradle*", "Gradle: Writing build scripts", build=_statements(_GRADLE)),
    _Manifest("*.csproj *.fsproj *.vbproj *.props *.targets", "MSBuild: Project file schema", build=_by(_xml)),
    _Manifest("CMakeLists.txt *.cmake", "cmake-commands(7)", build=_statements(_CMAKE)),
    _Manifest("meson.build", "Meson: Reference manual", build=_statements(_MESON)),
    _Manifest("mix.exs", "Mix: mix.exs", build=_statements(_MIX)),
    _Manifest("Package.swift", "Swift: PackageDescription", build=_statements(_SWIFT)),
    _Manifest("build.sbt", "sbt: Build definition", build=_statements(_SBT)),
)
"""The manifests of each ecosystem, with the page that says what they hold."""

BY_FILE: Final[Mapping[str, str]] = {name: one.source for one in MANIFESTS for name in one.files.split()}
