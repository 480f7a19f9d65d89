"""Plain output for people and scripts: aligned columns, quiet colour, JSON on request."""

import getpass
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import typer

from midwatch.errors import Misuse

LEAST = 24
"""A column narrower than this is harder to read than a line that is too long."""
STYLE = re.compile(r"\x1b\[[0-9;]*m")
Columns = Mapping[str, str | Callable[[Any], object]]
"""The columns of a table: the field of a row, or what to make of the row."""
JSON_FLAG = typer.Option(False, "--json", help="Print one JSON document for scripts.")


def show_json(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def show_json_list(rows: Iterable[Any]) -> None:
    """Print one JSON list while its rows come."""
    before = "["
    for row in rows:
        typer.echo(before + json.dumps(row, ensure_ascii=False), nl=False)
        before = ",\n"
    typer.echo("]" if before != "[" else "[]")


def width() -> int:
    """Return how wide the screen is; 0 where it is unknown, as in a pipe: then no line is broken."""
    return shutil.get_terminal_size((0, 24)).columns


def line(text: str, *, first: str = "", indent: str = "  ") -> None:
    """Print one long text, broken at words, with the rest indented."""
    taken = max(len(STYLE.sub("", first)), len(indent))
    for number, piece in enumerate(_broken(text, taken)):
        typer.echo((first or indent if number == 0 else " " * taken) + piece)


def _broken(text: str, taken: int) -> list[str]:
    room = width() - taken
    if room < LEAST:
        return [text]
    return textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [text]


def exactly(text: str, *, indent: str) -> None:
    """Print text in full with its lines; invisible characters are written as numbers."""
    for piece in text.rstrip("\n").split("\n") if text else ():
        typer.echo(indent + "".join(one if one.isprintable() or one == "\t" else _number(one) for one in piece))


def _number(one: str) -> str:
    return f"\\u{{{ord(one):x}}}"


def table(rows: Sequence[Sequence[object]], *heads: str) -> None:
    """Print aligned columns; the last one may be long and is broken at words."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in [list(heads), *texts]) for at in range(len(heads))]
    typer.echo(typer.style(_line(heads, widths), dim=True))
    taken = sum(widths[:-1]) + 2 * (len(widths) - 1)
    for row in texts:
        pieces = _broken(row[-1], taken)
        typer.echo(_line([*row[:-1], pieces[0]], widths))
        for piece in pieces[1:]:
            typer.echo(" " * taken + piece)


def show_rows(rows: list[Any], none: str, columns: Columns, *, as_json: bool) -> None:
    """Print a list: as JSON, as a table with a field or a function for each column, or what to say of none."""
    if as_json:
        show_json(rows)
    elif not rows:
        typer.echo(none)
    else:
        table([[row[of] if isinstance(of, str) else of(row) for of in columns.values()] for row in rows], *columns)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def forget_typed() -> None:
    """Drop what was typed before a question appeared: it was meant for something else."""
    if sys.stdin is not None and sys.stdin.isatty():
        import termios  # noqa: PLC0415  only a terminal needs it

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def answered(prompt: str) -> str:
    """Ask for a line."""
    forget_typed()
    return input(prompt).strip()


def pressed() -> str:
    """Wait for one key."""
    forget_typed()
    return typer.getchar()


def agreed(question: str) -> bool:
    """Ask for a yes or a no; Enter is a yes."""
    forget_typed()
    return typer.confirm(question, default=True)


def asked_hidden(prompt: str, *, hint: str) -> str:
    """Ask for a secret: hidden at a terminal, one line from a pipe; never as an argument, which others can read."""
    value = (getpass.getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline()).strip()
    if not value:
        raise Misuse("Nothing was entered, so nothing was stored.", hint=hint)
    return value


def head(text: str) -> None:
    for piece in _broken(text, 0):
        typer.echo(typer.style(piece, bold=True))


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


def day(stamp: str) -> str:
    """Show which day a moment falls on, on this machine's clock."""
    return datetime.fromisoformat(stamp).astimezone().strftime("%A, %d %B %Y")


def moment(stamp: str) -> str:
    """Show a moment on this machine's clock, with its day: a limit may reset days from now."""
    return datetime.fromisoformat(stamp).astimezone().strftime("%a %d %b, %H:%M")


def until(stamp: str | None, now: str) -> str:
    """Say how long is left."""
    if not stamp:
        return "waits for you"
    left = (datetime.fromisoformat(stamp) - datetime.fromisoformat(now)).total_seconds()
    if left <= 0:
        return "now"
    return f"in {left / 60:.0f} min" if left >= 90 else f"in {left:.0f} s"


def score_text(score: float | None) -> str:
    return "-" if score is None else f"{score:.2f}"
