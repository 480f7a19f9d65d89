"""Entries about projects, goals, work, settings and the level in words."""

from typing import assert_never

from midwatch.journal.events.projects import (
    GoalClosed,
    GoalSet,
    LevelChanged,
    ProjectAdded,
    ProjectChanged,
    ProjectEvent,
    ProjectRemoved,
    SettingsApplied,
    SettingsDiscarded,
    SettingsProposed,
    WorkAdded,
    WorkChanged,
)
from midwatch.views.entries.groups import Books, Standing
from midwatch.views.text.names import Names
from midwatch.views.text.plain import clean, listed, spaced


def told(event: ProjectEvent, names: Names) -> str:
    """Describe a change of projects, goals, work, settings or the level."""
    if isinstance(event, Standing):
        return _standing(event)
    return _books(event, names)


def _books(event: Books, names: Names) -> str:
    match event:
        case ProjectAdded(project=project):
            text = f"Project {clean(project.name)} was added: {clean(project.path)} ({clean(project.branch)})"
        case ProjectChanged():
            text = f"Project {names.of(event.project, 'settings')} changed: {_changes(event)}"
        case ProjectRemoved(project=name):
            text = f"Project {names.of(name, 'without a name')} was removed"
        case GoalSet():
            text = f"Goal for {names.project(event.project)} ({event.horizon.value}): {clean(event.statement)}"
        case GoalClosed(status=status):
            text = "A goal is reached" if status == "reached" else "A goal was dropped"
        case WorkAdded():
            text = f"Work for {names.project(event.project)} was added: {clean(event.title)}"
        case WorkChanged():
            text = _work(event, names)
        case _:
            assert_never(event)
    return text


def _standing(event: Standing) -> str:
    match event:
        case SettingsProposed(changes=changes):
            text = f"New settings are proposed: {listed(tuple(changes)) or 'none'}"
        case SettingsApplied():
            text = "The proposed settings were applied"
        case SettingsDiscarded():
            text = "The proposed settings were discarded"
        case LevelChanged():
            forced = " (forced)" if event.forced else ""
            why = f": {clean(event.reason)}" if event.reason else ""
            same = event.level is event.previous
            moved = (
                f"stays {event.level.value}" if same else f"changed from {event.previous.value} to {event.level.value}"
            )
            text = f"The level {moved}{forced}{why}"
        case _:
            assert_never(event)
    return text


def _changes(event: ProjectChanged) -> str:
    said = []
    if event.purpose is not None:
        said.append(f"purpose {clean(event.purpose, 80) or 'none'}")
    if event.checks is not None:
        said.append(f"checks {listed(event.checks) or 'none'}")
    if event.priority is not None:
        said.append(f"priority {event.priority}")
    if event.flags is not None:
        said.append(f"flags {', '.join(flag.value for flag in event.flags) or 'none'}")
    return "; ".join(said) or "nothing"


def _work(event: WorkChanged, names: Names) -> str:
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
