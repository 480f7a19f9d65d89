"""White space, data files and links: mended where it is safe, told where it is not, silent where it is meant."""

from typing import Any

import pytest

from midwatch.crew.housekeeper.bounds.scope import PathScope
from midwatch.crew.housekeeper.checks import failures_in
from midwatch.crew.housekeeper.links import links


def test_white_space_that_means_something_stays(repo: Any) -> None:
    kept: dict[str, str | bytes] = {
        "break.md": "a line  \nbroken\n",
        "x.patch": "+a \n \n",
        "x.svg": "<svg> \n</svg>",
        "lib.min.js": "a() \n",
        "tests/snapshots/a.txt": "a \nb",
        "tests/expected.txt": "a \nb",
        "Makefile": "X = a \n",
        "text.toml": 'a = """\nx \n"""\n',
        "block.yaml": "a: |\n  x \n",
        "tick.js": "a = `x \n`\n",
        "slash.txt": "a \\ \nb\n",
        "LICENSE.txt": "words \nand",
    }
    base = repo.commit(kept)
    done = repo.execute()
    assert done.head == base, repo.git("diff", base)


def test_white_space_that_means_nothing_goes(repo: Any) -> None:
    repo.commit({"a.md": "one \ntwo\t\nthree   \n  \nend", "b.yaml": "a: 1 \nb: c", "c.json": '{"a": \n1}'})
    repo.execute()
    assert repo.read("a.md") == b"one\ntwo\nthree  \n\nend\n"
    assert repo.read("b.yaml") == b"a: 1\nb: c\n"
    assert repo.read("c.json") == b'{"a":\n1}\n'


def test_editorconfig_is_obeyed_nearest_first(repo: Any) -> None:
    top = "root = true\n[*]\ntrim_trailing_whitespace = true\n[*.{txt,py}]\ntrim_trailing_whitespace = false\n"
    repo.commit(
        {
            ".editorconfig": top + "insert_final_newline = false\n",
            "a.txt": "a \nb",
            "a.py": "x = 1  \n",
            "sub/.editorconfig": "[b.txt]\ntrim_trailing_whitespace = true\n",
            "sub/b.txt": "a \nb",
            "c.rst": "a \n",
        }
    )
    repo.execute()
    assert repo.read("a.txt") == b"a \nb"
    assert repo.read("a.py") == b"x = 1  \n"
    assert repo.read("sub/b.txt") == b"a\nb"
    assert repo.read("c.rst") == b"a\n"


@pytest.mark.parametrize(
    "glob",
    ["[z-a].txt", "[[", "*a" * 40 + "b", "{a,b}" * 30, "{a," * 3000 + "b" + "}" * 3000, "{1..999999999}.txt"],
)
def test_a_section_that_no_file_can_match_in_time_is_ignored(repo: Any, glob: str) -> None:
    config = f"root = true\nnot a setting\n[{glob}]\ntrim_trailing_whitespace = false\n# \udcff\n"
    name = "a" * 60 + ".txt"
    repo.commit({".editorconfig": config.encode(errors="surrogateescape"), name: "a \nb\n"})
    repo.execute()
    assert repo.read(name) == b"a\nb\n"


def test_an_editorconfig_outside_the_checkout_or_behind_a_link_is_not_read(repo: Any) -> None:
    outside = repo.root.parent / ".editorconfig"
    outside.write_text("[*]\ntrim_trailing_whitespace = false\n")
    (repo.root / ".editorconfig").symlink_to(outside)
    repo.commit({"a.txt": "a \nb\n"})
    repo.execute()
    assert repo.read("a.txt") == b"a\nb\n"


def test_broken_data_is_told_with_its_line_and_never_mended(repo: Any) -> None:
    base = repo.commit(
        {
            "a.json": '{\n  "a": 1,\n}\n',
            "b.toml": "a = 1\nb = = 2\n",
            "c.yaml": "a: 1\nb: [1, 2\nc: 3\n",
        }
    )
    done = repo.execute()
    assert done.head == base
    assert [(f.rule, f.path) for f in done.left] == [
        ("json-syntax", "a.json"),
        ("toml-syntax", "b.toml"),
        ("yaml-syntax", "c.yaml"),
    ]
    assert done.left[1].line == 2
    assert all(repo.line(f, done.head) == f.excerpt for f in done.left)


def test_data_that_only_looks_broken_is_no_false_alarm(repo: Any) -> None:
    repo.commit(
        {
            "tsconfig.json": "{\n// why\n}\n",
            ".vscode/settings.json": '{"a": 1,}\n',
            "commented.json": '{\n  // why\n  "a": 1\n}\n',
            "rows.json": '{"a": 1}\n{"a": 2}\n',
            "empty.json": "",
            "many.yaml": "a: 1\n---\nb: !Ref c\n---\n!!python/object:x.Y {}\n",
            "chart.yaml": "a: {{ .Values.a }}\n",
            "tests/bad.json": "{\n",
        }
    )
    assert repo.plan().findings == ()


def test_dead_links_are_told_and_living_ones_are_not(repo: Any) -> None:
    text = """# Links
[dead](gone.md) and ![dead picture](img/gone.png "title")
[ok](docs/a%20b.md#part) [dir](docs/) [query](docs/a%20b.md?plain=1) [page](docs/page) [html](docs/page.html)
[web](https://example.invalid/x) [mail](mailto:a@example.invalid) [anchor](#links) [up](../../issues) [abs](/x)
[ref]: missing.md
[good]: <placeholder> "x"
`[code](nope.md)` and ``[code](`nope.md)`` [tpl]({{ url }}) [hole](<path>)
[![badge](docs/b.png)](gone-too.md)

```md
[fenced](nope.md)
```

    [indented](nope.md)

- item

    [nested](gone-deep.md)
<!-- [hidden](nope.md) -->
"""
    repo.commit({"README.md": text, "docs/a b.md": "x\n", "docs/b.png": b"\0", "docs/page.md": "x\n"})
    found = repo.plan().findings
    assert [(f.line, f.message) for f in found] == [
        (2, "Nothing exists at gone.md"),
        (2, "Nothing exists at img/gone.png"),
        (5, "Nothing exists at missing.md"),
        (8, "Nothing exists at gone-too.md"),
        (18, "Nothing exists at gone-deep.md"),
    ]


def test_a_link_may_have_parentheses_and_a_title() -> None:
    assert list(links("[a](b_(c).md 'x') [d](e.md)\n")) == [(1, "b_(c).md"), (1, "e.md")]


@pytest.mark.parametrize(
    ("paths", "avoid", "path", "allowed"),
    [
        ((), (), "a/b.py", True),
        (("src",), (), "src/a/b.py", True),
        (("src/",), (), "src/a.py", True),
        (("src",), (), "other/src/a.py", False),
        (("src/*.py",), (), "src/a/b.py", False),
        (("src/**",), (), "src/a/b.py", True),
        (("**/b.py",), (), "x/y/b.py", True),
        ((), ("secret",), "a/secret/b.py", False),
        ((), ("*.md",), "docs/a.md", False),
        (("src",), ("src/deep",), "src/deep/er.py", False),
        (("**",), ("a/**/z",), "a/b/c/z", False),
    ],
)
def test_the_orders_paths_are_read_narrowly_and_what_to_avoid_broadly(
    paths: tuple[str, ...], avoid: tuple[str, ...], path: str, allowed: bool
) -> None:
    assert PathScope(paths=paths, avoid=avoid).allows(path) is allowed


@pytest.mark.parametrize(
    ("output", "failures"),
    [
        ("=== 3 failed, 5 passed, 1 error in 0.20s ===\n", 4),
        ("3 failed, 5 passed in 0.20s\n", 3),
        ("5 passed in 0.20s\n", 0),
        ("Ran 4 tests in 0.1s\n\nFAILED (failures=1, errors=2)\n", 3),
        ("make: *** [all] Error 1\n", None),
    ],
)
def test_failed_tests_are_counted_where_the_tool_counts_them(output: str, failures: int | None) -> None:
    assert failures_in(output) == failures
