"""`code --interactive`: a terminal agent in the job's own sandbox, that the person types into (A14)."""

import sys
import time
from typing import Any

import typer

from midwatch.errors import Misuse
from midwatch.surfaces.cli.jobs.logs import OVER
from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.screen import answered, line, wanted
from midwatch.views.text.plain import ISOLATION_MARKS

LOOK_SECONDS = 0.1


def refuse_without_a_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Misuse("An interactive job needs a terminal.", hint="Run it from one, without a pipe.")


def sit_down(job: str) -> None:
    """Wait for the program, type into it until it ends, then ask whether to deliver."""
    from midwatch.surfaces.cli.jobs import terminals  # noqa: PLC0415  heavy

    row = _at_work(job)
    if row["state"] in OVER:
        return
    program = "a plain shell" if row["agent"] == "housekeeper" else row["agent"]
    line(
        f"You type into {program}, {ISOLATION_MARKS[row['isolation']]} ({row['isolation']}). Midwatch does not decide "
        "its tool calls here; the sandbox, egress and limits apply, and quarantine and checks judge the result.",
        indent="",
    )
    typer.echo("End the program when you are done; leave it running with Ctrl-].")
    while row["state"] not in OVER and not _asked(row) and not terminals.sit(row):
        time.sleep(LOOK_SECONDS)
        row = client.get(f"/jobs/{job}")
    _deliver(job)


def _at_work(job: str) -> dict[str, Any]:
    """Wait until its checkout is ready and a worker has claimed it."""
    while True:
        row: dict[str, Any] = client.get(f"/jobs/{job}")
        if row["state"] in OVER or (row["stage"] == "execute" and row["state"] == "running"):
            return row
        time.sleep(LOOK_SECONDS)


def _asked(row: dict[str, Any]) -> dict[str, Any] | None:
    return next((ask for ask in client.get("/asks") if ask["subject"] == row["id"]), None)


def _deliver(job: str) -> None:
    """Ask the question of the inbox here as well: y delivers, anything else keeps the checkout."""
    while True:
        row: dict[str, Any] = client.get(f"/jobs/{job}")
        if row["state"] in OVER or row["stage"] != "execute":
            return
        if ask := _asked(row):
            break
        time.sleep(LOOK_SECONDS)
    pressed = answered(wanted("Deliver? [y/N] ")).lower()
    body = {"answer": "yes" if pressed in {"y", "yes"} else "no", "text": "", "shown_hash": ask["shown_hash"]}
    client.send("POST", f"/asks/{ask['number']}/answer", body)
