"""The housekeeper does what the order names, and nothing else."""

from typing import Any

import pytest

ALL = {
    "app/a.py": 'import os\n\nvalue = f"hello"\nif value is "x":\n    print("\\d")\nlast = 1  \n',
    "notes.txt": "one \ntwo",
}
IMPORTS, STRINGS, IS, ESCAPES = (
    "Remove unused imports",
    "Fix f-strings without placeholders (F541)",
    "Compare literals with == instead of is (F632)",
    "Fix invalid escape sequences (W605)",
)
SPACE, NEWLINE = "Strip trailing white space", "End files with a newline"
EVERYTHING = [IMPORTS, STRINGS, IS, ESCAPES, SPACE, NEWLINE]


@pytest.mark.parametrize(
    ("order", "done"),
    [
        ("Remove unused imports and trailing white space", [IMPORTS, SPACE]),
        ("Unused imports, whitespace", [IMPORTS, SPACE]),
        ("Delete imports that are not used", [IMPORTS]),
        ("Clean up the imports", [IMPORTS]),
        ("Fix F541 and W605", [STRINGS, ESCAPES]),
        ("Fix f-strings without placeholders", [STRINGS]),
        ("Compare strings with == instead of is", [IS]),
        ("Give files without a final newline one", [NEWLINE]),
        ("Strip W291 but no other white space", [SPACE]),
        ("Fix what flake8 says", [IMPORTS, STRINGS, IS, ESCAPES, SPACE]),
        ("Tidy up, but do not touch f-strings or the imports", [IS, ESCAPES, SPACE, NEWLINE]),
        ("Leave f-strings alone and remove unused imports", [IMPORTS]),
        ("Remove unused imports. Never strip white space.", [IMPORTS]),
        ("Report dead links", []),
        ("Remove unused variables", []),
        ("Tidy up", EVERYTHING),
        ("Make it important again", EVERYTHING),
        ("Follow ISO8601", EVERYTHING),
        ("", EVERYTHING),
    ],
)
def test_an_order_gets_what_it_names(repo: Any, order: str, done: list[str]) -> None:
    base = repo.commit(ALL)
    repo.execute(f"--order={order}")
    assert repo.subjects(base) == done


def test_an_order_for_imports_and_white_space_touches_nothing_else_and_says_so(repo: Any) -> None:
    repo.commit(ALL)
    plan = repo.plan("--order=Remove unused imports and trailing white space")
    assert plan.approach[0] == "The order names unused imports and trailing white space: only these are fixed"
    assert "Note: the order does not name 1 f-string without placeholders" in plan.summary
    assert plan.summary.count("nothing is left for a person") == 1, "what another order would fix needs no person"
    repo.execute("--order=Remove unused imports and trailing white space")
    left = b'\nvalue = f"hello"\nif value is "x":\n    print("\\d")\nlast = 1\n'
    assert repo.read("app/a.py") == left
    assert repo.read("notes.txt") == b"one\ntwo"


def test_an_order_that_names_nothing_gets_the_full_set_and_the_plan_lists_it(repo: Any) -> None:
    repo.commit(ALL)
    assert repo.plan("--order=Tidy up").approach[0] == (
        "The order names no kind of fix, so all of them are made: unused imports, f-strings without placeholders, "
        "comparisons by `is`, invalid escapes, trailing white space and missing last newlines"
    )
    repo.commit({"pyproject.toml": '[tool.ruff.lint]\nselect = ["F"]\n[tool.ruff.format]\n'})
    assert (
        repo.plan("--order=Tidy up")
        .approach[0]
        .endswith(
            "the project's own ruff rules, import order, trailing white space, missing last newlines and formatting"
        )
    )


def test_a_repair_does_not_exceed_the_order_either(repo: Any) -> None:
    base = repo.commit(ALL)
    repo.execute("--order=unused imports")
    done = repo.repair("--base", base, "--order=unused imports")
    assert [one.subject for one in done.commits] == [IMPORTS]
    assert "the order does not name" in done.summary
