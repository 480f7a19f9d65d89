"""`status` and `watch`."""

from typing import Any

import typer

from midwatch.surfaces.cli import client
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.screen import JSON_FLAG, clock, good, head, show_json, until, wanted


def status(*, as_json: bool = JSON_FLAG) -> None:
    """Say how things stand.

    Example: midwatch status --json
    """
    now = client.get("/status")
    if as_json:
        show_json(now)
        return
    show_status(now)


def show_status(now: dict[str, Any]) -> None:
    """Print a status in a few lines, what needs the person first."""
    for ask in now["asks"]:
        typer.echo(wanted(f"ask {ask['number']}: ") + ask["question"])
        typer.echo(
            f"  answer: midwatch asks {ask['number']} {ask['options'][0] if ask['options'] else '...'}"
            f"   (silence counts {until(ask['due_at'], now['now'])})"
        )
    night = now["night"]
    if night is None:
        typer.echo(f"No night yet; {now['projects']} projects. Begin: midwatch brief --example > orders.toml")
        return
    mode = "paused: " + night["why_paused"] if night["paused"] else night["state"]
    head(f"Night {night['number']} · {mode} · level {night['level']}")
    typer.echo(
        f"  {night['minutes']:g} of {night['max_minutes']} min · round {night['rounds']} · "
        f"{night['decisions']} decisions, {night['actions']} done"
    )
    for job in now["jobs"]:
        typer.echo(f"  job {job['number']} {job['title']}: {job['stage']} ({job['state']}, {job['agent']})")
    for pr in now["pull_requests"]:
        typer.echo(good(f"  pull request {pr['number']} ") + f"{pr['title']} ({pr['branch']})")
    if now["headline"]:
        typer.echo(f"  {now['headline']}")
    if night["state"] == "debrief":
        typer.echo(wanted("  The brief waits: midwatch morning, then midwatch review"))


def watch(after: int = typer.Option(-1, help="Begin after this entry; by default with the newest 20.")) -> None:
    """Follow the night as it happens; leave with Ctrl-C.

    Example: midwatch watch
    """
    seq = after if after >= 0 else max(0, client.get("/status")["seq"] - 20)
    try:
        while True:
            for entry in client.get("/entries", after=seq, wait=20):
                seq = entry["seq"]
                typer.echo(f"{clock(entry['at'])}  {entry['seq']:>5}  {entry['text']}")
    except KeyboardInterrupt:
        typer.echo("")


VERBS = verbs(status=status, watch=watch)
