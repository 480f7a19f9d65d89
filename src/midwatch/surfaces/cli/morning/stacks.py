"""`stack`: which branches of the night merge together; merge them as one, or undo that."""

import sys
import time
from typing import Any

import typer

from midwatch.errors import Misuse
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, bad, forget_typed, good, head, line, show_json, wanted
from midwatch.terms.figures import some

app = typer.Typer(add_completion=False, rich_markup_mode=None)
PROJECT = typer.Option("", "--project", "-p", help="A project's name; may be left out where only one has a stack.")
CHECK = "midwatch stack check --project {}"
LOOK_SECONDS = 0.5


@app.callback(invoke_without_command=True)
def show(ctx: typer.Context, project: str = PROJECT, *, as_json: bool = JSON_FLAG) -> None:
    """Show the newest stack: the verified order, and what is left out and why.

    Example: midwatch stack --project shop
    """
    if ctx.invoked_subcommand is not None:
        return
    row = client.get("/stacks/newest", project=project)
    if as_json:
        show_json(row)
    else:
        _show(row)


def _show(row: dict[str, Any]) -> None:
    head(f"{row['project_name']} · stack {row['number']} · {row['headline']}")
    typer.echo(f"  ○ {row['into']} at {row['base'][:12]}")
    for step in row["order"]:
        said = f"{step['title']} (job {step['job_number']}, {some(step['lines'], 'line')}) {step['branch']}"
        line(said, first=f"  ● {step['number']} ")
    for one in row["left_out"]:
        said = f"{one['title']} (job {one['job_number']}): {one['said']}"
        line(said, first=bad(f"  ✕ {one['number']} "), indent="      ")
    for check in row["checks"]:
        ended = good("green") if check["exit_code"] == 0 else bad(f"exit {check['exit_code']}")
        typer.echo(f"  {ended}: {check['command']}")
    if row["why"]:
        line(row["why"])
    _show_what_to_do(row)


def _show_what_to_do(row: dict[str, Any]) -> None:
    name = row["project_name"]
    if row["offered"]:
        does = "Post the order there" if row["elsewhere"] else "Merge the whole order"
        typer.echo(wanted(f"{does}: midwatch stack merge --project {name}"))
    elif row["outdated"]:
        line(f"{' '.join(row['held'])} Check again which open branches go together: {CHECK.format(name)}")
    elif row["held"]:
        line(f"{' '.join(row['held'])} Your verdicts: midwatch review")
    elif row["state"] == "merged":
        typer.echo(good(f"Merged by {row['settled_by']}.") + f" Take it back: midwatch stack undo --project {name}")
        for command in row["undo"]:
            typer.echo(f"  undo: {command}")
    elif row["state"] == "commented":
        typer.echo(good(f"Posted on each pull request by {row['settled_by']}."))
    elif row["state"] == "made":
        typer.echo(f"Check it again: {CHECK.format(name)}")


@app.command()
def merge(project: str = PROJECT, *, yes: bool = typer.Option(False, "--yes", help="Do not ask.")) -> None:
    """Merge the whole verified order and print its undo; on a forge, post the order on each pull request.

    Example: midwatch stack merge --project shop
    """
    row = client.get("/stacks/newest", project=project)
    if row["offered"] and not yes:
        if not sys.stdin.isatty():
            raise Misuse("Merging without a terminal needs --yes.", hint="midwatch stack merge --yes")
        _show(row)
        forget_typed()
        typer.confirm("Do it?", default=True, abort=True)
    row = client.send("POST", f"/stacks/{client.part(row['id'])}/merge")
    if row["state"] == "commented":
        typer.echo(f"Posted the merge order on {len(row['order'])} pull requests.")
        return
    typer.echo(f"Merged {len(row['order'])} branches into {row['into']} as {row['tip'][:12]}.")
    for command in row["undo"]:
        typer.echo(f"  undo: {command}")


@app.command()
def check(project: str = PROJECT, *, as_json: bool = JSON_FLAG) -> None:
    """Check again which open branches merge and stay green together.

    Example: midwatch stack check --project shop
    """
    row = client.send("POST", "/stacks", {"project": project or _only()})
    if not as_json:
        typer.echo(f"Stack {row['number']} is being made; that takes as long as the checks do.", err=True)
    while row["state"] == "making":
        time.sleep(LOOK_SECONDS)
        row = client.get(f"/stacks/{client.part(row['id'])}")
    if as_json:
        show_json(row)
    else:
        _show(row)


def _only() -> str:
    """Name the only project with an open pull request."""
    opened = {row["project"] for row in client.get("/pull_requests") if row["state"] == "open"}
    if len(opened) != 1:
        raise Misuse("Say in which project.", hint="midwatch stack check --project NAME")
    return str(opened.pop())


@app.command()
def undo(project: str = PROJECT) -> None:
    """Undo a merged stack, if its branch has not moved since.

    Example: midwatch stack undo --project shop
    """
    row = client.get("/stacks/newest", project=project)
    row = client.send("POST", f"/stacks/{client.part(row['id'])}/undo")
    typer.echo(f"{row['into']} is back at {row['base'][:12]}; {len(row['order'])} pull requests are open again.")


VERBS = {"stack": app}
