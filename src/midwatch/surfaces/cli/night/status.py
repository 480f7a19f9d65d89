"""`status` and `watch`."""

from typing import Any

import typer

from midwatch.errors import Unavailable
from midwatch.surfaces.address import PORT_TAKEN
from midwatch.surfaces.cli.main import verbs
from midwatch.surfaces.cli.night.asks import show_asks
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import (
    JSON_FLAG,
    bad,
    clock,
    good,
    head,
    line,
    moment,
    show_json,
    until,
    wanted,
    width,
)
from midwatch.terms.figures import some
from midwatch.views.text.plain import ISOLATION_MARKS, clean

WAIT = 20
"""Seconds one request for new entries may stay open."""
NEXT = {
    "briefing": "The orders wait for your signature: midwatch brief, then midwatch start",
    "debrief": "The brief waits: midwatch morning, then midwatch review",
}
MANY = 3
"""More questions than this are one line each in the status."""
LONGEST = 160
MOVING = ("job.", "agent.", "model.")
"""Entries after which a job's state or cost may have changed."""
ENDING = ("session.started", "session.ended", "report.")
"""Entries after which a night may have begun or be over."""

NOTHING_YET: dict[str, Any] = {
    "now": None,
    "pages": "",
    "port_taken": 0,
    "troubles": [],
    "seq": 0,
    "projects": 0,
    "night": None,
    "jobs": [],
    "asks": [],
    "pull_requests": [],
    "fuel": [],
    "headline": "",
}
"""The status before the first start."""


def status(*, as_json: bool = JSON_FLAG) -> None:
    """Show the current state.

    Example: midwatch status --json
    """
    running = client.server_answers()
    try:
        now = client.get("/status")
    except Unavailable:
        if running or not as_json or client.home().exists():
            raise
        now = NOTHING_YET  # a script that watches the status need not know whether Midwatch was ever started
    if as_json:
        show_json({"server_running": running} | now)
        return
    if not running:
        waits = f", so night {now['night']['number']} waits" if _night_under_way(now) else ""
        typer.echo(wanted(f"Midwatch is not running{waits}. Start it: midwatch up --detach"))
    show_status(now)


def show_status(now: dict[str, Any]) -> None:
    """Print a status in a few lines, what needs the person first."""
    _show_wanted(now)
    if now["port_taken"]:
        line(PORT_TAKEN.format(taken=now["port_taken"], pages=now["pages"]), indent="")
    night = now["night"]
    if night is None:
        typer.echo(f"No night yet; {some(now['projects'], 'project')}.")
        begin = "midwatch brief --example > orders.toml" if now["projects"] else "midwatch project add PATH"
        typer.echo(f"  Begin: {begin}")
    else:
        _show_night(night)
    for job in now["jobs"]:
        line(job_line(job))
    for fuel in now["fuel"]:
        line(fuel_line(fuel))
    for pr in now["pull_requests"]:
        where = f"of job {pr['job_number']} in {pr['project_name']}"
        typer.echo(good(f"  pull request {pr['number']} ") + f"{where}: {pr['title']}")
        typer.echo(f"    on {pr['branch']}")
    if now["headline"]:
        line(now["headline"])
    if night and night["state"] in NEXT:
        typer.echo(wanted(f"  {NEXT[night['state']]}"))


def _show_wanted(now: dict[str, Any]) -> None:
    for trouble in now["troubles"]:
        typer.echo(wanted(clean(trouble, LONGEST)))
    asks = now["asks"]
    if len(asks) > MANY:
        typer.echo(wanted(f"{len(asks)} questions are for you. Read them: midwatch asks"))
        for ask in asks:
            said = f"Ask {ask['number']} ({silence(ask, now['now'])}): {_where(ask)}{ask['line']}"
            typer.echo(clean(said, width() or LONGEST))
        return
    for ask in asks:
        typer.echo(wanted(f"Ask {ask['number']} is for you ({silence(ask, now['now'])})."))
    show_asks(asks)


def _where(ask: dict[str, Any]) -> str:
    return f"{ask['project_name']}, " if ask["project_name"] else ""


def _show_night(night: dict[str, Any]) -> None:
    mode = "paused: " + night["why_paused"] if night["paused"] else night["state"]
    called = f"Night {night['number']}" if night["number"] else "Orders for tonight"
    head(f"{called} · {mode} · level {night['level']}")
    typer.echo(
        f"  {night['minutes']:g} of {night['max_minutes']} min · round {night['rounds']} · "
        f"{some(night['decisions'], 'decision')}, {night['actions']} done"
    )
    typer.echo(f"  {night['progress']} · {night['spent']}")
    if night["waits_for"]:
        typer.echo(f"  Nothing is at work. {night['waits_for']}")


def job_line(job: dict[str, Any]) -> str:
    """Describe one job's state in a line; a short mark shows its isolation."""
    walls = [ISOLATION_MARKS[job["isolation"]]] if job["isolation"] else []
    who = ", ".join([job["agent"], *walls])
    return f"job {job['number']} in {job['project_name']}, {job['title']}: {job['line']['said']} ({who})"


def fuel_line(fuel: dict[str, Any]) -> str:
    """Say what is left of one limit of a provider, and when it resets."""
    said = bad(fuel["said"]) if fuel["refused"] else fuel["said"]
    resets = f", resets {moment(fuel['resets_at'])}" if fuel["resets_at"] else ""
    return f"{fuel['provider']}, {fuel['limit']} limit: {said}{resets}"


def silence(ask: dict[str, Any], now: str) -> str:
    """Say what happens to an ask without an answer, and when."""
    if not ask["due_at"] or ask["silence"] == "waits":
        return "it waits for you"
    return f"silence means {ask['silence'].replace('_', ' ')} {until(ask['due_at'], now)}"


def watch(
    after: int = typer.Option(-1, help="Begin after this entry; by default with the last few."),
    *,
    every: bool = typer.Option(False, "--all", help="Print every entry, Midwatch's own steps included."),
) -> None:
    """Follow the night as it happens, until its brief is ready; leave earlier with Ctrl-C.

    Example: midwatch watch
    """
    now = client.get("/status")
    seq = after if after >= 0 else max(0, now["seq"] - (20 if every else 100))
    under_way = _night_under_way(now)
    result: dict[str, list[Any]] = {}
    try:
        while True:
            here = client.server_answers()
            entries = client.get("/entries", after=seq, wait=WAIT if here else "")
            _print([entry for entry in entries if every or entry["milestone"]])
            seq = int(entries[-1]["seq"]) if entries else seq
            if any(entry["kind"].startswith(MOVING) for entry in entries):
                result = _lines_that_moved(result)
            if any(entry["kind"].startswith(ENDING) for entry in entries):
                over, under_way = under_way, _night_under_way(client.get("/status"))
                if over and not under_way:
                    typer.echo(wanted(f"Night {over} is over. {NEXT['debrief']}"))
                    return
            if not here:
                raise Unavailable("Midwatch is not running: nothing more will come.", hint="midwatch up --detach")
    except KeyboardInterrupt:
        typer.echo("")


def _print(entries: list[dict[str, Any]]) -> None:
    """Print entries; each is one line, so an ask in one of them was not shown whole."""
    for entry in entries:
        line(entry["text"], first=f"{clock(entry['at'])}  {entry['seq']:>5}  ")


def _night_under_way(now: dict[str, Any]) -> int:
    """Return the number of the night that is not over yet; 0 if there is none."""
    night = now["night"]
    brief = night is None or now["headline"] or night["state"] not in {"autonomous", "debrief"}
    return 0 if brief else int(night["number"])


def _lines_that_moved(answer: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Print the running jobs whose state has changed."""
    jobs = client.get("/status")["jobs"]
    now = {job["id"]: [job["line"][part] for part in ("phase", "requests", "usd_micros")] for job in jobs}
    for job in jobs:
        if answer.get(job["id"]) != now[job["id"]]:
            line(job_line(job), first=" " * 10 + "now    ")
    return now


VERBS = verbs(status=status, watch=watch)
