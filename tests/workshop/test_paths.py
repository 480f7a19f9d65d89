"""Patterns on git paths mean what .gitignore means, and no spelling gets around them."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midwatch.rules.paths import inside, names, touches
from midwatch.workshop.quarantine.paths import SENSITIVE, flaw, points_outside
from tests.workshop.repository import Repository

PATTERNS = ("*.py", "src", "src/", "/src", "src/*", "src/**", "**/deep", "a/**/b", "doc?", "[ab].txt", "[!a].txt", "**")
PATHS = ("x.py", "src/x.py", "src/in/x.py", "lib/src/y", "deep", "p/deep/q", "a/b", "a/x/y/b", "docs", "a.txt", "c.txt")


def test_patterns_agree_with_git_itself(tmp_path: Path) -> None:
    repository = Repository.begin(tmp_path / "repo")
    for pattern in PATTERNS:
        (repository.path / ".gitignore").write_text(pattern)
        asked = ["git", "-C", str(repository.path), "check-ignore", "--no-index", "--stdin"]
        said = subprocess.run(asked, input="\n".join(PATHS), capture_output=True, text=True, check=False).stdout.split()
        assert [path for path in PATHS if names(path, (pattern,))] == said, pattern


@given(st.text(alphabet="ab/*?[]!.-^\\", min_size=1, max_size=12), st.text(alphabet="ab/.", max_size=8))
@example("[[a]", "a")
@example("[!--a]", "b")
def test_every_pattern_means_something(pattern: str, path: str) -> None:
    assert names(path, (pattern,)) in (True, False)


@given(st.text(alphabet="abc/", min_size=1).filter(lambda path: not flaw(path.encode())))
def test_two_stars_allow_everything_and_no_pattern_allows_nothing(path: str) -> None:
    assert inside(path, ("**",))
    assert not inside(path, ())


def test_what_must_not_be_touched_cannot_be_reached_by_spelling() -> None:
    assert touches("SECRETS/Key.pem", ("secrets/**",))
    assert touches("cafe\u0301/x", ("caf\u00e9/",))
    assert not inside("SRC/x", ("src/**",)), "what is allowed is exact"


@pytest.mark.parametrize(
    "path",
    [
        *(b"src/../.github/x", b"/etc/passwd", b".git/config", b"a/.GIT/hooks/x", b"a/.Git ./x", b"a/git~1/x"),
        *(b".git::$INDEX_ALLOCATION/x", b"a\\b", b"a\nb", b"\xff\xfe", b"a//b", "a\u200bb".encode()),
    ],
)
def test_a_flawed_path_is_named(path: bytes) -> None:
    assert flaw(path)


@pytest.mark.parametrize("path", [b"src/app.py", b".gitignore", b".github/workflows/ci.yml", "caf\u00e9.txt".encode()])
def test_an_ordinary_path_has_no_flaw(path: bytes) -> None:
    assert not flaw(path)


@pytest.mark.parametrize(
    ("path", "target", "outside"),
    [
        ("a", "/etc/passwd", True),
        ("a", "../x", True),
        ("d/a", "../x", False),
        ("d/a", "../../x", True),
        ("d/a", "b/../../..", True),
        ("d/a", "b/../c", True),
        ("a", ".git/config", True),
        ("a", "./b/c", False),
    ],
)
def test_a_link_may_only_point_inside(path: str, target: str, outside: bool) -> None:
    assert points_outside(path, target) is outside


def test_what_steers_other_machines_is_sensitive_and_code_is_not() -> None:
    flagged = [".github/workflows/ci.yml", "pkg/AGENTS.md", ".claude/settings.json", "uv.lock", "a/.gitattributes"]
    assert all(touches(path, SENSITIVE) for path in [*flagged, "claude.md", ".githooks/pre-commit"])
    assert not any(touches(path, SENSITIVE) for path in ("src/app.py", "README.md", "locks.py"))
