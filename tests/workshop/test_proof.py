"""Proofs from real checkouts: found checks, flaky ones, new tests on the base, and coverage (X8, A7)."""

import sys
from datetime import timedelta
from pathlib import Path

import pytest

from midwatch.ports.workspace import JobPlace, ProofRequest
from midwatch.terms.jobs import CheckSource, Proof
from midwatch.workshop.checks.check_files import scripts_of
from midwatch.workshop.checks.proof import Prover
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.sandbox.enclosure import Enclosure
from tests.workshop.repository import Repository

PYTEST = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider"
APP = "def double(n):\n    return n + n\n\n\ndef half(n):\n    return n\n"
FIXED = APP.replace("return n\n", "if n < 0:\n        return 0\n    return n // 2\n")
TEST = "from app import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
NEW = "from app import half\n\n\ndef test_half():\n    assert half(4) == 2\n"


class Bench:
    """A project with a fault that no test sees, and the proof of changes to it."""

    def __init__(self, person: Repository, checkouts: Checkouts, logs: Path) -> None:
        self.person, self.checkouts, self.logs = person, checkouts, logs
        self.base = person.commit("Base", {"app.py": APP, "tests/test_app.py": TEST})

    async def prove(self, files: dict[str, str], *commands: str, **plan: object) -> Proof:
        head = self.person.commit("Work", files)
        await self.checkouts.mirrors.refresh("shop", self.person.path)
        place, wall = JobPlace("shop", "job"), timedelta(minutes=1)
        asked = ProofRequest(place, self.base, head, commands, wall, **plan)  # type: ignore[arg-type]
        return await Prover(self.checkouts, Enclosure(), self.logs).prove(asked)


@pytest.fixture
def bench(person: Repository, checkouts: Checkouts, tmp_path: Path) -> Bench:
    return Bench(person, checkouts, tmp_path / "logs")


async def test_new_tests_are_tried_without_the_change(bench: Bench) -> None:
    proof = await bench.prove({"app.py": FIXED, "tests/test_half.py": NEW}, PYTEST)
    assert (proof.verdict, proof.new_tests, proof.new_test_files) == ("green", "fail_on_base", ("tests/test_half.py",))
    assert proof.delivered[0].counted is not None
    assert proof.delivered[0].counted.passed == 2


async def test_new_tests_that_pass_anyway_prove_nothing_and_that_is_said(bench: Bench) -> None:
    proof = await bench.prove({"app.py": FIXED, "tests/test_more.py": TEST.replace("_double", "_more")}, PYTEST)
    assert (proof.verdict, proof.new_tests) == ("green", "pass_on_base")
    assert [doubt.kind for doubt in proof.doubts] == ["proves_nothing"]


async def test_new_tests_are_tried_with_all_checks_where_they_cannot_run_alone(bench: Bench) -> None:
    bench.base = bench.person.commit("Script", {"run.sh": f"{PYTEST}\n"})
    proof = await bench.prove({"app.py": FIXED, "tests/test_half.py": NEW}, "sh run.sh")
    assert proof.new_tests == "fail_on_base"


async def test_a_check_is_found_in_the_project_and_says_so(bench: Bench) -> None:
    bench.base = bench.person.commit("Makefile", {"Makefile": f"test:\n\t{PYTEST}\n"})
    proof = await bench.prove({"app.py": FIXED}, "true", finds_checks=True, project_checks=("true",))
    assert [(one.command, one.source) for one in proof.delivered] == [
        ("true", CheckSource.PROJECT),
        ("make test", CheckSource.FOUND),
    ]
    assert proof.verdict == "green"


async def test_a_found_check_that_cannot_run_is_left_out_with_a_note(bench: Bench) -> None:
    bench.base = bench.person.commit("Makefile", {"Makefile": "test:\n\tno-such-tool\n"})
    proof = await bench.prove({"app.py": FIXED}, finds_checks=True)
    assert (proof.verdict, proof.delivered) == ("no_checks", ())
    assert proof.notes == ("`make test` was found and left out: its tool is not there.",)


async def test_red_then_green_on_the_same_commit_is_flaky_and_never_green(bench: Bench) -> None:
    seen = bench.logs.with_name("seen")  # outside: each run has a tree and a home of its own
    moody = f"grep -q 'n // 2' app.py || exit 0; [ -e {seen} ] && exit 0; touch {seen}; exit 1"
    proof = await bench.prove({"app.py": FIXED}, moody)
    assert (proof.delivered[0].flaky, proof.delivered[0].reruns, proof.delivered[0].green) == (True, (0,), False)
    assert proof.before[0].reruns == (0, 0)
    assert proof.verdict == "worse", "the base is green each time: this work made it flaky"


async def test_a_base_that_is_flaky_alike_takes_the_blame_from_the_work(bench: Bench) -> None:
    """The first run ends by whether the work is there; each later one ends the other way."""
    seen = bench.logs.with_name("seen")
    flips = f"n=0; grep -q 'n // 2' app.py && n=1; s={seen}$n; [ -e $s ] && n=$((1-n)); touch $s; exit $n"
    proof = await bench.prove({"app.py": FIXED}, flips)
    assert (proof.before[0].flaky, proof.delivered[0].flaky) == (True, True)
    assert (proof.verdict, proof.flaky) == ("flaky", (flips,))


async def test_red_each_time_is_red_and_was_run_again_to_be_sure(bench: Bench) -> None:
    proof = await bench.prove({"app.py": FIXED}, "! grep -q 'n // 2' app.py", reruns=2)
    assert (proof.verdict, proof.delivered[0].reruns) == ("worse", (1, 1))
    unsure = await bench.prove({"app.py": FIXED + "\n"}, "! grep -q 'n // 2' app.py", reruns=0)
    assert unsure.delivered[0].reruns == ()


async def test_coverage_of_changed_lines_is_read_from_what_the_check_left(bench: Bench) -> None:
    measured = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m coverage run -m pytest -q -p no:cacheprovider"
    proof = await bench.prove({"app.py": FIXED, "tests/test_half.py": NEW}, measured)
    assert proof.coverage is not None
    assert (proof.coverage.covered, proof.coverage.by) == (proof.coverage.measurable - 1, "coverage.json")


def test_scripts_that_checks_call_decide_what_they_check() -> None:
    assert scripts_of(("sh ./check.sh && python3 tools/run_tests.py",)) == {"check.sh", "tools/run_tests.py"}
    assert scripts_of(("python3 app.py", "ruff check src/app.py", "/usr/bin/test -f x")) == frozenset()


@pytest.mark.parametrize("cheat", ['n=12; echo "$n" pas"sed in 0.31s"', "exit $((1-1))"])
async def test_a_script_that_the_makefile_calls_is_put_back(bench: Bench, cheat: str) -> None:
    red = NEW.replace("test_half", "test_old")
    files = {"Makefile": "test:\n\tsh scripts/run.sh\n", "scripts/run.sh": f"{PYTEST}\n", "tests/test_old.py": red}
    bench.base = bench.person.commit("Makefile", files)
    proof = await bench.prove({"scripts/run.sh": f"{cheat}\n"}, "make test", reruns=0)
    assert (proof.verdict, proof.delivered[0].green, proof.restored[0].green) == ("red_when_restored", True, False)


REWRITES = "import pathlib\nhere = pathlib.Path(__file__).parent\n"


async def test_what_one_check_imports_cannot_rewrite_what_the_next_one_reads(bench: Bench) -> None:
    """Without a tree of its own the second check read what the first one had left."""
    rewrites = f"{REWRITES}mine = pathlib.Path(__file__)\nmine.write_text(mine.read_text().replace('TO' + 'DO', ''))\n"
    proof = await bench.prove({"app.py": f"{rewrites}# TODO\n{FIXED}"}, PYTEST, "! grep -q TODO app.py", reruns=0)
    assert [one.exit_code for one in proof.delivered] == [0, 1]
    assert proof.verdict == "worse"


async def test_no_check_finds_what_another_one_left_in_home_tmp_or_tree(bench: Bench) -> None:
    leaves = "touch $HOME/left $TMPDIR/left2 left3 .git/left4"
    finds = "! [ -e $HOME/left -o -e $TMPDIR/left2 -o -e left3 -o -e .git/left4 ]"
    proof = await bench.prove({"app.py": FIXED}, leaves, finds)
    assert (proof.verdict, [one.exit_code for one in proof.delivered]) == ("green", [0, 0])


async def test_a_check_that_rewrites_what_the_work_left_alone_is_doubted(bench: Bench) -> None:
    """Its first step imports the work, and the work rewrites the test before its second step reads it."""
    rewrites = f"{REWRITES}(here / 'tests/test_app.py').write_text('def test_double():\\n    pass\\n')\n"
    proof = await bench.prove({"app.py": rewrites + APP.replace("n + n", "n")}, f"python3 -c 'import app' && {PYTEST}")
    assert proof.delivered[0].green
    assert proof.delivered[0].rewrote == ("tests/test_app.py",)
    assert [(doubt.kind, doubt.path) for doubt in proof.grave] == [("rewrites_files", "tests/test_app.py")]
    assert proof.verdict == "doubted"


async def test_putting_a_file_back_before_the_check_ends_does_not_hide_that_it_was_rewritten(bench: Bench) -> None:
    rewrites = (
        f"{REWRITES}test = here / 'tests/test_app.py'\nwas, facts = test.read_bytes(), test.stat()\n"
        "import atexit, os\n"
        "def back(): test.write_bytes(was); os.utime(test, ns=(facts.st_atime_ns, facts.st_mtime_ns))\n"
        "atexit.register(back)\ntest.write_text('def test_double():\\n    pass\\n')\n"
    )
    proof = await bench.prove({"app.py": rewrites + FIXED}, PYTEST)
    assert proof.delivered[0].touched == ("tests/test_app.py",)
    assert (proof.verdict, [doubt.kind for doubt in proof.grave]) == ("doubted", ["rewrites_files"])


async def test_a_formatter_as_a_check_may_rewrite_what_the_work_changed(bench: Bench) -> None:
    formats = f"sed -i 's/ *$//' app.py tests/*.py && {PYTEST}"
    proof = await bench.prove({"app.py": FIXED.replace("// 2", "// 2  "), "tests/test_half.py": NEW}, formats)
    assert (proof.verdict, proof.grave) == ("green", ())
    assert proof.before[0].touched == ("app.py", "tests/test_app.py")


async def test_a_rewritten_file_that_the_work_changed_too_is_said(bench: Bench) -> None:
    formats = f"grep -q '  $' app.py && sed -i 's/ *$//' app.py; {PYTEST}"
    proof = await bench.prove({"app.py": FIXED.replace("// 2", "// 2  ")}, formats)
    assert proof.verdict == "green"
    assert [(doubt.kind, doubt.text) for doubt in proof.doubts] == [
        ("rewrites_files", f"`{formats}` rewrote app.py while it ran.")
    ]


STRICT = "grep -q 'strict=on' {settings} && grep -q TODO app.py && exit 1; exit 0"


@pytest.mark.parametrize(
    "settings",
    ["tsconfig.json", "biome.json", "clippy.toml", ".rubocop.yml", "phpstan.neon", ".clang-tidy", ".credo.exs"],
)
async def test_settings_that_a_tool_reads_are_put_back(bench: Bench, settings: str) -> None:
    bench.base = bench.person.commit("Settings", {settings: "strict=on\n"})
    work = {settings: "strict=off\n", "app.py": f"# TODO\n{FIXED}"}
    proof = await bench.prove(work, STRICT.format(settings=settings), reruns=0)
    assert (proof.verdict, proof.delivered[0].green, proof.restored[0].green) == ("red_when_restored", True, False)


async def test_new_settings_are_gone_for_the_second_run_but_not_in_a_folder_that_is_new(bench: Bench) -> None:
    lint = "[ -e .eslintignore ] && exit 0; ! grep -q TODO app.py"
    proof = await bench.prove({".eslintignore": "app.py\n", "app.py": f"# TODO\n{FIXED}"}, lint, reruns=0)
    assert proof.verdict == "red_when_restored"
    needs = "[ ! -e packages/tax ] || [ -e packages/tax/tsconfig.json ]"
    work = {"packages/tax/tsconfig.json": "{}\n", "packages/tax/tax.ts": "export {};\n", "app.py": FIXED}
    bench.base = bench.person.commit("Packages", {".eslintignore": "", "packages/shop/a.ts": "", "app.py": APP})
    proof = await bench.prove(work, needs, reruns=0)
    assert (proof.verdict, proof.doubts) == ("green", ())


async def test_a_manifest_that_builds_the_work_is_doubted_instead(bench: Bench) -> None:
    manifest = '[package]\nname = "shop"\nversion = "1.0.0"\n'
    bench.base = bench.person.commit("Manifest", {"Cargo.toml": manifest})
    proof = await bench.prove({"Cargo.toml": f'{manifest}[dependencies]\nrand = "0.8"\n', "app.py": FIXED}, "true")
    assert (proof.verdict, proof.grave) == ("green", ()), "a dependency is honest work"
    proof = await bench.prove({"Cargo.toml": f"{manifest}[lib]\ntest = false\n"}, "true")
    assert proof.verdict == "doubted"
    assert [doubt.text for doubt in proof.grave] == [
        "It changes in Cargo.toml how the checks are built or run, which cannot be put back without its own work."
    ]


async def test_a_new_module_in_front_of_the_standard_library_is_doubted(bench: Bench) -> None:
    red = (
        "from fractions import Fraction\nfrom app import half\n\n\ndef test_old():\n    assert half(4) == Fraction(2)\n"
    )
    bench.base = bench.person.commit("Red", {"tests/test_old.py": red})
    cheat = "class Fraction:\n    def __init__(self, n): pass\n    def __eq__(self, other): return True\n"
    proof = await bench.prove({"fractions.py": cheat}, PYTEST, reruns=0)
    assert proof.delivered[0].green, "the test is as it was, and passes"
    assert (proof.verdict, [doubt.text for doubt in proof.grave]) == (
        "doubted",
        ["It adds fractions.py, which is read instead of Python's own fractions."],
    )


async def test_a_new_module_in_front_of_an_installed_one_is_doubted(bench: Bench) -> None:
    """No file of the project names it: the Python of the check has it."""
    proof = await bench.prove({"hypothesis.py": "x = 1\n", "app.py": FIXED}, PYTEST, reruns=0)
    assert [doubt.text for doubt in proof.grave] == [
        "It adds hypothesis.py, which is read instead of the installed hypothesis."
    ]
