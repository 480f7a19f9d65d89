"""The agents in the settings, each with its program and its model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from midwatch.crew.drivers.acp.agents import OPENCODE, AcpAgent
from midwatch.crew.drivers.acp.driver import AcpDriver
from midwatch.crew.drivers.claude.driver import ClaudeDriver
from midwatch.crew.drivers.codex.driver import CodexDriver
from midwatch.crew.drivers.codex.executing import CodexExecDriver
from midwatch.crew.drivers.command import CommandDriver
from midwatch.crew.model_agent import ModelAgent
from midwatch.crew.programs import Ask, Program, find, version_of
from midwatch.errors import MidwatchError, Misuse
from midwatch.ports.agent import AskProgram, Driver
from midwatch.settings.named_tables import AgentSetup
from midwatch.terms.agents import ModelAccess

Lead = Callable[[str, AgentSetup, Program | None, Ask], Driver]


@dataclass(frozen=True, slots=True)
class ProgramKind:
    """What is known about a vendor's program."""

    provider: str
    model: str
    """The default model, where the provider's list was never read or offers none that fits."""
    lead: Lead
    natives: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """Which of the provider's models fit, as patterns of names, the best first; the newest is used from a login on."""
    subscribes: bool = False
    """Whether its vendor lets this program use a subscription; others need an API key."""
    chats: bool = True
    """Whether it uses Chat Completions with OpenAI's models, as all but OpenAI's own programs do."""


@dataclass(frozen=True, slots=True)
class Recruit:
    """One agent: ready to work, or what is missing."""

    name: str
    driver: Driver | None
    program: Program | None
    access: ModelAccess | None
    missing: str = ""
    """What to do before it can work, in one sentence."""
    ask: Ask | None = None
    """How to ask its program something, if it has one."""

    @property
    def ready(self) -> bool:
        """Whether it can be given work."""
        return not self.missing

    def version(self) -> str:
        """Ask its program which version it is, where versions were tested at all; blocking."""
        if self.program is None or self.ask is None or self.driver is None or not self.driver.tested:
            return ""
        return version_of(self.program, self.ask)

    def agent(self) -> ModelAgent:
        """Make the agent; raise if something is missing."""
        if self.driver is None or self.program is None:
            raise Misuse(f"The agent {self.name} cannot work yet.", hint=self.missing)
        model = self.access.model if self.access else ""
        small = next(iter(self.access.also), "") if self.access else ""
        return ModelAgent(self.driver, str(self.program.path), model, small_model=small, name=self.name)


def _claude(_name: str, _setup: AgentSetup, _program: Program | None, _ask: Ask) -> Driver:
    return ClaudeDriver()


def _codex(_name: str, _setup: AgentSetup, program: Program | None, ask: Ask) -> Driver:
    return fitting(ask(program, "--help")) if program else CodexDriver()


def _opencode(_name: str, _setup: AgentSetup, _program: Program | None, _ask: Ask) -> Driver:
    return AcpDriver(OPENCODE)


def _acp(name: str, setup: AgentSetup, _program: Program | None, _ask: Ask) -> Driver:
    return AcpDriver(AcpAgent(name=name, words=setup.words))


def _command(name: str, setup: AgentSetup, program: Program | None, _ask: Ask) -> Driver:
    return CommandDriver((str(program.path) if program else name, *setup.words), name=name)


KINDS: Mapping[str, ProgramKind] = {
    "claude": ProgramKind(
        "anthropic",
        "claude-sonnet-4-5",
        _claude,
        ("@anthropic-ai/claude-code-*/claude",),
        (r"claude-sonnet-[\d-]+",),
        subscribes=True,
    ),
    "codex": ProgramKind(
        "openai",
        "gpt-5-codex",
        _codex,
        ("@openai/codex-*/vendor/*/bin/codex",),
        (r"gpt-[\d.]+-codex", r"gpt-[\d.]+"),
        subscribes=True,
        chats=False,
    ),
    "opencode": ProgramKind("openai", "gpt-5", _opencode, ("opencode-*/bin/opencode",), (r"gpt-[\d.]+",)),
    "acp": ProgramKind("", "", _acp),
    "command": ProgramKind("", "", _command),
}
OTHERS = "Vendors allow subscriptions only in their own programs."
KNOWN = ("claude", "codex", "opencode")
"""Agents that doctor looks for in any case; only their programs are found by the agent's name."""


def recruit(name: str, setup: AgentSetup, secrets: frozenset[str], asking: AskProgram) -> Recruit:
    """Find one agent's program, model and what is missing; `secrets` are the names in the settings."""

    def ask(program: Program, word: str) -> str:
        return asking(program.path, word, lent=program.lends, named=bool(setup.program))

    kind = kind_of(name, setup)
    if kind is None:
        return Recruit(name, None, None, None, f"Set agents.{name}.speaks to acp or command.")
    access = _access(setup, kind)
    # A person who changes settings remotely chooses names, and must not choose a program of the PATH that way.
    if not setup.program and name not in KNOWN:
        return Recruit(name, None, None, access, f"Name its program: agents.{name}.program.")
    try:
        program = find(setup.program or name, kind.natives, ask)
    except MidwatchError as problem:
        return Recruit(name, None, None, access, f"{problem.message} {problem.hint}")
    driver = kind.lead(name, setup, program, ask)
    if program is None:
        return Recruit(name, driver, None, access, f"{setup.program or name} is not installed. {driver.install}")
    if access is None:
        uses_no_model = setup.speaks == "command"
        missing = "" if uses_no_model else f"Name its model's provider: agents.{name}.provider."
        return Recruit(name, driver, program, None, missing, ask)
    return Recruit(name, driver, program, access, _unpaid(name, access, kind, secrets), ask)


def kind_of(name: str, setup: AgentSetup) -> ProgramKind | None:
    """Return the kind of its program; None if the settings do not give one."""
    return KINDS.get(setup.speaks or name)


def _access(setup: AgentSetup, kind: ProgramKind) -> ModelAccess | None:
    provider = setup.provider or kind.provider
    if not provider:
        return None
    return ModelAccess(
        provider=provider,
        model=setup.model or kind.model,
        also=setup.also_models,
        secret=setup.secret,
        kind=setup.credential,
        base_url=setup.base_url,
    )


def muster(setups: Mapping[str, AgentSetup], secrets: frozenset[str], asking: AskProgram) -> dict[str, Recruit]:
    return {name: recruit(name, setup, secrets, asking) for name, setup in sorted(setups.items())}


def lent_by(recruits: Mapping[str, Recruit]) -> tuple[Path, ...]:
    """List the folders that rooms must see for the agents that are ready."""
    found = (one.program.lends for one in recruits.values() if one.ready and one.program)
    return tuple(sorted({folder for folder in found if folder is not None}))


def _unpaid(name: str, access: ModelAccess, kind: ProgramKind, secrets: frozenset[str]) -> str:
    if access.kind == "oauth" and not kind.subscribes:
        return f"{OTHERS} Give {name} an API key: midwatch agent login {name}."
    if not access.model:
        return f"Name its model: agents.{name}.model."
    if not access.secret:
        return f"It has no credential: midwatch agent login {name} says how to give it one."
    if access.secret not in secrets:
        return f"[secrets] does not say where {access.secret} is kept: midwatch agent login {name} says how."
    return ""


def fitting(help_text: str) -> CodexDriver | CodexExecDriver:
    """Choose by `codex --help`: the app server, where every call is decided, or else `codex exec`."""
    commands = {line.split()[0] for line in help_text.splitlines() if line.startswith(" ") and line.strip()}
    return CodexDriver() if "app-server" in commands else CodexExecDriver()
