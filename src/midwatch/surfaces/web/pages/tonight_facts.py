"""What the page Tonight shows, fetched once per request and described by the views."""

from typing import Any

from midwatch.compose.house import House
from midwatch.errors import MidwatchError
from midwatch.evening import preflight as looks
from midwatch.evening import projects as by_day
from midwatch.evening import sign_orders
from midwatch.evening.shown_sheet import sheet_hash
from midwatch.rules.checks.discovery import NONE
from midwatch.rules.gate.levels import HOUSEKEEPER, effective_level
from midwatch.rules.people.asks import approved_at_once, silence_in_words, what_silence_means
from midwatch.settings import gate_limits
from midwatch.surfaces.queries import channels, preflights
from midwatch.terms.acts import LEVEL_MEANS, MATRIX
from midwatch.terms.asks import AskKind, AskState
from midwatch.terms.figures import dollars, micros, span
from midwatch.terms.orders import Orders
from midwatch.terms.projects import Flag, SessionState, WorkStatus
from midwatch.terms.records import AskRow, GoalRow, PreflightRow, ProjectRow, SessionRow, WorkRow
from midwatch.terms.trust import Level
from midwatch.views.pages import tonight as words
from midwatch.views.pages.estimate import estimate
from midwatch.views.pages.sheet import PastNight, ProjectSeen, SheetFacts
from midwatch.views.text.plain import clean

READY = (WorkStatus.IN_PROGRESS, WorkStatus.BACKLOG)
PAST_NIGHTS = 5
LONGEST = 4000
Shown = dict[str, Any]


def plainly(text: str) -> str:
    """Show text as it is, except for characters that could hide or reorder what is signed."""
    return clean(text, LONGEST)


async def seen(house: House) -> Shown:
    """Fetch everything the page shows."""
    sessions = await house.records.find(SessionRow, ad_hoc=False)
    night = next((row for row in sessions if row.state is SessionState.AUTONOMOUS), None)
    draft = next((row for row in sessions if row.state is SessionState.BRIEFING), None) if night is None else None
    projects = await house.records.find(ProjectRow, removed=False)
    standing = await by_day.current_level(house.records, house.loaded.settings)
    sheet = night or draft
    shown = {
        "night": night,
        "draft": draft,
        "projects": sorted(projects, key=lambda row: (row.priority, row.name)),
        "standing": standing,
        "level_means": LEVEL_MEANS,
        "levels": tuple(Level),
        "agents": house.evening.agents,
        "flags": tuple(Flag),
        "plainly": plainly,
        "allowed": words.allowed,
        "dollars": lambda usd: dollars(micros(usd)),
    }
    orders = sheet.orders if sheet else Orders()
    return (
        shown
        | await _ready(house, projects, orders)
        | await _asks(house, night)
        | {"channels": [(await channels.standing(house, name))[0] for name in house.loaded.settings.channels.by_name()]}
        | (await _sheet(house, sheet, projects, sessions) if sheet else {"orders": None, "obstacles": ()})
    )


async def _sheet(
    house: House, sheet: SessionRow, projects: tuple[ProjectRow, ...], sessions: tuple[SessionRow, ...]
) -> Shown:
    signed = sheet.state is not SessionState.BRIEFING
    # After signing the level may change at any time: the sheet must describe the current one.
    orders = sheet.orders.model_copy(update={"level": sheet.level}) if signed else sheet.orders
    facts = await _facts(house, orders, projects, sessions)
    return {
        "orders": orders,
        "signed_level": sheet.orders.level,
        "shown_hash": await sheet_hash(house.records, house.loaded.settings, sheet.orders),
        "is_behind": False,
        "was_behind": False,
        "changes": (),
        "will_not": words.will_not(facts),
        "protected": [(one.name, one.do_not_touch) for one in facts.projects if one.do_not_touch],
        "estimate": estimate(facts),
        "silence": words.silence_on_plans(facts),
        "worth_knowing": () if signed else words.worth_knowing(facts),
        "obstacles": () if signed else await sign_orders.obstacles(house.evening, sheet.orders),
        **await _preflight(house, sheet),
        "span": span(sheet.orders.limits.minutes),
    }


async def _preflight(house: House, sheet: SessionRow) -> Shown:
    """The preflight of a signed night, or the last one of these orders."""
    if sheet.state is SessionState.BRIEFING:
        row, fresh = await looks.standing(house.books)
    else:
        row, fresh = next(iter(await house.records.find(PreflightRow, id=sheet.preflight)), None), False
    settings = await preflights.settings_wanted(house, row) if row and sheet.state is SessionState.BRIEFING else ()
    shown = await preflights.whole(house, row) if row else None
    return {"preflight": shown, "preflight_fresh": fresh, "preflight_settings": settings}


async def _facts(
    house: House, orders: Orders, projects: tuple[ProjectRow, ...], sessions: tuple[SessionRow, ...]
) -> SheetFacts:
    settings = house.loaded.settings
    silence = what_silence_means(
        AskKind.APPROVE_PLAN, orders.level, inside_scopes=True, silence_approves=orders.permissions.silence_approves
    )
    named = {name for work in orders.work for name in work.where}
    walls = house.books.machine.isolation()
    return SheetFacts(
        orders=orders,
        standing=await by_day.current_level(house.records, house.loaded.settings),
        outcomes={kind: outcome for (kind, level), outcome in MATRIX.items() if level is orders.level},
        plan_silence=silence,
        plan_minutes=0 if approved_at_once(silence, orders.level) else settings.asks.approve_plan_minutes,
        files_per_job=settings.execution.max_files_changed,
        lines_per_job=settings.execution.max_diff_lines,
        jobs_per_project=gate_limits(settings).jobs_per_project,
        round_minutes=settings.rounds.interval_seconds / 60,
        idle_minutes=settings.autonomous.idle_timeout_minutes,
        isolation=walls,
        most_by_walls=effective_level(Level.FULL, walls, "", forced=settings.gate.unisolated_agents),
        model_free=(HOUSEKEEPER,),
        thinks_by_rules=house.night.brain.name == "rules",
        projects=tuple([await _project(house, row) for row in projects if row.name in named]),
        past=_past(sessions),
        unreviewed=tuple(row.number for row in sessions if row.state is SessionState.DEBRIEF),
    )


async def _project(house: House, row: ProjectRow) -> ProjectSeen:
    by_settings = row.name in house.loaded.settings.gate.protected_projects
    flags = row.flags if Flag.PROTECTED in row.flags or not by_settings else (Flag.PROTECTED, *row.flags)
    try:
        uncommitted = len((await house.evening.inspector.inspect(row.path)).dirty)
    except MidwatchError:  # listed among the obstacles, in its own words
        uncommitted = 0
    return ProjectSeen(
        name=row.name,
        flags=flags,
        has_checks=row.checks != (NONE,),
        uncommitted=uncommitted,
        do_not_touch=row.do_not_touch,
    )


def _past(sessions: tuple[SessionRow, ...]) -> tuple[PastNight, ...]:
    over = [(row, row.debrief_at or row.ended_at) for row in sessions if row.started_at]
    return tuple(
        PastNight(minutes=(end - row.started_at).total_seconds() / 60, rounds=row.rounds)
        for row, end in over
        if end and row.started_at
    )[-PAST_NIGHTS:]


async def _ready(house: House, projects: tuple[ProjectRow, ...], orders: Orders) -> Shown:
    """Find work and goals by project; an item in the orders already is marked as taken."""
    ids = tuple(row.id for row in projects)
    work = await house.records.find(WorkRow, project=ids, status=READY) if ids else ()
    goals = await house.records.find(GoalRow, project=ids, current=True, status="open") if ids else ()
    taken = {(one.project, one.title) for one in orders.pieces()}
    names = {row.id: row.name for row in projects}
    ranked = sorted(work, key=lambda row: (row.status is WorkStatus.BACKLOG, row.priority, row.number))
    return {
        "work": {row.id: [one for one in ranked if one.project == row.id] for row in projects},
        "goals": {row.id: [one for one in goals if one.project == row.id] for row in projects},
        "taken": {
            row.id for row in work if {(names[row.project], row.title), (names[row.project], f"#{row.number}")} & taken
        },
    }


async def _asks(house: House, night: SessionRow | None) -> Shown:
    rows = await house.records.find(AskRow, state=AskState.OPEN)
    standing = [row for row in rows if night is None or row.session != night.id]
    urgent = sorted(standing, key=lambda row: (-row.priority, row.number))
    return {"asks": [(row, silence_in_words(row.silence)) for row in urgent]}
