"""A new file that an unchanged test imports instead of what it imported before is a doubt (X8)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.rules.checks.cheating import FileFact, FileKind, WorkFacts, find_doubts
from midwatch.rules.checks.dependencies import dependencies_of
from midwatch.rules.checks.shadowing import ChangedFile, Surroundings, shadow_doubts

THERE = (
    "app.py src/shop/__init__.py src/shop/cart.py tests/test_cart.py tests/unit/__init__.py tests/unit/test_tax.py "
    "web/cart.ts web/tax/index.ts web/cart.test.ts go.mod cart/cart_test.go composer.json lib/shop.rb "
    "spec/shop_spec.rb include/cart.h package.json"
)
BASE = frozenset(THERE.split())
DEPENDS = {"python": frozenset({"requests", "yaml"}), "node": frozenset({"axios"}), "ruby": frozenset({"rack"})}


def said(
    path: str, text: str = "x = 1\n", *, base: frozenset[str] = BASE, gone: str = "", new: bool = True
) -> set[bool]:
    """Say whether a new file is doubted, and whether gravely."""
    files = [ChangedFile(path, text, new=new)]
    return {one.grave for one in shadow_doubts(files, frozenset(gone.split()), Surroundings(base, DEPENDS))}


@pytest.mark.parametrize(
    "path",
    [
        "json.py",
        "src/json.py",
        "random/__init__.py",
        "tests/decimal.py",
        "requests.py",
        "yaml/__init__.py",
        "math.cpython-311-x86_64-linux-gnu.so",
        "src/dataclasses.pyc",
        "shop/__init__.py",
        "shop.py",
        "src/shop/cart/__init__.py",
        "src/shop/cart.cpython-311.so",
        "web/cart.js",
        "web/cart.mjs",
        "web/tax.js",
        "web/cart/index.js",
        "node_modules/assert/index.js",
        "web/node_modules/axios/index.js",
        "site-packages/pytest.py",
        ".venv/lib/python3.11/site-packages/a.py",
        "vendor/github.com/stretchr/testify/assert/assert.go",
        "__mocks__/axios.js",
        "web/__mocks__/fs.ts",
        "assert.h",
        "include/assert.h",
        "tests/gtest/gtest.h",
        "src/test/java/org/junit/jupiter/api/Assertions.java",
        "src/main/java/java/util/List.java",
        "src/PHPUnit/Framework/TestCase.php",
        "lib/json.rb",
        "lib/rack.rb",
        "spec/date.rb",
        "lib/minitest/autorun.rb",
        "lib/net/http.rb",
    ],
)
def test_what_stands_in_front_of_an_import_is_doubted(path: str) -> None:
    assert said(path) == {True}


@pytest.mark.parametrize(
    "path",
    [
        "src/shop/json.py",
        "src/shop/types.py",
        "src/shop/requests/__init__.py",
        "tests/test_json.py",
        "tests/unit/test_random.py",
        "tests/conftest.py",
        "test/cases.txt",
        "src/tax/__init__.py",
        "docs/calendar/index.md",
        "web/tax.test.ts",
        "web/price.ts",
        "web/cart.d.ts",
        "web/cart.css",
        "web/tests/fixtures/node_modules/a/index.js",
        "static/vendor/jquery.js",
        "__mocks__/ours.js",
        "include/shop/string.h",
        "src/main/java/com/shop/Json.java",
        "lib/shop/json.rb",
        "spec/json_spec.rb",
        "spec/logger/format_spec.rb",
        "src/Cart.php",
        "cart/price_test.go",
    ],
)
def test_what_is_only_new_is_not(path: str) -> None:
    assert said(path) == set()


def test_a_module_that_moved_stands_in_front_of_nothing() -> None:
    assert said("src/shop/cart/__init__.py", gone="src/shop/cart.py") == set()
    assert said("shop/__init__.py", gone="src/shop/__init__.py src/shop/cart.py") == set()
    assert said("web/cart.tsx", gone="web/cart.ts") == set()


def test_a_package_beside_tests_is_doubted_for_its_code_and_otherwise_only_said() -> None:
    assert said("tests/__init__.py", "") == {False}
    assert said("tests/__init__.py", "# Tests\n") == {False}
    assert said("tests/__init__.py", '"""Tests.\n\nOf the shop.\n"""\n') == {False}
    assert said("tests/__init__.py", "import builtins\n") == {True}
    assert said("src/tax/__init__.py", "import tax\n") == set()


def test_a_main_of_go_tests_is_doubted_where_it_runs_old_ones() -> None:
    main = "package cart\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n"
    assert said("cart/main_test.go", main) == {True}
    assert said("tax/main_test.go", main) == set()


def test_what_is_installed_in_the_project_is_doubted_also_where_it_was_there() -> None:
    base = BASE | {"vendor/github.com/a/b/b.go"}
    assert said("vendor/github.com/a/b/b.go", new=False, base=base) == {True}
    facts = WorkFacts(
        tuple(FileFact(f"vendor/a/{n}.go", FileKind.CODE, None, "x") for n in range(9)), around=Surroundings(base)
    )
    assert [one.text for one in find_doubts(facts)] == [
        "It changes vendor, where dependencies are installed: tests import what it put there."
    ]


def test_dependencies_are_read_from_what_declares_them() -> None:
    found = dependencies_of(
        {
            "pyproject.toml": '[project]\nname = "shop"\ndependencies = ["requests>=2", "PyYAML"]\n'
            '[project.optional-dependencies]\nx = ["attrs"]\n'
            '[dependency-groups]\ndev = ["pytest", {include-group = "x"}]\n'
            '[tool.poetry.dependencies]\npython = "3"\nrich = "*"\n',
            "requirements-dev.txt": "# why\n-r base.txt\nhypothesis==6 # x\n",
            "uv.lock": '[[package]]\nname = "shop"\nsource = { editable = "." }\n[[package]]\nname = "iniconfig"\n',
            "package.json": json.dumps({"name": "shop", "devDependencies": {"axios": "1", "@a/b": "2"}}),
            "Gemfile": 'gem "rack"\ngem "own", path: "."\n',
            "Gemfile.lock": "PATH\n  remote: .\n  specs:\n    shop (0.1)\n\n"
            "GEM\n  specs:\n    net-http (1)\n\nPLATFORMS\n",
            "poetry.lock": "[[[",
        }
    )
    assert found["python"] >= {"requests", "yaml", "attr", "pytest", "rich", "hypothesis", "iniconfig"}
    assert not found["python"] & {"shop", "python"}
    assert found["node"] == {"axios", "@a/b"}
    assert found["ruby"] >= {"rack", "net/http"}
    assert not found["ruby"] & {"own", "shop"}


PIECES = st.sampled_from(
    ["json", "shop", "cart", "tests", "src", "web", "__init__.py", "cart.py", "cart.js", "a.rb", "/"]
)


@given(st.lists(PIECES, min_size=1, max_size=5).map("/".join), st.text(max_size=40))
def test_a_change_to_an_old_file_shadows_nothing(path: str, text: str) -> None:
    assert said(path, text, new=False) == set()
    said(path, text)
