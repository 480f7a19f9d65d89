"""`job steps` and `job plan`: a job's attempts, and the versions of its plan."""

import typer

from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, bad, clock, good, head, line, show_json, table


def steps(name: str, *, as_json: bool = JSON_FLAG) -> None:
    """List each attempt at each stage of a job: how long it took and how it ended.

    Example: midwatch job steps 1
    """
    rows = client.get(f"/jobs/{client.part(name)}/steps")
    if as_json:
        show_json(rows)
        return
    lines = [
        (row["number"], row["stage"], clock(row["began_at"]), row["took"], row["ended"], row["said"]) for row in rows
    ]
    if lines:
        table(lines, "#", "stage", "began", "took", "ended", "said")
    else:
        typer.echo("No attempts yet.")


def plan(name: str, *, as_json: bool = JSON_FLAG) -> None:
    """Show every version of a job's plan, its outcome, and what changed from one to the next.

    Example: midwatch job plan 1
    """
    rows = client.get(f"/jobs/{client.part(name)}/plans")
    if as_json:
        show_json(rows)
        return
    for row in rows:
        by = f" by {row['by']}" if row["by"] else ""
        head(f"Version {row['version']} · {clock(row['at'])} · {row['fate']}{by}")
        line(row["summary"])
        if row["said"]:
            line(row["said"], first="  said: ")
        for one in row["changed"]:
            colour = {"+": good, "-": bad}.get(one["mark"], str)
            typer.echo(f"  {colour(one['mark'] + ' ' + one['text'])}")
    if not rows:
        typer.echo("There is no plan yet.")
