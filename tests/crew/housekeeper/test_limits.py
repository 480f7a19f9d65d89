"""How the housekeeper stays inside the run contract."""

from typing import Any

import pytest


def files_and_lines(repo: Any, base: str) -> tuple[int, int]:
    """Distinct files over all commits, and lines per commit or in total, whichever is larger."""
    shown = repo.git("log", "--numstat", "--format=", f"{base}..HEAD").splitlines()
    steps = [row.split("\t") for row in shown if row]
    whole = [row.split("\t") for row in repo.git("diff", "--numstat", base, "HEAD").splitlines()]
    return len({row[2] for row in steps}), max(sum(int(r[0]) + int(r[1]) for r in rows) for rows in (steps, whole))


def unused(number: int) -> dict[str, str]:
    return {f"m{n:02}.py": "import os\n\nprint(1)\n" for n in range(number)}


def test_files_above_the_limit_wait_for_another_night(repo: Any) -> None:
    base = repo.commit(unused(32))
    plan = repo.plan("--most-files", "20")
    assert "12 more files wait for another night: the limit is 20 files; nothing is left for a person." in plan.summary
    assert plan.summary.startswith("Remove 20 unused imports in 20 files; ")
    assert plan.files == tuple(f"m{n:02}.py" for n in range(20))
    assert plan.estimate_files == 20
    done = repo.execute("--most-files", "20")
    assert tuple(repo.git("diff", "--name-only", base).splitlines()) == plan.files
    assert done.left == ()
    assert "12 more files wait for another night: the limit is 20 files; nothing is left" in done.summary
    assert len(done.fixed) == 20


def test_the_next_nights_do_what_waited(repo: Any) -> None:
    repo.commit(unused(5))
    waited = [repo.execute("--most-files", "2").summary for _ in range(4)]
    assert "3 more files wait" in waited[0]
    assert "1 more file waits" in waited[1]
    assert "wait" not in waited[2]
    assert waited[3].startswith("Changed nothing; nothing is left")


def test_lines_above_the_limit_wait_and_the_estimate_is_what_git_counts(repo: Any) -> None:
    base = repo.commit({f"t{n}.txt": "a \nb \n" for n in range(5)})
    plan = repo.plan("--most-lines", "10")
    assert plan.files == ("t0.txt", "t1.txt")
    assert plan.estimate_lines == 8
    assert "3 more files wait for another night: the limit is 10 lines" in plan.summary
    repo.execute("--most-lines", "10")
    assert files_and_lines(repo, base) == (2, 8)


def test_a_file_is_mended_whole_or_not_at_all_and_a_smaller_one_may_take_the_room(repo: Any) -> None:
    repo.commit({"a.txt": "x \n" * 3, "b.txt": "x \n" * 2, "c.txt": "x \n"})
    done = repo.execute("--most-lines", "8")
    assert repo.read("a.txt") == b"x\n" * 3
    assert repo.read("b.txt") == b"x \n" * 2
    assert repo.read("c.txt") == b"x\n"
    assert "1 more file waits for another night: the limit is 8 lines" in done.summary


def test_a_file_that_no_night_has_room_for_is_said_to_need_a_higher_limit(repo: Any) -> None:
    repo.commit({"a.txt": "x \n" * 30, "b.txt": "x \n"})
    plan = repo.plan("--most-lines", "8")
    assert plan.files == ("b.txt",)
    assert "1 file needs a higher limit of lines, the first is a.txt; nothing is left for a person." in plan.summary
    assert "another night" not in plan.summary


def test_when_nothing_fits_the_plan_says_so(repo: Any) -> None:
    base = repo.commit({"a.txt": "x \n"})
    plan = repo.plan("--most-lines", "1")
    assert plan.summary.startswith("Nothing to fix within the limits; 1 file needs a higher limit")
    assert plan.files == plan.approach == ()
    assert repo.execute("--most-lines", "1").head == base


def test_a_line_that_two_commits_change_counts_twice(repo: Any) -> None:
    base = repo.commit({"a.py": 'print(f"x")  \n'})
    assert repo.execute("--most-lines", "3").summary.startswith("Made 1 commit: ")
    assert files_and_lines(repo, base) == (1, 2)
    repo.git("reset", "-q", "--hard", base)
    assert repo.execute("--most-lines", "4").summary.startswith("Made 2 commits: ")
    assert files_and_lines(repo, base) == (1, 4)


def test_the_first_pieces_choose_the_files_and_later_ones_share_them(repo: Any) -> None:
    messy = "import os\n\nprint(1)  \n"
    base = repo.commit({"a.txt": "x \n", "b.txt": "x \n", "x.py": messy, "y.py": messy, "z.py": "print(1)  \n"})
    plan = repo.plan("--most-files", "3")
    assert plan.files == ("a.txt", "x.py", "y.py")
    assert [step.split(": ")[1] for step in plan.approach[:2]] == ["2 places in 2 files", "3 places in 3 files"]
    assert "2 more files wait" in plan.summary
    repo.execute("--most-files", "3")
    assert tuple(repo.git("diff", "--name-only", base).splitlines()) == plan.files


def test_more_work_in_a_file_that_changes_is_told_apart_from_more_files(repo: Any) -> None:
    repo.commit({"a.py": "import os\n\nprint(1)  \n", "b.txt": "x \n"})
    plan = repo.plan("--most-lines", "2")
    assert plan.files == ("a.py",)
    told = "1 more file and more work in 1 changed file wait for another night: the limit is 2 lines; nothing is left"
    assert told in plan.summary
    assert told in repo.execute("--most-lines", "2").summary
    assert repo.git("status", "--porcelain") == ""
    assert repo.read("a.py") == b"\nprint(1)  \n"


def test_both_limits_are_named_where_both_were_reached(repo: Any) -> None:
    repo.commit({"a.txt": "x \n", "b.txt": "x \n" * 2, "c.txt": "x \n", "d.txt": "x \n"})
    assert "the limits are 2 files and 5 lines" in repo.plan("--most-files", "2", "--most-lines", "5").summary


def test_what_only_a_person_can_do_is_still_said_of_files_that_wait(repo: Any) -> None:
    repo.commit({"a.py": "import os\n", "b.py": "import os\n\nprint(nowhere)\n"})
    done = repo.execute("--most-files", "1")
    assert [f.rule for f in done.left] == ["F821"]
    assert "1 more file waits for another night: the limit is 1 file; 1 finding needs a person." in done.summary


def test_a_piece_taken_back_makes_no_room_for_what_was_not_planned(repo: Any) -> None:
    base = repo.commit({"a.py": "import os\n\nprint(1)  \n"})
    done = repo.execute("--most-lines", "2", "--check", "grep -q os a.py")
    assert [d.subject for d in done.dropped] == ["Remove unused imports"]
    assert done.head == base
    assert [f.rule for f in done.left] == ["F401"]
    assert "waits for another night" in done.summary


def test_zero_is_no_limit(repo: Any) -> None:
    repo.commit(unused(25))
    assert repo.plan("--most-files", "0", "--most-lines", "0") == repo.plan()
    assert len(repo.plan().files) == 25


@pytest.mark.parametrize("words", [["--most-files", "-1"], ["--most-lines", "many"]])
def test_a_limit_that_makes_no_sense_is_exit_two(repo: Any, words: list[str]) -> None:
    repo.commit(unused(1))
    assert repo.run("plan", *words) == 2


def test_repair_keeps_to_the_limits_and_asks_no_person_for_what_waits(repo: Any) -> None:
    base = repo.commit(unused(3) | {"a.txt": "x \n"})
    repo.execute("--most-files", "4", "--most-lines", "4")
    done = repo.repair("--base", base, "--most-files", "4", "--most-lines", "4", "--check", "true")
    assert "1 more file waits for another night: the limit is 4 lines; nothing is left for a person." in done.summary
    assert done.left == ()


def test_a_piece_that_repair_must_do_anew_may_not_outgrow_the_limits(repo: Any) -> None:
    # Without the removal of its neighbours the one import block has to be sorted by moving more lines.
    block = "import zlib\nimport os\nimport re\nimport ast\nimport sys\n\nprint(zlib, ast, sys)\n"
    settings = '[lint]\nselect = ["F", "I"]\n'
    base = repo.commit({"ruff.toml": settings, "a.py": block})
    repo.execute()
    limit = str(files_and_lines(repo, base)[1])
    check = "grep -q 'import os' a.py"
    free = repo.repair("--base", base, "--check", check)
    assert [d.subject for d in free.dropped] == ["Remove unused imports"]
    needed = files_and_lines(repo, base)[1]
    repo.git("reset", "-q", "--hard", "refs/midwatch/before-repair")
    kept = repo.repair("--base", base, "--check", check, "--most-lines", limit)
    assert files_and_lines(repo, base)[1] == needed <= int(limit)
    repo.git("reset", "-q", "--hard", "refs/midwatch/before-repair")
    tight = repo.repair("--base", base, "--check", check, "--most-lines", str(needed - 1))
    assert len(kept.dropped) == 1
    assert f"changes more than {needed - 1} line" in tight.dropped[1].why
    assert tight.head == base


def test_lines_that_an_attribute_hides_are_counted_all_the_same(repo: Any) -> None:
    base = repo.commit({".gitattributes": "*.txt -diff\n", "a.txt": "x \n", "b.txt": "x \n"})
    done = repo.execute("--most-lines", "2")
    assert [(c.files, c.insertions, c.deletions) for c in done.commits] == [(1, 1, 1)]
    assert repo.git("diff", "--name-only", base) == "a.txt"
