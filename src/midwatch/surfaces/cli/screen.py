"""Plain output for people and scripts: aligned columns, quiet colour, JSON on request."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import typer

JSON_FLAG = typer.Option(False, "--json", help="Print one JSON object for scripts.")


def show_json(value: Any) -> None:
    """Print JSON with stable names."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def table(rows: Sequence[Sequence[object]], *heads: str) -> None:
    """Print aligned columns; the last one may be long."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in [list(heads), *texts]) for at in range(len(heads))]
    typer.echo(typer.style(_line(heads, widths), dim=True))
    for row in texts:
        typer.echo(_line(row, widths))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def head(text: str) -> None:
    """Print a heading."""
    typer.echo(typer.style(text, bold=True))


def wanted(text: str) -> str:
    """Colour what needs a person; nothing else is amber."""
    return typer.style(text, fg="yellow")


def good(text: str) -> str:
    """Colour what went well."""
    return typer.style(text, fg="green")


def bad(text: str) -> str:
    """Colour what went wrong."""
    return typer.style(text, fg="red")


def clock(stamp: str | None) -> str:
    """Show a moment on this machine's clock."""
    return datetime.fromisoformat(stamp).astimezone().strftime("%H:%M:%S") if stamp else ""


def until(stamp: str | None, now: str) -> str:
    """Say how long is left."""
    if not stamp:
        return "waits for you"
    left = (datetime.fromisoformat(stamp) - datetime.fromisoformat(now)).total_seconds()
    if left <= 0:
        return "now"
    return f"in {left / 60:.0f} min" if left >= 90 else f"in {left:.0f} s"
