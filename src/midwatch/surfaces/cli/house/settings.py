"""`settings`: list with sources, one by its key, propose, diff, apply, discard."""

import shlex
import sys
from typing import Any

import typer
import typer.core

from midwatch.errors import Misuse, Unavailable
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, Columns, good, line, show_json, show_rows, wanted


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
    changes: list[str] | None = typer.Argument(
        None, help="key=value, or list+=value; without, what the preflight names"
    ),
    note: str = typer.Option("", help="Why."),
    *,
    apply_it: bool = typer.Option(False, "--apply", help="Apply it too, after asking."),
    yes: bool = typer.Option(False, "--yes", help="With --apply: do not ask."),
) -> None:
    """Propose a change; nothing happens until it is applied. Without one, show what the last preflight names.

    Example: midwatch settings propose rounds.interval_seconds=120
    """
    asked = _asked(changes) if changes else _named_by_preflight()
    if not asked:
        typer.echo("The last preflight names no setting.")
        return
    if not changes and not apply_it:
        typer.echo(wanted("Write them: midwatch settings propose --apply"))
        return
    if apply_it and not yes and not sys.stdin.isatty():
        again = " ".join(shlex.quote(word) for word in changes or ())
        command = f"midwatch settings propose {again} --apply --yes".replace("  ", " ")
        raise Unavailable(
            "There is no terminal to confirm the change on.", hint=f"Apply it without a question: {command}"
        )
    row = client.send("POST", "/settings/proposals", {"changes": asked, "note": note or _note(changes)})
    show_diff(row["diff"])
    if not apply_it:
        typer.echo(f"Proposal {row['number']}. Apply it: midwatch settings apply {row['number']}")
    elif yes or typer.confirm("Apply it?", default=True):
        _apply(row["number"])
    else:
        client.send("POST", f"/settings/proposals/{client.part(str(row['number']))}/discard")
        typer.echo("Nothing was changed.")


def _asked(changes: list[str]) -> dict[str, str]:
    asked = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals:
            raise Misuse(f"{change!r} is not key=value.", hint="midwatch settings propose rounds.interval_seconds=120")
        asked[key.strip()] = value.strip()
    return asked


def _named_by_preflight() -> dict[str, str]:
    """Print the settings that the last preflight names, each with the lines that need it."""
    rows = client.get("/preflight")["settings"]
    for row in rows:
        line(f"{row['key']}: {row['old'] or 'nothing'} -> {row['new']}", indent="")
        line(f"for {'; '.join(row['lines'])}", indent="    ")
    return {row["key"]: row["new"] for row in rows}


def _note(changes: list[str] | None) -> str:
    return "" if changes else "named by the preflight"


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
    _apply(proposal)


def _apply(proposal: object) -> None:
    row = client.send("POST", f"/settings/proposals/{client.part(str(proposal))}/apply")
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
