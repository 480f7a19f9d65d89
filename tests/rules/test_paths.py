"""Paths: what is inside, what is forbidden, and what cannot be judged at all."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.errors import Misuse
from midwatch.rules.paths import inside, is_clean, names, pattern_fault, require_patterns, touches

part = st.text(alphabet="abc.*", min_size=1, max_size=4).filter(lambda text: text not in {".", ".."})
plain = st.text(alphabet="abcd", min_size=1, max_size=3)
paths = st.lists(plain, min_size=1, max_size=5).map("/".join)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("**", "a", True),
        ("**", "a/b/c", True),
        ("src/**", "src/a/b.py", True),
        ("src/**", "src", True),
        ("src/", "src/a", True),
        ("src/**", "srcs/a", False),
        ("src/*", "src/a", True),
        ("src/*", "src/a/b", True),
        ("src", "src/a", True),
        ("src", "lib/src/a", False),
        ("src/", "lib/src/a", False),
        ("docs", "docs", True),
        ("./src", "src/a", True),
        ("./src/**", "src/a", True),
        ("**/*.py", "a.py", True),
        ("**/*.py", "a/b/c.py", True),
        ("a/**/z", "a/z", True),
        ("a/**/z", "a/b/c/z", True),
        ("a/**/z", "a/b", False),
        ("a?.py", "ab.py", True),
        ("*.py", "a/b.py", True),
        ("/*.py", "a/b.py", False),
        ("[ab].py", "c/a.py", True),
        ("app/[slug]/**", "app/[slug]/page.tsx", True),
        ("app/*.tsx", "app/[slug].tsx", True),
        ("a[", "a[", True),
        ("[z-a]", "[z-a]", True),
        ("#notes", "#notes/a", True),
        ("SRC/**", "src/a", False),
        ("/src/**", "src/a", True),
        ("/src/**", "lib/src/a", False),
        ("src/*", "src/**", False),
        ("src/**", "src/**", True),
        ("src/**", "**", False),
        ("src/*", "src/*", True),
        ("src/a?", "src/a*", False),
        ("**/*.py", "src/*.py", True),
        ("src/*.py", "src/*", False),
        ("src/[!a]*", "src/*", False),
    ],
)
def test_a_scope_covers_exactly_what_its_pattern_says(pattern: str, path: str, expected: bool) -> None:
    assert inside(path, (pattern,)) is expected


@pytest.mark.parametrize("path", ["", "/etc/passwd", "a/../b", "..", ".", "./a", "a//b", "a/", "a\\b", "a\0b", "a/."])
def test_a_path_that_cannot_be_judged_is_outside_everything(path: str) -> None:
    assert not is_clean(path)
    assert not inside(path, ("**", path, "/**"))


@given(st.lists(st.sampled_from(["a", "..", "", ".", "b"]), min_size=1, max_size=6))
def test_no_path_climbs_out(parts: list[str]) -> None:
    path = "/".join(parts)
    if inside(path, ("**",)):
        assert not {"..", "", "."} & set(parts)


@given(paths, st.lists(part, max_size=3).map("/".join))
def test_what_lies_under_a_forbidden_folder_is_forbidden(folder: str, below: str) -> None:
    path = f"{folder}/{below}" if below else folder
    for written in (folder, f"{folder}/", f"{folder}/**", f"./{folder}", f"/{folder}"):
        assert touches(path, (written,))


@given(paths, plain, st.lists(plain, max_size=3))
def test_a_bare_forbidden_name_is_meant_at_any_depth(above: str, name: str, below: list[str]) -> None:
    assert touches("/".join((above, name, *below)), (name,))


@given(paths, st.lists(part, min_size=1, max_size=4).map("/".join))
def test_forbidding_is_never_narrower_than_allowing(path: str, pattern: str) -> None:
    if inside(path, (pattern,)):
        assert touches(path, (pattern,))


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        (".env", "apps/web/.env", True),
        ("*.pem", "keys/a.pem", True),
        ("*.tsx", "app/[slug].tsx", True),
        ("apps/[slug]/page", "apps/[slug]/page", True),
        ("secrets/**", "secrets", True),
        ("secrets/**", "src/secrets/a", False),
        ("src/a", "src/ab", False),
        ("", "a", False),
        ("/", "a", False),
    ],
)
def test_forbidden_patterns_are_read_broadly_but_not_wildly(pattern: str, path: str, expected: bool) -> None:
    assert touches(path, (pattern,)) is expected


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("", "names no path"),
        ("./", "names no path"),
        ("../x", "leaves the repository"),
        ("a/../b", "leaves the repository"),
        ("~/x", "leaves the repository"),
        ("a\\b", "backslash"),
        ("a\nb", "cannot be seen"),
        ("a\u200bb", "cannot be seen"),
        ("!a", "starts with '!'"),
        ("**/a/**/b/**/c", "more than 2 **"),
        ("*a*b*c*", "more than 3 *"),
    ],
)
def test_a_text_that_is_no_pattern_is_refused_where_it_is_written_and_allows_nothing(pattern: str, why: str) -> None:
    assert why in pattern_fault(pattern)
    with pytest.raises(Misuse, match="is no path pattern: it "):
        require_patterns((pattern,))
    assert not inside("a", (pattern,))
    assert touches("a", (pattern,)) is ("no path" not in why), "what was meant to forbid something forbids everything"


@given(st.text(alphabet="ab*?[]!^-.#/", min_size=1, max_size=10), paths)
def test_what_is_no_fault_means_something_to_pathspec_or_to_itself(pattern: str, path: str) -> None:
    if pattern_fault(pattern):
        assert not names(path, (pattern,))
    elif not {"*", "?", "[", "]"} & set(pattern):
        assert touches("/".join(part for part in pattern.split("/") if part not in {"", "."}), (pattern,))


@given(st.text(max_size=12), st.text(max_size=12))
def test_no_text_is_too_odd_to_be_judged(path: str, pattern: str) -> None:
    assert inside(path, (pattern,)) in {True, False}
    assert touches(path, (pattern,)) in {True, False}


def test_many_stars_cost_no_more_than_one() -> None:
    assert not inside("/".join("a" * 60), ("/".join(["**", "a"] * 30 + ["b"]),))


@pytest.mark.parametrize("pattern", ["**/a/**/b", "*a*a*b", "**/*a*b/**/*a*b", "a/**/*a*a*b"])
def test_a_path_made_to_be_slow_is_judged_at_once(pattern: str) -> None:
    began = process_time()
    for path in ("/".join("a" * 512), "/".join(["a" * 255] * 4)):
        assert not inside(path, (pattern,))
        assert not touches(path, (pattern,))
    assert process_time() - began < 5
