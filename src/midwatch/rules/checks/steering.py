"""Which files steer a check without being what it checks: settings that a tool reads, by ecosystem.

One table, read by the proof (what is put back for its second run), by quarantine (what steers other machines) and so by
every word about them. A row names files in the language of `rules/paths.py` and the page that says that the tool reads
them. Manifests that honest work changes too, such as `pyproject.toml`, are in `manifests.py`.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from midwatch.rules.paths import names


class SteeringRow(NamedTuple):
    """One tool, the files that it reads as settings, and where its documentation says so."""

    tool: str
    files: tuple[str, ...]
    source: str
    elsewhere: bool = False
    """Whether they also run on, or control, other machines: CI, hooks, registries."""


def _row(tool: str, files: str, source: str, *, elsewhere: bool = False) -> SteeringRow:
    return SteeringRow(tool, tuple(files.split()), source, elsewhere)


STEERING: Final[Mapping[str, tuple[SteeringRow, ...]]] = {
    "Python": (
        _row("pytest", "conftest.py pytest.ini .pytest.ini pytest.toml .pytest.toml", "pytest: Configuration"),
        _row("tox", "tox.ini tox.toml", "tox: Configuration"),
        _row("nox", "noxfile.py", "nox: Configuration & API"),
        _row("coverage.py", ".coveragerc .coveragerc.toml", "coverage.py: Configuration reference"),
        _row("Python's start", "sitecustomize.py usercustomize.py *.pth", "Python: site", elsewhere=True),
        _row("Python version", ".python-version", "uv: Python versions"),
        _row("mypy", "mypy.ini .mypy.ini", "mypy: The mypy configuration file"),
        _row("pyright", "pyrightconfig.json", "pyright: Configuration"),
        _row("pyre", ".pyre_configuration .pyre_configuration.local", "Pyre: Configuration"),
        _row("pyrefly", "pyrefly.toml", "Pyrefly: Configuration"),
        _row("ty", "ty.toml", "ty: Configuration"),
        _row("pytype", "pytype.cfg pytype.toml", "pytype: Config file"),
        _row("ruff", "ruff.toml .ruff.toml", "ruff: Configuring Ruff"),
        _row("flake8", ".flake8", "flake8: Configuration"),
        _row("pycodestyle", ".pycodestyle .pep8", "pycodestyle: Configuration"),
        _row("pydocstyle", ".pydocstyle .pydocstyle.ini .pydocstylerc", "pydocstyle: Configuration files"),
        _row("pylint", "pylintrc .pylintrc pylintrc.toml .pylintrc.toml", "pylint: Command line options"),
        _row("isort", ".isort.cfg", "isort: Configuration"),
        _row("yapf", ".style.yapf .yapfignore", "yapf: Formatting style"),
        _row("bandit", ".bandit bandit.yaml bandit.yml", "bandit: Configuration"),
        _row("import-linter", ".importlinter", "import-linter: Usage"),
        _row("nose2, nose", "unittest.cfg nose2.cfg nose.cfg .noserc", "nose2: Configuring nose2"),
        _row("stestr", ".stestr.conf .testr.conf", "stestr: Configuration"),
        _row("behave", "behave.ini .behaverc", "behave: Configuration files"),
        _row("Robot Framework", "robot.toml .robot.toml robocop.toml", "RobotCode: Configuration"),
        _row("hatch, pdm, uv", "hatch.toml pdm.toml uv.toml", "hatch: Configuration; uv: Configuration files"),
        _row("invoke, doit", "invoke.y*ml invoke.json dodo.py", "invoke: Configuration; doit: Tasks"),
        _row("sqlfluff, djlint", ".sqlfluff .sqlfluffignore .djlintrc", "sqlfluff: Configuration"),
        _row("codespell", ".codespellrc", "codespell: Using a config file"),
        _row("pip", "pip.conf", "pip: Configuration", elsewhere=True),
    ),
    "Node": (
        _row("TypeScript", "tsconfig*.json jsconfig*.json", "TypeScript: What is a tsconfig.json"),
        _row("ESLint", ".eslintrc* eslint.config.* .eslintignore", "ESLint: Configuration files"),
        _row("Biome, Rome", "biome.json biome.jsonc .biome.json .biome.jsonc rome.json", "Biome: Configure Biome"),
        _row("oxlint", ".oxlintrc.json oxlint.json oxlint.config.* .oxfmtrc.json*", "oxc: Linter configuration"),
        _row("Prettier", ".prettierrc .prettierrc.* prettier.config.* .prettierignore", "Prettier: Configuration file"),
        _row("Stylelint", ".stylelintrc .stylelintrc.* stylelint.config.* .stylelintignore", "Stylelint: Configuring"),
        _row("TSLint, JSHint", "tslint.json .jshintrc .jshintignore .jscsrc", "JSHint: Documentation"),
        _row("XO", ".xo-config .xo-config.* xo.config.*", "XO: Config"),
        _row("dprint", "dprint.json .dprint.json dprint.jsonc .dprint.jsonc", "dprint: Configuration"),
        _row("Jest", "jest.config.* jest.preset.* jest.setup.* jest-*.config.* setupTests.*", "Jest: Configuring Jest"),
        _row("Vitest", "vitest.config.* vitest.workspace.* vitest.setup.*", "Vitest: Configuring Vitest"),
        _row("Vite", "vite.config.*", "Vite: Configuring Vite"),
        _row("Mocha", ".mocharc* mocha.opts", "Mocha: Configuring Mocha"),
        _row("AVA", "ava.config.*", "AVA: Configuration"),
        _row("tap", ".taprc", "node-tap: Configuration"),
        _row("Karma, Jasmine", "karma.conf.* jasmine.json jasmine.mjs", "Karma: Configuration file"),
        _row("Playwright", "playwright.config.* playwright-ct.config.*", "Playwright: Test configuration"),
        _row("Cypress", "cypress.config.* cypress.json", "Cypress: Configuration"),
        _row("WebdriverIO, Nightwatch", "wdio.conf.* nightwatch.conf.*", "WebdriverIO: Configuration"),
        _row("Web Test Runner", "web-test-runner.config.*", "Modern Web: Test runner, CLI and configuration"),
        _row("nyc, c8", ".nycrc .nycrc.* nyc.config.* .c8rc .c8rc.json", "nyc: Configuration files"),
        _row("Stryker", "stryker.conf.* stryker.config.* .stryker.conf.*", "Stryker: Config file"),
        _row("Babel", ".babelrc .babelrc.* babel.config.*", "Babel: Config files"),
        _row("swc", ".swcrc", "swc: Configuration"),
        _row("webpack, Rollup", "webpack.config.* webpack.*.config.* rollup.config.*", "webpack: Configuration"),
        _row("esbuild, tsup", "tsup.config.* esbuild.config.*", "tsup: Using custom configuration"),
        _row("PostCSS, browserslist", "postcss.config.* .browserslistrc", "browserslist: Config file"),
        _row("Angular", "angular.json .angular-cli.json", "Angular: Workspace configuration"),
        _row("Nx, Turborepo", "nx.json project.json turbo.json turbo.jsonc .nxignore", "Nx: Configuration; Turborepo"),
        _row("Lerna, Rush", "lerna.json rush.json", "Lerna: Configuration"),
        _row("gulp, Grunt", "gulpfile.* Gruntfile.*", "gulp: JavaScript and gulpfiles"),
        _row("wireit, lint-staged", ".lintstagedrc .lintstagedrc.* lint-staged.config.*", "lint-staged: Configuration"),
        _row("depcheck, knip", ".depcheckrc .depcheckrc.* knip.json knip.jsonc knip.ts", "Knip: Configuration"),
        _row("commitlint", ".commitlintrc .commitlintrc.* commitlint.config.*", "commitlint: Configuration"),
        _row("markdownlint", ".markdownlint.* .markdownlintrc .markdownlint-cli2.* .markdownlintignore", "README"),
        _row("cspell", "cspell.* .cspell.* cspell.config.*", "CSpell: Configuration"),
        _row("npm, pnpm", ".npmrc .pnpmfile.*js pnpm-workspace.yaml", "npm: npmrc; pnpm: Settings", elsewhere=True),
        _row("Yarn", ".yarnrc* .pnp.cjs .pnp.js .pnp.loader.mjs", "Yarn: Configuration", elsewhere=True),
        _row("Node version", ".nvmrc .node-version", "nvm: .nvmrc"),
        _row("Bun", "bunfig.toml", "Bun: bunfig.toml"),
        _row("Deno", "deno.json deno.jsonc import_map.json", "Deno: Configuration and deno.json"),
    ),
    "Rust": (
        _row("Cargo", ".cargo/", "The Cargo Book: Configuration", elsewhere=True),
        _row("rustup", "rust-toolchain rust-toolchain.toml", "rustup: Overrides"),
        _row("Clippy", "clippy.toml .clippy.toml", "Clippy: Configuration"),
        _row("rustfmt", "rustfmt.toml .rustfmt.toml", "rustfmt: Configuring Rustfmt"),
        _row("nextest", ".config/nextest.toml .config/nextest/", "cargo-nextest: Configuration"),
        _row("cargo-deny, audit", "deny.toml .cargo-deny.toml audit.toml", "cargo-deny: Config"),
        _row("tarpaulin", "tarpaulin.toml .tarpaulin.toml", "cargo-tarpaulin: Config file"),
        _row("cargo-make, Trunk", "Makefile.toml Trunk.toml Cross.toml", "cargo-make: Usage"),
        _row("insta", ".config/insta.yaml insta.yaml .insta.yaml", "insta: Settings"),
    ),
    "Go": (
        _row("golangci-lint", ".golangci.y*ml .golangci.toml .golangci.json", "golangci-lint: Configuration file"),
        _row("staticcheck", "staticcheck.conf", "Staticcheck: Configuration"),
        _row("revive", "revive.toml .revive.toml", "revive: Configuration"),
        _row("workspaces", "go.work", "Go: Tutorial: multi-module workspaces"),
        _row("go env", "go.env .go-version", "Go: go command, environment"),
        _row("gotestsum, ginkgo", ".gotestsum.y*ml .ginkgo.y*ml", "gotestsum: README"),
        _row("testcoverage", ".testcoverage.y*ml", "go-test-coverage: Config"),
        _row("mage", "magefile.go magefiles/", "Mage: Magefiles"),
        _row("gosec", ".gosec.json gosec.json", "gosec: Configuration"),
    ),
    "Ruby": (
        _row("RSpec", ".rspec .rspec-local", "RSpec: Read command line configuration options from files"),
        _row("RuboCop", ".rubocop.yml .rubocop_todo.yml .rubocop/", "RuboCop: Configuration"),
        _row("Standard", ".standard.yml .standard_todo.yml", "Standard Ruby: Configuring"),
        _row("Rake", "Rakefile rakefile Rakefile.rb *.rake", "Rake: Rakefile format"),
        _row("Minitest", ".minitest", "minitest: README"),
        _row("Cucumber", "cucumber.yml", "Cucumber: Configuration"),
        _row("SimpleCov", ".simplecov", "SimpleCov: Using .simplecov"),
        _row("Guard, Spring", "Guardfile", "Guard: README"),
        _row("Sorbet, Steep", "sorbet/config Steepfile", "Sorbet: CLI; Steep: Guides"),
        _row("Reek, Brakeman", ".reek.yml .reek config/brakeman.*", "Reek: Configuration files; Brakeman: Options"),
        _row("ERB Lint, HAML-Lint, Slim-Lint", ".erb-lint.yml .erb_lint.yml .haml-lint.yml .slim-lint.yml", "erb_lint"),
        _row("Bundler", ".bundle/", "Bundler: bundle config"),
        _row("Ruby version", ".ruby-version .irbrc", "rbenv: Choosing the Ruby version"),
    ),
    "PHP": (
        _row("PHPUnit", "phpunit.xml* phpunit.dist.xml", "PHPUnit: The XML configuration file"),
        _row("Pest", "Pest.php", "Pest: Configuring tests"),
        _row("PHPStan", "phpstan.neon phpstan.*.neon phpstan.neon.* phpstan-baseline.*", "PHPStan: Config reference"),
        _row("Psalm", "psalm.xml psalm.xml.* psalm-baseline.xml", "Psalm: Configuration"),
        _row("Phan", ".phan/", "Phan: Configuration"),
        _row("PHP_CodeSniffer", "phpcs.xml .phpcs.xml phpcs.xml.* .phpcs.xml.*", "PHP_CodeSniffer: Configuration"),
        _row("PHP CS Fixer", ".php-cs-fixer.php .php-cs-fixer.*.php .php_cs .php_cs.*", "PHP CS Fixer: Configuration"),
        _row("Pint", "pint.json", "Laravel: Pint"),
        _row("PHPMD", "phpmd.xml phpmd.xml.* ruleset.xml", "PHPMD: Rule sets"),
        _row("Rector", "rector.php", "Rector: Configuration"),
        _row("Behat", "behat.y*ml behat.y*ml.* behat.php", "Behat: Configuration"),
        _row("Codeception", "codeception.y*ml codeception.*.yml *.suite.y*ml", "Codeception: Configuration"),
        _row("Infection", "infection.json infection.json5 infection.json.*", "Infection: Usage"),
        _row("GrumPHP, Deptrac", "grumphp.y*ml deptrac.y*ml deptrac.php", "GrumPHP: Configuration"),
        _row("PHP itself", "php.ini .user.ini .php-version", "PHP: The configuration file"),
    ),
    "Java": (
        _row("Maven", ".mvn/", "Maven: Configuring Apache Maven"),
        _row("Gradle", "gradle.properties", "Gradle: Build environment"),
        _row("Gradle's build logic", "init.gradle init.gradle.kts buildSrc/ build-logic/", "Gradle: Organizing builds"),
        _row("Gradle wrapper", "gradle/wrapper/ gradlew gradlew.bat mvnw mvnw.cmd", "Gradle: Wrapper"),
        _row("JUnit", "junit-platform.properties junit.properties", "JUnit: Configuration parameters"),
        _row("JUnit extensions", "**/META-INF/services/org.junit.*", "JUnit: Automatic extension registration"),
        _row("TestNG", "testng.xml testng.y*ml", "TestNG: testng.xml"),
        _row("Mockito", "mockito-extensions/ org.mockito.*.properties", "Mockito: Extensions"),
        _row("Checkstyle", "checkstyle.xml checkstyle-*.xml *_checks.xml suppressions.xml", "Checkstyle: Config"),
        _row("PMD", "pmd.xml pmd-*.xml pmd-ruleset.xml", "PMD: Making rulesets"),
        _row("SpotBugs", "spotbugs-*.xml spotbugs.xml findbugs-*.xml", "SpotBugs: Filter file"),
        _row("detekt, ktlint", "detekt.y*ml detekt-*.y*ml detekt-baseline.xml .ktlint", "detekt: Configuration file"),
        _row("Lombok", "lombok.config", "Lombok: Configuration system"),
        _row("Error Prone, Sonar", "sonar-project.properties", "SonarQube: Analysis parameters"),
        _row("scalafmt, scalafix", ".scalafmt.conf .scalafix.conf", "Scalafmt: Configuration"),
        _row("sbt", "/project/*.sbt /project/build.properties", "sbt: Build definition"),
        _row("Java version", ".java-version .sdkmanrc .jvmopts", "jenv; SDKMAN: Env command"),
    ),
    ".NET": (
        _row("MSBuild", "msbuild.rsp Directory.Build.rsp MSBuild.rsp", "MSBuild: Response files"),
        _row("dotnet test", "*.runsettings *.testsettings testconfig.json", "dotnet test: .runsettings"),
        _row("xUnit", "xunit.runner.json *.xunit.runner.json", "xUnit.net: Configuration files"),
        _row("analyzers", "*.ruleset .globalconfig *.globalconfig stylecop.json", ".NET: Code analysis configuration"),
        _row("SDK and tools", "global.json .config/dotnet-tools.json", ".NET: global.json"),
        _row("NuGet", "nuget.config NuGet.Config NuGet.config", "NuGet: nuget.config reference", elsewhere=True),
        _row("CSharpier", ".csharpierrc .csharpierrc.* .csharpierignore", "CSharpier: Configuration"),
        _row("coverlet, Stryker", "coverlet.json stryker-config.json", "Stryker.NET: Configuration"),
    ),
    "C and C++": (
        _row("CTest", "CTestConfig.cmake CTestCustom.cmake CTestTestfile.cmake DartConfiguration.tcl", "ctest(1)"),
        _row("CMake", "CMakePresets.json CMakeUserPresets.json", "cmake-presets(7)"),
        _row("clang-tidy, clang-format", ".clang-tidy .clang-format .clang-format-ignore .clangd", "Clang Tools"),
        _row("cppcheck, cpplint", "CPPLINT.cfg *.cppcheck cppcheck-suppressions* .cppcheck*", "Cppcheck: Manual"),
        _row("include-what-you-use", "*.imp", "IWYU: Mappings"),
        _row("sanitizers", "*.supp", "Clang: Sanitizer special case list"),
        _row("gcov", ".lcovrc gcovr.cfg", "gcovr: Configuration files"),
        _row("Meson", "meson_options.txt meson.options", "Meson: Build options"),
        _row("Autotools", "config.site", "Autoconf: Setting site defaults"),
        _row("vcpkg", "vcpkg-configuration.json", "vcpkg: Reference"),
        _row("Bazel", ".bazelrc .bazelversion .bazelignore", "Bazel: Write bazelrc files", elsewhere=True),
    ),
    "Elixir": (
        _row("mix format, Credo", ".formatter.exs .credo.exs", "mix format; Credo: Configuration"),
        _row("Dialyxir, Sobelow", ".dialyzer_ignore.exs .sobelow-conf", "Dialyxir: README"),
        _row("ExUnit, ExCoveralls", "test_helper.exs coveralls.json", "ExUnit: Integration with Mix"),
    ),
    "Other languages": (
        _row("SwiftLint, SwiftFormat", ".swiftlint.yml .swiftformat .swift-version", "SwiftLint: Configuration"),
        _row("Dart", "analysis_options.yaml dart_test.yaml", "Dart: Customizing static analysis"),
        _row("Terraform", ".tflint.hcl", "TFLint: Configuration"),
        _row("ShellCheck, bats", ".shellcheckrc shellcheckrc .bats", "ShellCheck: RC files"),
        _row("hadolint", ".hadolint.y*ml", "hadolint: Configure"),
        _row("Vale, yamllint", ".vale.ini .yamllint .yamllint.y*ml", "Vale: .vale.ini; yamllint: Configuration"),
        _row("buf", "buf.yaml buf.*.yaml", "Buf: buf.yaml"),
    ),
    "Any project": (
        _row("make", "Makefile makefile GNUmakefile *.mk", "GNU make: Writing makefiles"),
        _row("just", "justfile Justfile .justfile *.just", "just: Manual"),
        _row("Task", "Taskfile.y*ml taskfile.y*ml Taskfile.dist.y*ml", "Task: Taskfile schema"),
        _row("Earthly", "Earthfile", "Earthly: Earthfile reference"),
        _row("EditorConfig", ".editorconfig", "EditorConfig: Specification"),
        _row("ignored files", ".gitignore .ignore .rgignore", "ruff: respect-gitignore; ESLint: includeIgnoreFile"),
        _row("environment of tests", ".env .env.test .env.test.local .env.testing", "Vite: Env variables and modes"),
        _row("coverage services", "codecov.y*ml .codecov.y*ml .coveralls.yml", "Codecov: codecov.yml"),
        _row("spelling", "_typos.toml .typos.toml typos.toml", "typos: Reference"),
        _row("ast-grep, Semgrep", "sgconfig.yml .semgrep.y*ml .semgrep/ .semgrepignore", "ast-grep: sgconfig.yml"),
        _row("MegaLinter", ".mega-linter.yml .megalinter.y*ml trunk.yaml .trunk/", "MegaLinter: Configuration"),
        _row("licences", ".licenserc.yaml REUSE.toml", "REUSE: Specification"),
        _row("git's rules for files", ".gitattributes .gitmodules", "git: gitattributes", elsewhere=True),
        _row("tool versions", ".tool-versions mise.toml .mise.toml", "asdf: Configuration; mise", elsewhere=True),
        _row("direnv", ".envrc", "direnv: direnv(1)", elsewhere=True),
        _row("pre-commit", ".pre-commit-config.yaml .pre-commit-hooks.yaml", "pre-commit: Hooks", elsewhere=True),
        _row("hooks", "lefthook.y*ml .lefthook.y*ml .husky/ .githooks/", "lefthook; Husky", elsewhere=True),
    ),
    "CI": (
        _row("GitHub", ".github/", "GitHub Actions: Workflow syntax", elsewhere=True),
        _row("GitLab", ".gitlab-ci.yml .gitlab/", "GitLab: CI/CD YAML syntax reference", elsewhere=True),
        _row("CircleCI", ".circleci/", "CircleCI: Configuration reference", elsewhere=True),
        _row("Azure", "azure-pipelines*.yml", "Azure Pipelines: YAML schema", elsewhere=True),
        _row("Jenkins", "Jenkinsfile", "Jenkins: Using a Jenkinsfile", elsewhere=True),
        _row("Buildkite, Drone", ".buildkite/ .drone.yml", "Buildkite: Defining steps; Drone", elsewhere=True),
        _row("Travis, AppVeyor", ".travis.yml appveyor.yml .appveyor.yml", "Travis CI: Customizing", elsewhere=True),
        _row("Woodpecker", ".woodpecker/ .woodpecker.y*ml", "Woodpecker: Workflow syntax", elsewhere=True),
        _row("Forgejo, Gitea", ".forgejo/ .gitea/", "Forgejo Actions: Reference", elsewhere=True),
        _row("Bitbucket", "bitbucket-pipelines.yml", "Bitbucket: Pipelines configuration", elsewhere=True),
        _row("Google Cloud", "cloudbuild.y*ml", "Cloud Build: Build configuration file schema", elsewhere=True),
        _row("Cirrus, Semaphore", ".cirrus.yml .semaphore/", "Cirrus CI: Writing tasks", elsewhere=True),
    ),
}

_ROWS: Final = tuple(row for rows in STEERING.values() for row in rows)
SETTINGS_FILES: Final = tuple(pattern for row in _ROWS for pattern in row.files)
"""Put back from the base for the second run of the checks, and removed where they are new."""
STEERS_MACHINES: Final = tuple(pattern for row in _ROWS if row.elsewhere for pattern in row.files)
"""Those that also steer other machines."""


@lru_cache(maxsize=4096)
def steers_checks(path: str) -> bool:
    """Whether a file, or a folder above it, holds settings that a tool of some check reads."""
    return names(path, SETTINGS_FILES)


def steers_only_new(path: str, base: Iterable[str]) -> bool:
    """Whether a new settings file is in a folder that is new too: what was there before does not look for it there."""
    folders = path.split("/")[:-1]
    there = tuple(base)
    for depth in range(1, len(folders) + 1):
        folder = "/".join(folders[:depth])
        if not any(one.startswith(f"{folder}/") for one in there):
            return not steers_checks(folder)
    return False
