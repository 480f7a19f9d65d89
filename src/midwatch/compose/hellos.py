"""Says hello to an agent's model, for the command line, the API, doctor and preflights."""

import asyncio

from midwatch.compose.crew import Crew
from midwatch.crew.programs import judged
from midwatch.crew.roster import Recruit, kind_of, recruit
from midwatch.gateway.hello import hello
from midwatch.gateway.hello_result import HelloResult
from midwatch.gateway.metering import Upstream
from midwatch.gateway.redaction.redactor import Redactor
from midwatch.gateway.vault import Vault
from midwatch.ports.clock import Clock
from midwatch.ports.credentials import SecretSource
from midwatch.rules.gate.levels import HOUSEKEEPER
from midwatch.settings import Settings
from midwatch.settings.named_tables import AgentSetup
from midwatch.terms.agents import ModelAccess
from midwatch.terms.preflight import AgentSeen, LimitLeft
from midwatch.workshop.sandbox.program_answers import ask_program

NO_MODEL = "Uses no model."


async def say_hello(access: ModelAccess, vault: SecretSource, clock: Clock, *, chats: bool) -> HelloResult:
    """Say hello once, with an HTTP client of its own."""
    upstream = Upstream()
    try:
        return await hello(access, vault, upstream, clock, chat=chats)
    finally:
        await upstream.close()


def chats(name: str, setup: AgentSetup) -> bool:
    """Return whether an agent uses Chat Completions, the older of OpenAI's two APIs."""
    kind = kind_of(name, setup)
    return kind is None or kind.chats


async def seen(name: str, crew: Crew, settings: Settings, clock: Clock, vault: Vault, redactor: Redactor) -> AgentSeen:
    """Find an agent's status and what its model answers; its credential is fetched again."""
    if crew.fixed or name == HOUSEKEEPER:
        found, access = AgentSeen(name=name, ready=name in crew.agents), crew.models.get(name)
    else:
        found, access = await asyncio.to_thread(_standing, name, settings)
    if not found.ready or access is None:
        return found.model_copy(update={"good": found.ready, "heard": "no_model_needed", "sentence": NO_MODEL})
    vault.forget(access.secret)
    setup = settings.agents.by_name().get(name) or AgentSetup()
    said = await say_hello(access, vault, clock, chats=chats(name, setup))
    return found.model_copy(
        update={
            "provider": access.provider,
            "heard": said.heard.value,
            "good": said.known,
            "sentence": redactor.redact(said.sentence),
            "limits": tuple(
                LimitLeft(limit=one.limit, remaining=one.remaining, resets_at=one.resets_at) for one in said.limits
            ),
            "resets_at": said.resets_at,
        }
    )


def _standing(name: str, settings: Settings) -> tuple[AgentSeen, ModelAccess | None]:
    setup = settings.agents.by_name().get(name) or AgentSetup()
    one = recruit(name, setup, frozenset(settings.secrets.by_name()), ask_program)
    return _seen(one, one.version()), one.access


def _seen(one: Recruit, version: str) -> AgentSeen:
    tested = one.driver.tested if one.driver else ()
    return AgentSeen(
        name=one.name,
        ready=one.ready,
        missing=one.missing,
        program=str(one.program.path) if one.program else "",
        version=version,
        untested=judged(version, tested) if one.program and tested and version not in tested else "",
        install=one.driver.install if one.driver else "",
    )
