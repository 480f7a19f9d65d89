"""Entries about projects, goals, work, settings and the level in words."""

from typing import assert_never

from midwatch.journal.events import people as people_events
from midwatch.journal.events import projects as ev
from midwatch.journal.events.preflight import (
    PreflightBegun,
    PreflightChecked,
    PreflightEnded,
    PreflightEvent,
    SigningAsked,
    SigningDropped,
)
from midwatch.terms.preflight import LineState
from midwatch.views.entries.groups import Backlog, Standing
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean, listed, spaced


def sentence(event: ev.ProjectEvent, names: Names) -> str:
    """Describe a change of projects, goals, work, settings or the level."""
    if isinstance(event, Standing):
        return _standing(event, names)
    return _backlog(event, names)


def _backlog(event: Backlog, names: Names) -> str:
    match event:
        case ev.ProjectAdded(project=project):
            text = f"Project {clean(project.name)} was added: {clean(project.path)} ({clean(project.branch)})"
        case ev.ProjectChanged():
            text = f"Project {names.of(event.project, 'settings')} changed: {_changes(event)}"
        case ev.ProjectRemoved(project=name):
            text = f"Project {names.of(name, 'without a name')} was removed"
        case ev.GoalSet():
            text = f"Goal for {names.project(event.project)} ({event.horizon.value}): {clean(event.statement)}"
        case ev.GoalClosed(status=status):
            text = "A goal is reached" if status == "reached" else "A goal was dropped"
        case ev.WorkAdded():
            text = f"Work for {names.project(event.project)} was added: {clean(event.title)}"
        case ev.WorkChanged():
            text = _work(event, names)
        case _:
            assert_never(event)
    return text


def _level(event: ev.LevelChanged, names: Names) -> str:
    level, before = event.level.value, event.previous.value
    why = (" (forced)" if event.forced else "") + (f": {clean(event.reason)}" if event.reason else "")
    if event.session:
        return f"The level of this night is {level}{why}; the standing level stays {before}"
    moved = f"stays {level}" if event.level is event.previous else f"changed from {before} to {level}"
    if event.lowers is None:
        return f"The level {moved}{why}"
    text = f"The standing level {moved}{why}"
    if nights := tuple(names.of(one, "a night") for one in event.lowers):
        return f"{text}; {listed(nights, 5)} {'is' if len(nights) == 1 else 'are'} lowered to {level}"
    raised = event.level.rank > event.previous.rank
    return f"{text}; a night that runs keeps its signed level" if raised else text


def _standing(event: Standing, names: Names) -> str:
    match event:
        case ev.SettingsProposed(changes=changes):
            text = f"New settings are proposed: {listed(tuple(changes)) or 'none'}"
        case ev.SettingsApplied():
            text = "The proposed settings were applied"
        case ev.SettingsDiscarded():
            text = "The proposed settings were discarded"
        case ev.ToolAlwaysAllowed(project=name, tools=tools):
            text = f"Always allowed in {names.project(name)}: {listed(tools, 5)}"
        case ev.ToolTakenBack(project=name, tool=tool):
            text = f"No longer always allowed in {names.project(name)}: {clean(tool, 80)}"
        case ev.LevelChanged():
            text = _level(event, names)
        case _:
            assert_never(event)
    return text


def _changes(event: ev.ProjectChanged) -> str:
    said = []
    if event.purpose is not None:
        said.append(f"purpose {clean(event.purpose, 80) or 'none'}")
    if event.checks is not None:
        said.append(f"checks {listed(event.checks) or 'none'}")
    if event.tools is not None:
        said.append(f"tools {listed(event.tools) or 'as the orders and the settings say'}")
    if event.priority is not None:
        said.append(f"priority {event.priority}")
    if event.do_not_touch is not None:
        said.append(f"protected paths {listed(event.do_not_touch) or 'none'}")
    if event.flags is not None:
        said.append(f"flags {', '.join(flag.value for flag in event.flags) or 'none'}")
    return "; ".join(said) or "nothing"


def _work(event: ev.WorkChanged, names: Names) -> str:
    said = [f"is {spaced(event.status.value)}"] if event.status is not None else []
    if event.title is not None:
        said.append(f"is now called {clean(event.title, 80)}")
    if event.owner is not None:
        said.append("waits for a person" if event.owner == "human" else "goes to an agent")
    if event.priority is not None:
        said.append(f"has priority {event.priority}")
    step = f"; next: {clean(event.next_step)}" if event.next_step else ""
    why = f" ({clean(event.why)})" if event.why else ""
    return f"Work {names.of(event.item, 'item')} {', '.join(said) or 'is noted'}{step}{why}"


Listed = (
    people_events.PersonAdded
    | people_events.PersonChanged
    | people_events.PersonRemoved
    | people_events.TokenIssued
    | people_events.TokenRevoked
)
"""Who may log in."""
Passing = (
    people_events.PersonInvited | people_events.PersonEntered | people_events.PersonLeft | people_events.PersonRefused
)
"""Logins and logouts."""
WHY = {"password": "wrong name or password", "throttled": "too many attempts", "link": "the link is used up or too old"}


def person_sentence(event: people_events.PeopleEvent) -> str:
    """Describe a change of access, or a login."""
    if isinstance(event, Listed):
        return _listed(event)
    return _passing(event)


def _listed(event: Listed) -> str:
    match event:
        case people_events.PersonAdded():
            text = f"{clean(event.name)} was added as {event.role}"
        case people_events.PersonChanged():
            text = f"A person's role is now {event.role}"
        case people_events.PersonRemoved():
            text = "A person's access was removed"
        case people_events.TokenIssued():
            text = f"A token was made: {clean(event.name, 60)} ({', '.join(event.scopes)})"
        case people_events.TokenRevoked():
            text = "A token was revoked"
        case _:
            assert_never(event)
    return text


def _passing(event: Passing) -> str:
    match event:
        case people_events.PersonInvited(person=""):
            text = f"A one-time link for a new {event.role} was made"
        case people_events.PersonInvited():
            text = "A one-time link for a new password was made"
        case people_events.PersonEntered():
            text = f"A person logged in by {event.way}"
        case people_events.PersonLeft():
            text = "A person logged out everywhere" if event.everywhere else "A person logged out"
        case people_events.PersonRefused():
            text = f"{clean(event.name, 60) or 'Unknown'} could not log in: {WHY[event.why]}"
        case _:
            assert_never(event)
    return text


MARKS = {LineState.OK: "ready", LineState.LOOK: "worth a look", LineState.BAD: "not ready"}


def preflight_sentence(event: PreflightEvent) -> str:
    match event:
        case PreflightBegun(plan=plan):
            projects = listed(tuple(one.name for one in plan.projects)) or "the machine"
            text = f"A preflight of {projects} began"
        case PreflightChecked(subject=subject, text=said, state=state):
            text = f"Preflight, {MARKS[state]}: {clean(subject)}: {clean(said, 360)}"
        case PreflightEnded(error=error):
            text = f"The preflight failed: {clean(error)}" if error else "The preflight ended"
        case SigningAsked(by=by):
            text = f"{clean(by)} pressed Sign; the orders are signed when the preflight finds nothing bad"
        case SigningDropped(why=why):
            text = f"The orders were not signed: {clean(why, 360)}"
        case _:
            assert_never(event)
    return text
