"""`night`: every night, with how it went."""

from typing import Any

import typer

from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.listing import lists
from midwatch.surfaces.cli.shell.screen import Columns, moment, show_rows

app = typer.Typer(add_completion=False, rich_markup_mode=None)


def list_nights(*, as_json: bool) -> None:
    """Print the nights and the draft; what was done by command (`midwatch code`) is listed as jobs."""
    columns: Columns = {
        "#": lambda row: row["number"] or "-",
        "state": "state",
        "level": "level",
        "began": lambda row: _when(row["started_at"]),
        "ended": lambda row: _when(row["debrief_at"] or row["ended_at"]),
        "goals": lambda row: "; ".join(row["orders"]["goals"]) or "-",
    }
    rows: list[dict[str, Any]] = [row for row in client.get("/sessions") if _listed(row)]
    show_rows(rows, "No nights yet. Begin one: midwatch brief, then midwatch start", columns, as_json=as_json)


def _listed(row: dict[str, Any]) -> bool:
    """Leave out drafts that were replaced before they were signed: they never were a night."""
    return not row["ad_hoc"] and bool(row["number"] or row["state"] == "briefing")


def _when(stamp: str | None) -> str:
    return moment(stamp) if stamp else "-"


lists(app, list_nights, "List the nights.", example="midwatch night --json")

VERBS = {"night": app}
