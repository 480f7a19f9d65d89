"""What the housekeeper says before it does anything."""

from typing import Any

import pytest

MESSY = {
    "app/__init__.py": "",
    "app/a.py": "import os\nimport sys\n\nprint(sys.argv)\n",
    "app/b.py": 'import json\n\nprint(f"hello")\nvalue = 1  \n',
    "app/c.py": "def broken(:\n",
    "notes.txt": "one \ntwo",
}


def test_a_plan_says_at_a_glance_what_would_happen(repo: Any) -> None:
    repo.commit(MESSY)
    plan = repo.plan("--check", "true")
    assert plan.summary.startswith("Remove 2 unused imports in 2 files, fix 1 f-string without placeholders in 1 file")
    assert plan.summary.endswith("1 finding needs a person.")
    assert [step.split(":")[0] for step in plan.approach[:-1]] == [
        "Remove unused imports",
        "Fix f-strings without placeholders (F541)",
        "Strip trailing white space",
        "End files with a newline",
    ]
    assert plan.files == ("app/a.py", "app/b.py", "notes.txt")
    assert plan.checks == ("true",)
    assert plan.estimate_files == 3
    assert plan.estimate_lines == 2 + 4 + 4
    assert "git revert" in plan.undo
    assert "reset" not in plan.undo, "an undo loses nothing"
    assert plan.risks


def test_planning_leaves_every_byte_and_every_time_as_it_was(repo: Any) -> None:
    repo.commit(MESSY | {"pyproject.toml": "[tool.ruff]\nfix = true\nunsafe-fixes = true\n[tool.ruff.format]\n"})
    # An index older than its files tempts git to refresh it.
    (repo.root / "app/a.py").touch()
    before = repo.fingerprint()
    repo.plan("--check", "touch made-by-check")
    assert repo.fingerprint() == before


def test_the_gravest_findings_come_first_and_their_lines_exist(repo: Any) -> None:
    head = repo.commit(MESSY | {"app/d.py": "def f():\n    return nowhere\n"})
    plan = repo.plan()
    assert [f.rule for f in plan.findings][:2] == ["invalid-syntax", "F821"]
    for finding in plan.findings:
        assert repo.line(finding, head) == finding.excerpt


def test_execution_does_what_the_plan_said(repo: Any) -> None:
    base = repo.commit(MESSY)
    plan = repo.plan()
    done = repo.execute()
    assert [step.split(":")[0] for step in plan.approach[:-1]] == repo.subjects(base)
    assert tuple(repo.git("diff", "--name-only", base).splitlines()) == plan.files
    assert plan.estimate_lines == sum(
        int(n) for row in repo.git("diff", "--numstat", base).splitlines() for n in row.split("\t")[:2]
    )
    assert len(done.left) == 1


def test_what_is_not_in_the_approved_plan_is_not_touched(repo: Any) -> None:
    repo.commit({"a.py": "import os\n"})
    repo.plan()
    base = repo.commit({"b.py": "import os\n"})
    assert repo.run("execute", "--plan", str(repo.root.parent / "plan.json")) == 0
    assert repo.git("diff", "--name-only", base) == "a.py"
    assert [f["path"] for f in repo.result("execute")["left"]] == ["b.py"]


def test_a_tidy_repository_is_left_alone(repo: Any) -> None:
    base = repo.commit({"a.py": "print(1)\n", "README.md": "# Tidy\n"})
    plan = repo.plan()
    assert plan.summary == "Nothing to fix; nothing is left for a person."
    assert plan.files == plan.approach == ()
    done = repo.execute()
    assert done.head == done.base == base
    assert done.commits == ()


def test_a_repository_without_python_is_told_so_and_still_tidied(repo: Any) -> None:
    repo.commit({"README.md": "See [the guide](docs/guide.md). \n", "data.json": '{"a": 1,}\n'})
    plan = repo.plan()
    assert "no Python files here" in plan.summary
    assert [(f.rule, f.line) for f in plan.findings] == [
        ("json-syntax", 1),
        ("dead-link", 1),
        ("trailing-whitespace", 1),
    ]
    assert repo.execute().commits[0].subject == "Strip trailing white space"


def test_many_findings_are_counted_honestly_and_two_hundred_are_kept(repo: Any) -> None:
    repo.commit({"a.py": "".join(f"def f{n}():\n    return missing{n}\n" for n in range(230))})
    plan = repo.plan()
    assert len(plan.findings) == 200
    assert "230 findings need a person (the most serious 200 are listed)" in plan.summary


@pytest.mark.parametrize(
    "words",
    [
        ["dust"],
        ["plan", "--polish"],
        ["execute"],
        ["execute", "--plan", "/nowhere/plan.json"],
        ["execute", "--plan", "/dev/null"],
        ["repair"],
        ["repair", "--base", "HEAD", "--failure", "/nowhere/failure.txt"],
    ],
)
def test_wrong_arguments_are_exit_two_and_change_nothing(repo: Any, words: list[str]) -> None:
    repo.commit({"a.py": "import os\n"})
    before = repo.fingerprint()
    assert repo.run(*words) == 2
    assert repo.stderr
    assert repo.fingerprint() == before


def test_a_folder_that_is_no_checkout_is_exit_five_and_one_sentence(repo: Any) -> None:
    inside = repo.root / "inside"
    inside.mkdir()
    repo.commit({"a.py": "print(1)\n"})
    assert repo.run("plan", "--checkout", str(inside)) == 5
    assert repo.stderr == f"{inside} is not the top of a git checkout. Name the root of a private clone.\n"


def test_a_repository_without_a_commit_is_exit_five(repo: Any) -> None:
    assert repo.run("plan") == 5
    assert "no commit" in repo.stderr
