"""Does one kind of work on a tree, and writes its commit message."""

import textwrap
from collections import Counter
from dataclasses import dataclass

from midwatch.crew.housekeeper import kinds, text
from midwatch.crew.housekeeper.answers import HousekeeperFinding
from midwatch.crew.housekeeper.findings import FixableFinding
from midwatch.crew.housekeeper.imports import bindings
from midwatch.crew.housekeeper.limits import ChangeBudget, Edit
from midwatch.crew.housekeeper.linter import lower_shield, raise_shield, version
from midwatch.crew.housekeeper.survey import Surveyor
from midwatch.crew.housekeeper.tree import endings
from midwatch.terms.figures import some


@dataclass(frozen=True)
class Piece:
    """One kind of work, done and not yet checked."""

    key: str
    changed: tuple[str, ...]
    places: int

    @property
    def subject(self) -> str:
        return kinds.kind(self.key).subject


def keys_of(found: list[FixableFinding]) -> list[str]:
    """The kinds of work that these findings call for, in order."""
    return kinds.in_order({f.kind for f in found if f.kind})


def work(key: str, surveyor: Surveyor, found: list[FixableFinding], budget: ChangeBudget) -> Piece:
    """Fix every place of one kind; files whose line endings would change or that do not fit are restored."""
    places = [f.finding for f in found if f.kind == key]
    paths = tuple(sorted({p.path for p in places}))
    before = {path: surveyor.tree.read(path) for path in paths}
    by_ruff = tuple(sorted({p.path for p in places if p.tool == "ruff"}))
    if key == kinds.FORMAT:
        surveyor.linter.format(by_ruff)
    elif key == kinds.IMPORTS:
        _remove_imports(surveyor, places)
    else:
        surveyor.linter.apply_fixes(tuple(sorted({p.rule for p in places if p.tool == "ruff"})), by_ruff)
        _fix_text(key, surveyor, tuple(sorted({p.path for p in places if p.tool != "ruff"})))
    settled = [path for path in paths if _settled(surveyor, path, before[path])]
    chosen = budget.choose(key, [Edit(path, before[path], surveyor.tree.read(path)) for path in settled])
    for path in settled:
        if path not in chosen:
            (surveyor.tree.root / path).write_bytes(before[path])
    changed = tuple(path for path in settled if path in chosen)
    return Piece(key=key, changed=changed, places=sum(p.path in changed for p in places))


def message(piece: Piece, found: list[FixableFinding]) -> str:
    """The commit message: what, by which rule, in how many places, and how it was limited."""
    fixed = [f.finding for f in found if f.kind == piece.key and f.finding.path in piece.changed]
    rules = sorted({f.rule for f in fixed})
    where = f"{some(piece.places, 'place')} in {some(len(piece.changed), 'file')}"
    if piece.key == kinds.FORMAT:
        how = f"{some(len(piece.changed), 'file')} rewritten by {version()} with the settings in this repository."
    else:
        how = f"{'Rule' if len(rules) == 1 else 'Rules'} {', '.join(rules)}: {where}."
        if any(f.tool == "ruff" for f in fixed):
            how += f" Python files got the safe fix of {version()}."
        if any(f.tool != "ruff" for f in fixed):
            how += " In text files only the ends of lines or files changed; the kind of line ending is kept."
    return f"{piece.subject}\n\n{textwrap.fill(how, 76)}\n"


def _remove_imports(surveyor: Surveyor, places: list[HousekeeperFinding]) -> None:
    meant = Counter(place.path for place in places)
    kept = {path: rows for path, rows in surveyor.kept_rows().items() if path in meant}
    before = {path: surveyor.tree.read(path) for path in meant}
    for path, rows in kept.items():
        raise_shield(surveyor.tree.root / path, rows)
    surveyor.linter.apply_fixes((kinds.IMPORTS,), tuple(meant))
    for path, content in before.items():
        lower_shield(surveyor.tree.root / path, kept.get(path, set()), content)
        removed = bindings(content) - bindings(surveyor.tree.read(path))
        # Removing one import can expose an earlier one of the same name that was not examined yet.
        if removed.total() > meant[path]:
            (surveyor.tree.root / path).write_bytes(content)


def _fix_text(key: str, surveyor: Surveyor, paths: tuple[str, ...]) -> None:
    for path in paths:
        content = surveyor.tree.read(path)
        fixed = text.strip(path, content) if key == kinds.WHITESPACE else text.end_with_newline(content)
        if fixed != content:
            (surveyor.tree.root / path).write_bytes(fixed)


def _settled(surveyor: Surveyor, path: str, before: bytes) -> bool:
    """Whether the file changed, and only in allowed ways."""
    after = surveyor.tree.read(path)
    # A file of one line has no line ending to go by; .editorconfig may name one.
    if not endings(before) and surveyor.wishes.value(path, text.LINE_END) == "crlf":
        after = after.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        (surveyor.tree.root / path).write_bytes(after)
    if endings(after) - endings(before) and endings(before):
        (surveyor.tree.root / path).write_bytes(before)
        return False
    return after != before
