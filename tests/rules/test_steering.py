"""Files that steer a check are known by what reads them, and manifests by what changed in them (X8)."""

import pytest

from midwatch.rules.checks.manifests import MANIFESTS, ManifestChange, change_of, takes_over
from midwatch.rules.checks.steering import SETTINGS_FILES, STEERING, STEERS_MACHINES, steers_checks, steers_only_new
from midwatch.rules.paths import pattern_fault

BUILD, NOTHING, SETTINGS = ManifestChange.BUILD, ManifestChange.NOTHING, ManifestChange.SETTINGS

SETTINGS_OF_TOOLS = """
conftest.py pytest.ini tox.ini noxfile.py .coveragerc mypy.ini pyrightconfig.json ruff.toml .flake8 .pylintrc
.isort.cfg .style.yapf .bandit .importlinter behave.ini .pydocstyle uv.toml .python-version pylintrc.toml nose2.cfg
tsconfig.json tsconfig.test.json jsconfig.json .eslintrc .eslintrc.json eslint.config.mjs .eslintignore biome.json
biome.jsonc .oxlintrc.json .prettierrc .prettierignore .stylelintrc.json .stylelintignore jest.config.ts jest.setup.js
vitest.config.ts vitest.workspace.ts vite.config.ts .mocharc.yml ava.config.js .taprc karma.conf.js
playwright.config.ts cypress.config.ts .nycrc .c8rc.json .babelrc babel.config.js .swcrc nx.json
turbo.json .npmrc .nvmrc bunfig.toml
deno.json .lintstagedrc knip.json cspell.json .node-version
.cargo/config.toml clippy.toml rustfmt.toml rust-toolchain.toml rust-toolchain .config/nextest.toml deny.toml
tarpaulin.toml .golangci.yml .golangci.toml staticcheck.conf revive.toml go.work magefile.go .testcoverage.yml
.rspec .rubocop.yml .rubocop_todo.yml .standard.yml Rakefile .simplecov cucumber.yml .reek.yml .bundle/config
phpunit.xml phpunit.xml.dist phpstan.neon phpstan.neon.dist phpstan-baseline.neon psalm.xml phpcs.xml.dist
.php-cs-fixer.dist.php pint.json behat.yml codeception.yml infection.json5 rector.php php.ini
.mvn/maven.config gradle.properties junit-platform.properties testng.xml checkstyle.xml pmd.xml spotbugs-exclude.xml
detekt.yml lombok.config buildSrc/src/Test.java
src/test/resources/META-INF/services/org.junit.platform.engine.TestEngine
xunit.runner.json test.runsettings .globalconfig global.json nuget.config
.clang-tidy .clang-format CTestCustom.cmake CMakePresets.json CPPLINT.cfg .bazelrc tsan.supp gcovr.cfg meson_options.txt
.formatter.exs .credo.exs coveralls.json test/test_helper.exs
Makefile justfile Taskfile.yml .editorconfig .pre-commit-config.yaml lefthook.yml .gitattributes .env.test codecov.yml
.github/workflows/ci.yml .gitlab-ci.yml Jenkinsfile .circleci/config.yml azure-pipelines.yml .travis.yml .semgrep.yml
.swiftlint.yml analysis_options.yaml .shellcheckrc .yamllint .hadolint.yaml
"""
WORK = (
    "src/app.py README.md lib/cart.rb src/main.rs cmd/main.go src/Cart.php docs/project/index.md app/config.py "
    "src/config.ts "
    "include/cart.h src/settings.gradle.md tests/test_app.py setup_tests.md src/test.ts public/robots.txt "
    "project/urls.py"
)


@pytest.mark.parametrize("path", SETTINGS_OF_TOOLS.split())
def test_settings_of_every_ecosystem_are_known(path: str) -> None:
    assert steers_checks(path)
    assert steers_checks(f"packages/shop/{path}") or path.startswith(".config/")


@pytest.mark.parametrize("path", WORK.split())
def test_what_is_worked_on_is_no_settings_file(path: str) -> None:
    assert not steers_checks(path)


def test_every_row_can_be_read_and_names_its_source() -> None:
    assert not [pattern for pattern in SETTINGS_FILES if pattern_fault(pattern)]
    assert len(set(SETTINGS_FILES)) == len(SETTINGS_FILES)
    assert all(row.files and row.source for rows in STEERING.values() for row in rows)
    assert all(one.source for one in MANIFESTS)
    assert {".github/", ".npmrc", ".cargo/"} <= set(STEERS_MACHINES)


def test_new_settings_in_a_new_folder_steer_only_what_is_new() -> None:
    base = ("packages/shop/cart.ts", "tests/test_a.py")
    assert steers_only_new("packages/tax/tsconfig.json", base)
    assert steers_only_new("tests/tax/conftest.py", base)
    assert not steers_only_new("packages/shop/tsconfig.json", base)
    assert not steers_only_new("tests/conftest.py", base)
    assert not steers_only_new("tsconfig.json", base)
    assert not steers_only_new(".cargo/config.toml", base), "the folder itself is what steers"


CARGO = '[package]\nname = "shop"\nversion = "1.0.0"\n\n[dependencies]\nserde = "1"\n'
GO_MOD = "module example.com/shop\n\ngo 1.22\n\nrequire (\n\tgithub.com/a/b v1.0.0\n)\n"
POM = (
    "<project><version>1</version><dependencies><dependency><artifactId>a</artifactId></dependency>"
    "</dependencies>%s</project>"
)
GRADLE = "plugins {\n  id 'java'\n}\ndependencies {\n  implementation 'a:b:1'\n}\ntest {\n  useJUnitPlatform()\n}\n"
CMAKE = (
    "project(shop C)\nadd_library(shop src/cart.c)\n"
    "add_executable(test_cart tests/test_cart.c)\nadd_test(NAME cart COMMAND test_cart)\n"
)
GEMS = 'source "https://rubygems.org"\ngem "rack", "~> 3"\ngroup :test do\n  gem "rspec"\nend\n'
CSPROJ = "<Project><PropertyGroup><Nullable>enable</Nullable></PropertyGroup><ItemGroup>%s</ItemGroup></Project>"
MIX = 'def project do\n[\nversion: "1.0.0",\n]\nend\ndefp deps do\n[\n{:jason, "~> 1.4"},\n]\nend\n'


@pytest.mark.parametrize(
    ("path", "before", "after", "change"),
    [
        ("Cargo.toml", CARGO, CARGO.replace("1.0.0", "1.1.0") + 'rand = "0.8"\n', NOTHING),
        ("Cargo.toml", CARGO, CARGO + 'local = { path = "local" }\n', NOTHING),
        ("Cargo.toml", CARGO, CARGO.replace('serde = "1"', 'serde = { path = "fake" }'), BUILD),
        ("Cargo.toml", CARGO, CARGO + "[lib]\ntest = false\n", BUILD),
        ("Cargo.toml", CARGO, CARGO + '[lints.clippy]\nall = "allow"\n', BUILD),
        ("Cargo.toml", CARGO, CARGO + '[patch.crates-io]\nserde = { path = "fake" }\n', BUILD),
        ("Cargo.toml", CARGO, CARGO + "[profile.test]\noverflow-checks = false\n", BUILD),
        ("Cargo.toml", CARGO, CARGO + '[[test]]\nname = "cart"\nharness = false\n', BUILD),
        ("Cargo.toml", CARGO, CARGO.replace("[dependencies]", "autotests = false\n[dependencies]"), BUILD),
        ("Cargo.toml", '[workspace]\nmembers = ["a"]\n', '[workspace]\nmembers = ["a", "b"]\n', NOTHING),
        ("Cargo.toml", '[workspace]\nmembers = ["a", "b"]\n', '[workspace]\nmembers = ["a"]\n', BUILD),
        ("Cargo.toml", CARGO, "[[[", BUILD),
        ("build.rs", "fn main() {}\n", "fn main() { std::fs::write(x, y); }\n", BUILD),
        ("build.rs", "fn main() {}\n", "// why\nfn main() {}\n", NOTHING),
        ("go.mod", GO_MOD, GO_MOD.replace("v1.0.0", "v1.1.0") + "require github.com/c/d v1.0.0\n", NOTHING),
        ("go.mod", GO_MOD, GO_MOD + "replace github.com/a/b => ./fake\n", BUILD),
        ("go.mod", GO_MOD, GO_MOD + "replace (\n\tgithub.com/a/b => ./fake\n)\n", BUILD),
        ("go.mod", "", GO_MOD, BUILD),
        ("Gemfile", GEMS, GEMS + 'gem "puma", "~> 6", require: false\n', NOTHING),
        ("Gemfile", GEMS, GEMS.replace('gem "rspec"', 'gem "rspec", path: "fake"'), BUILD),
        ("Gemfile", GEMS, GEMS + "Kernel.exit(0)\n", BUILD),
        ("pom.xml", POM % "", (POM % "").replace("<version>1<", "<version>2<"), NOTHING),
        ("pom.xml", POM % "", (POM % "").replace("<artifactId>a", "<artifactId>b"), NOTHING),
        ("pom.xml", POM % "", POM % "<properties><skipTests>true</skipTests></properties>", BUILD),
        ("pom.xml", POM % "", (POM % "").replace("<artifactId>a", "<systemPath>/x</systemPath><artifactId>a"), BUILD),
        ("build.gradle", GRADLE, GRADLE.replace("'a:b:1'", "'a:b:2'\n  testImplementation 'c:d:1'"), NOTHING),
        ("build.gradle.kts", GRADLE, GRADLE.replace("useJ", "ignoreFailures = true\n  useJ"), BUILD),
        ("build.gradle", GRADLE, GRADLE.replace("  useJUnitPlatform()\n", ""), BUILD),
        ("settings.gradle", "include ':shop'\n", "include ':shop'\ninclude ':tax'\n", NOTHING),
        ("settings.gradle", "include ':shop'\ninclude ':tax'\n", "include ':shop'\n", BUILD),
        ("CMakeLists.txt", CMAKE, CMAKE.replace("src/cart.c", "src/cart.c src/tax.c"), NOTHING),
        ("CMakeLists.txt", CMAKE, CMAKE + "add_executable(test_tax t.c)\nadd_test(tax test_tax)\n", NOTHING),
        ("CMakeLists.txt", CMAKE, CMAKE.replace("add_test(NAME cart COMMAND test_cart)\n", ""), BUILD),
        ("CMakeLists.txt", CMAKE, CMAKE.replace("tests/test_cart.c", "tests/easy.c"), BUILD),
        ("CMakeLists.txt", CMAKE, CMAKE + "set_tests_properties(cart PROPERTIES WILL_FAIL TRUE)\n", BUILD),
        ("CMakeLists.txt", CMAKE, CMAKE + "install(x) set_tests_properties(cart PROPERTIES WILL_FAIL TRUE)\n", BUILD),
        ("meson.build", "test('cart', cart_test)\n", "test('cart', cart_test, should_fail: true)\n", BUILD),
        ("meson.build", "test('cart', cart_test)\n", "test('cart', cart_test)\ntest('tax', tax_test)\n", NOTHING),
        ("shop.csproj", CSPROJ % "", CSPROJ % '<PackageReference Include="A" Version="1" />', NOTHING),
        ("shop.csproj", CSPROJ % "", (CSPROJ % "").replace("</Property", "<NoWarn>CS1</NoWarn></Property"), BUILD),
        ("Directory.Build.props", "<Project/>", "<Project><RunAnalyzers>false</RunAnalyzers></Project>", BUILD),
        ("mix.exs", MIX, MIX.replace('1.4"},', '1.5"},\n{:plug, "~> 1.0", only: :test},'), NOTHING),
        ("mix.exs", MIX, MIX.replace("version:", "test_paths: [],\nversion:"), BUILD),
        ("package.json", '{"dependencies": {}}', '{"dependencies": {"a": "1"}, "version": "2"}', NOTHING),
        ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "true"}}', SETTINGS),
        ("package.json", '{"exports": {".": "./a.js"}}', '{"exports": {".": "./a.js", "./b": "./b.js"}}', NOTHING),
        ("package.json", '{"imports": {"#a": "./a.js"}}', '{"imports": {"#a": "./fake.js"}}', BUILD),
        ("package.json", "{}", '{"type": "module"}', BUILD),
        ("composer.json", "{}", '{"require": {"a/b": "1"}}', NOTHING),
        ("composer.json", "{}", '{"autoload": {"files": ["x.php"]}}', SETTINGS),
        ("pyproject.toml", "", '[project]\ndependencies = ["a"]\n', NOTHING),
        ("pyproject.toml", "", '[tool.pytest.ini_options]\naddopts = "-k x"\n', SETTINGS),
        ("app.py", "", "x", None),
    ],
)  # fmt: skip
def test_a_manifest_is_judged_by_what_changed_in_it(
    path: str, before: str, after: str, change: ManifestChange | None
) -> None:
    assert change_of(path, before, after) is change


def test_a_new_manifest_decides_about_old_files_only_where_it_takes_them_over() -> None:
    base = frozenset({"go.mod", "cart/cart_test.go", "Cargo.toml", "src/a.js"})
    assert takes_over("cart/go.mod", base), "go test ./... leaves that folder out"
    assert not takes_over("tax/go.mod", base)
    assert takes_over("build.rs", base)
    assert not takes_over("tax/build.rs", base)
    assert takes_over("src/package.json", base)
    assert not takes_over("docs/package.json", base)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("piece", ["<dependency>", "<!--", "a.c", "'a.c", "gem 'a', ", '{:a, "', "set(SRC ", "a.c, "])
@pytest.mark.parametrize("path", ["pom.xml", "CMakeLists.txt", "meson.build", "Gemfile", "mix.exs", "build.gradle"])
def test_a_manifest_of_any_shape_is_read_to_its_end(path: str, piece: str) -> None:
    change_of(path, "", piece * (200_000 // len(piece)))
