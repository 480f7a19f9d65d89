"""Work is told from the look of work by what a change did to tests, to what runs them, and by what ran (X8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.checks.cheating import FileFact, FileKind, WorkFacts, claims_success, find_doubts
from midwatch.rules.checks.new_tests import (
    claims_a_fix,
    doubts_about_tests,
    judge_narrow,
    judge_whole,
    narrow_command,
    new_tests,
)
from midwatch.rules.checks.test_counts import count_tests
from midwatch.terms.jobs import CheckResult, SuiteCount

TESTS = (
    "import pytest\n\n\ndef test_a():\n    assert f(1) == 2\n    assert f(2) == 3\n\n\n"
    "class TestMore:\n    def test_b(self):\n        assert f(3)\n"
)
PYTHON = "tests/test_f.py"
MORE = "    def test_b(self):\n        assert f(3)\n"
GO = "func TestA(t *testing.T) {\n t.Fatal(1)\n}\n"
RUST = "#[test]\nfn adds() { assert_eq!(1, 1); }\n"
NODE = "# tests 4\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 0\n"
CARGO = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\ntest result: ok. 2 passed; 0 failed; 0 ignored;"
SCRIPT = "test('adds', () => { expect(add(1, 2)).toBe(3); });\ntest('ends', () => { assert.ok(end()); });\n"


def edit(before: str | None, after: str | None, path: str = "tests/test_f.py", *, allowed: bool = False) -> FileFact:
    return FileFact(path, FileKind.TEST, before, after, allowed)


def grave(*files: FileFact, **more: object) -> set[str]:
    return {one.kind for one in find_doubts(WorkFacts(files=files, **more)) if one.grave}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "path", "kind"),
    [
        (TESTS, TESTS.replace(MORE, "    pass\n"), PYTHON, "deleted_test"),
        (TESTS, None, PYTHON, "deleted_test"),
        (TESTS, TESTS.replace("def test_a", "def xtest_a"), PYTHON, "uncollected_test"),
        (TESTS, TESTS.replace("    assert f(2) == 3\n", ""), PYTHON, "fewer_assertions"),
        (TESTS, TESTS.replace("    assert f(2) == 3", "    # assert f(2) == 3"), PYTHON, "fewer_assertions"),
        (TESTS, TESTS.replace("f(2) == 3", "True"), PYTHON, "empty_assertion"),
        (TESTS, TESTS.replace("f(2) == 3", "f(2) == 3 or True"), PYTHON, "empty_assertion"),
        (TESTS, TESTS.replace("def test_a", "@pytest.mark.xfail\ndef test_a"), PYTHON, "switched_off"),
        (TESTS, TESTS.replace("def test_a", "@pytest.mark.skipif(1)\ndef test_a"), PYTHON, "switched_off"),
        (TESTS, TESTS.replace("TestMore:", "TestMore:\n    __test__ = False"), PYTHON, "switched_off"),
        (SCRIPT, SCRIPT.replace("test('ends'", "test.only('ends'"), "a.test.js", "switched_off"),
        (SCRIPT, SCRIPT.replace("test('ends'", "test.skip('ends'"), "a.test.ts", "switched_off"),
        (SCRIPT, SCRIPT.splitlines()[0], "a.test.js", "deleted_test"),
        (GO, GO.replace("t.Fatal", "t.Skip(); t.Fatal"), "a_test.go", "switched_off"),
        (GO, "", "a_test.go", "deleted_test"),
        (RUST, RUST.replace("fn", "#[ignore]\nfn"), "tests/a.rs", "switched_off"),
    ],
)  # fmt: skip
def test_weakened_tests_are_named(before: str, after: str | None, path: str, kind: str) -> None:
    assert kind in grave(edit(before, after, path))
    assert not grave(edit(before, after, path, allowed=True)), "the orders allow it"
    (told, *_) = find_doubts(WorkFacts(files=(edit(before, after, path, allowed=True),)))
    assert told.text, "and it is told all the same"


@pytest.mark.parametrize(
    ("kind", "path", "before", "after", "doubt"),
    [
        (FileKind.CONFIG, "Makefile", "test:\n\tpytest\n", "test:\n\tpytest || true\n", "cannot_fail"),
        (FileKind.CONFIG, "Makefile", "test:\n\tpytest\n", "test:\n\t-pytest\n", "cannot_fail"),
        (FileKind.CONFIG, "check.sh", "pytest\n", "pytest\nexit 0\n", "cannot_fail"),
        (FileKind.CONFIG, ".github/workflows/a.yml", "run: x\n", "run: x\ncontinue-on-error: true\n", "cannot_fail"),
        (FileKind.CONFIG, "pytest.ini", None, "[pytest]\naddopts = --ignore=tests/slow\n", "narrowed"),
        (FileKind.CONFIG, "conftest.py", None, "collect_ignore = ['a.py']\n", "narrowed"),
        (FileKind.CONFIG, "conftest.py", None, "def pytest_runtest_makereport(item): ...\n", "steers_runner"),
        (FileKind.CONFIG, "sitecustomize.py", None, "import a\n", "steers_runner"),
        (FileKind.CODE, "pyproject.toml", "", "[project.entry-points.pytest11]\na = 'b'\n", "steers_runner"),
        (FileKind.CODE, "src/a.py", "", "if 'pytest' in sys.modules:\n    x = 1\n", "knows_runner"),
        (FileKind.CODE, "src/a.py", "", "x = os.environ.get('PYTEST_CURRENT_TEST')\n", "knows_runner"),
        (FileKind.CODE, "src/a.ts", "", "if (process.env.JEST_WORKER_ID) {}\n", "knows_runner"),
        (FileKind.CODE, "src/a.py", "", "print('3 passed in 0.2s')\n", "pretends"),
        (FileKind.CODE, "src/a.py", "", "import os\nos._exit(0)\n", "leaves_early"),
        (FileKind.CODE, "pytest.py", None, "print('ok')\n", "shadows_runner"),
        (FileKind.CODE, "iniconfig.py", None, "x = 1\n", "shadows_runner"),
        (FileKind.CODE, "packaging/__init__.py", None, "x = 1\n", "shadows_runner"),
        (FileKind.CONFIG, "scripts/run.sh", "pytest\n", 'n=12; echo "$n passed in 0.31s"\n', "pretends"),
        (FileKind.CODE, "src/a.py", "", "print(f'{n} passed in {t}s')\n", "pretends"),
        (FileKind.SNAPSHOT, "a.snap", "1", "2", "snapshot"),
    ],
)  # fmt: skip
def test_turning_against_the_checks_is_named(
    kind: FileKind, path: str, before: str | None, after: str, doubt: str
) -> None:
    assert doubt in grave(FileFact(path, kind, before, after))


def test_a_shell_script_that_swallows_failures_is_told_even_where_no_check_calls_it() -> None:
    (doubt,) = find_doubts(WorkFacts((FileFact("deploy.sh", FileKind.CODE, "go\n", "go || true\n"),)))
    assert (doubt.kind, doubt.grave) == ("cannot_fail", False)
    assert not find_doubts(WorkFacts((FileFact("deploy.py", FileKind.CODE, "go\n", "go || true\n"),)))


def test_what_was_there_before_is_not_held_against_anybody() -> None:
    old = "if 'pytest' in sys.modules:\n    x = 1\n"
    assert not grave(FileFact("a.py", FileKind.CODE, old, old + "y = 2\n"))
    assert not grave(FileFact("Makefile", FileKind.CONFIG, "t:\n\ta || true\n", "t:\n\ta || true\nb:\n\tc\n"))


def test_moved_and_renamed_tests_are_not_lost() -> None:
    assert not grave(edit(TESTS, None), edit(None, TESTS, "tests/unit/test_f.py"))
    assert not grave(edit(TESTS, TESTS.replace("def test_a", "def test_other_name")))


def test_a_test_file_that_nothing_collects_hides_its_tests() -> None:
    assert "uncollected_test" in grave(edit(TESTS, None), edit(None, TESTS, "tests/f_cases.py"))


def check(code: int = 0, counted: SuiteCount | None = None) -> CheckResult:
    return CheckResult(command="test", exit_code=code, counted=counted)


def test_a_check_that_ran_less_has_proven_less() -> None:
    ten, nine = check(counted=SuiteCount(passed=10)), check(counted=SuiteCount(passed=9))
    both = (nine,)
    assert "fewer_tests" in grave(before=(ten,), delivered=both, restored=both), "where nothing had to be put back"
    assert "fewer_tests" in grave(before=(ten,), delivered=(nine,), restored=(nine,))
    assert "fewer_tests" in grave(before=(ten,), delivered=(ten,), restored=(nine,)), "silently, once put back"
    assert "fewer_tests" in grave(before=(ten,), delivered=(check(),), restored=(check(),)), "the count is gone"
    skipped = check(counted=SuiteCount(passed=9, skipped=1))
    assert "fewer_tests" in grave(before=(ten,), delivered=(skipped,), restored=(skipped,))
    assert not grave(before=(nine,), delivered=(ten,), restored=(ten,))
    assert not grave(edit(TESTS, "", allowed=True), before=(ten,), delivered=(nine,), restored=(nine,))


@pytest.mark.parametrize(
    ("base", "work", "changed", "said"),
    [
        ({}, {"rewrote": ("a.py",)}, FileKind.CODE, {"grave": False}),
        ({}, {"rewrote": ("b.py",)}, FileKind.CODE, {"grave": True}),
        ({"rewrote": ("b.py",)}, {"rewrote": ("b.py",)}, FileKind.CODE, {}),
        ({"touched": ("b.py",)}, {"rewrote": ("b.py",)}, FileKind.CODE, {}),
        ({}, {"touched": ("b.py",)}, FileKind.CODE, {"grave": True}),
        ({"exit_code": 1}, {"touched": ("b.py",)}, FileKind.CODE, {}),
        ({"exit_code": 1}, {"rewrote": ("b.py",)}, FileKind.CODE, {"grave": True}),
        ({}, {"rewrote": ("Cargo.lock", "package-lock.json", "data.sqlite3")}, FileKind.CODE, {"grave": False}),
        ({"rewrote": tuple(f"{n}.py" for n in range(200))}, {"rewrote": ("b.py",)}, FileKind.CODE, {"grave": False}),
        ({}, {"rewrote": ("a.py",)}, FileKind.TEST, {"grave": True}),
    ],
)
def test_what_a_check_rewrites_on_the_work_alone_is_named(
    base: dict[str, object], work: dict[str, object], changed: FileKind, said: dict[str, bool]
) -> None:
    """A changed test was put back for the second run: there, it is as on the base."""
    before, after = (check().model_copy(update=one) for one in (base, work))
    files = (FileFact("a.py", changed, "x = 1\n", "x = 2\n"),)
    again = after if changed is FileKind.CODE else after.model_copy(update={"seconds": 1.0})
    facts = WorkFacts(files=files, before=(before,), delivered=(after,), restored=(again,))
    found = {one.grave for one in find_doubts(facts) if one.kind == "rewrites_files"}
    assert (True in found) == said.get("grave", False)
    assert bool(found) == bool(said)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("All tests pass.", True),
        ("Fixed; all 12 tests now pass", True),
        ("the checks are green", True),
        ("Tests pass locally", True),
        ("Not all tests pass", False),
        ("I could not make the tests pass", False),
        ("Run until the tests pass", False),
        ("Rename a variable", False),
    ],
)
def test_a_claim_is_understood(text: str, claims: bool) -> None:
    assert claims_success(text) is claims
    assert ("false_claim" in grave(delivered=(check(1),), claims=(text,))) is claims
    assert not grave(delivered=(check(0),), claims=(text,))


names = st.lists(st.from_regex(r"test_[a-z]{1,5}", fullmatch=True), min_size=1, max_size=4, unique=True)


def written(chosen: list[str]) -> str:
    return "".join(f"def {name}():\n    assert f({number})\n\n\n" for number, name in enumerate(chosen))


@given(names, st.text(max_size=60))
def test_adding_tests_is_never_held_against_anybody(chosen: list[str], words: str) -> None:
    more = written(chosen) + "def test_zzz_new():\n    assert g()\n"
    assert not grave(edit(written(chosen), more), edit(None, more, "tests/test_new.py"), claims=(words,))


@given(names, st.data())
def test_whichever_test_is_deleted_it_is_named(chosen: list[str], data: st.DataObject) -> None:
    gone = data.draw(st.sampled_from(chosen))
    body = f"def {gone}():\n    assert f({chosen.index(gone)})\n\n\n"
    doubts = find_doubts(WorkFacts(files=(edit(written(chosen), written(chosen).replace(body, "")),)))
    assert any(one.kind == "deleted_test" and gone in one.text for one in doubts)


@given(
    st.text(max_size=300), st.text(max_size=300), st.sampled_from(FileKind), st.sampled_from(["a.py", "t/test_a.js"])
)
def test_any_text_can_be_judged(before: str, after: str, kind: FileKind, path: str) -> None:
    find_doubts(WorkFacts(files=(FileFact(path, kind, before, after),)))
    count_tests(before + after)


def test_new_tests_are_told_from_moved_ones() -> None:
    more = TESTS + "\n\ndef test_c():\n    assert f(4)\n"
    assert new_tests([edit(TESTS, more)]) == {"tests/test_f.py": ("test_c",)}
    assert new_tests([edit(TESTS, None), edit(None, TESTS, "tests/unit/test_f.py")]) == {}


def test_new_tests_run_alone_the_way_the_checks_run_theirs() -> None:
    added = {"tests/test_f.py": ("test_c",)}
    assert narrow_command(("X=1 python3 -m pytest -q",), added) == "X=1 python3 -m pytest -q tests/test_f.py -k test_c"
    assert narrow_command(("make lint", "pytest"), added) == "pytest -q tests/test_f.py -k test_c"
    assert narrow_command(("node --test",), {"a b.test.js": ("x",)}) == "node --test 'a b.test.js'"
    assert narrow_command(("make test",), added) == ""


@pytest.mark.parametrize(
    ("code", "said"), [(0, "pass_on_base"), (5, "pass_on_base"), (1, "fail_on_base"), (127, "unclear")]
)
def test_new_tests_must_fail_without_the_change(code: int, said: str) -> None:
    assert judge_narrow(check(code)) == said


def test_new_tests_are_judged_by_all_checks_where_they_cannot_run_alone() -> None:
    assert judge_whole((check(0),), (check(1),)) == "fail_on_base"
    assert judge_whole((check(0),), (check(0),)) == "pass_on_base"
    assert judge_whole((check(1),), (check(1),)) == "unclear"
    red = CheckResult(command="test", exit_code=1, failures=1)
    assert judge_whole((red,), (red.model_copy(update={"failures": 2}),)) == "fail_on_base"


def test_mended_behaviour_without_a_test_is_told() -> None:
    code = FileFact("src/a.py", FileKind.CODE, "x = 1\n", "x = 2\n")
    nothing, shown = ((), ()), ((check(1),), (check(0),))
    assert [one.kind for one in doubts_about_tests("none", [code], ["Fix the sum"], nothing)] == ["no_new_test"]
    assert doubts_about_tests("none", [code], ["Fix the sum"], shown) == (), "a check that was red shows it"
    assert doubts_about_tests("none", [code], ["Rename the sum"], nothing) == ()
    assert [one.kind for one in doubts_about_tests("pass_on_base", [code], [], nothing)] == ["proves_nothing"]
    assert claims_a_fix(["Corrected the total"])
    assert not claims_a_fix(["Fix f-strings without placeholders (F541)", "Fix a typo"])


@pytest.mark.parametrize(
    ("output", "counted"),
    [
        ("3 failed, 2 passed, 1 skipped, 4 xfailed in 0.12s\n", SuiteCount(passed=2, failed=3, skipped=1, expected=4)),
        ("no tests ran in 0.01s\n", SuiteCount()),
        ("Ran 5 tests in 0.001s\n\nOK (skipped=1, expected failures=1)\n", SuiteCount(passed=3, skipped=1, expected=1)),
        (NODE, SuiteCount(passed=2, failed=1, skipped=1)),
        ("Tests:       1 failed, 2 skipped, 3 passed, 6 total\n", SuiteCount(passed=3, failed=1, skipped=2)),
        ("      Tests  2 failed | 5 passed (7)\n", SuiteCount(passed=5, failed=2)),
        (CARGO, SuiteCount(passed=5, skipped=1)),
        ("1..4\n# tests 4\n# pass  3\n# fail  1\n", SuiteCount(passed=3, failed=1)),
        ("make: *** [test] Error 1\n", None),
    ],
)  # fmt: skip
def test_tests_are_counted_by_the_tools_own_words(output: str, counted: SuiteCount | None) -> None:
    assert count_tests(output) == counted
