"""Runs preflights: they do with projects, agents and channels what the night will do with them."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from midwatch.compose import hellos
from midwatch.compose.agent_proofs import proof_of
from midwatch.evening import preflight_run, signing
from midwatch.evening.preflight_run import Lookout
from midwatch.ports.books import Books
from midwatch.ports.network import NetworkReach
from midwatch.ports.workspace import JobPlace, ProofRequest
from midwatch.rules.budget.egress import setup_clients
from midwatch.rules.checks.discovery import join_checks
from midwatch.rules.checks.setups import SetupChoice
from midwatch.rules.gate.levels import HOUSEKEEPER
from midwatch.settings.derived import channel_secret
from midwatch.terms.forges import Rehearsed
from midwatch.terms.jobs import CheckResult, RepositoryFacts
from midwatch.terms.preflight import AgentSeen, ProjectTried, SleepSeen
from midwatch.terms.records import ProjectRow
from midwatch.terms.trust import Isolation
from midwatch.workshop.upkeep.machine import sleep_risk

if TYPE_CHECKING:
    from midwatch.compose.house import House

ASKED = timedelta(seconds=20)
"""How long the sandbox may take to say whether a program is there."""
PING = "Midwatch will report here tonight."


class Preflights:
    """Runs preflights with this Midwatch's workshop, forges, agents and channels."""

    def __init__(self, house: "House") -> None:
        self._evening = house.evening
        self._out = Lookout(house.books, _Trials(house), _Reach(house), _Machine(house))

    async def look(self, books: Books, preflight: str) -> None:
        await preflight_run.look(replace(self._out, books=books), preflight)

    async def sign(self, books: Books, preflight: str) -> None:
        await signing.carry_out(replace(self._evening, books=books), preflight)

    async def give_up(self, books: Books, preflight: str, error: str) -> None:
        await preflight_run.give_up(replace(self._out, books=books), preflight, error)


class _Trials:
    """The workshop and the forges, as a preflight uses them: under its own name instead of a job's."""

    def __init__(self, house: "House") -> None:
        self._house = house

    async def clone(self, project: ProjectTried) -> RepositoryFacts:
        mirrors = self._house.workshop.mirrors
        facts = await mirrors.inspect(project.path)
        head = await mirrors.update(project.id, project.path, project.branch)
        return facts.model_copy(update={"branch": project.branch, "head": head})

    async def setup_choice(self, project: ProjectTried, commit: str) -> SetupChoice:
        sandbox = self._house.loaded.settings.sandbox
        allowed = setup_clients(sandbox.setup_domains, sandbox.registries)
        return await self._house.workshop.rooms.setup_choice(project.id, commit, project.setup, allowed)

    async def missing_programs(
        self, preflight: str, project: ProjectTried, commit: str, programs: tuple[str, ...]
    ) -> tuple[CheckResult, ...]:
        place = JobPlace(project=project.id, job=preflight, epoch=0)
        return await self._house.workshop.rooms.missing_programs(place, commit, programs, ASKED)

    async def set_up(
        self, preflight: str, project: ProjectTried, commit: str, command: str, wall: timedelta
    ) -> tuple[str, bool]:
        sandbox, night = self._house.loaded.settings.sandbox, self._house.night
        reach = NetworkReach(preflight, 0, sandbox.setup_domains, sandbox.max_requests, sandbox.registries)
        place, network = (
            JobPlace(project=project.id, job=preflight, epoch=0),
            await night.workspace.networks.for_room(reach),
        )
        key, reused, _ = await night.workspace.rooms.set_up(place, commit, command, wall, network, asyncio.Event())
        return key, reused

    async def check(
        self, preflight: str, project: ProjectTried, commit: str, setup_key: str, wall: timedelta
    ) -> tuple[CheckResult, ...]:
        # What each piece of work will have at night; if the project names no checks, Midwatch looks for some.
        own = project.project_checks
        requests = [
            ProofRequest(
                place=JobPlace(project=project.id, job=preflight),
                base=commit,
                head=commit,
                checks=tuple(check.command for check in join_checks(ordered, own, ())),
                project_checks=own,
                wall=wall,
                setup_key=setup_key,
                finds_checks=not own,
            )
            for ordered in project.ordered or ((() if own else project.checks),)
        ]
        return await self._house.workshop.proofs.baseline(*requests)

    async def rehearse(self, project: ProjectTried) -> tuple[Rehearsed, ...]:
        row = await self._house.records.get(ProjectRow, project.id)
        return await self._house.forges.of(row).rehearse(project.path, project.id)

    async def clear_up(self, preflight: str) -> None:
        await self._house.workshop.upkeep.discard(preflight, force=True)


class _Reach:
    """Agents' models and the person's channels, by the same credentials as at night."""

    def __init__(self, house: "House") -> None:
        self._house = house

    async def greet(self, agent: str) -> AgentSeen:
        house = self._house
        seen = await hellos.seen(agent, house.crew, house.loaded.settings, house.clock, house.vault, house.redactor)
        walled = house.workshop.rooms.isolation is Isolation.BUBBLEWRAP
        if house.crew.fixed or agent == HOUSEKEEPER or not walled or not seen.good or seen.heard == "limit":
            return seen
        return await self._by_program(agent, seen)

    async def _by_program(self, agent: str, seen: AgentSeen) -> AgentSeen:
        """Have its program answer in its sandbox, unless the same one did so within a day."""
        from midwatch.compose.agent_status import found  # noqa: PLC0415  it knows the house, which knows us
        from midwatch.compose.program_hello import hello_by_program  # noqa: PLC0415

        house = self._house
        _, one = await asyncio.to_thread(found, house.loaded.settings, agent)
        proof = await asyncio.to_thread(proof_of, house.home, one)
        if proof is not None and proof.fresh(house.clock.now()):
            return seen.model_copy(update={"sentence": f"{seen.sentence} {proof.sentence}"})
        said = await hello_by_program(house, one)
        if said.answers:
            return seen.model_copy(update={"sentence": f"{seen.sentence} {said.sentence}"})
        if said.slow:
            return seen.model_copy(update={"good": False, "heard": "slow", "sentence": said.sentence})
        return seen.model_copy(update={"good": False, "heard": "program", "sentence": said.sentence})

    async def ping(self, channel: str) -> None:
        self._house.vault.forget(channel_secret(channel))
        await self._house.night.outside.outlet.push(channel, "Midwatch", PING)


class _Machine:
    """This computer."""

    def __init__(self, house: "House") -> None:
        self._house = house

    def free_memory(self) -> int:
        return self._house.books.machine.free_memory()

    def free_disk(self) -> int:
        return self._house.books.machine.free_disk()

    def isolation(self) -> Isolation:
        return self._house.books.machine.isolation()

    def walls(self) -> tuple[str, str]:
        return self._house.standing.why, self._house.standing.fix

    def sleep(self) -> SleepSeen:
        risk = sleep_risk()
        return SleepSeen(will=risk.will, why=" ".join(risk.why), fix=" ".join(risk.what_to_do))
