"""The status of every agent, and whether its model answers: for the command line, the API and doctor."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from pydantic import JsonValue

from midwatch.compose.agent_proofs import proof_of
from midwatch.compose.hellos import chats, say_hello
from midwatch.compose.house import House
from midwatch.crew.programs import judged
from midwatch.crew.roster import KNOWN, OTHERS, Recruit, kind_of, recruit
from midwatch.errors import Unknown
from midwatch.gateway.metering import Upstream
from midwatch.gateway.model_list import offered_models
from midwatch.gateway.vault import Vault
from midwatch.rules.model_choice import current_model
from midwatch.settings import Settings
from midwatch.settings.named_tables import AgentSetup
from midwatch.terms.agents import ModelAccess
from midwatch.terms.secrets import SecretReference
from midwatch.terms.term import Term
from midwatch.workshop.sandbox.program_answers import ask_program

HOUSEKEEPER = "housekeeper"
OWN = "Built into Midwatch: it runs a fixed set of tools and uses no model."
CHATGPT = (
    "A ChatGPT login works only at ChatGPT's own address, and only Codex itself can renew it every few days;"
    " Midwatch uses OpenAI's API, which does not accept it."
)


class LimitLeftShown(Term):
    """What is left of one limit of a provider."""

    limit: str
    remaining: JsonValue
    resets_at: str | None


class AgentShown(Term):
    """An agent: its program, model and credential, and what is missing before it can work."""

    name: str
    led: str
    set_up: bool
    ready: bool
    """Its program answered in its sandbox, with this model and credential."""
    missing: str = ""
    proven_at: str | None = None
    proof: str = ""
    """What its program said when it was last tried."""
    program: str = ""
    version: str = ""
    tested: tuple[str, ...] = ()
    judged: str = ""
    provider: str = ""
    model: str = ""
    base_url: str = ""
    credential: str = ""
    secret: str = ""
    kept: str = ""
    governance: str = ""
    install: str = ""


class AgentHello(Term):
    """What an agent's model answered."""

    name: str
    ready: bool
    answers: bool
    known: bool
    heard: str
    sentence: str
    ms: float = 0
    chosen: str = ""
    """The model that a login would store: the one that was named, or the newest of the provider's list that fits."""
    model: str = ""
    limits: tuple[LimitLeftShown, ...] = ()
    resets_at: str | None = None


async def roll(settings: Settings, home: Path) -> list[AgentShown]:
    """List the housekeeper, the agents in the settings, and the known agents that are not set up."""
    setups, secrets = settings.agents.by_name(), settings.secrets.by_name()
    names = sorted({*setups, *KNOWN}, key=lambda name: (not set_up(setups.get(name)), name))
    standing = (asyncio.to_thread(_stands, home, name, setups.get(name) or AgentSetup(), secrets) for name in names)
    return [_housekeeper(), *await asyncio.gather(*standing)]


def set_up(setup: AgentSetup | None) -> bool:
    """Return whether the settings differ from the defaults; after a logout they do not."""
    return setup is not None and setup != AgentSetup()


def found(settings: Settings, name: str) -> tuple[AgentSetup, Recruit]:
    """Find one agent by these settings; a known agent need not be set up. Blocking."""
    setups = settings.agents.by_name()
    if name not in {*setups, *KNOWN}:
        known = ", ".join(sorted({*setups, *KNOWN}))
        raise Unknown(f"No agent is called {name}.", hint=f"There are {known}; others are named in [agents] first.")
    setup = setups.get(name) or AgentSetup()
    return setup, recruit(name, setup, frozenset(settings.secrets.by_name()), ask_program)


def why_no_subscription(name: str, setup: AgentSetup) -> str:
    """Say why a subscription's token would not work for this agent; empty if it would."""
    kind = kind_of(name, setup)
    if kind is None or not kind.subscribes:
        return f"{OTHERS} The agent {name} needs an API key."
    if kind.provider == "openai" and not setup.base_url:
        return CHATGPT
    return ""


async def greet(house: House, name: str) -> AgentHello:
    """Say hello to an agent's model; the credential is fetched again, because it may have changed."""
    if name == HOUSEKEEPER:
        return _unasked(name, OWN, ready=True)
    setup, one = await asyncio.to_thread(found, house.loaded.settings, name)
    if one.access is None or one.missing:
        return _unasked(name, one.missing or "It uses no model.", ready=one.ready)
    house.vault.forget(one.access.secret)
    return await _said(house, name, one.access, house.vault, chatting=chats(name, setup))


async def newest(house: House, name: str, reference: SecretReference, given: ModelAccess) -> ModelAccess:
    """Choose the newest model that fits from the provider's own list, unless the settings name one."""
    setup, _ = await asyncio.to_thread(found, house.loaded.settings, name)
    kind = kind_of(name, setup)
    # The patterns are of the vendor's own models: another provider's list is the person's to choose from.
    if setup.model or kind is None or not kind.kinds or given.provider != kind.provider:
        return given
    vault, upstream = Vault({given.secret: reference}, on_read=house.redactor.know), Upstream()
    try:
        chosen = current_model(await offered_models(given, vault, upstream), kind.kinds)
    finally:
        await upstream.close()
    return given.model_copy(update={"model": chosen}) if chosen else given


async def try_out(house: House, name: str, reference: SecretReference, given: ModelAccess) -> AgentHello:
    """Say hello with a credential that is not in the settings."""
    setup, _ = await asyncio.to_thread(found, house.loaded.settings, name)
    # The redactor learns it first: a credential on trial is as secret as a stored one.
    vault = Vault({given.secret: reference}, on_read=house.redactor.know)
    return await _said(house, name, given, vault, chatting=chats(name, setup))


async def _said(house: House, name: str, access: ModelAccess, vault: Vault, *, chatting: bool) -> AgentHello:
    said = await say_hello(access, vault, house.clock, chats=chatting)
    return AgentHello(
        name=name,
        ready=True,
        answers=said.answers,
        known=said.known,
        heard=said.heard.value,
        sentence=house.redactor.redact(said.sentence),
        ms=said.ms,
        model=house.redactor.redact(said.model),
        limits=tuple(
            LimitLeftShown(limit=one.limit, remaining=one.remaining, resets_at=_written(one.resets_at))
            for one in said.limits
        ),
        resets_at=_written(said.resets_at),
    )


def _written(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _unasked(name: str, sentence: str, *, ready: bool) -> AgentHello:
    """Report an agent whose model was not asked; one that needs no model counts as answering."""
    heard = "no_model_needed" if ready else "not_ready"
    return AgentHello(name=name, ready=ready, answers=ready, known=ready, heard=heard, sentence=sentence)


def _stands(home: Path, name: str, setup: AgentSetup, secrets: Mapping[str, str]) -> AgentShown:
    one = recruit(name, setup, frozenset(secrets), ask_program)
    access, driver = one.access, one.driver
    version = one.version()
    tested = driver.tested if driver else ()
    given = access is not None and bool(access.secret)
    proof = proof_of(home, one)
    return AgentShown(
        name=name,
        led=setup.speaks or name,
        set_up=set_up(setup),
        # A file that exists is no proof: ready is what answered in its sandbox.
        ready=one.ready and proof is not None and proof.answers,
        missing=one.missing,
        proven_at=_written(proof.at) if proof else None,
        proof=proof.sentence if proof else "",
        program=str(one.program.path) if one.program else "",
        version=version,
        tested=tested,
        judged=judged(version, tested) if one.program else "",
        provider=access.provider if access else "",
        model=access.model if access else "",
        base_url=access.base_url if access else "",
        credential=access.kind if access and given else "",
        secret=access.secret if access else "",
        kept=secrets.get(access.secret, "") if access else "",
        governance=driver.governance if driver else "",
        install=driver.install if driver else "",
    )


def _housekeeper() -> AgentShown:
    return AgentShown(name=HOUSEKEEPER, led=HOUSEKEEPER, set_up=True, ready=True, governance=OWN)
