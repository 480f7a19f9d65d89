"""What a project depends on, by the names under which its code imports it: read from manifests and lockfiles."""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

DECLARING: Final = (
    *("pyproject.toml", "requirements*.txt", "constraints*.txt", "Pipfile", "uv.lock", "poetry.lock", "pdm.lock"),
    *("package.json", "Gemfile", "Gemfile.lock"),
)
"""Files at the top of a checkout that name what it depends on."""

_IMPORTED_AS: Final[Mapping[str, tuple[str, ...]]] = {
    "attrs": ("attr", "attrs"),
    "beautifulsoup4": ("bs4",),
    "djangorestframework": ("rest_framework",),
    "grpcio": ("grpc",),
    "mysqlclient": ("MySQLdb",),
    "opencv_python": ("cv2",),
    "pillow": ("PIL",),
    "psycopg2_binary": ("psycopg2",),
    "pycryptodome": ("Crypto",),
    "pyjwt": ("jwt",),
    "pytest": ("pytest", "_pytest", "py"),
    "python_dateutil": ("dateutil",),
    "python_dotenv": ("dotenv",),
    "pyyaml": ("yaml",),
    "scikit_learn": ("sklearn",),
    "setuptools": ("setuptools", "pkg_resources"),
}
_REQUIREMENT = re.compile(r"^\s{0,20}([A-Za-z0-9][\w.-]{0,100})", re.MULTILINE)
_GEM = re.compile(r"^\s{0,20}gem[ (]{1,4}['\"]([\w-]{1,100})['\"](?![^\n]{0,200}\bpath:)", re.MULTILINE)
_LOCKED_GEM = re.compile(r"^ {4}([\w-]{1,100}) \(", re.MULTILINE)


def dependencies_of(texts: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Give the import names of dependencies, by language; a file that cannot be read names none."""
    found: dict[str, set[str]] = {"python": set(), "node": set(), "ruby": set()}
    for path, text in texts.items():
        for name, language, read in _READERS:
            if path == name or (name.endswith("*") and path.startswith(name[:-1])):
                found[language].update(_named(read, text))
    found["python"] = {module for name in found["python"] for module in imported_as(name)}
    found["ruby"] |= {name.replace("-", "/") for name in found["ruby"]}
    return {language: frozenset(names) for language, names in found.items()}


def imported_as(distribution: str) -> tuple[str, ...]:
    """Name the modules of a Python distribution: mostly its own name."""
    name = re.sub(r"[-.]+", "_", distribution.lower())
    return _IMPORTED_AS.get(name, (name,))


def _named(read: Callable[[str], Iterable[str]], text: str) -> list[str]:
    try:
        return [str(name) for name in read(text)]
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return []


def _requirements(lines: Iterable[Any]) -> Iterator[str]:
    return (found[1] for line in lines if isinstance(line, str) and (found := _REQUIREMENT.match(line)))


def _pyproject(text: str) -> Iterator[str]:
    said = tomllib.loads(text)
    project, poetry = said.get("project", {}), said.get("tool", {}).get("poetry", {})
    lists = [
        project.get("dependencies", []),
        said.get("build-system", {}).get("requires", []),
        *project.get("optional-dependencies", {}).values(),
        *said.get("dependency-groups", {}).values(),
    ]
    tables = [poetry, *poetry.get("group", {}).values()]
    for one in lists:
        yield from _requirements(one)
    for table in tables:
        for key in ("dependencies", "dev-dependencies"):
            yield from (name for name in table.get(key, {}) if name != "python")


def _pipfile(text: str) -> Iterator[str]:
    said = tomllib.loads(text)
    for key in ("packages", "dev-packages"):
        yield from said.get(key, {})


def _toml_lock(text: str) -> Iterator[str]:
    """List the locked packages; the project itself stands in some locks too."""
    for package in tomllib.loads(text).get("package", []):
        if not {"editable", "virtual", "directory"} & set(package.get("source", {})):
            yield package["name"]


def _package_json(text: str) -> Iterator[str]:
    said = json.loads(text)
    for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        yield from said.get(key) or {}


def _gem_lock(text: str) -> Iterator[str]:
    _, _, gems = text.partition("\nGEM\n") if not text.startswith("GEM\n") else ("", "", text)
    return (found[1] for found in _LOCKED_GEM.finditer(gems.partition("\nPLATFORMS")[0]))


_READERS: Final[tuple[tuple[str, str, Callable[[str], Iterable[str]]], ...]] = (
    ("pyproject.toml", "python", _pyproject),
    ("requirements*", "python", lambda text: _requirements(text.splitlines())),
    ("constraints*", "python", lambda text: _requirements(text.splitlines())),
    ("Pipfile", "python", _pipfile),
    ("uv.lock", "python", _toml_lock),
    ("poetry.lock", "python", _toml_lock),
    ("pdm.lock", "python", _toml_lock),
    ("package.json", "node", _package_json),
    ("Gemfile", "ruby", lambda text: (found[1] for found in _GEM.finditer(text))),
    ("Gemfile.lock", "ruby", _gem_lock),
)
