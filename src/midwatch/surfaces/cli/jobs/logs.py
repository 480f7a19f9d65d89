"""`job log`, `job line` and `job attach`: what an agent writes, as it writes it."""

import json
import shutil
import sys
import time
from typing import Any

import typer

from midwatch.errors import MidwatchError, Misuse, Unknown
from midwatch.surfaces.cli.night.status import job_line
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import bad, line

WAIT = 20
"""Seconds one request for a log may stay open."""
OVER = frozenset({"done", "failed", "stopped", "declined", "nothing_delivered"})
PAUSE = 1.0
"""Seconds between two reads without a server."""


def log(
    name: str,
    *,
    follow: bool = typer.Option(False, "--follow", "-f", help="Follow until the job is over; leave with Ctrl-C."),
    raw: bool = typer.Option(False, "--raw", help="As the agent wrote it, one JSON object a line."),
) -> None:
    """Print the agent's own log.

    Example: midwatch job log 1 -f
    """
    if follow:
        _follow(name, raw=raw)
        return
    text = client.get(f"/jobs/{client.part(name)}/log")
    if text:
        _print(text, raw=raw)
    elif not raw:
        typer.echo("Its log is empty.")


def _print(text: str, *, raw: bool) -> None:
    if raw:
        typer.echo(text, nl=False)
        return
    for result in text.splitlines():
        line(said_in(result), indent="")


def said_in(text: str) -> str:
    """Return the message in one line of a log; any other line is returned as it is."""
    try:
        return str(json.loads(text)["text"])
    except (ValueError, KeyError, TypeError):
        return text


def _follow(name: str, *, raw: bool) -> None:
    """Continue reading from the current place: from this server, the next one, or the files themselves."""
    place, begun, away = 0, False, False
    try:
        while True:
            try:
                answer = client.read(f"/jobs/{client.part(name)}/log", **{"from": place, "wait": WAIT})
            except MidwatchError as error:
                if not begun or isinstance(error, Misuse | Unknown):
                    raise
                if not away:
                    typer.echo(bad("midwatch: ") + "The server stopped; waiting until it runs again.", err=True)
                away = True
                time.sleep(PAUSE)
                continue
            begun, away = True, False
            _print(answer.value, raw=raw)
            upto = int(answer.headers["midwatch-next"])
            if answer.headers["midwatch-over"] == "yes":
                return
            place = upto
    except KeyboardInterrupt:
        typer.echo("")


def live_line(
    name: str,
    *,
    follow: bool = typer.Option(False, "--follow", "-f", help="Draw it again whenever it changes, until it is over."),
) -> None:
    """Show a job's state in one line.

    Example: midwatch job line 1 -f
    """
    before = ""
    try:
        while True:
            row, said = _standing(name)
            if said != before:
                typer.echo(said)
                before = said
            if not follow or row.get("over"):
                return
            time.sleep(PAUSE)
    except KeyboardInterrupt:
        typer.echo("")


def _standing(name: str) -> tuple[dict[str, Any], str]:
    try:
        row: dict[str, Any] = client.get(f"/jobs/{client.part(name)}")
    except Unknown:
        raise
    except MidwatchError as error:
        return {}, error.message
    row["isolation"] = row["isolation"] if row["worker"] else ""
    row["over"] = row["state"] in OVER
    return row, job_line(row) + (f": {row['why']}" if row["why"] else "")


def attach(
    name: str,
    *,
    no_tmux: bool = typer.Option(False, "--no-tmux", help="Only follow the log, here."),
) -> None:
    """Watch a job: its open shell if it has one, else its log, in tmux where there is one.

    Leave a shell running with Ctrl-]. Example: midwatch job attach 2
    """
    row = client.get(f"/jobs/{client.part(name)}")
    from midwatch.surfaces.cli.jobs import terminals  # noqa: PLC0415  heavy

    if terminals.attach_living(row):
        return
    if not no_tmux and sys.stdout.isatty():
        if shutil.which("tmux"):
            from midwatch.surfaces.cli.jobs.tmux import view  # noqa: PLC0415

            view(row["number"])
            return
        typer.echo("tmux is not installed, so the log is followed here.", err=True)
    _follow(name, raw=False)
