"""What the project's own tools leave alone, the housekeeper leaves alone."""

from typing import Any

import pytest

PRE_COMMIT = """
exclude: ^(sketches/|legacy/)
repos:
  - repo: https://example.invalid/hooks
    hooks:
      - id: trailing-whitespace
        exclude: |
          (?x)^(
            notes/.*|
            raw\\.txt
          )$
      - id: end-of-file-fixer
        files: ^src/
  - repo: https://example.invalid/ruff
    hooks:
      - id: ruff
        exclude: ^src/kept\\.py$
"""


def test_pre_commits_excludes_and_files_are_obeyed_hook_by_hook(repo: Any) -> None:
    repo.commit(
        {
            ".pre-commit-config.yaml": PRE_COMMIT,
            "sketches/a.py": "import os\n",
            "legacy/a.txt": "a \nb",
            "notes/a.txt": "a \nb\n",
            "raw.txt": "a \nb\n",
            "plain.txt": "a \nb",
            "src/b.txt": "a \nb",
            "src/kept.py": "import os\nx = 1  \n",
            "src/tidy.py": "import os\nx = 1  \n",
        }
    )
    repo.execute()
    assert repo.read("sketches/a.py") == b"import os\n"
    assert repo.read("legacy/a.txt") == b"a \nb"
    assert repo.read("notes/a.txt") == b"a \nb\n"
    assert repo.read("raw.txt") == b"a \nb\n"
    assert repo.read("plain.txt") == b"a\nb", "the hook for last newlines only looks below src"
    assert repo.read("src/b.txt") == b"a\nb\n"
    assert repo.read("src/kept.py") == b"import os\nx = 1\n", "only ruff was told to keep out"
    assert repo.read("src/tidy.py") == b"x = 1\n"


def test_a_hooks_kinds_of_file_are_obeyed(repo: Any) -> None:
    hook = "repos:\n- repo: local\n  hooks:\n  - id: trailing-whitespace\n    exclude_types: [markdown]\n"
    only = "  - id: end-of-file-fixer\n    types: [python]\n"
    repo.commit({".pre-commit-config.yaml": hook + only, "a.md": "a \nb", "a.txt": "a \nb", "a.py": "x = 1"})
    repo.execute()
    assert repo.read("a.md") == b"a \nb"
    assert repo.read("a.txt") == b"a\nb"
    assert repo.read("a.py") == b"x = 1\n"


@pytest.mark.parametrize("broken", ["exclude: '(('\nrepos: []\n", "repos: [\n", "- 1\n", "exclude: 3\nrepos: 4\n"])
def test_pre_commit_settings_that_cannot_be_read_stop_nobody(repo: Any, broken: str) -> None:
    repo.commit({".pre-commit-config.yaml": broken, "a.py": "import os\nx = 1\n"})
    repo.execute()
    assert repo.read("a.py") == b"x = 1\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.ruff]\nextend-exclude = ['old']\n"),
        ("pyproject.toml", "[tool.black]\nextend-exclude = '/old/'\n"),
        ("pyproject.toml", "[tool.black]\nforce-exclude = '''\n/(\n  old  # as it was\n)/\n'''\n"),
        ("pyproject.toml", "[tool.black]\nexclude = 'old/b[.]py'\n"),
        (".flake8", "[flake8]\nexclude =\n    .git,\n    old\n"),
        ("setup.cfg", "[flake8]\nextend-exclude = ./old/*\n"),
        ("tox.ini", "[flake8]\nper-file-ignores =\n    old/*.py: F401, W291\n"),
        ("tox.ini", "[pycodestyle]\nexclude = b.py\n"),
        (".gitattributes", "old/** linguist-generated=true\n"),
        (".gitattributes", "old/b.py linguist-vendored\n"),
    ],
)
def test_what_a_formatter_or_linter_leaves_out_is_left_alone(repo: Any, name: str, text: str) -> None:
    files = {"old/__init__.py": "", "old/b.py": "import os\nx = 1  \n", "new.py": "import os\nx = 1\n"}
    repo.commit({name: text, **files})
    repo.execute()
    assert repo.read("old/b.py") == b"import os\nx = 1  \n"
    assert repo.read("new.py") == b"x = 1\n"


def test_a_rule_that_flake8_ignores_is_neither_fixed_nor_reported(repo: Any) -> None:
    repo.commit({"setup.cfg": "[flake8]\nextend-ignore = F401,W2\n", "a.py": 'import os\nx = f"y"  \n'})
    done = repo.execute()
    assert repo.read("a.py") == b'import os\nx = "y"  \n'
    assert done.left == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.isort]\nskip = ['b.py']\n[tool.ruff.lint]\nselect = ['I', 'W']\n"),
        ("pyproject.toml", "[tool.isort]\nextend_skip_glob = ['old/*']\n[tool.ruff.lint]\nselect = ['I', 'W']\n"),
    ],
)
def test_where_isort_keeps_out_imports_stay_as_they_are(repo: Any, name: str, text: str) -> None:
    messy = "import sys\nimport os\n\nprint(os, sys)  \n"
    repo.commit({name: text, "old/b.py": messy, "new.py": messy})
    repo.execute()
    assert repo.read("old/b.py") == b"import sys\nimport os\n\nprint(os, sys)\n"
    assert repo.read("new.py") == b"import os\nimport sys\n\nprint(os, sys)\n"


def test_white_space_that_git_or_prettier_is_told_to_keep_stays(repo: Any) -> None:
    repo.commit(
        {
            ".gitattributes": "*.txt whitespace=-trailing-space\n*.rst -whitespace\n",
            ".prettierignore": "# as published\nsite/\n!site/own.md\n",
            "a.txt": "a \nb\n",
            "a.rst": "a \nb\n",
            "site/a.md": "a \nb\n",
            "site2/a.md": "a \nb\n",
        }
    )
    repo.execute()
    assert repo.read("a.txt") == b"a \nb\n"
    assert repo.read("a.rst") == b"a \nb\n"
    assert repo.read("site/a.md") == b"a \nb\n"
    assert repo.read("site2/a.md") == b"a\nb\n"


@pytest.mark.parametrize("mark", ["# @generated", "# DO NOT EDIT", "# This file was automatically generated by a tool"])
def test_a_mark_of_generated_code_counts_below_a_licence_too(repo: Any, mark: str) -> None:
    text = "# Licensed to you\n" * 15 + f"{mark}\nimport os\n"
    repo.commit({"made.py": text, "own.py": "import os\nx = 'do not edit'\n"})
    repo.execute()
    assert repo.read("made.py") == text.encode()


def test_the_last_newline_is_of_the_kind_that_editorconfig_asks_for(repo: Any) -> None:
    wishes = "root = true\n[*]\nend_of_line = lf\n[win/**]\nend_of_line = crlf\n"
    repo.commit({".editorconfig": wishes, "win/a.txt": "one", "win/b.py": "x = 1", "a.txt": "one", "win/c.txt": "a\nb"})
    repo.execute()
    assert repo.read("win/a.txt") == b"one\r\n"
    assert repo.read("win/b.py") == b"x = 1\r\n"
    assert repo.read("a.txt") == b"one\n"
    assert repo.read("win/c.txt") == b"a\nb\n", "a file keeps the line endings that it has"
