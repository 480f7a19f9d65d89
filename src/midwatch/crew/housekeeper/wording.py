"""The sentences a person reads: what is going to be done, what was done, what is left."""

from collections.abc import Iterable

from midwatch.crew.housekeeper import kinds
from midwatch.crew.housekeeper.found import KEPT, Found
from midwatch.crew.housekeeper.pieces import Piece
from midwatch.crew.housekeeper.voice import count, listed


def planned(pieces: list[Piece], left: list[Found], notes: Iterable[str]) -> str:
    """One sentence about the plan."""
    intents = [kinds.kind(p.key).intent(p.places, len(p.changed)) for p in pieces]
    doing = _capital(listed(intents)) if intents else "Nothing to mend"
    return f"{doing}; {needs_a_person(left)}.{_aside(notes)}"


def done(pieces: list[Piece], dropped: int, left: list[Found], notes: Iterable[str]) -> str:
    """One sentence about the work."""
    subjects = [p.subject[0].lower() + p.subject[1:] for p in pieces]
    said = f"Made {count(len(pieces), 'commit')}: {listed(subjects)}" if pieces else "Changed nothing"
    taken = f"; took back {count(dropped, 'piece')} that made checks worse" if dropped else ""
    return f"{said}{taken}; {needs_a_person(left)}.{_aside(notes)}"


def needs_a_person(left: list[Found]) -> str:
    """How much is left, honestly counted."""
    if not left:
        return "nothing is left for a person"
    verb = "needs" if len(left) == 1 else "need"
    more = f" (the gravest {KEPT} are listed)" if len(left) > KEPT else ""
    return f"{count(len(left), 'finding')} {verb} a person{more}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _aside(notes: Iterable[str]) -> str:
    return "".join(f" Note: {note}." for note in notes)
