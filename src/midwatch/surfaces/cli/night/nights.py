"""`night`: every night, with how it went."""

from typing import Any

import typer

from midwatch.surfaces.cli.shell import client
from midwatch.surfaces.cli.shell.listing import lists
from midwatch.surfaces.cli.shell.screen import Columns, moment, show_rows

app = typer.Typer(add_completion=False, rich_markup_mode=None)


def list_nights(*, as_json: bool) -> None:
    """Print the nights; single commands beside them (`midwatch code`) are listed as jobs."""
    columns: Columns = {
        "#": "number",
        "state": "state",
        "level": "level",
        "began": lambda row: _when(row["started_at"]),
        "ended": lambda row: _when(row["debrief_at"] or row["ended_at"]),
        "goals": lambda row: "; ".join(row["orders"]["goals"]) or "-",
    }
    rows: list[dict[str, Any]] = [row for row in client.get("/sessions") if not row["ad_hoc"]]
    show_rows(rows, "No nights yet. Begin one: midwatch brief, then midwatch start", columns, as_json=as_json)


def _when(stamp: str | None) -> str:
    return moment(stamp) if stamp else "-"


lists(app, list_nights, "List the nights.", example="midwatch night --json")

VERBS = {"night": app}
