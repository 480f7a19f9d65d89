"""Broken relative links in Markdown: reported, never fixed."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from posixpath import normpath
from urllib.parse import unquote

from midwatch.crew.housekeeper.bounds.scope import is_test_data
from midwatch.crew.housekeeper.findings import Seen
from midwatch.crew.housekeeper.tree import Tree

INLINE = re.compile(r"\]\(\s*([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^)]*\)))?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[(?!\^)[^\]]+\]:\s+([^\s<>]+)(?:\s+[\"'(].*)?$")
FENCE = re.compile(r"^\s*(?:>\s?)*\s*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})(.*)$")
SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
LISTED = re.compile(r"^\s*([-*+]|\d+[.)])\s+")
SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*:|//)")
LABEL = re.compile(r"(?!.*\.(?:md|rst|html?|txt|py|ipynb|png|svg|jpe?g|gif|pdf|css|js|json|ya?ml|toml)$)[\w./-]+")
HOLLOW = frozenset({"", "url", "link", "href", "path", "image", "..."})
SOURCES = (".md", ".mdx", ".markdown", ".rst", ".ipynb", ".adoc")


def sightings(tree: Tree) -> Iterator[Seen]:
    """Every relative link whose target does not exist."""
    # In Sphinx projects what has no file's suffix may be a label, and only the builder knows which exist.
    labels = any(PurePosixPath(p).name == "conf.py" for p in tree.tracked)
    for path in tree.mine:
        if not path.endswith((".md", ".markdown")) or is_test_data(path):
            continue
        for line, target in links(tree.read(path).decode("utf-8")):
            if not (labels and LABEL.fullmatch(target)) and _is_dead(tree, path, target):
                yield Seen("dead-link", path, line, f"Nothing exists at {target}", "housekeeper")


def links(text: str) -> Iterator[tuple[int, str]]:
    """Each link target with its line, code left out."""
    for number, line in _prose(text):
        reference = REFERENCE.match(line)
        for target in [reference.group(1)] if reference else INLINE.findall(line):
            yield number, target


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are neither fenced nor indented code nor comment, with code spans blanked."""
    fence, listing, blank = "", False, True
    for number, line in enumerate(_without_comments(text).splitlines(), 1):
        mark = FENCE.match(line)
        if fence:
            fence = "" if _closes(mark, fence) else fence
            continue
        if mark and "`" not in mark.group(2):
            fence = mark.group(1)
            continue
        if line.strip() and not line.startswith((" ", "\t")):
            listing = bool(LISTED.match(line))
        listing = listing or bool(LISTED.match(line))
        is_code = line.startswith(("    ", "\t")) and blank and not listing
        blank = not line.strip() or is_code
        if not is_code:
            yield number, SPAN.sub(lambda found: " " * len(found.group()), line)


def _closes(mark: re.Match[str] | None, fence: str) -> bool:
    return mark is not None and mark.group(1).startswith(fence) and not mark.group(2).strip()


def _without_comments(text: str) -> str:
    return re.sub(r"<!--.*?-->", lambda found: "\n" * found.group().count("\n"), text, flags=re.DOTALL)


def _is_dead(tree: Tree, path: str, target: str) -> bool:
    if SCHEME.match(target) or target.startswith(("#", "/", "?")) or re.search(r"[{}<>$*|@]|\.\.\.", target):
        return False
    bare = unquote(re.split(r"[#?]", target, maxsplit=1)[0])
    if bare in HOLLOW:
        return False
    place = normpath(str(PurePosixPath(path).parent / bare))
    # Links that climb out of the repository are the forge's own pages, such as ../../issues.
    if place.startswith("..") or place in tree.tracked or place in tree.folders:
        return False
    # What is in a submodule or behind a linked folder cannot be known.
    if any(str(parent) in tree.tracked for parent in PurePosixPath(place).parents):
        return False
    return not _is_a_page(tree, place)


def _is_a_page(tree: Tree, place: str) -> bool:
    """Whether a site builder would make that page from an existing source."""
    stem = re.sub(r"\.html?$", "", place)
    if PurePosixPath(stem).suffix:
        return False
    return any(f"{stem}{end}" in tree.tracked or f"{stem}/index{end}" in tree.tracked for end in SOURCES)
