"""Routes about agents: their state, whether their models answer, and where their credentials are stored."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field, JsonValue

from midwatch.compose import agent_status as crew
from midwatch.compose.agent_status import AgentHello, AgentShown
from midwatch.compose.house import House
from midwatch.compose.program_hello import ProgramAnswer, hello_by_program
from midwatch.errors import Misuse, Refused
from midwatch.settings import SettingChange, load_settings
from midwatch.surfaces import settings_changes
from midwatch.surfaces.api.access import Caller, Governs, OnThisMachine, Operates, Reads, TheCaller, TheHouse
from midwatch.surfaces.secret_names import COMMANDS
from midwatch.terms.agents import ModelAccess
from midwatch.terms.secrets import SecretPlace, SecretReference
from midwatch.terms.term import Term

router = APIRouter()


class CredentialSet(Term):
    """Which settings changed, in which version, and which are overridden elsewhere."""

    version: int | None
    changed: tuple[str, ...]
    overruled: dict[str, str]


class CredentialRemoved(CredentialSet):
    """What still names a credential, and who else uses it."""

    still_from: str
    shared_with: tuple[str, ...]


class NewCredential(Term):
    """Where an agent's credential is stored, its kind, and its model; never the credential itself."""

    reference: Annotated[str, Field(max_length=1000)]
    credential: Literal["api_key", "oauth"] = "api_key"
    model: Annotated[str, Field(max_length=200)] = ""


@router.get("/agents", dependencies=[Reads])
async def agents(house: TheHouse) -> list[AgentShown]:
    """List every agent: program, version, model, where its credential is stored, and what is missing."""
    await house.reload_settings()
    return await crew.roll(house.loaded.settings, house.home)


@router.post("/agents/{name}/hello", dependencies=[Operates])
async def say_hello(house: TheHouse, name: str) -> AgentHello:
    """Say hello to an agent's model; costs about a token."""
    await house.reload_settings()
    return await crew.greet(house, name)


@router.post("/agents/{name}/errand", dependencies=[Operates])
async def lead_program(house: TheHouse, name: str) -> ProgramAnswer:
    """Run an agent's own program in a sandbox until one answer; costs some thousand tokens."""
    await house.reload_settings()
    _, one = await asyncio.to_thread(crew.found, house.loaded.settings, name)
    return await hello_by_program(house, one)


@router.post("/agents/{name}/trial", dependencies=[Governs, OnThisMachine])
async def try_credential(house: TheHouse, name: str, given: NewCredential) -> AgentHello:
    """Say hello with a credential before it is stored; costs about a token, and stores nothing."""
    await house.reload_settings()
    secret, reference = _reference(house, name, given.reference)
    access = await _access(house, name, secret, given)
    wanted = access if given.model else await crew.newest(house, name, reference, access)
    said = await crew.try_out(house, name, reference, wanted)
    if said.heard == "no_model" and wanted != access:  # it is listed, and this credential may not use it
        wanted, said = access, await crew.try_out(house, name, reference, access)
    return said.model_copy(update={"chosen": wanted.model})


@router.put("/agents/{name}/credential", dependencies=[Governs, OnThisMachine])
async def set_credential(house: TheHouse, caller: TheCaller, name: str, given: NewCredential) -> CredentialSet:
    """Apply an agent's credential as the next version of the settings."""
    await house.reload_settings()
    secret, reference = _reference(house, name, given.reference)
    access = await _access(house, name, secret, given)
    wanted: dict[str, JsonValue] = {
        f"secrets.{secret}": str(reference),
        f"agents.{name}.secret": secret,
        f"agents.{name}.credential": given.credential,
        f"agents.{name}.model": access.model,
    }
    return await _put_in_force(house, wanted, by=caller, note=f"agent login {name}", secret=secret)


@router.delete("/agents/{name}/credential", dependencies=[Governs, OnThisMachine])
async def take_credential(house: TheHouse, caller: TheCaller, name: str) -> CredentialRemoved:
    """Remove an agent's credential from the stored settings; the file's value or the default applies again."""
    await house.reload_settings()
    settings = house.loaded.settings
    await asyncio.to_thread(crew.found, settings, name)
    others = {one for one, setup in settings.agents.by_name().items() if one != name and setup.secret == name}
    keys = [*([] if others else [f"secrets.{name}"]), *(f"agents.{name}.{about}" for about in _ABOUT)]
    before = await asyncio.to_thread(load_settings, house.home)
    wanted = {key: before.value_of(key) for key in keys if house.loaded.source_of(key).startswith("stored")}
    result = await _put_in_force(house, wanted, by=caller, note=f"agent logout {name}", secret=name)
    still = house.loaded.settings.agents.by_name().get(name)
    source = house.loaded.source_of(f"agents.{name}.secret") if still and still.secret else ""
    return CredentialRemoved(**dict(result), still_from=source, shared_with=tuple(sorted(others)))


_ABOUT = ("secret", "credential", "model")


async def _put_in_force(
    house: House, wanted: dict[str, JsonValue], *, by: Caller, note: str, secret: str
) -> CredentialSet:
    """Propose and apply in one step, as `midwatch settings` does in two; without a change nothing is written."""
    changes = {key: value for key, value in wanted.items() if house.loaded.value_of(key) != value}
    differences: tuple[SettingChange, ...] = ()
    version = None
    if changes:
        row, differences = await settings_changes.proposed(house, changes, by=by, note=note)
        version = (await settings_changes.applied(house, row.id, by=by)).version
    house.vault.forget(secret)  # the file may hold another value under the same name
    overruled = {one.key: one.overruled_by for one in differences if one.overruled_by}
    return CredentialSet(version=version, changed=tuple(sorted(changes)), overruled=overruled)


async def _access(house: House, name: str, secret: str, given: NewCredential) -> ModelAccess:
    """Return which model of which provider would be asked if this were applied."""
    settings = house.loaded.settings
    setup, one = await asyncio.to_thread(crew.found, settings, name)
    if one.access is None:
        raise Misuse(f"The agent {name} uses no known model.", hint=one.missing or "It needs no credential.")
    if given.credential == "oauth" and (why_not := crew.why_no_subscription(name, setup)):
        raise Refused(why_not, hint=f"Give it an API key: midwatch agent login {name} --key")
    model = given.model or one.access.model
    if not model:
        raise Misuse(f"The agent {name} has no model.", hint=f"midwatch agent login {name} --model MODEL")
    return one.access.model_copy(update={"secret": secret, "kind": given.credential, "model": model})


def _reference(house: House, name: str, text: str) -> tuple[str, SecretReference]:
    """Read where the secret is stored, and return its name."""
    reference = SecretReference.read(text)
    if reference.place is not SecretPlace.CMD:
        return name, reference
    secret = f"{name}{COMMANDS}"
    if str(reference) != house.loaded.value_of(f"secrets.{secret}"):
        # A remote caller who may change settings must not be able to run programs here.
        raise Misuse(
            "A command that prints a secret is named in the data folder or the environment only.",
            hint=f'Write {secret} = "cmd:..." into [secrets] of midwatch.toml, and do this again.',
        )
    return secret, reference
