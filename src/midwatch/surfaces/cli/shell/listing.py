"""Every noun lists its things the same way: alone, with `list`, and both with `--json`."""

from collections.abc import Callable

import typer

from midwatch.surfaces.cli.shell.screen import JSON_FLAG

ShowList = Callable[..., None]
"""Prints a list; takes `as_json`."""


def lists(app: typer.Typer, show: ShowList, line: str, *, example: str, more: str = "") -> None:
    """Let a noun print its list when it is typed alone, and as `list`."""
    noun = example.split()[1]
    alone = f"{line}\n\n{more}\n\nExample: {example}" if more else f"{line}\n\nExample: {example}"

    @app.callback(invoke_without_command=True, help=alone)
    def bare(ctx: typer.Context, *, as_json: bool = JSON_FLAG) -> None:
        if ctx.invoked_subcommand is None:
            show(as_json=as_json)

    @app.command("list", help=f"{line}\n\nExample: midwatch {noun} list --json")
    def listing(ctx: typer.Context, *, as_json: bool = JSON_FLAG) -> None:
        before = ctx.parent.params if ctx.parent else {}
        show(as_json=as_json or bool(before.get("as_json")))
