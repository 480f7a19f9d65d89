"""A hello through an agent's own program: in a throw-away sandbox, through the metered model proxy."""

import asyncio
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from midwatch.compose.agent_proofs import keep_proof
from midwatch.compose.house import House
from midwatch.crew.roster import Recruit
from midwatch.errors import MidwatchError
from midwatch.gateway.metering import (
    Grant,
    MemoryLedger,
    MeteredCall,
    ModelCredential,
    ModelProxy,
    ProviderQuota,
    ProxyServices,
    Upstream,
)
from midwatch.gateway.metering.credentials import new_placeholder
from midwatch.gateway.metering.environment import address
from midwatch.gateway.metering.grant import models_of
from midwatch.gateway.metering.providers import provider_of
from midwatch.gateway.model_access import ModelProxyServer
from midwatch.ports.agent import NO_MODEL, AgentBrief
from midwatch.ports.room import ProgramEnd
from midwatch.ports.workspace import JobPlace, RoomRequest
from midwatch.rules.budget.spending import Ceilings, Whose
from midwatch.terms.agents import Access, AgentEvent, Decision, Errand, ModelAccess, Outcome, RunEnded, Said
from midwatch.terms.figures import dollars, many, some
from midwatch.terms.term import Term
from midwatch.terms.trust import Isolation
from midwatch.views.text.plain import clean
from midwatch.workshop.rooms.rooms import RoomFolder
from midwatch.workshop.rooms.workplace import Workplace
from midwatch.workshop.sandbox.deep_folders import remove_if_possible
from midwatch.workshop.sandbox.walls.spec import SandboxSpec

PROMPT = "Answer with the one word: ready"
JOB = "hello"
SILENT = timedelta(minutes=2)
"""A program that neither prints anything nor works for so long does not answer any more; a model on this machine may
take as long for the first question."""
CEILINGS = Ceilings(usd_micros=1_000_000, tokens=200_000, requests=6)
"""Far more than a hello needs; a program that does not end is stopped here."""
GIB = 1 << 30
NOT_STARTED = (126, 127)
"""How a shell says that a program may not be run, or that it, or its interpreter, does not exist inside."""
TIME_UP, IDLE = 124, 125
"""How a room says that it stopped a program."""


@dataclass(slots=True)
class _Heard:
    """What the program said, and the model requests it made."""

    said: str = ""
    calls: list[MeteredCall] = field(default_factory=list)

    async def tell(self, event: AgentEvent) -> None:
        if isinstance(event, Said):
            self.said = event.text

    async def settled(self, call: MeteredCall) -> None:
        self.calls.append(call)

    async def fuel(self, reading: ProviderQuota) -> None:
        """Ignore the quota: the plain hello reports it."""


class ProgramAnswer(Term):
    """What an agent's own program answered in a sandbox, and the cost."""

    answers: bool
    sentence: str
    outcome: str = ""
    slow: bool = False
    """It was still working when its time was up, so it is not known whether it answers."""
    requests: int = 0
    tokens: int = 0
    usd_micros: int = 0


async def hello_by_program(house: House, one: Recruit) -> ProgramAnswer:
    """Run an agent's program for one answer; return how it went and what it cost, and remember it for lists."""
    if one.missing or one.program is None or one.driver is None:
        return ProgramAnswer(answers=False, sentence=one.missing)
    if house.workshop.rooms.isolation is not Isolation.BUBBLEWRAP:
        return ProgramAnswer(answers=False, sentence="Not tried: without a sandbox the program cannot reach its model.")
    said = await _tried(house, one)
    if said.slow:
        return said
    keep = partial(keep_proof, answers=said.answers, sentence=said.sentence)
    await asyncio.to_thread(keep, house.home, one, house.clock.now())
    return said


async def _tried(house: House, one: Recruit) -> ProgramAnswer:
    began = monotonic()
    heard = _Heard()
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="hello-", dir=house.home))
    upstream = Upstream()
    try:
        if one.access is None:
            return await _started(house, one, folder)
        ended, left = await _led(house, one, folder, heard, upstream)
    except MidwatchError as problem:
        said = house.redactor.redact(f"{problem.message} {problem.hint}".strip())
        return ProgramAnswer(answers=False, sentence=said)
    finally:
        await upstream.close()
        await asyncio.to_thread(remove_if_possible, folder)
    return _judged(house, heard, (ended, left.exit_code), monotonic() - began)


async def _led(
    house: House, one: Recruit, folder: Path, heard: _Heard, upstream: Upstream
) -> tuple[RunEnded, ProgramEnd]:
    assert one.access is not None  # noqa: S101  for the type checker
    assert one.program is not None  # noqa: S101
    assert one.driver is not None  # noqa: S101
    grant = _grant(one.access)
    room = await asyncio.to_thread(_room, house, folder)
    place = Workplace(room, _request(house, _network(house, grant, heard, upstream)), folder / "agent.log")
    brief = AgentBrief(
        errand=Errand.EXECUTE,
        prompt=PROMPT,
        model=one.access.model,
        small_model=next(iter(one.access.also), ""),
        access=Access(base_url=address(grant), placeholder=grant.placeholder, kind=grant.credential.kind),
        max_turns=1,
        extra={"folder": str(place.inside), "retries": "1", "timeout_ms": "60000"},
    )
    launch = one.driver.launch(brief, str(one.program.path))
    for name, content in launch.files.items():
        place.put(name, content)
    async with place.talk(launch.argv, launch.environment) as talk:
        ended = await one.driver.drive(talk, brief, _no, heard.tell)
        return ended, await talk.left()


async def _started(house: House, one: Recruit, folder: Path) -> ProgramAnswer:
    """Start a command that uses no model: what it makes of an empty folder is its own affair, if only it starts."""
    assert one.program is not None  # noqa: S101
    assert one.driver is not None  # noqa: S101
    room = await asyncio.to_thread(_room, house, folder)
    place = Workplace(room, _request(house, None), folder / "agent.log")
    launch = one.driver.launch(AgentBrief(Errand.EXECUTE, PROMPT, "", NO_MODEL), str(one.program.path))
    for name, content in launch.files.items():
        place.put(name, content)
    left = await place.run(launch.argv, environment=launch.environment)
    if left.exit_code == TIME_UP:
        return ProgramAnswer(answers=False, slow=True, sentence=_still_working(house))
    if left.exit_code in NOT_STARTED:
        why = clean(house.redactor.redact(f"{left.sentence} {left.last_words}"))
        return ProgramAnswer(answers=False, sentence=f"In its sandbox the program does not start. {why}")
    return ProgramAnswer(answers=True, sentence="In its sandbox the program starts.")


async def _no(tool: str, given: Mapping[str, Any]) -> Decision:  # noqa: ARG001  the port's signature
    return Decision(allowed=False, why="This is only a hello: no tool is needed.")


def _grant(access: ModelAccess) -> Grant:
    there = provider_of(access)
    credential, placeholder = ModelCredential(access.secret, access.kind), new_placeholder(there, access.kind)
    return Grant(JOB, 1, there, credential, models_of(access), placeholder)


def _network(house: House, grant: Grant, heard: _Heard, upstream: Upstream) -> ModelProxyServer:
    """Build the model proxy; the cost is shown to the person who asked and charged to no job."""
    ledger, prices = MemoryLedger(), house.doors.prices
    ledger.open(JOB, {Whose.JOB: JOB}, {Whose.JOB: CEILINGS})
    books = ProxyServices(ledger, house.vault, prices, house.clock, heard.settled, heard.fuel)
    return ModelProxyServer(grant, ModelProxy(grant, books, upstream), prices)


def _room(house: House, folder: Path) -> RoomFolder:
    tree, home = folder / "tree", folder / "home"
    tree.mkdir()
    home.mkdir()
    enclosure = house.workshop.enclosure
    return RoomFolder(
        job=JOB,
        epoch=1,
        tree=tree,
        home=home,
        folder=folder / "held",
        walls=SandboxSpec(tree=tree, home=home, tree_read_only=True, limits=enclosure.limits),
        enclosure=enclosure,
        purpose=JOB,
    )


def _request(house: House, network: ModelProxyServer | None) -> RoomRequest:
    """Give it as long as any line of a preflight while it works: on a busy machine a program starts slowly."""
    return RoomRequest(
        place=JobPlace(project=JOB, job=JOB, epoch=1),
        commit="",
        purpose=JOB,
        wall=timedelta(minutes=house.loaded.settings.preflight.max_minutes),
        idle=SILENT,
        grace=timedelta(seconds=3),
        counts_work=True,
        network=network,
        reads_only=True,
        room_bytes=GIB,
    )


def _judged(house: House, heard: _Heard, end: tuple[RunEnded, int], seconds: float) -> ProgramAnswer:
    ended, code = end
    tokens = sum(call.usage.total for call in heard.calls)
    micros = sum(call.usd_micros for call in heard.calls)
    cost = f"{some(len(heard.calls), 'request')}, {many(tokens)} tokens, {dollars(micros)}"
    if ended.outcome is Outcome.OK:
        said = clean(house.redactor.redact(heard.said), 60)
        sentence = f'In its sandbox the program answers "{said}" in {seconds:.1f} s ({cost}).'
    elif code == TIME_UP:
        sentence = _still_working(house, f" ({cost})")
    else:
        why = clean(house.redactor.redact(ended.why)) or f"It ended as {ended.outcome.value}."
        if code == IDLE:
            why = (
                f"It was stopped after {SILENT.total_seconds():.0f} s in which it neither worked nor printed anything."
            )
        sentence = f"In its sandbox the program does not answer ({cost}). {why}"
    return ProgramAnswer(
        answers=ended.outcome is Outcome.OK,
        sentence=sentence,
        outcome=ended.outcome.value,
        slow=ended.outcome is not Outcome.OK and code == TIME_UP,
        requests=len(heard.calls),
        tokens=tokens,
        usd_micros=micros,
    )


def _still_working(house: House, cost: str = "") -> str:
    """Say that its time was up, and how busy the machine is, which most often is why."""
    minutes, load = house.loaded.settings.preflight.max_minutes, os.getloadavg()[0]
    return (
        f"In its sandbox the program was still working after {minutes:g} min{cost}, so it is unknown whether it"
        f" answers. This machine has a load of {load:.1f} on {some(os.cpu_count() or 1, 'processor')}."
    )
