"""`job log`, `job line` and `job attach`: what an agent does, as it does it."""

import json
import shutil
import sys
import time
from typing import Any

import typer

from midwatch.errors import MidwatchError, Misuse, Unknown
from midwatch.surfaces.cli.jobs.stream_lines import show_line
from midwatch.surfaces.cli.night.status import job_line
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import bad

WAIT = 20
"""Seconds one request for a log may stay open."""
OVER = frozenset({"done", "failed", "stopped", "declined", "nothing_delivered"})
PAUSE = 1.0
"""Seconds between two reads without a server."""


def log(
    name: str,
    *,
    follow: bool = typer.Option(False, "--follow", "-f", help="Follow until the job is over; leave with Ctrl-C."),
    raw: bool = typer.Option(False, "--raw", help="Each line as the agent's program wrote it, in its own protocol."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object for each line, for scripts."),
) -> None:
    """Print what the agent said, read, edited, ran and asked, and the cost so far.

    Example: midwatch job log 1 -f
    """
    if raw and as_json:
        raise Misuse("A raw log has no other form.", hint="Leave out --raw or --json.")
    if follow:
        _follow(name, raw=raw, as_json=as_json)
        return
    if raw:
        typer.echo(client.get(f"/jobs/{client.part(name)}/log", raw=True), nl=False)
        return
    place, over, any_lines = "", False, False
    while not over:
        part = client.get(f"/jobs/{client.part(name)}/stream", after=place)
        _print(part["lines"], as_json=as_json)
        any_lines = any_lines or bool(part["lines"])
        over, place = part["over"] or part["next"] == place, part["next"]
    if not any_lines and not as_json:
        typer.echo("Its log is empty.")


def _print(lines: list[dict[str, Any]], *, as_json: bool) -> None:
    for row in lines:
        typer.echo(json.dumps(row, ensure_ascii=False)) if as_json else show_line(row)


def _follow(name: str, *, raw: bool = False, as_json: bool = False) -> None:
    """Continue reading from the current place: from this server, the next one, or the files themselves."""
    place, begun, away = "", False, False
    try:
        while True:
            try:
                place, over = (_raw_from if raw else _lines_from)(name, place, as_json=as_json)
            except MidwatchError as error:
                if not begun or isinstance(error, Misuse | Unknown):
                    raise
                if not away:
                    typer.echo(bad("midwatch: ") + "The server stopped; waiting until it runs again.", err=True)
                away = True
                time.sleep(PAUSE)
                continue
            if over:
                return
            begun, away = True, False
    except KeyboardInterrupt:
        typer.echo("")


def _raw_from(name: str, place: str, *, as_json: bool) -> tuple[str, bool]:
    del as_json
    answer = client.read(f"/jobs/{client.part(name)}/log", **{"raw": True, "from": place or 0, "wait": WAIT})
    typer.echo(answer.value, nl=False)
    return answer.headers["midwatch-next"], answer.headers["midwatch-over"] == "yes"


def _lines_from(name: str, place: str, *, as_json: bool) -> tuple[str, bool]:
    part = client.get(f"/jobs/{client.part(name)}/stream", after=place, wait=WAIT)
    _print(part["lines"], as_json=as_json)
    return part["next"], part["over"]


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
    """Watch a job: its open shell if it has one, else what its agent does, in tmux where there is one.

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
    _follow(name)
