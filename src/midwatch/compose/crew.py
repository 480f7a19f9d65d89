"""Builds the model-driven agents: the driver of each program, its model, and the budget it draws on."""

import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from midwatch.crew.housekeeping import Housekeeper
from midwatch.crew.roster import Recruit, lent_by, muster
from midwatch.ports.agent import Agent
from midwatch.ports.clock import Clock
from midwatch.rules.budget.provider_quota import YES, MayBurn, Reading, leave_wanted, may_burn
from midwatch.rules.budget.spending import Ceilings, Whose
from midwatch.rules.gate.contract import part_of
from midwatch.settings import Settings
from midwatch.settings.derived import secret_files
from midwatch.settings.secret_places import holds_secret
from midwatch.settings.zone import local_time
from midwatch.store.side.ledger import Owners, Payers
from midwatch.terms.agents import ModelAccess
from midwatch.terms.figures import micros
from midwatch.terms.jobs import Stage
from midwatch.terms.records import FuelRow, SessionRow
from midwatch.workshop.sandbox.program_answers import ask_program

KEY = "house.key"


def house_key(home: Path) -> bytes:
    """Read this installation's key; it is made once, readable only by its owner."""
    file = home / KEY
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return file.read_bytes()
    with os.fdopen(descriptor, "wb") as out:
        out.write(secrets.token_bytes(32))
    return file.read_bytes()


def owners_of(settings: Callable[[], Settings], clock: Clock) -> Callable[[Payers], Owners]:
    """Return the ceilings of a job, its run and its night; planning has a smaller ceiling of its own."""

    def owners(payers: Payers) -> Owners:
        chosen = settings()
        job, limits = payers.job, payers.session.orders.limits
        bounds = part_of(payers.run.contract, job.project).constraints
        most, tokens = bounds.max_usd_micros + job.granted_usd_micros, bounds.max_tokens + job.granted_tokens
        asked = chosen.execution.max_requests + job.granted_requests
        mine = most
        if job.stage is Stage.PLAN:
            mine = min(most, micros(chosen.planning.max_cost_usd) + job.granted_usd_micros)
        ceilings = {
            Whose.JOB: Ceilings(usd_micros=mine, tokens=tokens, requests=asked),
            # The shares of a run add up to its total, so with several parts each part's own ceiling is enough.
            Whose.RUN: Ceilings() if payers.run.contract.parts else Ceilings(most, tokens, asked),
            Whose.SESSION: Ceilings(micros(limits.usd), limits.tokens, chosen.limits.session_max_requests),
        }
        burn = burning(chosen, payers.session, payers.fuel, clock.now())
        return Owners(job.id, job.run, job.session, ceilings, burn)

    return owners


def burning(settings: Settings, session: SessionRow, fuel: Sequence[FuelRow], now: datetime) -> MayBurn:
    """Return whether a night's orders allow one more request, or one more job, at the provider of these rows."""
    leave = leave_wanted(session.orders.limits, local_time(settings, session.started_at or session.created_at))
    if leave is None or not fuel:
        return YES
    readings = [Reading(one.provider, one.limit, one.remaining, one.resets_at, one.read_at) for one in fuel]
    return may_burn(readings, fuel[0].provider, leave, local_time(settings, now))


@dataclass(slots=True)
class Crew:
    """The agents that can be given work; the two tables are changed in place, because other objects hold them."""

    agents: dict[str, Agent] = field(default_factory=lambda: {"housekeeper": Housekeeper()})
    models: dict[str, ModelAccess] = field(default_factory=dict)
    recruits: dict[str, Recruit] = field(default_factory=dict)
    lent: tuple[str, ...] = ()
    fixed: bool = False
    """Set when a test or the demo passed its own agents."""

    def call(self, settings: Settings, home: Path) -> None:
        """Find the agents that are ready by these settings; blocking, because it runs their programs."""
        if self.fixed:
            return
        mustered = muster(settings.agents.by_name(), frozenset(settings.secrets.by_name()), ask_program)
        self.recruits = {name: _without_secrets(one, settings, home) for name, one in mustered.items()}
        ready = {name: one for name, one in self.recruits.items() if one.ready}
        for gone in set(self.agents) - set(ready) - {"housekeeper"}:
            del self.agents[gone]
        self.agents.update({name: one.agent() for name, one in ready.items()})
        self.models.clear()
        self.models.update({name: one.access for name, one in ready.items() if one.access is not None})
        self.lent = tuple(map(str, lent_by(self.recruits)))


def _without_secrets(one: Recruit, settings: Settings, home: Path) -> Recruit:
    """Hold an agent back whose program's folder, which each job may read, holds a secret."""
    lends = one.program.lends if one.ready and one.program else None
    if lends is None or not holds_secret(lends, home=home, kept=secret_files(settings)):
        return one
    return replace(one, missing=f"Its program's folder, {lends}, holds a secret: move the program or the secret.")
