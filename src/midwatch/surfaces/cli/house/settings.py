"""`settings`: list with sources, one by its key, propose, diff, apply, discard."""

from typing import Any

import typer
import typer.core

from midwatch.errors import Misuse
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, Columns, good, line, show_json, show_rows


class ByKey(typer.core.TyperGroup):
    """Reads a dotted key as a request to show that setting."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Let `settings agents.claude.model` mean `settings show agents.claude.model`."""
        return super().resolve_command(ctx, ["show", *args] if "." in args[0] else args)


app = typer.Typer(cls=ByKey, add_completion=False, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def listing(
    ctx: typer.Context,
    *,
    changed: bool = typer.Option(False, "--changed", help="Only what differs from its default."),
    every: bool = typer.Option(False, "--all", help="Also those that have no effect yet."),
    as_json: bool = JSON_FLAG,
) -> None:
    """Show the settings with their values and where they came from.

    Example: midwatch settings --changed
    """
    if ctx.invoked_subcommand is None:
        list_settings(changed=changed, every=every, as_json=as_json)


@app.command("list")
def list_settings(
    *,
    changed: bool = typer.Option(False, "--changed", help="Only what differs from its default."),
    every: bool = typer.Option(False, "--all", help="Also those that have no effect yet."),
    as_json: bool = JSON_FLAG,
) -> None:
    """List the settings with their values and where they came from.

    Example: midwatch settings list --json
    """
    rows = client.get("/settings")
    if not every:  # one that a person set is shown: they should learn that it has no effect
        rows = [row for row in rows if not row["waits"] or row["source"] != "default"]
    if changed:
        rows = [row for row in rows if row["source"] != "default"]
    if as_json:
        show_json(rows)
        return
    if not rows:
        typer.echo("Every setting has its default.")
        return
    for row in rows:
        _show(row)


def _show(row: dict[str, Any]) -> None:
    line(f"{row['key']} = {_value(row['value'])}  ({row['source']})", indent="")
    line(row["description"], indent="    ")


@app.command()
def show(key: str, *, as_json: bool = JSON_FLAG) -> None:
    """Show one setting: its value, where it came from and what it means.

    Example: midwatch settings agents.claude.model
    """
    from midwatch.settings.keys import key_named  # noqa: PLC0415  heavy

    known = key_named(key)
    # Keys with a name that the person chose are listed only where they were set.
    silent = {"key": key, "value": known.default, "default": known.default, "source": "default"}
    row = {row["key"]: row for row in client.get("/settings")}.get(key, silent | {"description": known.description})
    if as_json:
        show_json(row)
    else:
        _show(row)


def _value(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _changes(changes: dict[str, Any]) -> str:
    return ", ".join(f"{key}={_value(value)}" for key, value in changes.items())


@app.command()
def propose(
    changes: list[str] = typer.Argument(..., help="key=value, one or more"), note: str = typer.Option("", help="Why.")
) -> None:
    """Propose a change; nothing happens until it is applied.

    Example: midwatch settings propose rounds.interval_seconds=120
    """
    asked = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals:
            raise Misuse(f"{change!r} is not key=value.", hint="midwatch settings propose rounds.interval_seconds=120")
        asked[key.strip()] = value.strip()
    row = client.send("POST", "/settings/proposals", {"changes": asked, "note": note})
    show_diff(row["diff"])
    typer.echo(f"Proposal {row['number']}. Apply it: midwatch settings apply {row['number']}")


@app.command()
def proposals(*, as_json: bool = JSON_FLAG) -> None:
    """List proposals and versions.

    Example: midwatch settings proposals
    """
    columns: Columns = {
        "#": "number",
        "state": "state",
        "version": lambda row: row["version"] or "-",
        "by": "actor",
        "changes": lambda row: _changes(row["changes"]),
    }
    none = "No proposals yet. Make one: midwatch settings propose KEY=VALUE"
    show_rows(client.get("/settings/proposals"), none, columns, as_json=as_json)


@app.command()
def diff(proposal: str) -> None:
    """Show what a proposal would change.

    Example: midwatch settings diff 1
    """
    show_diff(client.get(f"/settings/proposals/{client.part(proposal)}/diff"))


@app.command()
def apply(proposal: str) -> None:
    """Apply a proposal, as the next version.

    Example: midwatch settings apply 1
    """
    row = client.send("POST", f"/settings/proposals/{client.part(proposal)}/apply")
    typer.echo(good(f"Version {row['version']} is in force."))


@app.command()
def discard(proposal: str) -> None:
    """Discard a proposal.

    Example: midwatch settings discard 1
    """
    row = client.send("POST", f"/settings/proposals/{client.part(proposal)}/discard")
    typer.echo(f"Proposal {row['number']} is discarded.")


def show_diff(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        over = f"   (overridden by {row['overruled_by']})" if row["overruled_by"] else ""
        typer.echo(f"  {row['key']}: {row['old']} -> {row['new']}{over}")


VERBS = {"settings": app}
