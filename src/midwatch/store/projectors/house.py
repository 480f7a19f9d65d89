"""Projects, goals, work items, settings, the level."""

import sqlalchemy as sa

from midwatch.errors import Refused, Stale
from midwatch.journal.entry import Entry
from midwatch.journal.events import people as people_events
from midwatch.journal.events import projects as ev
from midwatch.rules.gate.levels import running_level
from midwatch.store.projectors.rows import adjust, begin, change, insert, on, only_written, row
from midwatch.store.schema.tables import (
    goals,
    people,
    projects,
    sessions,
    settings_versions,
    standing,
    tokens,
    work_items,
)
from midwatch.terms.projects import SessionState, WorkStatus
from midwatch.terms.trust import Level


@on(ev.ProjectAdded)
def project_added(c: sa.Connection, entry: Entry, event: ev.ProjectAdded) -> None:
    """Names are unique among the projects that were not removed."""
    new = event.project
    taken = sa.select(projects.c.id).where(projects.c.name == new.name, projects.c.removed.is_(False))
    if c.execute(taken).first():
        raise Refused(f"There is a project {new.name} already.", hint="Choose another name with --name.")
    begin(c, entry, projects, new.id, new, updated_at=entry.at)


@on(ev.ProjectChanged)
def project_changed(c: sa.Connection, entry: Entry, event: ev.ProjectChanged) -> None:
    given = event.model_dump(mode="json", exclude={"kind", "project"}, exclude_none=True)
    change(c, projects, {"id": event.project, "removed": False}, **given, updated_at=entry.at)


@on(ev.ProjectRemoved)
def project_removed(c: sa.Connection, entry: Entry, event: ev.ProjectRemoved) -> None:
    """The row stays, for history."""
    change(c, projects, {"id": event.project, "removed": False}, removed=True, updated_at=entry.at)


@on(ev.ToolAlwaysAllowed)
def tool_always_allowed(c: sa.Connection, entry: Entry, event: ev.ToolAlwaysAllowed) -> None:
    """Each entry once."""
    now = row(c, projects, event.project)["always_tools"]
    change(
        c,
        projects,
        {"id": event.project, "removed": False},
        always_tools=tuple(dict.fromkeys((*now, *event.tools))),
        updated_at=entry.at,
    )


@on(ev.ToolTakenBack)
def tool_taken_back(c: sa.Connection, entry: Entry, event: ev.ToolTakenBack) -> None:
    now = tuple(row(c, projects, event.project)["always_tools"])
    if event.tool not in now:
        raise Stale(f"{event.tool} is not always allowed there.", hint="Look again: midwatch project show NAME")
    kept = tuple(tool for tool in now if tool != event.tool)
    change(c, projects, {"id": event.project, "removed": False}, always_tools=kept, updated_at=entry.at)


@on(ev.GoalSet)
def goal_set(c: sa.Connection, entry: Entry, event: ev.GoalSet) -> None:
    """A new statement is a new version; the older ones stay readable."""
    last = c.execute(sa.select(sa.func.max(goals.c.version)).where(goals.c.goal == event.goal)).scalar() or 0
    adjust(c, goals, {"goal": event.goal}, current=False)
    begin(c, entry, goals, f"{event.goal}.{last + 1}", event, version=last + 1, status="open", current=True)


@on(ev.GoalClosed)
def goal_closed(c: sa.Connection, _: Entry, event: ev.GoalClosed) -> None:
    change(c, goals, {"goal": event.goal, "current": True, "status": "open"}, status=event.status)


@on(ev.WorkAdded)
def work_added(c: sa.Connection, entry: Entry, event: ev.WorkAdded) -> None:
    begin(c, entry, work_items, event.item, event, status=WorkStatus.BACKLOG, updated_at=entry.at)


@on(ev.WorkChanged)
def work_changed(c: sa.Connection, entry: Entry, event: ev.WorkChanged) -> None:
    given = event.model_dump(mode="json", exclude={"kind", "item", "why"}, exclude_none=True)
    change(c, work_items, {"id": event.item}, **given, updated_at=entry.at)


@on(ev.SettingsProposed)
def settings_proposed(c: sa.Connection, entry: Entry, event: ev.SettingsProposed) -> None:
    """Nothing is in force yet."""
    begin(c, entry, settings_versions, event.proposal, event, state="proposed", actor=entry.actor)


@on(ev.SettingsApplied)
def settings_applied(c: sa.Connection, _: Entry, event: ev.SettingsApplied) -> None:
    """Versions count up in the order of applying."""
    last = c.execute(sa.select(sa.func.max(settings_versions.c.version))).scalar() or 0
    change(c, settings_versions, {"id": event.proposal, "state": "proposed"}, state="applied", version=last + 1)


@on(ev.SettingsDiscarded)
def settings_discarded(c: sa.Connection, _: Entry, event: ev.SettingsDiscarded) -> None:
    """Only a proposal can be thrown away."""
    change(c, settings_versions, {"id": event.proposal, "state": "proposed"}, state="discarded")


@on(ev.LevelChanged)
def level_changed(c: sa.Connection, entry: Entry, event: ev.LevelChanged) -> None:
    """One row holds the standing level; running nights above it are lowered. One for a night changes that night."""
    if event.session:
        adjust(c, sessions, {"id": event.session, "state": SessionState.AUTONOMOUS}, level=event.level)
        return
    before = c.execute(sa.select(standing.c.level, standing.c.since)).first()
    since = before.since if before is not None and before.level == event.level else entry.at
    c.execute(standing.delete())
    insert(c, standing, id="level", level=event.level, since=since)
    if event.lowers is None:  # recorded when a running night took every standing level
        adjust(c, sessions, {"state": SessionState.AUTONOMOUS}, level=event.level)
        return
    above = tuple(one for one in Level if running_level(one, event.level) is not one)
    adjust(c, sessions, {"state": SessionState.AUTONOMOUS, "level": above}, level=event.level)


@on(people_events.PersonAdded)
def person_added(c: sa.Connection, entry: Entry, event: people_events.PersonAdded) -> None:
    """A name is one person's at a time."""
    same = sa.select(people.c.id).where(sa.func.lower(people.c.name) == event.name.lower(), people.c.removed.is_(False))
    if c.execute(same).first():
        raise Stale(f"There is a person called {event.name} already.", hint="Choose another name.")
    begin(c, entry, people, event.person, event)


@on(people_events.PersonChanged)
def person_changed(c: sa.Connection, _: Entry, event: people_events.PersonChanged) -> None:
    """Only while the person may log in."""
    change(c, people, {"id": event.person, "removed": False}, role=event.role)


@on(people_events.PersonRemoved)
def person_removed(c: sa.Connection, _: Entry, event: people_events.PersonRemoved) -> None:
    """Their tokens go with them."""
    change(c, people, {"id": event.person, "removed": False}, removed=True)
    c.execute(tokens.update().where(tokens.c.person == event.person).values(revoked=True))


@on(people_events.PersonEntered)
def person_entered(c: sa.Connection, entry: Entry, event: people_events.PersonEntered) -> None:
    """A removed person cannot log in."""
    change(c, people, {"id": event.person, "removed": False}, last_entered_at=entry.at)


for _login in (people_events.PersonInvited, people_events.PersonLeft, people_events.PersonRefused):
    on(_login)(only_written)


@on(people_events.TokenIssued)
def token_issued(c: sa.Connection, entry: Entry, event: people_events.TokenIssued) -> None:
    """It is valid until its date, while its person may log in."""
    begin(c, entry, tokens, event.token, event, issued_by=entry.actor)


@on(people_events.TokenRevoked)
def token_revoked(c: sa.Connection, _: Entry, event: people_events.TokenRevoked) -> None:
    change(c, tokens, {"id": event.token, "revoked": False}, revoked=True)
