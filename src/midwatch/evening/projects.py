"""What a person manages by day: projects, goals, work items, settings, the level."""

import re
from collections.abc import Iterable
from pathlib import Path

from pydantic import JsonValue

from midwatch.errors import Misuse, Refused, Unknown
from midwatch.evening.context import Evening
from midwatch.journal.events import projects as ev
from midwatch.ports.books import Books
from midwatch.ports.journal import Records
from midwatch.rules.checks.discovery import FOUND, NONE
from midwatch.rules.gate.levels import Price, TrackRecord, high_severity, may_set, running_level
from midwatch.rules.paths import require_patterns
from midwatch.rules.people.ceilings import commands_beyond, refuse, tools_beyond
from midwatch.rules.tools.tool_lists import require_tools
from midwatch.settings import Settings, check_changes, granted_ceilings, refuse_foreign
from midwatch.terms import records as rec
from midwatch.terms.projects import Flag, Horizon, Project, SessionState, WorkStatus, name_of
from midwatch.terms.trust import Level

OVER = frozenset({SessionState.DEBRIEF, SessionState.ENDED})
"""The states of a night that is over."""
ALL_TOOLS = "all"
"""The word that removes a project's list of tools."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


async def add_project(  # noqa: PLR0913 - each is one plain fact about one project
    evening: Evening,
    path: Path | str,
    *,
    by: str,
    name: str = "",
    purpose: str = "",
    checks: tuple[str, ...] = (),
    setup: str = "",
    forge: str = "",
    do_not_touch: tuple[str, ...] = (),
    tools: tuple[str, ...] = (),
    capped: bool = False,
) -> rec.ProjectRow:
    """Add a repository as a project; without a forge, its address decides. Who is `capped` names granted tools only."""
    books = evening.books
    if capped:
        _refuse_ungranted(books, (*checks, setup), _named_tools(tools))
    facts = await evening.inspector.inspect(path)
    refuse_foreign(books.settings(), forge, facts.path)
    chosen = name or name_of(facts.path)
    if not NAME.fullmatch(chosen) or chosen.isdigit():
        raise Misuse(
            f"{chosen!r} cannot be a project's name.", hint="Use letters, digits, dot, dash: --name my-project"
        )
    project = Project(
        id=books.ids.new("prj"),
        name=chosen,
        path=facts.path,
        branch=facts.branch,
        purpose=purpose,
        checks=_named_checks(checks),
        setup=_one_line(setup),
        forge=forge,
        do_not_touch=_patterns(do_not_touch),
        tools=_named_tools(tools),
    )
    await books.journal.record(ev.ProjectAdded(project=project), actor=by)
    return await books.records.get(rec.ProjectRow, project.id)


async def change_project(  # noqa: PLR0913 - each is one plain fact about one project
    books: Books,
    name: str,
    *,
    by: str,
    purpose: str | None = None,
    checks: tuple[str, ...] | None = None,
    setup: str | None = None,
    priority: int | None = None,
    forge: str | None = None,
    do_not_touch: tuple[str, ...] | None = None,
    tools: tuple[str, ...] | None = None,
    capped: bool = False,
) -> rec.ProjectRow:
    """Change what was given; an empty setup removes it, an empty forge lets the address decide.

    Who is `capped` adds checks, a setup and tools only inside what an owner granted.
    """
    row = await books.records.get(rec.ProjectRow, name)
    if capped:
        given = None if tools is None else _named_tools(tools)
        _refuse_ungranted(books, {*(checks or ()), setup or ""} - {*row.checks, row.setup}, given, row.tools)
    refuse_foreign(books.settings(), forge or "", row.path)
    command = None if setup is None else _one_line(setup)
    named = None if checks is None else _named_checks(checks)
    protected = None if do_not_touch is None else _patterns(do_not_touch)
    changed = ev.ProjectChanged(
        project=row.id,
        purpose=purpose,
        checks=named,
        priority=priority,
        setup=command,
        forge=forge,
        do_not_touch=protected,
        tools=None if tools is None else _named_tools(tools),
    )
    await books.journal.record(changed, actor=by)
    return await books.records.get(rec.ProjectRow, row.id)


def _refuse_ungranted(
    books: Books, commands: Iterable[str], tools: tuple[str, ...] | None, before: tuple[str, ...] = ()
) -> None:
    """Raise where a project would give agents more than an owner granted (SPEC 9); what it has already may stay."""
    granted = granted_ceilings(books.settings(), Level.OBSERVE)  # a project says nothing about the level
    new = [one for one in tools or () if one not in before]
    opens = tools == () and bool(before)
    stripped = (one.strip() for one in commands)
    refuse((*commands_beyond(stripped, granted), *tools_beyond(new, granted, needs_list=opens)))


async def take_back_tool(books: Books, name: str, tool: str, *, by: str) -> rec.ProjectRow:
    """Take back what a person always allowed agents in a project."""
    row = await books.records.get(rec.ProjectRow, name)
    if tool not in row.always_tools:
        allowed = ", ".join(row.always_tools) or "nothing"
        raise Unknown(f"{tool!r} is not always allowed in {row.name}.", hint=f"Always allowed there: {allowed}.")
    await books.journal.record(ev.ToolTakenBack(project=row.id, tool=tool), actor=by)
    return await books.records.get(rec.ProjectRow, row.id)


def _named_tools(tools: tuple[str, ...]) -> tuple[str, ...]:
    """Return the entries, each once; `all` alone removes the list."""
    named = tuple(dict.fromkeys(tool.strip() for tool in tools if tool.strip()))
    if named == (ALL_TOOLS,):
        return ()
    require_tools(named)
    return named


def _named_checks(checks: tuple[str, ...]) -> tuple[str, ...]:
    """Return the commands; `none` alone means no checks, `found` alone the checks found in the project."""
    named = tuple(check.strip() for check in checks if check.strip())
    alone = {NONE, FOUND}.intersection(named)
    if alone and len(named) > 1:
        raise Misuse(f"Use {min(alone)!r} without other checks.", hint="Give commands, or only that word: --check none")
    return () if named == (FOUND,) else named


def _patterns(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the protected paths, each once; what no rule can read is refused."""
    named = tuple(dict.fromkeys(path.strip() for path in paths if path.strip()))
    require_patterns(named)
    return named


def _one_line(setup: str) -> str:
    """Return the setup as one command line; a longer setup belongs in a committed script."""
    command = setup.strip()
    if "\n" in command or "\0" in command:
        raise Misuse("A setup is one line.", hint="Put more into a script of the repository: --setup ./setup.sh")
    return command


async def flag_project(books: Books, name: str, flag: Flag, *, on: bool, by: str) -> rec.ProjectRow:
    """Set a flag on a project, or clear it."""
    row = await books.records.get(rec.ProjectRow, name)
    others = tuple(one for one in row.flags if one is not flag)
    flags = (*others, flag) if on else others
    await books.journal.record(ev.ProjectChanged(project=row.id, flags=flags), actor=by)
    return await books.records.get(rec.ProjectRow, row.id)


async def remove_project(books: Books, name: str, *, by: str) -> rec.ProjectRow:
    row = await books.records.get(rec.ProjectRow, name)
    await books.journal.record(ev.ProjectRemoved(project=row.id), actor=by)
    return row


async def set_goal(
    books: Books, project: str, statement: str, *, by: str, horizon: Horizon = Horizon.SHORT, goal: str = ""
) -> rec.GoalRow:
    """Set a goal, or its next version."""
    row = await books.records.get(rec.ProjectRow, project)
    if not statement.strip():
        raise Misuse("A goal needs a statement.", hint='midwatch goal set PROJECT "Fewer warnings"')
    former = await _goal(books.records, goal) if goal else None
    if former is not None and former.project != row.id:
        raise Misuse("That goal belongs to another project.", hint="List them: midwatch goal")
    name = former.goal if former is not None else books.ids.new("goal")
    stated = ev.GoalSet(goal=name, project=row.id, horizon=horizon, statement=statement)
    await books.journal.record(stated, actor=by)
    return (await books.records.find(rec.GoalRow, goal=name, current=True))[0]


async def close_goal(books: Books, goal: str, *, by: str, reached: bool) -> rec.GoalRow:
    row = await _goal(books.records, goal)
    if row.status != "open":
        raise Refused(f"The goal is {row.status} already.", hint="List them: midwatch goal")
    closed = ev.GoalClosed(goal=row.goal, status="reached" if reached else "dropped")
    await books.journal.record(closed, actor=by)
    return row


async def _goal(records: Records, goal: str) -> rec.GoalRow:
    """Find a goal by its statement or its id."""
    goals = await records.find(rec.GoalRow, current=True)
    found = [row for row in goals if row.goal == goal.split(".", maxsplit=1)[0] or row.statement == goal]
    if not found:
        raise Unknown(f"There is no goal {goal!r}.", hint="List them: midwatch goal")
    if len(found) > 1:
        raise Misuse(f"Several goals say {goal!r}.", hint="Name one by its id: midwatch goal --json")
    return found[0]


async def add_work(books: Books, project: str, title: str, *, by: str, priority: int = 3) -> rec.WorkRow:
    row = await books.records.get(rec.ProjectRow, project)
    added = ev.WorkAdded(item=books.ids.new("work"), project=row.id, title=title, priority=priority)
    await books.journal.record(added, actor=by)
    return await books.records.get(rec.WorkRow, added.item)


async def move_work(
    books: Books, item: str, *, by: str, status: WorkStatus | None = None, next_step: str | None = None
) -> rec.WorkRow:
    row = await books.records.get(rec.WorkRow, item)
    await books.journal.record(
        ev.WorkChanged(item=row.id, status=status, next_step=next_step, why=f"by {by}"), actor=by
    )
    return await books.records.get(rec.WorkRow, row.id)


async def propose_settings(books: Books, changes: dict[str, JsonValue], *, by: str, note: str = "") -> rec.SettingsRow:
    """Record a proposed change of settings without applying it."""
    check_changes(changes)
    proposed = ev.SettingsProposed(proposal=books.ids.new("set"), changes=changes, note=note)
    await books.journal.record(proposed, actor=by)
    return await books.records.get(rec.SettingsRow, proposed.proposal)


async def apply_settings(books: Books, name: str, *, by: str) -> rec.SettingsRow:
    row = await _open_proposal(books.records, name)
    check_changes(row.changes)
    applied = ev.SettingsApplied(proposal=row.id)
    await books.journal.record(applied, *await _lowered_by(books.records, row), actor=by)
    return await books.records.get(rec.SettingsRow, row.id)


async def _lowered_by(records: Records, proposal: rec.SettingsRow) -> tuple[ev.LevelChanged, ...]:
    """The settings' level is the standing one until a person sets one; a lower one lowers running nights as well."""
    if "gate.level" not in proposal.changes or await records.find(rec.StandingRow):
        return ()
    level = Level(str(proposal.changes["gate.level"]))
    why = "the standing level was lowered in the settings"
    above = await _running_above(records, level)
    return tuple(ev.LevelChanged(level=level, previous=level, reason=why, session=one.id) for one in above)


async def discard_settings(books: Books, name: str, *, by: str) -> None:
    row = await _open_proposal(books.records, name)
    await books.journal.record(ev.SettingsDiscarded(proposal=row.id), actor=by)


async def _open_proposal(records: Records, name: str) -> rec.SettingsRow:
    row = await records.get(rec.SettingsRow, name)
    if row.state != "proposed":
        raise Refused(f"Proposal {row.number} is {row.state} already.", hint="List them: midwatch settings proposals")
    return row


async def current_level(records: Records, settings: Settings) -> Level:
    """Return the standing level; until one is set, the settings' level."""
    standing = await records.find(rec.StandingRow)
    return standing[0].level if standing else settings.gate.level


async def tonight_level(records: Records) -> Level | None:
    """Return the level of the night that runs; its orders may have set another than the standing one."""
    nights = await records.find(rec.SessionRow, ad_hoc=False, state=SessionState.AUTONOMOUS)
    return nights[-1].level if nights else None


async def set_level(books: Books, wanted: Level, *, by: str, forced: bool = False, reason: str = "") -> Level:
    """Set the standing level; a higher one needs the required track record, or a reason to override it.

    A running night above it is lowered to it at once; no running night is raised. A night whose orders set more than
    a level that is not earned can be lowered to it all the same: then the standing level stays.
    """
    current = await current_level(books.records, books.settings())
    gate = books.settings().gate
    price = Price(rounds_at_observe=gate.rounds_at_observe, nights_per_step=gate.clean_nights_per_step)
    record = await track_record(books.records)
    verdict = may_set(current, wanted, record, price=price, forced_because=reason if forced else "")
    running = await _running_above(books.records, wanted)
    lowers = tuple(one.id for one in running)
    changed = ev.LevelChanged(level=wanted, previous=current, forced=verdict.forced, reason=reason, lowers=lowers)
    if not verdict.allowed:
        above = [night for night in running if not night.ad_hoc]
        if not above:
            raise Refused(
                verdict.reasons[0].text,
                hint=f"Override it with a reason: midwatch level {wanted.value} --force --reason '...'",
                because=tuple(one.text for one in verdict.reasons),
            )
        changed = changed.model_copy(update={"session": above[-1].id, "lowers": None})
    await books.journal.record(changed, actor=by)
    return wanted


async def _running_above(records: Records, level: Level) -> list[rec.SessionRow]:
    """Find the nights and commands that this standing level lowers."""
    running = await records.find(rec.SessionRow, state=SessionState.AUTONOMOUS)
    return [one for one in running if running_level(one.level, level) is not one.level]


async def track_record(records: Records) -> TrackRecord:
    """Count the rounds at observe and the clean nights since the standing level last changed (SPEC 9)."""
    standing = await records.find(rec.StandingRow)
    nights = [row for row in await records.find(rec.SessionRow, ad_hoc=False) if row.started_at]
    if standing:
        nights = [row for row in nights if row.started_at and row.started_at >= standing[0].since]
    observed = {row.id for row in nights if row.level is Level.OBSERVE}
    rounds = [row for row in await records.find(rec.RoundRow, state="ended") if row.session in observed]
    clean = 0
    for night in reversed([row for row in nights if row.state in OVER]):
        if await _flagged(records, night):
            break
        clean += 1
    return TrackRecord(valid_rounds=sum(not row.error for row in rounds), clean_nights=clean)


async def _flagged(records: Records, night: rec.SessionRow) -> bool:
    """Whether the review of a night reports something of high severity."""
    for row in await records.find(rec.EvaluationRow, session=night.id):
        strengths = [claim.strength for claim in await records.find(rec.ClaimRow, run=row.run)] if row.flags else []
        if high_severity(row.flags, strengths):
            return True
    return False
