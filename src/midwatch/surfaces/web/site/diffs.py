"""A diff as a page shows it: a file tree, each file foldable, lines in colour, unified or side by side."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markupsafe import Markup, escape

from midwatch.surfaces.web.site.page import environment
from midwatch.surfaces.web.site.syntax_colours import Piece, coloured, language_of
from midwatch.terms.term import Term
from midwatch.views.diff.diff import DiffFile, DiffFileKind, DiffLine, Hunk, LineKind, parse
from midwatch.views.diff.shape import DiffFolder, LineSpan, stretches, touched, tree
from midwatch.views.text.plain import marked

OPEN_UP_TO = 400
MOST_LINES = 5_000
LONGEST_LINE = 2_000
GENERATED = (".lock", ".min.js", ".min.css", ".map", ".snap", ".svg", "-lock.json", "-lock.yaml", "go.sum", ".pb.go")
NAMES = {
    DiffFileKind.NEW: "new",
    DiffFileKind.DELETED: "deleted",
    DiffFileKind.RENAMED: "renamed",
    DiffFileKind.COPIED: "copied",
    DiffFileKind.MODE: "mode changed",
    DiffFileKind.CHANGED: "",
}
NOTHING = LineSpan(0, 0)


class FileShown(Term):
    """One file as the template needs it."""

    anchor: str
    name: str
    was: str
    note: str
    added: int
    removed: int
    opened: bool
    left_out: bool
    body: str


def diff_html(text: str, *, command: str = "git diff") -> Markup:
    """Show a full diff; a file that is too long is named, with the command that prints it."""
    diff = parse(text)
    key = hashlib.blake2s(text.encode("utf-8", "replace"), digest_size=5).hexdigest()
    left = MOST_LINES
    files: list[FileShown] = []
    for at, file in enumerate(diff.files):
        fits = file.lines <= left
        left -= file.lines if fits else 0
        files.append(_shown(file, f"d{key}-{at}", fits=fits))
    html = (
        environment()
        .get_template("_diff.html")
        .render(
            files=files,
            tree=_tree(tree(diff.files), files),
            added=sum(file.added for file in diff.files),
            removed=sum(file.removed for file in diff.files),
            left_out=sum(one.left_out for one in files),
            unread=diff.unread,
            command=command,
        )
    )
    return Markup(html)  # noqa: S704  a template with escaping on, and lines escaped below


def _shown(file: DiffFile, anchor: str, *, fits: bool) -> FileShown:
    moved = file.kind in {DiffFileKind.RENAMED, DiffFileKind.COPIED}
    returns = bool(file.hunks) and all(line.text.endswith("\r") for hunk in file.hunks for line in hunk.lines)
    return FileShown(
        anchor=anchor,
        name=marked(file.path),
        was=marked(file.old_path) if moved else "",
        note=_note(file, returns=returns),
        added=file.added,
        removed=file.removed,
        opened=file.lines <= OPEN_UP_TO and not file.path.endswith(GENERATED),
        left_out=not fits,
        body=str(_body(_without_returns(file) if returns else file)) if fits else "",
    )


def _note(file: DiffFile, *, returns: bool) -> str:
    notes = [NAMES[file.kind], "binary" if file.binary else "", "CRLF lines" if returns else ""]
    if file.old_mode and file.new_mode and file.old_mode != file.new_mode:
        notes.append(f"mode {file.old_mode} to {file.new_mode}")
    elif "120000" in {file.new_mode, file.old_mode}:
        notes.append("symbolic link")
    return marked(", ".join(note for note in notes if note))


def _without_returns(file: DiffFile) -> DiffFile:
    """A mark at the end of every line would hide the few that matter; the file's note says it once."""
    hunks = [
        hunk.model_copy(update={"lines": tuple(one.model_copy(update={"text": one.text[:-1]}) for one in hunk.lines)})
        for hunk in file.hunks
    ]
    return file.model_copy(update={"hunks": tuple(hunks)})


def _tree(folder: DiffFolder, files: Sequence[FileShown]) -> Markup:
    inner = [
        Markup('<li class="folder"><span>{}/</span>{}</li>').format(marked(one.name), _tree(one, files))
        for one in folder.folders
    ]
    for at in folder.files:
        file = files[at]
        inner.append(
            Markup(
                '<li><a href="#{}">{}</a> <span class="plus">+{}</span> <span class="minus">&minus;{}</span></li>'
            ).format(file.anchor, file.name.rsplit("/", 1)[-1], file.added, file.removed)
        )
    return Markup("<ul>{}</ul>").format(Markup("").join(inner))


def _body(file: DiffFile) -> Markup:
    language = language_of(file.path)
    return Markup("").join(_hunk(hunk, language) for hunk in file.hunks)


def _hunk(hunk: Hunk, language: str) -> Markup:
    old = _colours(hunk, language, LineKind.ADDED)
    new = _colours(hunk, language, LineKind.REMOVED)
    head = Markup('<div class="hunk">@@ line {} {}</div>').format(hunk.new, marked(hunk.section[:200]))
    parts = [head]
    for stretch in stretches(hunk):
        if stretch[0].kind is LineKind.SAME:
            parts += [_same(line, new) for line in stretch]
        else:
            parts.append(_change(stretch, old, new))
    return Markup("").join(parts)


def _colours(hunk: Hunk, language: str, without: LineKind) -> dict[int, list[Piece]]:
    """Colour one side of a hunk as one text, so that a string over three lines is one string."""
    lines = [line for line in hunk.lines if line.kind is not without]
    pieces = coloured([_cut(line.text) for line in lines], language)
    return {id(line): piece for line, piece in zip(lines, pieces, strict=True)}


def _cut(text: str) -> str:
    over = len(text) - LONGEST_LINE
    return marked(text if over <= 0 else text[:LONGEST_LINE]) + (f" … {over} more characters" if over > 0 else "")


def _same(line: DiffLine, new: dict[int, list[Piece]]) -> Markup:
    code = _code(new[id(line)], NOTHING, ends=line.ends)
    return Markup(
        '<div class="row"><div class="same" data-old="{}" data-new="{}"><code>{}</code></div>'
        '<div class="same twin" data-new="{}" aria-hidden="true"><code>{}</code></div></div>'
    ).format(line.old, line.new, code, line.new, code)


def _change(stretch: Sequence[DiffLine], old: dict[int, list[Piece]], new: dict[int, list[Piece]]) -> Markup:
    removed = [line for line in stretch if line.kind is LineKind.REMOVED]
    added = [line for line in stretch if line.kind is LineKind.ADDED]
    spans: dict[int, LineSpan] = {}
    for before, after in zip(removed, added, strict=False):
        spans[id(before)], spans[id(after)] = touched(_cut(before.text), _cut(after.text))
    rows = [
        Markup('<div class="removed" data-old="{}"><code>{}</code></div>').format(
            line.old, _code(old[id(line)], spans.get(id(line), NOTHING), ends=line.ends)
        )
        for line in removed
    ]
    rows += [
        Markup('<div class="added" data-new="{}"><code>{}</code></div>').format(
            line.new, _code(new[id(line)], spans.get(id(line), NOTHING), ends=line.ends)
        )
        for line in added
    ]
    return Markup('<div class="change">{}</div>').format(Markup("").join(rows))


def _code(pieces: Sequence[Piece], touched_part: LineSpan, *, ends: bool) -> Markup:
    parts = [_piece(*one) for one in _split(pieces, touched_part)]
    if not ends:
        parts.append(Markup('<span class="glyph" title="The file ends without a line break.">⟨no line break⟩</span>'))
    return Markup("").join(parts)


def _piece(kind: str, text: str, changed: bool) -> Markup:  # noqa: FBT001  three facts about one piece
    inner = escape(text) if "⟨U+" not in text else _unseen(text)
    if kind:
        inner = Markup('<span class="{}">{}</span>').format(kind, inner)
    return Markup("<mark>{}</mark>").format(inner) if changed else inner


def _unseen(text: str) -> Markup:
    first, *rest = text.split("⟨U+")
    parts = [escape(first)]
    for one in rest:
        number, closed, after = one.partition("⟩")
        parts.append(
            Markup('<span class="glyph">⟨U+{}⟩</span>{}').format(number, after) if closed else escape(f"⟨U+{one}")
        )
    return Markup("").join(parts)


def _split(pieces: Sequence[Piece], part: LineSpan) -> Iterator[tuple[str, str, bool]]:
    """Cut coloured pieces where the changed part begins and ends."""
    at = 0
    for kind, text in pieces:
        cuts = sorted({0, len(text), *(min(max(edge - at, 0), len(text)) for edge in part)})
        for start, end in pairwise(cuts):
            yield kind, text[start:end], part.start <= at + start and at + end <= part.end
        at += len(text)
