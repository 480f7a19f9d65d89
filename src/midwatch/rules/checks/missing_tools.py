"""Which program a command did not find, and how a job gets it, by the kind of code that needs it."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from midwatch.rules.checks.setups import SetupProposal, letting_run, wanted_hosts
from midwatch.terms.jobs import CheckResult

CANNOT_RUN: Final = frozenset({126, 127})
LENT: Final = re.compile(r"\[midwatch: (\S+) is not inside the sandbox; add (\S+) to sandbox\.toolchains\]")
TOOLCHAIN_OF: Final[Mapping[str, str]] = {
    **dict.fromkeys(("node", "npm", "npx", "corepack"), "node"),
    **dict.fromkeys(("python", "python3", "pip", "pip3"), "python"),
    **dict.fromkeys(("uv", "uvx"), "uv"),
    **dict.fromkeys(("go", "gofmt"), "go"),
    **dict.fromkeys(("cargo", "rustc", "rustfmt"), "cargo"),
}
"""The toolchain, by the name it is lent by, that a program comes with."""
TOOLCHAINS: Final = "sandbox.toolchains"
INSTALLED_BY: Final[Mapping[str, str]] = {
    **{name: f"npm install -g {name}" for name in ("yarn", "pnpm", "bun")},
    **{name: f"pipx install {name}" for name in ("poetry", "pdm", "pipenv")},
}
"""Package managers that come with no toolchain, and what installs them on a machine."""
_ABSENT: Final = (
    re.compile(r"(?:^|: )([\w.+/-]+): (?:command )?not found$", re.MULTILINE),
    re.compile(r"^make(?:\[\d+\])?: ([\w.+/-]+): No such file or directory$", re.MULTILINE),
)
_MODULE: Final = re.compile(r"No module named '?([\w.]+)'?$", re.MULTILINE)
_LIBRARY: Final = (
    (_MODULE, frozenset({"pip", "uv"})),
    (re.compile(r"Cannot find (?:module|package) '(?![./])"), frozenset({"npm"})),
)
"""How a program says that a library of its kind of code is not installed, and the clients that install it."""
_PYTHON: Final = frozenset({"pytest", "tox", "nox", "coverage", "ruff", "mypy", "flake8", "black"})
_NODE: Final = frozenset({"npm", "npx", "yarn", "pnpm", "bun", "node"})


def missing_tool(result: CheckResult) -> str:
    """Name the program that a command did not find; empty where the command ran."""
    words = result.command.split()
    if result.exit_code in CANNOT_RUN:
        lent = LENT.search(result.tail)
        found = [one for pattern in _ABSENT for one in pattern.findall(result.tail)]
        return lent.group(1) if lent else found[-1] if found else words[0] if words else "a program"
    if modules := _MODULE.findall(result.tail):
        asked = [after for word, after in pairwise(words) if word == "-m"]
        return modules[-1] if modules[-1] in asked else ""
    found = _ABSENT[1].findall(result.tail)
    return found[-1] if found else ""


def _installers(tool: str, command: str) -> frozenset[str]:
    """Return the package clients that could install a program: those of the kind of code that asks for it."""
    if (command.split() or [""])[0] in _NODE:
        return frozenset({"npm"})
    return frozenset({"pip", "uv"}) if tool in _PYTHON or f"-m {tool}" in command else frozenset()


def needed_setups(
    results: Iterable[CheckResult], found: Sequence[SetupProposal], listed: Sequence[str]
) -> tuple[SetupProposal, ...]:
    """Return the setups that would bring the programs and libraries which these commands did not find."""
    wanted = {
        _its_setup(tool.rsplit("/", 1)[-1], one, found) if tool else _setup_of_library(one, found, listed)
        for one in results
        for tool in (missing_tool(one),)
    }
    return tuple(one for one in found if one in wanted)


def how_to_get(
    tool: str,
    result: CheckResult,
    project: str = "",
    found: Sequence[SetupProposal] = (),
    listed: Iterable[str] = (),
    needed: Sequence[SetupProposal] = (),
) -> str:
    """Say what to do about a missing program.

    `found` is what the checkout asks for as its setup, `listed` what setups may reach already, `needed` the setups
    that this program and the others need: what is proposed has all of them, because it replaces what was named before.
    """
    lent, name = LENT.search(result.tail), tool.rsplit("/", 1)[-1]
    if lent is not None and not (project and _its_setup(name, result, found)):
        return f"Lend it to jobs: add {lent.group(2)} to sandbox.toolchains in midwatch.toml"
    if install := INSTALLED_BY.get(name):
        # A setup needs it before it can install anything.
        return f"Install it on this machine ({install}), then check again: the preflight says how it is lent to jobs"
    if chain := TOOLCHAIN_OF.get(name):
        return f"Install {chain} on this machine, then lend it to jobs: add {chain} to sandbox.toolchains"
    if (one := _its_setup(name, result, found)) and project:
        return _by_setup({one, *needed}, found, project, listed)
    setup = (
        f"Let the project's setup install it (midwatch project change {project} --setup ...), or: " if project else ""
    )
    return f"{setup}apt install {name}"


def _by_setup(
    needed: Collection[SetupProposal], found: Sequence[SetupProposal], project: str, listed: Iterable[str]
) -> str:
    return f"Let its setup install it: {letting_run(needed, found, project, set(listed))}"


def missing_library(
    results: Iterable[CheckResult],
    project: str,
    found: Sequence[SetupProposal],
    listed: Iterable[str],
    needed: Sequence[SetupProposal] = (),
) -> tuple[str, dict[str, str]]:
    """Say what to do where a check ran and a library was missing, with the setting that it needs; else nothing.

    `found`, `listed` and `needed` are as for a missing program.
    """
    here = tuple(listed)
    for one in results:
        if setup := _setup_of_library(one, found, here):
            fix = _by_setup({setup, *needed}, found, project, here)
            return fix, wanted_hosts((setup.client,)) if setup.client not in here else {}
    return "", {}


def _setup_of_library(
    result: CheckResult, found: Iterable[SetupProposal], listed: Collection[str]
) -> SetupProposal | None:
    clients = next((clients for pattern, clients in _LIBRARY if pattern.search(result.tail)), frozenset[str]())
    setup = next((proposal for proposal in found if proposal.client in clients), None)
    return None if setup and setup.locked and setup.client in listed else setup  # a locked one ran already


def settings_for(
    tool: str, result: CheckResult, found: Iterable[SetupProposal] = (), listed: Iterable[str] = ()
) -> dict[str, str]:
    """Name the setting that would bring a missing program; a path that a command printed is never one."""
    lent = LENT.search(result.tail)
    if lent is not None and lent.group(2) in TOOLCHAIN_OF.values():
        return {TOOLCHAINS: lent.group(2)}
    one = _its_setup(tool.rsplit("/", 1)[-1], result, found)
    return wanted_hosts((one.client,)) if one and one.client not in set(listed) else {}


def _its_setup(name: str, result: CheckResult, found: Iterable[SetupProposal]) -> SetupProposal | None:
    """Return the setup that installs a program; it wins over lending this machine's own."""
    if name in TOOLCHAIN_OF or name in INSTALLED_BY:
        return None
    clients = _installers(name, result.command)
    return next((one for one in found if one.client in clients), None)
