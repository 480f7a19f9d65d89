"""What makes a checkout ready, by its lockfiles, and what a failed setup and a missing program mean."""

import json

import pytest

from midwatch.rules.checks.discovery import Looked
from midwatch.rules.checks.missing_tools import how_to_get, settings_for
from midwatch.rules.checks.setups import (
    SetupProposal,
    choose_setup,
    clients_named,
    denial_text,
    propose_setups,
    refusal_text,
)
from midwatch.rules.recovery.failing_output import failing_output
from midwatch.terms.jobs import CheckResult

LOCKED = {
    "uv.lock": ("uv sync --frozen", "uv"),
    "poetry.lock": ("POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction", "pip"),
    "package-lock.json": ("npm ci", "npm"),
    "npm-shrinkwrap.json": ("npm ci", "npm"),
    "pnpm-lock.yaml": ("pnpm install --frozen-lockfile", "npm"),
    "yarn.lock": ("yarn install --frozen-lockfile", "npm"),
    "Cargo.lock": ('CARGO_HOME="$MIDWATCH_CACHE/cargo" cargo fetch --locked', "cargo"),
    "go.sum": ('GOMODCACHE="$MIDWATCH_CACHE/go" go mod download', "go"),
}


@pytest.mark.parametrize("file", LOCKED)
def test_a_lockfile_chooses_the_command_once_its_registries_may_be_read(file: str) -> None:
    command, client = LOCKED[file]
    found = propose_setups(Looked(paths=(file, "docs/uv.lock")))
    assert choose_setup("", found, (client,)).command == command
    held = choose_setup("", found, ())
    assert (held.command, [one.file for one in held.held]) == ("", [file])


def test_a_persons_word_wins_and_none_means_none() -> None:
    found = propose_setups(Looked(paths=("package-lock.json",)))
    assert choose_setup("make deps", found, ("npm",)).command == "make deps"
    assert choose_setup("none", found, ("npm",)).command == ""


def test_several_kinds_of_code_are_set_up_one_after_another() -> None:
    found = propose_setups(Looked(paths=("uv.lock", "package-lock.json")))
    assert choose_setup("", found, ("uv", "npm")).command == "uv sync --frozen && npm ci"
    assert choose_setup("", found, ("npm",)).command == "npm ci"


TWO_LOCKFILES = {
    "yarn and npm": (
        ("yarn.lock", "package-lock.json"),
        {},
        "package-lock.json",
        "nothing names one, and npm is first",
    ),
    "the package names it": (
        ("yarn.lock", "package-lock.json"),
        {"package.json": '{"packageManager": "yarn@4.1.0"}'},
        "yarn.lock",
        "package.json names yarn",
    ),
    "poetry and uv": (("poetry.lock", "uv.lock"), {}, "uv.lock", "nothing names one, and uv is first"),
    "the project has its table": (
        ("poetry.lock", "uv.lock"),
        {"pyproject.toml": "[tool.poetry]\n"},
        "poetry.lock",
        "pyproject.toml names poetry",
    ),
    "it has both tables": (
        ("poetry.lock", "uv.lock"),
        {"pyproject.toml": "[tool.poetry]\n[tool.uv]\n"},
        "uv.lock",
        "nothing names one, and uv is first",
    ),
}


@pytest.mark.parametrize("name", TWO_LOCKFILES)
def test_of_two_lockfiles_one_is_chosen_and_the_reason_said(name: str) -> None:
    paths, texts, file, why = TWO_LOCKFILES[name]
    (chosen,) = propose_setups(Looked(texts, paths))
    (other,) = set(paths) - {file}
    assert (chosen.file, chosen.unused) == (file, f"{other} is not used: {why}")
    assert f"because {file} is there ({other} is not used" in chosen.reason


def test_one_kind_that_may_not_be_read_is_held_beside_one_that_may() -> None:
    choice = choose_setup("", propose_setups(Looked(paths=("uv.lock", "package-lock.json"))), ("npm",))
    assert ([one.file for one in choice.chosen], [one.file for one in choice.held]) == (
        ["package-lock.json"],
        ["uv.lock"],
    )


@pytest.mark.parametrize("tool", ["yarn", "pnpm", "bun", "poetry", "pdm", "pipenv"])
def test_a_package_manager_without_a_toolchain_is_installed_on_the_machine(tool: str) -> None:
    said = how_to_get(tool, CheckResult(command=f"{tool} install", exit_code=127), "shop")
    assert f"install -g {tool}" in said or f"pipx install {tool}" in said


MANIFESTS = {
    "extra": ({"pyproject.toml": '[project.optional-dependencies]\ndocs=[]\ntests=["x"]\n'}, "-e '.[tests]' pytest"),
    "group": (
        {"pyproject.toml": '[dependency-groups]\ndev=["x"]\n'},
        "-U pip && .venv/bin/pip install -e . --group dev",
    ),
    "plain": ({"pyproject.toml": "[project]\n"}, "-e . pytest"),
    "its tests' list": (
        {"setup.py": "", "requirements/dev.txt": "", "requirements/tests.txt": ""},
        "-e . -r requirements/tests.txt pytest",
    ),
    "broken": ({"pyproject.toml": "[[["}, "-e . pytest"),
    "requirements": (
        {"requirements.txt": "", "requirements-dev.txt": ""},
        "-r requirements-dev.txt -r requirements.txt",
    ),
    "node": ({"package.json": json.dumps({"devDependencies": {"mocha": "1"}})}, "npm install --no-package-lock"),
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_a_manifest_without_a_lockfile_is_only_proposed(case: str) -> None:
    texts, command = MANIFESTS[case]
    (found,) = propose_setups(Looked(texts=texts, paths=tuple(texts)))
    assert command in found.command
    assert choose_setup("", (found,), (found.client,)).command == ""


@pytest.mark.parametrize("text", ["[]", "{", '"x"', "null", '{"dependencies": 3}'])
def test_any_package_json_is_read_without_harm(text: str) -> None:
    assert len(propose_setups(Looked(texts={"package.json": text}, paths=("package.json",)))) <= 1


def test_a_refusal_names_each_host_and_the_one_change_that_allows_all() -> None:
    text, fix = refusal_text([("npm.example", "npm"), ("cdn.example", "")])
    assert text == "The setup may not reach npm.example (npm's registry) and cdn.example."
    assert fix == "Allow it: midwatch settings propose sandbox.setup_domains+=npm,cdn.example --apply"


def test_a_registry_that_lets_nothing_be_read_is_named_with_the_place_of_its_login() -> None:
    text, fix = denial_text("npm", "npm.example", 401, in_settings=False)
    assert text == "The setup may not read npm.example (npm's registry): it answers 401 Unauthorized."
    assert "(npm login)" in fix
    assert "sandbox.registries" in denial_text("pip", "packages.example", 403, in_settings=True)[1]


@pytest.mark.parametrize(
    ("command", "clients"),
    [
        ("uv sync --frozen", ("uv",)),
        ("python3 -m venv .venv && .venv/bin/pip install -e .", ("pip",)),
        ("npm ci && uv pip sync x", ("pip", "uv", "npm")),
        ("pnpm install && ./uvloop.sh", ()),
    ],
)
def test_a_command_names_the_clients_that_it_runs(command: str, clients: tuple[str, ...]) -> None:
    assert clients_named(command) == clients


TAILS = {
    "npm error code E404\nnpm error 404 Not Found - GET left-pad2\nnpm error A complete log of this run is in: x": (
        "npm error 404 Not Found - GET left-pad2"
    ),
    "x\nERROR: Cannot install a and b\n\nERROR: ResolutionImpossible: for help visit https://x": (
        "ERROR: Cannot install a and b"
    ),
    "one\ntwo\n": "two",
    "": "",
}


@pytest.mark.parametrize("tail", TAILS)
def test_the_line_that_says_why_is_shown_not_the_last_one(tail: str) -> None:
    assert failing_output(tail).line == TAILS[tail]


def test_the_hint_for_a_missing_program_fits_the_kind_of_code() -> None:
    pip = SetupProposal("install it", "pyproject.toml", "pip", locked=False)
    npm = SetupProposal("npm ci", "package-lock.json", "npm")

    def fix(tool: str, command: str, tail: str = "") -> str:
        result = CheckResult(command=command, exit_code=127, tail=tail)
        return how_to_get(tool, result, "shop", (pip, npm), ("a.example",))

    assert fix("pytest", "python3 -m pytest -q") == (
        'Let its setup install it: midwatch project change shop --setup "install it && npm ci"'
        " and midwatch settings propose sandbox.setup_domains+=pip,npm --apply"
    )
    assert fix("mocha", "npm test") == (
        "Let its setup install it: midwatch settings propose sandbox.setup_domains+=npm --apply"
    )
    assert "add cargo to sandbox.toolchains" in fix("cargo", "cargo test")
    assert fix("just", "just test").endswith("apt install just")
    lent = "[midwatch: /home/a/.nvm/bin/npm is not inside the sandbox; add node to sandbox.toolchains]"
    assert fix("npm", "npm test", lent) == "Lend it to jobs: add node to sandbox.toolchains in midwatch.toml"


def test_a_program_that_the_projects_setup_brings_is_not_lent_from_this_machine() -> None:
    pip = SetupProposal("install it", "setup.cfg", "pip", locked=False)
    lent = "[midwatch: /a/.pyenv/shims/pytest is not inside the sandbox; add /a/.pyenv/shims to sandbox.toolchains]"
    result = CheckResult(command="python3 -m pytest -q", exit_code=1, tail=f"No module named pytest\n{lent}")
    assert how_to_get("pytest", result, "shop", (pip,)).startswith("Let its setup install it: ")
    assert settings_for("pytest", result, (pip,)) == {"sandbox.setup_domains": "pip"}
    assert how_to_get("pytest", result, "shop", ()).startswith("Lend it to jobs: add /a/.pyenv/shims ")
    assert settings_for("pytest", result, ()) == {}, "a path that a command printed is never a setting"
