"""What makes a checkout ready: the command that its lockfile asks for, and what a setup's failure means."""

import json
import re
import shlex
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final

from midwatch.rules.budget.egress import CLIENTS
from midwatch.rules.checks.discovery import NONE, Looked
from midwatch.terms.figures import joined

KEY: Final = "sandbox.setup_domains"
"""The setting that allows a setup to reach a host, or to read a client's registries."""
LOGINS: Final[Mapping[str, str]] = {
    "pip": "in its index address or ~/.netrc",
    "uv": "in its index address or ~/.netrc",
    "npm": "npm login",
    "cargo": "cargo login",
    "go": "in its proxy address or ~/.netrc",
}
"""Where each package client takes a registry's credential from."""
_THEN: Final = " && "
_VENV: Final = "python3 -m venv .venv && .venv/bin/pip install"
_TESTS: Final = ("test", "tests", "testing", "dev")
"""What projects call the packages that their tests need, as extras or as groups."""


@dataclass(frozen=True, slots=True)
class SetupProposal:
    """A command that makes a checkout ready, the file that asks for it, and whose registries it reads."""

    command: str
    file: str
    client: str
    locked: bool = True
    """Whether the file is a lockfile; only then the command is run without being asked for."""
    beside: tuple[str, ...] = ()
    """Other lockfiles of the same kind of code, which are not used."""
    named_in: str = ""
    """The file that names the tool of this lockfile; empty where their order decided."""

    @property
    def tool(self) -> str:
        """The program that it runs."""
        return next((word for word in self.command.split() if "=" not in word), "")

    @property
    def reason(self) -> str:
        """Say why it was chosen."""
        beside = f" ({self.unused})" if self.beside else ""
        return f"`{self.command}`, because {self.file} is there{beside}"

    @property
    def unused(self) -> str:
        """Say which lockfiles beside it are not used, and why."""
        why = f"{self.named_in} names {self.tool}" if self.named_in else f"nothing names one, and {self.tool} is first"
        return f"{joined(self.beside)} {'are' if len(self.beside) > 1 else 'is'} not used: {why}"


_LOCKFILES: Final = (
    # Of each group the first that is there.
    (
        SetupProposal("uv sync --frozen", "uv.lock", "uv"),
        SetupProposal("POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction", "poetry.lock", "pip"),
        SetupProposal("pdm sync", "pdm.lock", "pip"),
        SetupProposal("PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev", "Pipfile.lock", "pip"),
    ),
    (
        SetupProposal("npm ci", "package-lock.json", "npm"),
        SetupProposal("npm ci", "npm-shrinkwrap.json", "npm"),
        SetupProposal("pnpm install --frozen-lockfile", "pnpm-lock.yaml", "npm"),
        SetupProposal("yarn install --frozen-lockfile", "yarn.lock", "npm"),
        SetupProposal("bun install --frozen-lockfile", "bun.lock", "npm"),
        SetupProposal("bun install --frozen-lockfile", "bun.lockb", "npm"),
    ),
    (SetupProposal('CARGO_HOME="$MIDWATCH_CACHE/cargo" cargo fetch --locked', "Cargo.lock", "cargo"),),
    (SetupProposal('GOMODCACHE="$MIDWATCH_CACHE/go" go mod download', "go.sum", "go"),),
)


def propose_setups(looked: Looked) -> tuple[SetupProposal, ...]:
    """Propose what makes a checkout ready, one for each kind of code: by its lockfile, else by its manifest."""
    here = frozenset(path for path in looked.paths if "/" not in path)
    python, node, *others = [_by_lockfile(group, here, looked) for group in _LOCKFILES]
    if node is not None and node.file == "yarn.lock" and ".yarnrc.yml" in here:
        node = replace(node, command="yarn install --immutable")
    found = (python or _python_manifest(looked, here), node or _node_manifest(looked), *others)
    return tuple(one for one in found if one is not None)


def _by_lockfile(group: Iterable[SetupProposal], here: frozenset[str], looked: Looked) -> SetupProposal | None:
    """Choose the first lockfile of a kind of code, unless the project names the tool of another."""
    there = [one for one in group if one.file in here]
    tools = {one.tool for one in there}
    if len(tools) < 2:  # npm's two lockfiles mean the same
        return there[0] if there else None
    named, file = _named_tool(looked, tools)
    chosen = next((one for one in there if one.tool == named), there[0])
    beside = tuple(one.file for one in there if one.tool != chosen.tool)
    return replace(chosen, beside=beside, named_in=file)


def _named_tool(looked: Looked, tools: Collection[str]) -> tuple[str, str]:
    """Return the tool that a project names for itself, and the file that does."""
    said = _toml(looked.texts.get("pyproject.toml", "")).get("tool", {})
    tables = [name for name in tools if isinstance(said, dict) and name in said]
    if len(tables) == 1:
        return tables[0], "pyproject.toml"
    try:
        named = str(json.loads(looked.texts.get("package.json", ""))["packageManager"]).partition("@")[0]
    except (ValueError, TypeError, KeyError, RecursionError):
        return "", ""
    return (named, "package.json") if named in tools else ("", "")


def _python_manifest(looked: Looked, here: frozenset[str]) -> SetupProposal | None:
    """Install the project itself with what its tests need, and the usual test runner."""
    file = next((name for name in ("pyproject.toml", "setup.py", "setup.cfg") if name in here), "")
    if file:
        said = _toml(looked.texts.get("pyproject.toml", ""))
        extra = _first(said.get("project", {}).get("optional-dependencies", {}))
        group = _first(said.get("dependency-groups", {}))
        itself = f"'.[{extra}]'" if extra else "."
        # Groups need a new pip.
        fresh = "-U pip && .venv/bin/pip install " if group and not extra else ""
        grouped = f" --group {group}" if fresh else ""
        beside = "" if extra or fresh else next((f" -r {name}" for name in _test_lists(looked)), "")
        return SetupProposal(f"{_VENV} {fresh}-e {itself}{grouped}{beside} pytest", file, "pip", locked=False)
    listed = sorted(name for name in here if re.fullmatch(r"(?:dev-|test-)?requirements(?:[-_]?\w+)?\.txt", name))
    files = " ".join(f"-r {name}" for name in listed)
    return SetupProposal(f"{_VENV} {files} pytest", listed[0], "pip", locked=False) if listed else None


def _test_lists(looked: Looked) -> list[str]:
    """Find the files that list what the tests need, where neither an extra nor a group does."""
    here = frozenset(looked.paths)
    names = [f"requirements/{name}.txt" for name in _TESTS] + [f"requirements-{name}.txt" for name in _TESTS]
    return [name for name in names if name in here]


def _first(table: Any) -> str:
    return next((name for name in _TESTS if name in table), "") if isinstance(table, dict) else ""


def _node_manifest(looked: Looked) -> SetupProposal | None:
    try:
        said = json.loads(looked.texts.get("package.json", ""))
        needed = bool(said.get("dependencies") or said.get("devDependencies"))
    except (ValueError, AttributeError, RecursionError):
        return None
    return SetupProposal("npm install --no-package-lock", "package.json", "npm", locked=False) if needed else None


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


@dataclass(frozen=True, slots=True)
class SetupChoice:
    """The setup of a project at a commit."""

    command: str = ""
    """Empty where nothing is run."""
    found: tuple[SetupProposal, ...] = ()
    """What the checkout asks for, where the person named nothing."""

    @property
    def held(self) -> tuple[SetupProposal, ...]:
        """What a lockfile asks for and is not run, because its registries may not be read."""
        return tuple(one for one in self.found if one.locked and one not in self.chosen)

    @property
    def chosen(self) -> tuple[SetupProposal, ...]:
        """What is run because a lockfile asks for it."""
        parts = self.command.split(_THEN)
        return tuple(one for one in self.found if one.locked and one.command in parts)


def choose_setup(named: str, found: Iterable[SetupProposal], allowed: Iterable[str]) -> SetupChoice:
    """A person's word wins; else the lockfiles choose, once setups may read the registries they need."""
    if named:
        return SetupChoice("" if named == NONE else named)
    proposals, may = tuple(found), frozenset(allowed)
    wanted = [one.command for one in proposals if one.locked and one.client in may]
    return SetupChoice(_THEN.join(wanted), proposals)


def allowing(wanted: Iterable[str]) -> str:
    """Write the change that adds hosts or clients to what setups may reach; others may be followed before or after."""
    return f"midwatch settings propose {KEY}+={','.join(dict.fromkeys(wanted))} --apply"


def letting_run(
    needed: Collection[SetupProposal], found: Iterable[SetupProposal], project: str, listed: Collection[str]
) -> str:
    """Write what lets the needed setups run: one setup that has everything, and what its registries need.

    A named setup replaces what the lockfiles choose, so their commands are in it as well.
    """
    named = any(not one.locked for one in needed)
    whole = [one for one in found if one in needed or (named and one.locked)]
    command = typed(_THEN.join(one.command for one in whole))
    refused = [one.client for one in whole if one.client not in listed]
    parts = (f"midwatch project change {project} --setup {command}" if named else "", refused and allowing(refused))
    return " and ".join(part for part in parts if part)


def wanted_hosts(wanted: Iterable[str]) -> dict[str, str]:
    """Name the same change by its setting, with what is added to it."""
    return {KEY: ",".join(dict.fromkeys(wanted))}


def typed(command: str) -> str:
    """Write a command as one word of a command line."""
    return shlex.quote(command) if set(command) & set('"$`\\!') else f'"{command}"'


def clients_named(command: str) -> tuple[str, ...]:
    """Return the package clients that a command runs."""
    return tuple(client for client in CLIENTS if re.search(rf"\b{client}\b", command))


def denial_text(client: str, host: str, status: int, *, in_settings: bool) -> tuple[str, str]:
    """Say that a registry answers, but lets nothing be read, and where its credential comes from."""
    meaning = f"{status} {HTTPStatus(status).phrase}"
    text = f"The setup may not read {host} ({client}'s registry): it answers {meaning}."
    if in_settings:
        return text, "Correct its credential in sandbox.registries, then check again."
    return text, f"Give {client} on this machine a login that may read it ({LOGINS[client]}), then check again."


def refusal_text(refused: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """Say which hosts a setup was refused, each with the client whose registry it is, and what allows them."""
    hosts = dict(refused)
    parts = [f"{host} ({client}'s registry)" if client else host for host, client in hosts.items()]
    wanted = [client or host for host, client in hosts.items()]
    return f"The setup may not reach {' and '.join(parts)}.", f"Allow it: {allowing(wanted)}"
