"""The sentences a person reads: what is going to be done, what was done, what is left."""

from collections.abc import Iterable

from midwatch.crew.housekeeper import kinds
from midwatch.crew.housekeeper.found import KEPT, Found
from midwatch.crew.housekeeper.limits import Waiting
from midwatch.crew.housekeeper.pieces import Piece
from midwatch.crew.housekeeper.voice import count, listed


def planned(pieces: list[Piece], waiting: Waiting, left: list[Found], notes: Iterable[str]) -> str:
    """One sentence about the plan."""
    intents = [kinds.kind(p.key).intent(p.places, len(p.changed)) for p in pieces]
    nothing = "Nothing to fix within the limits" if waiting.places else "Nothing to fix"
    doing = _capital(listed(intents)) if intents else nothing
    return f"{doing}; {_wait(waiting, pieces)}{needs_a_person(left)}.{_aside(notes)}"


def done(pieces: list[Piece], dropped: int, waiting: Waiting, left: list[Found], notes: Iterable[str]) -> str:
    """One sentence about the work."""
    subjects = [p.subject[0].lower() + p.subject[1:] for p in pieces]
    said = f"Made {count(len(pieces), 'commit')}: {listed(subjects)}" if pieces else "Changed nothing"
    taken = f"; took back {count(dropped, 'piece')} that made checks worse" if dropped else ""
    return f"{said}{taken}; {_wait(waiting, pieces)}{needs_a_person(left)}.{_aside(notes)}"


def waits(waiting: Waiting, changed: set[str]) -> str:
    """What the limits left out, as a clause to put before another; empty when nothing was."""
    more, again = waiting.files() - changed - waiting.large_files(), waiting.files() & changed
    parts = [count(len(more), "more file")] if more else []
    if again:
        parts.append(f"more work in {count(len(again), 'changed file')}")
    said = ""
    if parts:
        verb = "waits" if len(parts) == 1 and len(more) <= 1 else "wait"
        limit = "limit is" if len(waiting.because) == 1 else "limits are"
        said = f"{listed(parts)} {verb} for another night: the {limit} {listed(list(waiting.because))}; "
    if large := waiting.large_files():
        verb = "needs" if len(large) == 1 else "need"
        said += f"{count(len(large), 'file')} {verb} a higher limit of lines, the first is {min(large)}; "
    return said


def needs_a_person(left: list[Found]) -> str:
    """How much is left, honestly counted."""
    if not left:
        return "nothing is left for a person"
    verb = "needs" if len(left) == 1 else "need"
    more = f" (the gravest {KEPT} are listed)" if len(left) > KEPT else ""
    return f"{count(len(left), 'finding')} {verb} a person{more}"


def _wait(waiting: Waiting, pieces: list[Piece]) -> str:
    return waits(waiting, {path for piece in pieces for path in piece.changed})


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _aside(notes: Iterable[str]) -> str:
    return "".join(f" Note: {note}." for note in notes)
