"""White space at the ends of lines and files, in kinds of file where it never matters."""

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from midwatch.crew.housekeeper.bounds.editorconfig import EditorConfig
from midwatch.crew.housekeeper.bounds.scope import is_minified, is_template, is_test_data
from midwatch.crew.housekeeper.findings import Seen
from midwatch.crew.housekeeper.tree import Tree, endings

TRAILING, NEWLINE = "trailing-whitespace", "missing-final-newline"
TRIM, INSERT, LINE_END = "trim_trailing_whitespace", "insert_final_newline", "end_of_line"

# For each kind of file, marks of texts that span lines: where one occurs, white space may be content.
SPANNING: dict[str, tuple[bytes, ...]] = {
    **dict.fromkeys((".md", ".markdown", ".rst", ".txt", ".cfg", ".ini", ".css", ".json", ".yml", ".yaml"), ()),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go", ".scss", ".less"), (b"`",)),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".hpp"), (b'R"',)),
    **dict.fromkeys((".java", ".kt", ".swift"), (b'"""',)),
    ".toml": (b'"""', b"'''"),
}
SCRIPTS = (".js", ".mjs", ".cjs", ".css")
RECORDS = re.compile(r"^(changelog|changes|history|news|release|whats-?new)", re.IGNORECASE)
"""Files and folders about past releases: tools write them, and they are not edited afterwards."""
LAWYERS = re.compile(r"^(licen[sc]e|copying|notice|patents)", re.IGNORECASE)


def sightings(tree: Tree, wishes: EditorConfig) -> Iterator[Seen]:
    """Every place where white space may go or a last newline is missing."""
    for path in tree.mine:
        if not _is_safe(path):
            continue
        content = tree.read(path)
        if is_template(path, content) or (path.endswith(SCRIPTS) and is_minified(content)):
            continue
        for line in _trailing_lines(path, content) if not wishes.forbids(path, TRIM) else ():
            yield Seen(TRAILING, path, line, "White space at the end of the line", "housekeeper", kind="whitespace")
        if _lacks_newline(content) and not wishes.forbids(path, INSERT):
            last = content.count(b"\n") + 1
            yield Seen(NEWLINE, path, last, "No newline at the end of the file", "housekeeper", kind="newline")


def strip(path: str, content: bytes) -> bytes:
    """The same text without white space at the ends of lines, or the same bytes where that could change its meaning."""
    lines = content.split(b"\n")
    stripped = b"\n".join(_stripped(path, line, last=at == len(lines) - 1) for at, line in enumerate(lines))
    return stripped if _means_the_same(path, content, stripped) else content


def end_with_newline(content: bytes) -> bytes:
    """The same text with a last newline of the kind it uses already."""
    if not _lacks_newline(content):
        return content
    return content + (b"\r\n" if endings(content) == {b"\r\n"} else b"\n")


def _stripped(path: str, line: bytes, *, last: bool) -> bytes:
    tail = b"" if last or not line.endswith(b"\r") else b"\r"
    body = line.removesuffix(b"\r") if tail else line
    bare = body.rstrip(b" \t")
    # In Markdown two spaces or more after words break the line: two stay.
    is_break = path.endswith((".md", ".markdown")) and bool(bare) and body.endswith(b"  ")
    # A backslash that becomes the last character of a line would continue the line.
    return line if bare.endswith(b"\\") else bare + (b"  " if is_break else b"") + tail


def _trailing_lines(path: str, content: bytes) -> list[int]:
    before, after = content.split(b"\n"), strip(path, content).split(b"\n")
    return [at for at, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new]


def _lacks_newline(content: bytes) -> bool:
    return bool(content.strip()) and not content.endswith(b"\n")


def _is_safe(path: str) -> bool:
    name = PurePosixPath(path).name
    if LAWYERS.match(name) or any(RECORDS.match(part) for part in PurePosixPath(path).parts):
        return False
    return PurePosixPath(path).suffix in SPANNING and not is_test_data(path)


def _means_the_same(path: str, before: bytes, after: bytes) -> bool:
    suffix = PurePosixPath(path).suffix
    if before == after or any(mark in before for mark in SPANNING[suffix]) or b"\r" in before.replace(b"\r\n", b""):
        return before == after
    if suffix in {".yml", ".yaml"}:
        return _yaml_values(before) == _yaml_values(after) != []
    return suffix != ".json" or _json_value(before) == _json_value(after)


def _yaml_values(content: bytes) -> list[str]:
    import yaml  # noqa: PLC0415 - a tenth of the start, and few files are YAML

    try:
        return [e.value for e in yaml.parse(content, Loader=yaml.SafeLoader) if isinstance(e, yaml.ScalarEvent)]
    except (yaml.YAMLError, RecursionError):
        return []


def _json_value(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
