"""How the housekeeper takes back what did harm."""

from typing import Any

MESSY = {
    "app/a.py": "import os\nimport sys\n\nprint(sys.argv)\n",
    "app/b.py": 'print(f"hello")\nvalue = 1  \n',
    "notes.txt": "one \ntwo",
}


def test_repair_drops_the_one_piece_that_did_it(repo: Any) -> None:
    base = repo.commit(MESSY)
    repo.execute()
    done = repo.repair("--base", base, "--check", "grep -q 'f\"hello' app/b.py")
    assert [d.subject for d in done.dropped] == ["Fix f-strings without placeholders (F541)"]
    assert repo.subjects(base) == ["Remove unused imports", "Strip trailing white space", "End files with a newline"]
    assert done.checks_after[0].green
    assert done.head == repo.git("rev-parse", "HEAD")
    assert {f.rule for f in done.fixed} == {"F401", "W291", "trailing-whitespace", "missing-final-newline"}


def test_repair_drops_every_piece_that_does_harm(repo: Any) -> None:
    base = repo.commit(MESSY)
    repo.execute()
    check = "grep -q 'import os' app/a.py && grep -q 'one ' notes.txt"
    done = repo.repair("--base", base, "--check", check)
    assert {d.subject for d in done.dropped} == {"Remove unused imports", "Strip trailing white space"}
    assert repo.subjects(base) == ["Fix f-strings without placeholders (F541)", "End files with a newline"]


def test_a_failure_seen_elsewhere_takes_back_what_it_names(repo: Any, tmp_path: Any) -> None:
    base = repo.commit(MESSY)
    repo.execute()
    report = tmp_path / "failure.txt"
    report.write_text("E   NameError in app/a.py:3\n")
    done = repo.repair("--base", base, "--failure", str(report), "--check", "true")
    assert [d.subject for d in done.dropped] == ["Remove unused imports"]
    assert "names app/a.py" in done.dropped[0].why
    assert len(done.commits) == 3


def test_a_failure_nobody_can_see_takes_nothing_back(repo: Any, tmp_path: Any) -> None:
    base = repo.commit(MESSY)
    made = repo.execute()
    report = tmp_path / "failure.txt"
    report.write_text("the network was away\n")
    done = repo.repair("--base", base, "--failure", str(report), "--check", "true")
    assert done.head == made.head
    assert done.summary.startswith("The failure does not show in this checkout")


def test_work_of_others_is_never_taken_back(repo: Any) -> None:
    base = repo.commit(MESSY)
    repo.execute()
    head = repo.commit({"theirs.py": "print(2)\n"})
    assert repo.run("repair", "--base", base, "--check", "false") == 5
    assert "is not the housekeeper's" in repo.stderr
    assert repo.git("rev-parse", "HEAD") == head
