"""`job open`, `job resume` and `job discard`: what a job left on disk."""

from typing import Any

import typer

from midwatch.errors import Unknown
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import JSON_FLAG, line, show_json, wanted
from midwatch.terms.figures import size


def look(
    name: str,
    command: list[str] = typer.Argument(None, help="With --shell: what to run instead of your shell."),
    *,
    shell: bool = typer.Option(False, "--shell", help="Open a shell in it, in the sandbox its agent had."),
    as_json: bool = JSON_FLAG,
) -> None:
    """Show a job's newest checkout and what exists only there.

    Example: midwatch job open 1 --shell
    """
    row = client.get(f"/jobs/{client.part(name)}")
    if shell:
        from midwatch.surfaces.cli.jobs.terminals import open_shell  # noqa: PLC0415  heavy

        open_shell(row, tuple(command or ()))
        return
    kept = client.get(f"/jobs/{client.part(name)}/checkouts")
    if as_json:
        show_json(kept)
        return
    if not kept:
        raise Unknown(
            f"Job {row['number']} has no checkout any more.",
            hint=f"What it delivered: midwatch job diff {row['number']}",
        )
    show(kept[-1], row["number"], others=len(kept) - 1)


def show(kept: dict[str, Any], number: int, *, others: int) -> None:
    """Print one checkout; its path comes first on its own line, so that a script can read it."""
    typer.echo(kept["tree"])
    where = f"on {kept['branch']} " if kept["branch"] else ""
    typer.echo(f"  {where}at {kept['head'][:12] or 'no commit'}, {size(kept['bytes'])}")
    for one in kept["unique"]:
        line(wanted("nowhere else: ") + one)
    if not kept["unique"]:
        typer.echo("  all of it is in the mirror")
    if others:
        typer.echo(f"  {others} older too: midwatch job open {number} --json")
    line("An agent wrote in it, so run nothing there yourself, not even git. In its sandbox you can:")
    typer.echo(f"  midwatch job open {number} --shell")


def resume(name: str) -> None:
    """Resume a failed or stopped job in its checkout.

    Example: midwatch job resume 2
    """
    row = client.send("POST", f"/jobs/{client.part(name)}/resume")
    typer.echo(f"Job {row['number']} continues it, from {row['stage']}.")


def discard(
    name: str,
    *,
    force: bool = typer.Option(False, "--force", help="Also if work that exists only there would be lost."),
) -> None:
    """Delete a job's checkouts; refused where work would be lost, unless forced.

    Example: midwatch job discard 2
    """
    answer = client.send("POST", f"/jobs/{client.part(name)}/discard", {"force": force})
    typer.echo(f"The checkouts of job {answer['number']} were deleted; {size(answer['freed_bytes'])} freed.")
