"""What maintainers of well-known projects would refuse; each case was seen in one of them."""

from typing import Any

import pytest

from midwatch.crew.housekeeper.linter import version

SORTED = "import os\nimport sys\n\nprint(os, sys)\n"
UNSORTED = "import sys\nimport os\n\nprint(os, sys)\n"


def test_a_template_keeps_its_last_line_because_it_is_content(repo: Any) -> None:
    """Django's password_reset_subject.txt."""
    files = {"app/templates/subject.txt": "Hello", "mail/body.txt": "{% autoescape off %} \n{{ name }}"}
    base = repo.commit({**files, "plain.txt": "a"})
    repo.execute()
    assert repo.git("diff", "--name-only", base) == "plain.txt"


def test_minified_and_compiled_files_stay_as_they_are(repo: Any) -> None:
    """Django's reset-fonts-grids.css and Sphinx's compiled catalogues."""
    base = repo.commit(
        {"site/grids.css": "a{}" * 400, "locale/de/LC_MESSAGES/app.js": "add({});", "site/own.css": "a {}"}
    )
    repo.execute()
    assert repo.git("diff", "--name-only", base) == "site/own.css"


def test_python_that_tests_read_is_data(repo: Any) -> None:
    """Sphinx's tests/roots/test-ext-autodoc/target/need_mocks.py."""
    base = repo.commit(
        {
            "tests/roots/test-ext/target/need_mocks.py": "import missing_module\n",
            "tests/data/case.py": "import os\n",
            "tests/support/extra.py": "import os\n",
            "tests/test_own.py": "import os\n\n\ndef test_it():\n    assert True\n",
            "tests/unit/test_more.py": "import os\n\n\ndef test_it():\n    assert True\n",
        }
    )
    repo.execute()
    assert repo.git("diff", "--name-only", base).split() == ["tests/test_own.py", "tests/unit/test_more.py"]


def test_a_noqa_that_this_ruff_does_not_need_stays(repo: Any) -> None:
    """Scrapy's `noqa: E402`: another version or another tool may need it."""
    text = "import os  # noqa: E402\n\nprint(os)\n"
    repo.commit({"pyproject.toml": "[tool.ruff.lint]\nselect = ['RUF', 'F']\n", "a.py": text})
    repo.execute()
    assert repo.read("a.py").decode() == text


@pytest.mark.parametrize(("pinned", "after"), [("0.1.2", UNSORTED), ("", SORTED), (version().split()[-1], SORTED)])
def test_rules_that_differ_between_versions_of_ruff_are_left_to_the_projects_own(
    repo: Any, pinned: str, after: str
) -> None:
    """Scrapy's imports, which its own ruff likes as they are."""
    place = "https://github.com/astral-sh/ruff-pre-commit"
    hook = f"repos:\n- repo: {place}\n  # ours\n  rev: v{pinned}\n  hooks:\n  - id: ruff\n"
    settings = {".pre-commit-config.yaml": hook} if pinned else {}
    repo.commit({"pyproject.toml": "[tool.ruff.lint]\nselect = ['I', 'F']\n", "a.py": UNSORTED, "b.py": "import os\n"})
    repo.commit({**settings, "c.txt": "c\n"})
    plan = repo.plan("--order=Tidy up")
    repo.execute("--order=Tidy up")
    assert repo.read("a.py").decode() == after
    assert repo.read("b.py") == b"", "an unused import is one in every version"
    assert ("checks itself with ruff 0.1.2" in plan.summary) == (after == UNSORTED)


HASHED = "repos:\n- repo: https://github.com/astral-sh/ruff-pre-commit\n  rev: {}{}\n  hooks:\n  - id: ruff-format\n"
HASH = "f0fe93c067104b76ffb58852abe79673a8429bd1"
PINNED = {
    "frozen": ({".pre-commit-config.yaml": HASHED.format(HASH, " # frozen: v0.11.8")}, "0.11.8"),
    "only a hash": ({".pre-commit-config.yaml": HASHED.format(HASH, "")}, HASH[:9]),
    "a lock": ({"uv.lock": '[[package]]\nname = "ruff"\nversion = "0.11.8"\n'}, "0.11.8"),
    "requirements": ({"dev-requirements.txt": "mypy==1.0.0\nruff==0.11.8  # x\n"}, "0.11.8"),
    "another package": ({"requirements.txt": "ruff-lsp==0.0.62\n"}, ""),
    "a range": ({"requirements.txt": "ruff>=0.11.8\n"}, ""),
}


@pytest.mark.parametrize("how", PINNED)
def test_the_version_of_ruff_is_found_wherever_the_project_pins_it(repo: Any, how: str) -> None:
    """Networkx's hashes of frozen hooks: its own ruff would format back what a newer one formats."""
    files, named = PINNED[how]
    text = "def f( a ):\n    return a\n"
    formatted = {f"f{number}.py": "def f(a):\n    return a\n" for number in range(3)}
    repo.commit({**files, **formatted, "pyproject.toml": "[tool.ruff.format]\n", "a.py": text})
    assert (f"checks itself with ruff {named} and" in repo.plan().summary) == bool(named)
    repo.execute()
    assert (repo.read("a.py").decode() == text) == bool(named)


def test_what_sphinx_built_is_left_alone(repo: Any) -> None:
    """Sqlalchemy's and paramiko's documents, which are in their distributions."""
    built = {
        "doc/searchindex.js": "x",
        "doc/_sources/a.rst.txt": "a \n",
        "doc/_static/documentation_options.js": "x",
        "doc/_static/basic.css": "a {}",
        "doc/_static/css/more.css": "a {}",
    }
    base = repo.commit({**built, "doc/a.rst": "a \n", "other/_static/own.css": "a {}"})
    repo.execute()
    assert repo.git("diff", "--name-only", base).split() == ["doc/a.rst", "other/_static/own.css"]


def test_what_only_another_version_or_no_choice_of_the_project_says_is_not_reported(repo: Any) -> None:
    """Attrs chooses ALL rules and has 88 findings with a newer ruff; its own finds none."""
    repo.commit({"pyproject.toml": "[tool.ruff.lint]\nselect = ['ALL']\n", "a.py": "def f(x):\n    return nowhere\n"})
    assert [one.rule for one in repo.plan().findings] == ["F821"]


def test_labels_of_sphinx_and_names_of_ipython_are_no_findings(repo: Any) -> None:
    """Black's and attrs' documents, and rich's console."""
    linked = "See [the policy](labels/policy), [frozen](attrs.frozen) and [gone](gone/page.md).\n"
    repo.commit({"docs/conf.py": "", "docs/a.md": linked, "a.py": "print(get_ipython())\n"})
    assert [one.message for one in repo.plan().findings] == ["Nothing exists at gone/page.md"]


def test_imports_with_a_comment_for_a_tool_are_not_sorted(repo: Any) -> None:
    """Scrapy's httpproxy.py."""
    text = "from urllib.request import (  # type: ignore[attr-defined]\n    _parse_proxy,\n)\n\nprint(_parse_proxy)\n"
    rules = "[tool.ruff.lint]\nselect = ['I']\nisort.split-on-trailing-comma = false\n"
    base = repo.commit({"pyproject.toml": rules, "a.py": text, "b.py": UNSORTED})
    done = repo.execute()
    assert repo.git("diff", "--name-only", base) == "b.py"
    assert done.left == ()


def test_what_tells_of_past_releases_stays_as_it_was_released(repo: Any) -> None:
    """Celery's docs/history and httpx's CHANGELOG.md."""
    told = {"CHANGELOG.md": "a \nb", "docs/history/5.0.rst": "a \nb", "docs/whatsnew-5.3.rst": "a \nb"}
    base = repo.commit({**told, "docs/new.rst": "a \nb"})
    repo.execute()
    assert repo.git("diff", "--name-only", base) == "docs/new.rst"
