"""A person's own command: one sentence becomes a session beside any night, with one run and a job for each repository.

It is bound by scopes, budgets, memory, concurrency and isolation, not by the level or by cooldowns (SPEC 8); typing
it signs it. Everything is recorded in one transaction, or nothing is.
"""

from collections.abc import Mapping
from datetime import timedelta

from pydantic import Field

from midwatch.errors import Misuse, Refused, Unknown
from midwatch.journal.entry import canonical, digest
from midwatch.journal.events import Event
from midwatch.journal.events import session as ev
from midwatch.journal.events.projects import WorkAdded
from midwatch.night.commands.job_start import Begun, job_events, run_events
from midwatch.night.rounds.contracts import contract_for
from midwatch.night.rounds.world import World, look
from midwatch.ports.agent import Agent
from midwatch.ports.books import Books
from midwatch.ports.clock import Clock, Ids
from midwatch.ports.journal import Records
from midwatch.ports.workspace import Mirrors
from midwatch.rules.gate.contract import WRITE
from midwatch.rules.gate.gate import judge
from midwatch.rules.gate.levels import HOUSEKEEPER
from midwatch.rules.paths import require_patterns
from midwatch.rules.people.ceilings import refuse_beyond
from midwatch.rules.tools.tool_lists import require_tools
from midwatch.settings import Settings, granted_ceilings, session_limits
from midwatch.terms.acts import ActKind, Proposal, Proposer
from midwatch.terms.orders import OrderedWork, Orders, Permissions
from midwatch.terms.projects import SessionState
from midwatch.terms.records import JobRow, ProjectRow, SessionRow, StandingRow
from midwatch.terms.term import Term
from midwatch.terms.trust import Level, Verdict

LONGEST = 300
SOURCE = "midwatch code"


class Commanded(Term):
    """What a person wants done now."""

    sentence: str
    projects: tuple[str, ...]
    agent: str = ""
    checks: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    done_when: tuple[str, ...] = ()
    usd: float | None = Field(default=None, ge=0, le=1_000_000, allow_inf_nan=False)
    minutes: int | None = Field(default=None, gt=0, le=100_000)
    tools: tuple[str, ...] = Field(default=(), max_length=100)
    """The only tools the agent may use; empty: all that its walls allow."""
    yes: bool = False
    """A plan that stays inside the paths is approved without asking."""
    by_hand: bool = False
    """The person types into the agent's own program."""


async def command(
    books: Books, agents: Mapping[str, Agent], mirrors: Mirrors, wanted: Commanded, *, by: str, capped: bool = False
) -> tuple[JobRow, ...]:
    """Start at once what a person wants, or raise the reason in one sentence.

    Who is `capped` commands only what an owner granted.
    """
    projects = await _projects(books.records, wanted)
    standing = await _standing(books.records, books.settings())
    orders = _orders(books.settings(), agents, wanted, Level.FULL if wanted.yes else standing)
    if capped:
        _refuse_ungranted(books.settings(), orders, standing)
    items, added = _items(books.ids, orders, projects)
    repositories = tuple([await mirrors.inspect(row.path) for row in projects])
    session = _provisional(books.clock, books.ids, orders, items, by).model_copy(update={"repositories": repositories})
    world = await look(books, session)
    proposals = [_proposal(item, orders, by) for item in items]
    verdicts = [_judged(world, proposal) for proposal in proposals]
    ends_at = books.clock.now() + timedelta(minutes=orders.limits.minutes)
    events: list[Event] = [
        *added,
        ev.SessionOpened(session=session.id, orders=orders, source=SOURCE, ad_hoc=True),
        ev.OrdersSigned(session=session.id, orders_hash=digest(canonical(orders.model_dump(mode="json"))), by=by),
        ev.SessionStarted(
            session=session.id, level=orders.level, ends_at=ends_at, items=items, repositories=repositories
        ),
        *_work(books.ids, world, list(zip(proposals, verdicts, strict=True)), by_hand=wanted.by_hand),
    ]
    await books.journal.record(*events, actor=by)
    return await books.records.find(JobRow, session=session.id)


async def _projects(records: Records, wanted: Commanded) -> tuple[ProjectRow, ...]:
    if not wanted.sentence.strip():
        raise Misuse("The sentence is empty.", hint='For example: midwatch code "fix the flaky test"')
    if len(wanted.sentence) > LONGEST:
        raise Misuse(
            f"That is longer than {LONGEST} characters.",
            hint="Shorten it; put the details into a file in the project.",
        )
    require_patterns(wanted.paths)
    require_tools(wanted.tools)
    if not wanted.projects:
        raise Misuse("No project is named.", hint="Name one with --project, or run it inside a known repository.")
    found = []
    for name in wanted.projects:
        try:
            found.append(await records.get(ProjectRow, name))
        except Unknown as unknown:
            hint = "List them: midwatch project; add one: midwatch project add PATH"
            raise Unknown(f"There is no project {name!r}.", hint=hint) from unknown
    if len({row.id for row in found}) != len(found):
        raise Misuse("A project is named twice.", hint="Name each one once.")
    if wanted.by_hand and len(found) > 1:
        raise Misuse("Only one interactive project at a time.", hint="Name one project.")
    await _free(records, found)
    return tuple(found)


async def _free(records: Records, projects: list[ProjectRow]) -> None:
    """Name the job that is in the way; the gate would only say that there is one."""
    running = [job for row in projects for job in await records.find(JobRow, project=row.id)]
    if busy := next((job for job in running if not job.state.over), None):
        name = next(row.name for row in projects if row.id == busy.project)
        raise Refused(
            f"Job {busy.number} is running in {name}.",
            hint=f"Wait for it (midwatch job line {busy.number} -f), or stop it: midwatch job stop {busy.number}",
        )


def usual_agent(agents: Mapping[str, Agent]) -> str:
    """Choose the agent if none is named: the first model-driven agent, else the housekeeper."""
    return next((name for name in agents if name != HOUSEKEEPER), HOUSEKEEPER)


async def _standing(records: Records, settings: Settings) -> Level:
    """Return the standing level; with `yes` a command runs at full, so plans inside the paths need no approval."""
    standing = await records.find(StandingRow)
    return standing[0].level if standing else settings.gate.level


def _refuse_ungranted(settings: Settings, orders: Orders, standing: Level) -> None:
    """Raise where a command goes beyond what an owner granted; its session only waits longer than its job (SPEC 9)."""
    minutes = session_limits(settings).minutes
    asked = orders.model_copy(update={"limits": orders.limits.model_copy(update={"minutes": minutes})})
    refuse_beyond(asked, granted_ceilings(settings, standing))


def _orders(settings: Settings, agents: Mapping[str, Agent], wanted: Commanded, level: Level) -> Orders:
    agent = wanted.agent or usual_agent(agents)
    if agent not in agents:
        raise Misuse(
            f"There is no agent {agent!r} here.",
            hint=f"Agents: {', '.join(sorted(agents))}. What others need: midwatch agent list",
        )
    several = len(wanted.projects) > 1
    sentence = " ".join(wanted.sentence.split())
    work = OrderedWork(
        project="" if several else wanted.projects[0],
        projects=wanted.projects if several else (),
        title=sentence,
        checks=wanted.checks,
        paths=wanted.paths,
        done_when=wanted.done_when,
        agent=agent,
        usd=wanted.usd,
        minutes=wanted.minutes,
        tools=wanted.tools,
    )
    # Only the job's own limits bind it (SPEC 9), so the session's limits are at least as wide.
    usual = session_limits(settings)
    minutes = usual.minutes + (wanted.minutes or 0)
    limits = usual.model_copy(
        update={"usd": max(usual.usd, (wanted.usd or 0) * len(wanted.projects)), "minutes": minutes}
    )
    # The person who types it reads what silence means.
    permissions = Permissions(silence_approves=True)
    return Orders(level=level, goals=(sentence,), work=(work,), limits=limits, permissions=permissions)


def _items(
    ids: Ids, orders: Orders, projects: tuple[ProjectRow, ...]
) -> tuple[tuple[ev.OrderedItem, ...], list[Event]]:
    title = orders.work[0].title
    items = tuple(ev.OrderedItem(work_item=ids.new("work"), project=row.id, title=title) for row in projects)
    added: list[Event] = [
        WorkAdded(item=item.work_item, project=item.project, title=title, next_step="commanded") for item in items
    ]
    return items, added


def _provisional(clock: Clock, ids: Ids, orders: Orders, items: tuple[ev.OrderedItem, ...], by: str) -> SessionRow:
    """Return the session as it will be, so that the gate can judge before anything is recorded."""
    now = clock.now()
    return SessionRow(
        id=ids.new("ses"),
        number=0,
        state=SessionState.AUTONOMOUS,
        paused=False,
        why_paused="",
        orders=orders,
        ad_hoc=True,
        preflight="",
        source=SOURCE,
        level=orders.level,
        signed_by=by,
        items=tuple(item.model_dump() for item in items),
        repositories=(),
        rounds=0,
        round_active=False,
        round_wanted=False,
        next_round_at=None,
        decisions=0,
        actions=0,
        reason="",
        last_check_in_at=None,
        last_moved_at=now,
        created_at=now,
        started_at=now,
        ends_at=None,
        debrief_at=None,
        ended_at=None,
    )


def _proposal(item: ev.OrderedItem, orders: Orders, by: str) -> Proposal:
    return Proposal(
        kind=ActKind.START,
        by=Proposer.PERSON,
        project=item.project,
        target=item.work_item,
        reason=f"{by} wants it",
        prompt=item.title,
        confidence=1.0,
        agent=orders.work[0].agent,
        tool=WRITE,
        writes=True,
        ordered=True,
    )


def _judged(world: World, proposal: Proposal) -> Verdict:
    """Ask the gate; a refusal is the answer to the person."""
    verdict = judge(proposal, world.facts_for(proposal))
    if not verdict.outcome.acts:
        because = tuple(one.text for one in verdict.reasons)
        raise Refused(verdict.first.text, hint="Look at midwatch status and midwatch doctor", because=because)
    return verdict


def _work(ids: Ids, world: World, judged: list[tuple[Proposal, Verdict]], *, by_hand: bool) -> list[Event]:
    """Return the events of one run with a job for each repository, each as an act that was judged and done."""
    session, run, mission = world.session, ids.new("run"), ids.new("mis")
    begun: list[Event] = []
    ends: list[Event] = []
    acts: list[Event] = []
    for proposal, verdict in judged:
        act, job = ids.new("act"), ids.new("job")
        facts = world.facts_for(proposal)
        contract = contract_for(session, proposal, world.projects, world.settings, mission)
        if contract is None:
            raise Refused("The project was removed.", hint="List them: midwatch project")
        acts.append(
            ev.ActJudged(act=act, session=session.id, number=0, proposal=proposal, facts=facts, verdict=verdict)
        )
        begun += [] if begun else run_events(world, proposal, contract, run)
        begun += job_events(world, proposal, contract, Begun(run=run, job=job, act=act, by_hand=by_hand))
        ends.append(ev.ActEnded(act=act, end="done", text=f"start: {proposal.prompt}", result=job))
    return [*acts, *begun, *ends]
