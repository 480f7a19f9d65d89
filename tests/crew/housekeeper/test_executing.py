"""What the housekeeper does, and what it never does."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

MESSY = {
    "app/a.py": "import os\nimport sys\n\nprint(sys.argv)\n",
    "app/b.py": 'print(f"hello")\nvalue = 1  \n',
    "notes.txt": "one \ntwo",
}


def test_each_kind_of_fix_is_one_commit_that_explains_itself(repo: Any) -> None:
    base = repo.commit(MESSY)
    done = repo.execute()
    assert [c.subject for c in done.commits] == repo.subjects(base)
    assert [(c.files, c.insertions, c.deletions) for c in done.commits] == [(1, 0, 1), (1, 1, 1), (2, 2, 2), (1, 1, 1)]
    assert done.head == repo.git("rev-parse", "HEAD")
    assert done.base == base
    body = repo.git("show", "-s", "--format=%an <%ae>%n%b", done.commits[0].sha)
    assert body.startswith("Midwatch housekeeper <housekeeper@midwatch.invalid>\nRule F401: 1 place in 1 file.")
    assert "safe fix" in body
    assert repo.git("status", "--porcelain") == ""
    assert repo.read("notes.txt") == b"one\ntwo\n"


def test_fixed_findings_stand_on_lines_of_the_base_and_left_ones_on_lines_of_the_head(repo: Any) -> None:
    base = repo.commit({"a.py": "import os\nimport re\n\n\ndef f():\n    return gone\n\n\nprint(f'x')\n"})
    done = repo.execute()
    assert [(f.rule, f.line) for f in done.fixed] == [("F401", 1), ("F401", 2), ("F541", 9)]
    assert [(f.rule, repo.line(f, done.head)) for f in done.left] == [("F821", "return gone")]
    for finding in done.fixed:
        assert repo.line(finding, base) == finding.excerpt != ""


def test_a_piece_that_breaks_a_check_is_taken_back_and_the_others_stay(repo: Any) -> None:
    base = repo.commit(MESSY)
    done = repo.execute("--check", "grep -q 'import os' app/a.py", "--check", "true")
    assert [d.subject for d in done.dropped] == ["Remove unused imports"]
    assert "passed before and ended with exit 1 after" in done.dropped[0].why
    assert repo.subjects(base) == [
        "Fix f-strings without placeholders (F541)",
        "Strip trailing white space",
        "End files with a newline",
    ]
    assert all(check.green for check in done.checks_after)
    assert "import os" in repo.read("app/a.py").decode()
    assert [f.rule for f in done.left] == ["F401"]


def test_a_red_check_may_stay_red_but_not_get_redder(repo: Any) -> None:
    tests = (
        "import unittest\n\n\nclass T(unittest.TestCase):\n"
        "    def test_a(self):\n        self.assertIn('import os', open('app/a.py').read())\n"
        "    def test_b(self):\n        self.fail()\n"
        "    def test_c(self):\n        self.assertIn('f\"', open('app/b.py').read())\n"
    )
    repo.commit(MESSY | {"test_it.py": tests})
    done = repo.execute("--check", f"{sys.executable} -m unittest -q test_it")
    assert done.checks_before[0].failures == 1
    assert done.checks_after[0].failures == 1
    assert {d.subject for d in done.dropped} == {"Remove unused imports", "Fix f-strings without placeholders (F541)"}
    assert "had 1 failures before and 2 after" in done.dropped[0].why
    assert [c.subject for c in done.commits] == ["Strip trailing white space", "End files with a newline"]


def test_a_red_check_may_not_fail_in_another_way(repo: Any) -> None:
    repo.commit(MESSY)
    done = repo.execute("--check", "grep -q 'import os' app/a.py && exit 1; exit 4")
    assert [d.subject for d in done.dropped] == ["Remove unused imports"]
    assert "ended with exit 1 before and ended with exit 4 after" in done.dropped[0].why


def test_checks_run_without_the_secrets_of_the_house(repo: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    repo.commit(MESSY)
    done = repo.execute("--check", "env; test -d $HOME")
    names = {line.split("=")[0] for line in done.checks_before[0].tail.splitlines()}
    assert names <= {"PATH", "HOME", "TMPDIR", "LANG", "PYTHONDONTWRITEBYTECODE", "PWD", "SHLVL", "_", "OLDPWD"}
    assert os.environ["HOME"] not in done.checks_before[0].tail.split("HOME=")[1].splitlines()[0]


def test_a_check_that_hangs_is_ended_with_everything_it_started(repo: Any) -> None:
    repo.commit({"a.py": "import os\n"})
    done = repo.execute("--check", "sleep 1000 & echo $! > ../child; wait", "--check-seconds", "1")
    assert done.checks_before[0].exit_code == 124
    child = int((repo.root.parent / "child").read_text())
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


def test_what_checks_write_into_tracked_files_is_not_committed(repo: Any) -> None:
    base = repo.commit(MESSY | {"counter.txt": "0\n"})
    repo.execute("--check", "echo 1 >> counter.txt")
    assert "counter.txt" not in repo.git("diff", "--name-only", base)
    assert repo.git("status", "--porcelain") == ""


def test_nobodys_hooks_and_signatures_are_used(repo: Any) -> None:
    repo.commit(MESSY)
    for name in ("pre-commit", "post-commit"):
        hook = repo.root / ".git/hooks" / name
        hook.write_text("#!/bin/sh\ntouch ../hooked\nexit 1\n")
        hook.chmod(0o755)
    repo.git("config", "commit.gpgsign", "true")
    assert repo.execute().commits
    assert not (repo.root.parent / "hooked").exists()


def test_only_the_paths_of_the_orders_are_touched(repo: Any) -> None:
    files = {f"{place}/m.py": "import os\n" for place in ("src/a", "src/b", "tools", "src/a/deep/er")}
    base = repo.commit(files)
    done = repo.execute("--path", "src/**", "--avoid", "src/*/deep")
    assert repo.git("diff", "--name-only", base).splitlines() == ["src/a/m.py", "src/b/m.py"]
    assert done.left == ()


def test_a_dirty_checkout_is_refused_with_exit_five(repo: Any) -> None:
    repo.commit(MESSY)
    repo.plan()
    (repo.root / "app/a.py").write_text("print('mine')\n")
    assert repo.run("execute", "--plan", str(repo.root.parent / "plan.json")) == 5
    assert "uncommitted changes" in repo.stderr
    assert repo.read("app/a.py") == b"print('mine')\n"


def test_after_a_kill_in_the_middle_the_same_commits_come_out(repo: Any, tmp_path: Path) -> None:
    base = repo.commit(MESSY)
    whole = tmp_path / "whole"
    repo.git("clone", "-q", str(repo.root), str(whole))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    repo.plan()
    plan = str(tmp_path / "plan.json")
    # The check stops for good once the first piece is committed, and says so.
    check = f"git log -1 --format=%s | grep -q Remove && echo $$ > {pipe} && sleep 1000; true"
    killed = subprocess.Popen(repo.command("execute", "--plan", plan, "--check", check), stdout=subprocess.DEVNULL)
    orphan = int(pipe.read_text())
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    os.killpg(orphan, signal.SIGKILL)
    assert repo.subjects(base) == ["Remove unused imports"]
    fresh = type(repo)(whole)
    fresh.execute()
    assert repo.run("execute", "--plan", plan) == 0, repo.stderr
    assert repo.subjects(base) == fresh.subjects(base) != []
    assert repo.git("rev-parse", "HEAD^{tree}") == fresh.git("rev-parse", "HEAD^{tree}")


def test_progress_is_told_line_by_line_as_json(repo: Any) -> None:
    repo.commit(MESSY)
    repo.execute("--check", "true")
    assert {line["type"] for line in repo.said} == {"message", "milestone"}
    assert repo.said[-1]["text"].startswith("Made 4 commits: remove unused imports, ")
