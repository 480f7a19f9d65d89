"""`project`: add, list, show, change, flag, remove."""

from pathlib import Path
from typing import Any

import typer

from midwatch.errors import Misuse
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.listing import lists
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, Columns, head, line, show_json, show_rows

app = typer.Typer(add_completion=False, rich_markup_mode=None)


def list_projects(*, as_json: bool) -> None:
    columns: Columns = {
        "#": "number",
        "name": "name",
        "branch": "branch",
        "flags": lambda row: ",".join(row["flags"]) or "-",
        "checks": lambda row: len(row["checks"]),
        "path": "path",
    }
    show_rows(client.get("/projects"), "No projects yet. Add one: midwatch project add PATH", columns, as_json=as_json)


lists(
    app,
    list_projects,
    "List the projects.",
    example='midwatch project add ~/code/shop --check "python -m pytest -q"',
)


@app.command()
def add(  # noqa: PLR0913, PLR0917 - each is one plain fact about one project
    path: str = typer.Argument(..., help="A git repository: a folder on this machine, or an https or ssh URL."),
    name: str = typer.Option("", help="What to call it; the folder's name by default."),
    purpose: str = typer.Option("", help="Why it exists."),
    check: list[str] = typer.Option([], help="A command that must pass; repeat for more, or: none"),
    setup: str = typer.Option("", help="Makes a fresh checkout ready; by default as its lockfile asks; or: none"),
    forge: str = typer.Option("", help="Where pull requests are opened; by default where its address says."),
    protect_path: list[str] = typer.Option([], help="A path that no night may change, such as: migrations/**"),
    tool: list[str] = typer.Option([], help="The only tools agents may use; by default all that the sandbox allows."),
    *,
    as_json: bool = JSON_FLAG,
) -> None:
    """Add a repository.

    Example: midwatch project add . --check "make test"
    """
    from midwatch.terms.projects import is_url  # noqa: PLC0415 - it brings pydantic, which listing does not need

    body = {
        "path": path if is_url(path) else str(Path(path).absolute()),
        "name": name,
        "purpose": purpose,
        "checks": check,
        "setup": setup,
        "forge": forge,
        "do_not_touch": protect_path,
        "tools": tool,
    }
    row = client.send("POST", "/projects", body)
    row = client.get(f"/projects/{client.part(row['id'])}")
    if as_json:
        show_json(row)
        return
    typer.echo(f"Added project {row['name']} (branch {row['branch']}).")
    _show_found(row)
    if not row["checks"]:
        typer.echo("Name your own checks, or none:")
        typer.echo(f'  midwatch project change {row["name"]} --check "python -m pytest -q"')
        typer.echo(f"  midwatch project change {row['name']} --check none")


def _show_found(row: dict[str, Any]) -> None:
    """Show the checks and setups that were found in a project which names none."""
    if not row["looked"] and not (row["checks"] and row["setup"]):
        line("Its files are not here yet. The preflight clones it and names what it finds: midwatch preflight")
        return
    for check in row["found_checks"]:
        line(f"{check} (found in it; tried in the evening, by the preflight)", first="  check: ")
    if not row["checks"] and not row["found_checks"]:
        line("none is named and none was found, so nothing proves its work", first="  check: ")
    waiting = [one for one in row["found_setup"] if not one["runs"]]
    for one in row["found_setup"]:
        if one["runs"]:
            line(f"{one['command']} (found: {one['file']} is there; tried in the evening)", first="  setup: ")
        else:
            line(f"{one['command']} (found: {one['file']} is there; not run yet)", first="  setup: ")
    if waiting:
        line(f"Have {'them' if len(waiting) > 1 else 'it'} run: {waiting[0]['fix']}", first=" " * 9)


@app.command()
def show(name: str, *, as_json: bool = JSON_FLAG) -> None:
    """Show one project with its goals and work.

    Example: midwatch project show shop
    """
    row = client.get(f"/projects/{client.part(name)}")
    if as_json:
        show_json(row)
        return
    head(f"{row['name']} · {row['path']} · {row['branch']}")
    line(row["purpose"] or "(no purpose stated)", indent="")
    if row["flags"]:
        typer.echo(f"  flags: {', '.join(row['flags'])}")
    _show_commands(row)
    for goal in row["goals"]:
        line(goal["statement"], first=f"  goal ({goal['horizon']}, v{goal['version']}): ")
    for item in row["work"]:
        line(item["title"], first=f"  work #{item['number']} [{item['status']}] ")


def _show_commands(row: dict[str, Any]) -> None:
    """Show what runs in it, what agents may use and may not touch, and where its work goes."""
    for check in row["checks"]:
        typer.echo(f"  check: {check}")
    if row["setup"]:
        typer.echo(f"  setup: {row['setup']}")
    _show_found(row)
    for path in row["do_not_touch"]:
        line(path, first="  never touched: ")
    for tool in row["tools"]:
        typer.echo(f"  tool: {tool}")
    for tool in row["always_tools"]:
        typer.echo(f"  always allowed: {tool}")
    typer.echo(f"  forge: {row['delivers_to']}{'' if row['forge'] else ' (by its address)'}")


@app.command()
def change(  # noqa: PLR0913, PLR0917 - each is one plain fact about one project
    name: str,
    purpose: str | None = typer.Option(None, help="Why it exists."),
    check: list[str] | None = typer.Option(None, help="The commands that must pass, replacing all; or: none, found"),
    priority: int | None = typer.Option(None, min=1, max=5, help="1 is the most pressing."),
    setup: str | None = typer.Option(None, help='Makes a fresh checkout ready; "" leaves it to its lockfile; or: none'),
    forge: str | None = typer.Option(None, help='Where pull requests are opened; "" leaves it to the address.'),
    protect_path: list[str] | None = typer.Option(
        None, help='The paths that no night may change, replacing all; "" alone removes them.'
    ),
    tool: list[str] | None = typer.Option(None, help="The only tools agents may use, replacing all; or: all"),
) -> None:
    """Change what is given; the rest stays.

    Example: midwatch project change shop --protect-path "migrations/**"
    """
    body = {
        "purpose": purpose,
        "checks": check or None,
        "priority": priority,
        "setup": setup,
        "forge": forge,
        "do_not_touch": protect_path or None,
        "tools": tool or None,
    }
    if all(value is None for value in body.values()):
        raise Misuse("Nothing to change was given.", hint="See: midwatch project change --help")
    row = client.send("PATCH", f"/projects/{client.part(name)}", body)
    typer.echo(f"Project {row['name']} is changed.")


@app.command(name="take-back")
def take_back(name: str, tool: str = typer.Argument(..., help="As project show names it.")) -> None:
    """Take back what agents were always allowed in a project.

    Example: midwatch project take-back shop "Bash(npm run *)"
    """
    row = client.send("POST", f"/projects/{client.part(name)}/tools/take-back", {"tool": tool})
    typer.echo(f"Project {row['name']}: {tool} is no longer always allowed.")


@app.command()
def flag(
    name: str,
    flag: str = typer.Argument(..., help="protected, blocked or skipped"),
    *,
    off: bool = typer.Option(False, "--off", help="Remove the flag."),
) -> None:
    """Protect, block or skip a project; --off undoes it.

    Example: midwatch project flag shop blocked
    """
    row = client.send("POST", f"/projects/{client.part(name)}/flags", {"flag": flag, "on": not off})
    typer.echo(f"Project {row['name']}: {', '.join(row['flags']) or 'no flags'}.")


@app.command()
def remove(name: str) -> None:
    """Remove a project; its history stays, its repository is not touched.

    Example: midwatch project remove shop
    """
    row = client.send("DELETE", f"/projects/{client.part(name)}")
    typer.echo(f"Removed project {row['name']}. Its repository was not touched.")


VERBS = {"project": app}
