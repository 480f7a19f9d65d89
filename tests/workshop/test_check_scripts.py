"""A check comes to the scripts its recipes call, and these are put back like the recipe itself (X8)."""

import json

import pytest

from midwatch.errors import Unknown
from midwatch.rules.checks.cheating import FileKind
from midwatch.terms.jobs import FileChange
from midwatch.workshop.checks.check_files import kind_of
from midwatch.workshop.checks.check_scripts import MOST_SCRIPTS, RECIPES, called_scripts

MAKE = (
    "RUN := sh ./scripts/lint.sh\n\n.PHONY: test\ntest: prepared\n\t@X=1 ./scripts/run.sh -q\n\n"
    "prepared:\n\tbash -e $(CURDIR)/scripts/prepare.sh\n\tpython3 app.py\n\n"
    "install:\n\t./install.sh\n\nlint:\n\tshellcheck src/tool.sh && ruff check app.py\n"
)
PACKAGE = json.dumps({"scripts": {"test": "npm run unit", "unit": "node scripts/unit.js", "start": "./start.sh"}})
PATHS = frozenset(
    [
        "Makefile",
        "package.json",
        "tox.ini",
        "noxfile.py",
        "app.py",
        "install.sh",
        "start.sh",
        "src/tool.sh",
        "lib.sh",
        "scripts/run.sh",
        "scripts/lint.sh",
        "scripts/prepare.sh",
        "scripts/unit.js",
        "scripts/idle.sh",
        "gradlew",
        "tools/all.py",
        "mk/test.mk",
        "mk/more.mk",
        "justfile",
    ]
)


async def called(files: dict[str, str], *commands: str) -> frozenset[str]:
    async def read(_commit: str, path: str) -> bytes:
        if path not in files:
            raise Unknown("No such file.", hint="None.")
        return files[path].encode()

    return await called_scripts(read, "base", commands, PATHS)


@pytest.mark.parametrize(
    ("files", "command", "found"),
    [
        ({"Makefile": MAKE}, "make test", {"scripts/lint.sh", "scripts/run.sh", "scripts/prepare.sh"}),
        ({"Makefile": "all:\n\tscripts/run.sh\nother:\n\t./install.sh\n"}, "make", {"scripts/run.sh"}),
        ({"package.json": PACKAGE}, "npm test", {"scripts/unit.js"}),
        ({"tox.ini": "[testenv]\ncommands =\n    bash {toxinidir}/scripts/run.sh\n"}, "tox -q", {"scripts/run.sh"}),
        ({"noxfile.py": 'def t(session):\n    session.run("bash", "scripts/run.sh")\n'}, "nox", {"scripts/run.sh"}),
        ({"Makefile": "test:\n\tscripts/run.sh\n", "scripts/run.sh": "set -e\n. ./lib.sh\n"}, "make test",
         {"scripts/run.sh", "lib.sh"}),
        ({"Makefile": "test:\n\tscripts/run.sh\n", "scripts/run.sh": "./lib.sh\n", "lib.sh": "bash scripts/idle.sh\n"},
         "make test", {"scripts/run.sh", "lib.sh", "scripts/idle.sh"}),
        ({"Makefile": "-include mk/test.mk other.mk # ours\n", "mk/test.mk": "include $(CURDIR)/mk/more.mk\n",
          "mk/more.mk": "include mk/test.mk\ntest:\n\tscripts/run.sh\n"}, "make test",
         {"mk/test.mk", "mk/more.mk", "scripts/run.sh"}),
        ({"justfile": "import 'mk/test.mk'\n", "mk/test.mk": "test:\n  scripts/run.sh\n"}, "just test",
         {"mk/test.mk", "scripts/run.sh"}),
        ({}, "cd . && ./gradlew check", {"gradlew"}),
        ({}, "python3 tools/all.py", {"tools/all.py"}),
        ({"Makefile": "test:\n\tpython3 app.py\n"}, "make test", set()),
        ({"package.json": "[1"}, "npm test", set()),
    ],
)  # fmt: skip
async def test_what_a_check_calls_in_the_end_is_found(files: dict[str, str], command: str, found: set[str]) -> None:
    assert await called(files, command) == found


async def test_recipes_that_call_themselves_come_to_an_end() -> None:
    loop = {"Makefile": "test: test\n\tmake test\n\tscripts/run.sh\n", "scripts/run.sh": "scripts/run.sh\n"}
    assert await called(loop, "make test") == {"scripts/run.sh"}


async def test_a_makefile_that_includes_thousands_is_not_read_for_ever() -> None:
    names = [f"mk/{number}.mk" for number in range(3000)]
    asked: list[str] = []

    async def read(_commit: str, path: str) -> bytes:
        asked.append(path)
        return "".join(f"include {name}\n" for name in names).encode()

    await called_scripts(read, "base", ("make test",), PATHS | {*names})
    assert len(asked) <= len(RECIPES) * MOST_SCRIPTS + MOST_SCRIPTS


@pytest.mark.timeout(300)
@pytest.mark.parametrize("piece", ["a ", "a: ", "a:b\n", "\tx\n", "a=b ", "$(", "\\\n", "@-+"])
async def test_a_recipe_of_any_shape_is_read_to_its_end(piece: str) -> None:
    await called({"Makefile": "test:\n\t" + piece * 60_000}, "make test")


async def _kind(path: str, before: str, after: str) -> FileKind:
    async def read(commit: str, _path: str) -> bytes:
        return (before if commit == "base" else after).encode()

    return await kind_of(FileChange(path=path, status="M"), read, ("base", "head"), frozenset())


@pytest.mark.parametrize(
    "path",
    [".cargo/config.toml", ".npmrc", "web/vite.config.ts", "pytest.toml", "karma.conf.js", "phpunit.xml"],
)
async def test_files_that_steer_test_tools_are_put_back(path: str) -> None:
    assert await _kind(path, "a", "b") is FileKind.CONFIG


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("", "[tool.hatch.envs.default.scripts]\ntest = 'true'\n", FileKind.CONFIG),
        ("", "[tool.pdm.scripts]\ntest = 'true'\n", FileKind.CONFIG),
        ("", "[tool]\nhatch = 1\n", FileKind.CONFIG),
        ("", "[tool.hatch.version]\npath = 'a.py'\n", FileKind.CODE),
        ("", "[tool.pdm.build]\nincludes = []\n", FileKind.CODE),
    ],
)
async def test_scripts_of_packaging_tools_say_how_it_is_checked(before: str, after: str, kind: FileKind) -> None:
    assert await _kind("pyproject.toml", before, after) is kind
