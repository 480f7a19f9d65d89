"""Paths: what is inside, what is forbidden, and what cannot be judged at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.paths import beneath, inside, is_clean, touches

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
        ("src/*", "src/a/b", False),
        ("src", "src/a", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "a/b/c.py", True),
        ("a/**/z", "a/z", True),
        ("a/**/z", "a/b/c/z", True),
        ("a/**/z", "a/b", False),
        ("a?.py", "ab.py", True),
        ("*.py", "a/b.py", False),
        ("SRC/**", "src/a", False),
        ("/src/**", "src/a", False),
        ("src/*", "src/**", False),
        ("src/**", "src/**", True),
        ("src/**", "**", False),
        ("src/*", "src/*", True),
        ("src/a?", "src/a*", False),
    ],
)
def test_a_scope_covers_exactly_what_its_pattern_says(pattern: str, path: str, expected: bool) -> None:
    assert inside(path, (pattern,)) is expected


@pytest.mark.parametrize("path", ["", "/etc/passwd", "a/../b", "..", ".", "./a", "a//b", "a/", "a\\b", "a\0b", "a/."])
def test_a_path_that_cannot_be_judged_is_outside_everything(path: str) -> None:
    assert not is_clean(path)
    assert not inside(path, ("**", path, "/**"))
    assert not beneath(path, ("**", path))


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


@pytest.mark.parametrize(("place", "path", "expected"), [("a", "a/b", True), ("a/", "a/b", True), ("a", "ab", False)])
def test_beneath_a_place_is_everything_in_that_folder(place: str, path: str, expected: bool) -> None:
    assert beneath(path, (place,)) is expected


@given(st.text(max_size=12), st.text(max_size=12))
def test_no_text_is_too_odd_to_be_judged(path: str, pattern: str) -> None:
    assert inside(path, (pattern,)) in {True, False}
    assert touches(path, (pattern,)) in {True, False}


def test_many_stars_cost_no_more_than_one() -> None:
    assert not inside("/".join("a" * 60), ("/".join(["**", "a"] * 30 + ["b"]),))
