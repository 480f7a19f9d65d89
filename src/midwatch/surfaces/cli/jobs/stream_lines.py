"""An agent's stream in a terminal: one word in front of each line, colours only where there is a terminal."""

import textwrap
from collections.abc import Callable, Mapping
from typing import Any, Final

import typer

from midwatch.surfaces.cli.shell.screen import bad, clock, width

WHEN, WORD = 10, 10
"""The width of the columns in front."""
LEAST: Final = 24
"""In a narrower terminal long lines are not broken."""
QUIET: Final = frozenset({"midwatch", "read", "searched", "fetched", "exit", "answered", "waits"})
LOUD: Final = frozenset({"began", "ended", "planned", "asked"})
Say = Callable[[str], None]


def show_line(row: Mapping[str, Any], say: Say = typer.echo) -> None:
    """Print one line of a stream; long text is broken at words below its beginning, the cost so far is on the right."""
    room = width() - WHEN - WORD
    note, spent = str(row["note"]), str(row["spent"])
    free = room - len(spent) - 2 if spent else room
    first, *rest = [piece for text in str(row["text"]).split("\n") for piece in _broken(text, free)]
    if note and not rest and (room < LEAST or len(first) + len(note) + len(spent) + 4 <= room):
        taken, first, note = len(f"{first}  {note}"), f"{first}  {dim(note)}" if first else dim(note), ""
    else:
        taken = len(first)
    gap = max(2, room - taken - len(spent))
    word = str(row["word"]).ljust(WORD) if first or spent else str(row["word"])
    front = f"{dim(clock(row['at']).ljust(WHEN))}{_coloured(row, word)}{first}"
    say(f"{front}{'':{gap}}{dim(spent)}" if spent else front)
    for piece in rest:
        say(f"{'':{WHEN + WORD}}{piece}".rstrip())
    for piece in _broken(note, room) if note else ():
        say(f"{'':{WHEN + WORD}}{dim(piece)}")


def dim(text: str) -> str:
    return typer.style(text, dim=True) if text.strip() else text


def _coloured(row: Mapping[str, Any], word: str) -> str:
    if row["bad"]:
        return bad(word)
    if row["does"] in QUIET:
        return dim(word)
    return typer.style(word, bold=True) if row["does"] in LOUD else word


def _broken(text: str, room: int) -> list[str]:
    """Break a line at words; its own indent stays."""
    if room < LEAST or len(text) <= room:
        return [text]
    own = " " * min(len(text) - len(text.lstrip()), LEAST // 2)
    return textwrap.wrap(
        text.strip(), room, initial_indent=own, subsequent_indent=own, break_on_hyphens=False, break_long_words=False
    )
