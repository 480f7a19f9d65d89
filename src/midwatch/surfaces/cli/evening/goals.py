"""`goal` and `work`."""

from typing import Any

import typer

from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.listing import lists
from midwatch.surfaces.cli.shell.screen import Columns, show_rows

goals = typer.Typer(add_completion=False, rich_markup_mode=None)
work = typer.Typer(add_completion=False, rich_markup_mode=None)


def list_goals(*, as_json: bool) -> None:
    none = 'No goals yet. State one: midwatch goal set PROJECT "..."'
    columns: Columns = {
        "goal": "statement",
        "horizon": "horizon",
        "version": lambda row: f"v{row['version']}",
        "status": "status",
    }
    show_rows(client.get("/goals"), none, columns, as_json=as_json)


lists(goals, list_goals, "List current goals.", example='midwatch goal set shop "Fewer warnings" --horizon medium')


@goals.command("set")
def set_goal(
    project: str,
    statement: str,
    horizon: str = typer.Option("short", help="short, medium or long"),
    goal: str = typer.Option("", help="Change the goal with this statement or id: a new version."),
) -> None:
    """State a goal.

    Example: midwatch goal set shop "No red checks on main"
    """
    body = {"project": project, "statement": statement, "horizon": horizon, "goal": goal}
    row = client.send("POST", "/goals", body)
    typer.echo(f"Goal, version {row['version']}: {row['statement']}")


@goals.command()
def close(goal: str, *, dropped: bool = typer.Option(False, "--dropped", help="Drop it; it was not reached.")) -> None:
    """Say that a goal is reached, or dropped.

    Example: midwatch goal close "Fewer warnings"
    """
    row = client.send("POST", f"/goals/{client.part(goal)}/close", {"reached": not dropped})
    typer.echo(f'Goal "{row["statement"]}" is {row["status"]}.')


def list_work(*, as_json: bool) -> None:
    none = 'No work items yet. Add one: midwatch work add PROJECT "..."'
    columns: Columns = {"#": "number", "status": "status", "owner": "owner", "title": _title}
    show_rows(client.get("/work"), none, columns, as_json=as_json)


def _title(row: dict[str, Any]) -> str:
    return f"{row['title']} (next: {row['next_step']})" if row["next_step"] else str(row["title"])


lists(work, list_work, "List work items.", example='midwatch work add shop "Tidy the imports"')


@work.command("add")
def add_work(project: str, title: str, priority: int = typer.Option(3, min=1, max=5)) -> None:
    """Add a work item.

    Example: midwatch work add shop "Tidy the imports"
    """
    row = client.send("POST", "/work", {"project": project, "title": title, "priority": priority})
    typer.echo(f"Work item {row['number']}: {row['title']}")


@work.command("move")
def move_work(
    item: str,
    status: str = typer.Argument(..., help="backlog, in_progress, blocked or done"),
    next_step: str | None = typer.Option(None, help="What comes next."),
) -> None:
    """Change the state of a work item.

    Example: midwatch work move 3 done
    """
    row = client.send("PATCH", f"/work/{client.part(item)}", {"status": status, "next_step": next_step})
    typer.echo(f"Work item {row['number']} is {row['status']}.")


VERBS = {"goal": goals, "work": work}
