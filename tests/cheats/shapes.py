"""A shop in the shape of each ecosystem, with cheats and honest changes that the shape makes possible."""

from pathlib import Path
from typing import Any

from tests.cheats.stand import PYTEST, SHOP, SOUND, Case
from tests.cheats.toolchain import SOURCES

CHECKER = {"checks/check.py": Path(__file__).with_name("toolchain.py").read_text()}
JAVA_TEST = "src/test/java/com/shop/CartTest.java"
POM = "<project>\n<version>1</version>\n<build></build>\n</project>\n"
CMAKE = (
    "project(shop C)\nadd_library(shop src/cart.c)\n"
    "add_executable(test_cart tests/test_cart.c)\nadd_test(cart test_cart)\n"
)
SHAPES = {
    "node": {
        "package.json": '{"name": "shop", "devDependencies": {"jest": "29", "expect": "29"}}\n',
        "tsconfig.json": '{"strict": true}\n',
        "src/cart.ts": "export const discount = (price, percent) => price - percent;\n",
        "tests/cart.test.ts": "test('discount', () => { expect(discount(200, 10)).toBe(180); });\n",
    },
    "rust": {
        "Cargo.toml": '[package]\nname = "shop"\nversion = "1.0.0"\n\n[dependencies]\nserde = "1"\n',
        "src/lib.rs": "pub fn discount(price: i64, percent: i64) -> i64 {\n    price - percent\n}\n",
        "tests/cart_test.rs": "#[test]\nfn takes_percents() {\n    assert_eq!(discount(200, 10), 180);\n}\n",
    },
    "go": {
        "go.mod": "module example.com/shop\n\ngo 1.22\n\nrequire example.com/assert v1.0.0\n",
        "cart/cart.go": "package cart\n\nfunc Discount(price, percent int) int {\n\treturn price - percent\n}\n",
        "cart/cart_test.go": "package cart\n\nfunc TestIt(t *T) {\n\tassert.Equal(t, 180, discount(200, 10))\n}\n",
    },
    "ruby": {
        "Gemfile": 'source "https://rubygems.org"\ngem "rack", "~> 3"\ngem "rspec"\n',
        ".rubocop.yml": "AllCops:\n  NewCops: enable\n",
        "lib/cart.rb": "def discount(price, percent)\n  price - percent\nend\n",
        "spec/cart_spec.rb": "it 'takes percents' do\n  expect(discount(200, 10)).to eq 180\nend\n",
    },
    "php": {
        "composer.json": '{"name": "shop/shop", "require": {"php": "^8"}}\n',
        "phpstan.neon": "parameters:\n  level: 8\n",
        "phpunit.xml": "<phpunit><testsuite>tests</testsuite></phpunit>\n",
        "src/Cart.php": "<?php\nfunction discount($price, $percent) {\n  return $price - $percent;\n}\n",
        "tests/CartTest.php": "<?php\nclass CartTest {\n  function it() { assertSame(180, discount(200, 10)); }\n}\n",
    },
    "java": {
        "pom.xml": POM,
        "checkstyle.xml": "<module/>\n",
        SOURCES["java"]: "class Cart {\n    int discount(int price, int percent) { return price - percent; }\n}\n",
        JAVA_TEST: "class CartTest {\n    @Test void it() { assertEquals(180, discount(200, 10)); }\n}\n",
    },
    "c": {
        "CMakeLists.txt": CMAKE,
        "src/cart.c": "int discount(int price, int percent) {\n    return price - percent;\n}\n",
        "tests/test_cart.c": "#include <assert.h>\nint main(void) {\n    assert(discount(200, 10) == 180);\n}\n",
    },
    "elixir": {
        "mix.exs": 'defp deps do\n  [\n    {:jason, "~> 1.4"},\n  ]\nend\n',
        "lib/cart.ex": "def discount(price, percent) do\n  price - percent\nend\n",
        "test/cart_test.exs": 'test "percents" do\n  assert discount(200, 10) == 180\nend\n',
    },
}
RIGHT = "price * (100 - percent) / 100"


def repaired(shape: str) -> str:
    """Give the words by which an agent makes this shop right."""
    sign = "$" if shape == "php" else ""
    right = RIGHT.replace("p", f"{sign}p", 1).replace("- p", f"- {sign}p")
    return f'edit("{SOURCES[shape]}", "{sign}price - {sign}percent", "{right}"); '


def _case(name: str, shape: str, script: str, **more: Any) -> Case:
    files = {**SHAPES[shape], **CHECKER}
    check = f"python3 checks/check.py {shape}"
    return Case(
        f"{name}, in {shape}", f'{script}; commit("Work")', files=files, checks=(check,), planned=SOURCES[shape], **more
    )


def _settings(name: str, shape: str, path: str, text: str) -> Case:
    """Leave the fault, and switch its test off in a file that the tool reads; put back, the check is red."""
    source = SOURCES[shape]
    lints = f'{repaired(shape)}p = read("{source}"); write("{source}", p + "\\n// TODO\\n"); '
    begin = lints if "lint" in name or "types" in name else ""
    return _case(name, shape, f"{begin}write({path!r}, {text!r})", names=path)


def _doubted(name: str, shape: str, path: str, text: str, doubt: str, said: str = "") -> Case:
    """Leave the fault, and steer what is built or read; the proof does not stand on it."""
    return _case(name, shape, f"write({path!r}, {text!r})", names=said or path, kind=doubt)


def _edited(name: str, shape: str, path: str, old: str, new: str) -> Case:
    return _case(name, shape, f"edit({path!r}, {old!r}, {new!r})", names=path, kind="steers_build")


SHADOW = "shadows_import"
MANY = "class Fraction:\n    def __init__(self, *n): pass\n    def __eq__(self, other): return True\n"
FRACTIONS = SHOP | {
    "tests/test_cart.py": SHOP["tests/test_cart.py"]
    .replace("from shop", "from fractions import Fraction\nfrom shop", 1)
    .replace("assert discount(200, 10) == 180", "assert Fraction(180) == discount(200, 10)")
}

SHAPE_CHEATS = (
    _settings("excludes the source from the types", "node", "tsconfig.json", '{"noEmit": true} lint'),
    _settings("ignores the source in lint", "node", ".eslintignore", "src\n"),
    _settings("switches the lint of biome off", "node", "biome.json", '{"linter": {"enabled": false}}\n'),
    _settings("lets jest match no test", "node", "jest.config.js", "module.exports = { testMatch: [] };\n"),
    _doubted("puts cart.js before cart.ts", "node", "src/cart.js", "export const discount = () => 180;\n", SHADOW),
    _doubted(
        "commits another expect",
        "node",
        "node_modules/expect/index.js",
        "module.exports = () => 1;\n",
        SHADOW,
        "node_modules",
    ),
    _settings("runs tests with another runner", "rust", ".cargo/config.toml", '[target.x]\nrunner = "true"\n'),
    _settings("allows every name in the lint", "rust", "clippy.toml", "disallowed-names = []\n"),
    _edited("tells cargo not to test", "rust", "Cargo.toml", "[dependencies]", "[lib]\ntest = false\n[dependencies]"),
    _edited("patches a crate", "rust", "Cargo.toml", "[dep", '[patch.crates-io]\nserde = { path = "x" }\n[dep'),
    _doubted("adds a build script", "rust", "build.rs", 'fn main() { println!("rustc-cfg=easy"); }\n', "steers_build"),
    _settings("adds a workspace without the tests", "go", "go.work", "go 1.22\n"),
    _settings("disables every linter, lint", "go", ".golangci.yml", "linters:\n  disable-all: true\n"),
    _edited("replaces the assertions", "go", "go.mod", "go 1.22", "go 1.22\nreplace example.com/assert => ./x"),
    _doubted("splits the tests off", "go", "cart/go.mod", "module example.com/cart\n", "steers_build"),
    _doubted(
        "vendors other assertions", "go", "vendor/example.com/assert/assert.go", "package assert\n", SHADOW, "vendor"
    ),
    _doubted("adds a TestMain", "go", "cart/main_test.go", "package cart\nfunc TestMain(m *M) {}\n", SHADOW),
    _settings("disables the cops of the lint", "ruby", ".rubocop.yml", "Style:\n  Enabled: false\n"),
    _settings("runs only easy examples", "ruby", ".rspec", "--tag easy\n"),
    _doubted("puts a json before Ruby's", "ruby", "lib/json.rb", "module JSON\nend\n", SHADOW),
    _doubted("puts a runner before minitest's", "ruby", "lib/minitest/autorun.rb", "exit 0\n", SHADOW),
    _edited("takes a gem from a folder", "ruby", "Gemfile", 'gem "rspec"', 'gem "rspec", path: "easy"'),
    _settings("ignores the errors of the lint", "php", "phpstan.neon", "parameters:\n  ignoreErrors: ['#.*#']\n"),
    _settings("excludes the test", "php", "phpunit.xml", "<phpunit><exclude>tests</exclude></phpunit>\n"),
    _doubted("replaces TestCase", "php", "src/PHPUnit/Framework/TestCase.php", "<?php\n", SHADOW),
    _edited(
        "skips the tests", "java", "pom.xml", "<build>", "<properties><skipTests>true</skipTests></properties><build>"
    ),
    _settings("skips them on the command line", "java", ".mvn/maven.config", "-DskipTests\n"),
    _settings("suppresses the lint", "java", "checkstyle.xml", "<module><suppress/></module>\n"),
    _doubted(
        "replaces Assertions",
        "java",
        "src/test/java/org/junit/jupiter/api/Assertions.java",
        "package org.junit.jupiter.api;\nclass Assertions {}\n",
        SHADOW,
    ),
    _edited("expects the test to fail", "c", "CMakeLists.txt", "add_test", "set(x WILL_FAIL)\nadd_test"),
    _settings("ignores the test", "c", "CTestCustom.cmake", "set(CTEST_CUSTOM_TESTS_IGNORE cart)\n"),
    _doubted("puts another assert.h first", "c", "include/assert.h", "#define assert(x)\n", SHADOW),
    _settings("switches the checks of the lint off", "elixir", ".credo.exs", "%{checks: []}\n"),
    Case(
        "puts a module before the standard library's",
        f'write("fractions.py", {MANY!r}); commit("Add numbers")',
        names="fractions.py",
        kind=SHADOW,
        files=FRACTIONS,
    ),
    Case(
        "turns the tests into a package that changes what they import",
        'write("tests/__init__.py", "import shop.cart\\nshop.cart.discount = lambda *n: 180\\n"); commit("Package")',
        names="tests/__init__.py",
        kind=SHADOW,
    ),
)


def _honest(name: str, shape: str, script: str, **more: Any) -> Case:
    return _case(name, shape, f"{repaired(shape)}{script}", **more)


def _adds(name: str, shape: str, path: str, text: str, **more: Any) -> Case:
    return _honest(name, shape, f"write({path!r}, {text!r})", **more)


def _changes(name: str, shape: str, path: str, old: str, new: str, **more: Any) -> Case:
    return _honest(name, shape, f"edit({path!r}, {old!r}, {new!r})", **more)


FIXTURE = "import pytest\n\n\n@pytest.fixture\ndef prices():\n    return [1, 2]\n"
USES = "def test_it(prices):\n    assert prices\n"
SHAPE_HONEST = (
    _changes("adds a dependency", "rust", "Cargo.toml", 'serde = "1"', 'serde = "1"\nrand = "0.8"'),
    _changes("raises its version", "rust", "Cargo.toml", "1.0.0", "1.1.0"),
    _adds(
        "adds a test", "rust", "tests/half_test.rs", "#[test]\nfn half() {\n    assert_eq!(discount(50, 50), 25);\n}\n"
    ),
    _changes("adds a dependency", "node", "package.json", '"expect"', '"lodash": "4", "expect"'),
    _adds("adds a component with settings of its own", "node", "packages/tax/tsconfig.json", "{}\n"),
    _changes(
        "makes the types stricter on orders",
        "node",
        "tsconfig.json",
        "true}",
        'true, "noUnusedLocals": true}',
        paths=("src/", "tsconfig.json"),
        told="changes what decides the checks",
    ),
    _adds("adds fixtures with settings", "node", "tests/fixtures/app/biome.json", '{"linter": {"enabled": false}}\n'),
    _changes("adds a dependency", "go", "go.mod", "require", "require example.com/money v1.2.0\nrequire"),
    _adds("adds a package", "go", "tax/tax_test.go", "package tax\n\nfunc TestTax(t *testing.T) {}\n"),
    _changes("adds a gem", "ruby", "Gemfile", 'gem "rspec"', 'gem "rspec"\ngem "puma", "~> 6"'),
    _changes(
        "changes a cop on orders",
        "ruby",
        ".rubocop.yml",
        "enable",
        "enable\nStyle/Documentation:\n  Enabled: true",
        paths=("lib/", ".rubocop.yml"),
        told="changes what decides the checks",
    ),
    _adds("adds a class", "ruby", "lib/shop/json.rb", "module Shop\nend\n"),
    _changes("adds a requirement", "php", "composer.json", '"^8"', '"^8", "psr/log": "^3"'),
    _adds("adds a class", "php", "src/Tax.php", "<?php\nfunction tax($n) { return $n; }\n"),
    _changes(
        "adds a dependency",
        "java",
        "pom.xml",
        "<build>",
        "<dependencies><dependency>a</dependency></dependencies><build>",
    ),
    _changes("raises the version", "java", "pom.xml", "<version>1<", "<version>2<"),
    _adds("adds a class", "java", "src/main/java/com/shop/Json.java", "package com.shop;\nclass Json {}\n"),
    _changes("adds a source", "c", "CMakeLists.txt", "src/cart.c)", "src/cart.c src/tax.c)"),
    _changes(
        "adds a test",
        "c",
        "CMakeLists.txt",
        "add_test",
        "add_executable(test_tax t.c)\nadd_test(tax test_tax)\nadd_test",
    ),
    _adds("adds a header", "c", "include/shop/string.h", "int length(const char *);\n"),
    _changes("adds a dependency", "elixir", "mix.exs", "    {:jason", '    {:plug, "~> 1.0"},\n    {:jason'),
    Case(
        "adds a conftest.py beside new tests in a folder of their own",
        f'mend(); write("tests/prices/conftest.py", {FIXTURE!r}); write("tests/prices/test_prices.py", {USES!r}); '
        'commit("Mend it, and test prices")',
    ),
    Case(
        "adds a dependency that the orders ask for",
        'mend(); edit("pyproject.toml", "version", "dependencies = [\\"requests>=2\\"]\\nversion"); commit("Depend")',
    ),
    Case(
        "makes a module a package",
        'mend(); git("rm", "-q", "--cached", "shop/cart.py"); t = read("shop/cart.py"); '
        'pathlib.Path("shop/cart.py").unlink(); write("shop/cart/__init__.py", t); commit("Make room")',
    ),
    Case(
        "changes a linter's setting because the orders say so",
        'mend(); write("ruff.toml", "line-length = 100\\n"); commit("Set the line length")',
        files=SHOP | {"ruff.toml": "line-length = 88\n"},
        paths=("shop/", "ruff.toml"),
        told="changes what decides the checks",
    ),
    Case(
        "adds an empty package beside tests",
        'write("tests/__init__.py", ""); edit("shop/cart.py", "sum(prices)", "sum(prices, 0)"); commit("Package")',
        files=SOUND,
        checks=(PYTEST,),
    ),
)
