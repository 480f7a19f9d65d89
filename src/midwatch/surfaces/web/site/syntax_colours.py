"""Syntax colours: pygments reads a few well-known languages, and six classes are all a page needs."""

from collections.abc import Sequence
from functools import cache

from pygments.lexer import Lexer  # type: ignore[import-untyped]
from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
from pygments.token import (  # type: ignore[import-untyped]
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    String,
    Token,
    _TokenType,
)

Piece = tuple[str, str]
"""A class, or nothing, and the text."""
MOST = 20_000
"""A longer stretch stays without colour: lexers are not made for hostile text."""
LANGUAGES = {
    "py": "python", "pyi": "python", "js": "javascript", "mjs": "javascript", "jsx": "javascript", "ts": "typescript",
    "tsx": "typescript", "json": "json", "toml": "toml", "yaml": "yaml", "yml": "yaml", "ini": "ini", "cfg": "ini",
    "html": "html", "css": "css", "sh": "bash", "bash": "bash", "sql": "sql", "rs": "rust", "go": "go", "java": "java",
    "kt": "kotlin", "c": "c", "h": "c", "cpp": "cpp", "cc": "cpp", "hpp": "cpp", "cs": "csharp", "rb": "ruby",
    "php": "php", "swift": "swift", "dockerfile": "docker", "makefile": "make", "mk": "make",
}  # fmt: skip
CLASSES = (
    (Comment, "c"),
    (String, "s"),
    (Number, "m"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Tag, "f"),
    (Name.Decorator, "b"),
    (Name.Builtin, "b"),
    (Name.Attribute, "b"),
)


def language_of(path: str) -> str:
    """Return the language by the file's name, or nothing."""
    name = path.rsplit("/", 1)[-1].lower()
    return LANGUAGES.get(name.rsplit(".", 1)[-1], "")


def coloured(lines: Sequence[str], language: str) -> list[list[Piece]]:
    """Colour lines that belong together; without a language, or too long, they stay as they are."""
    whole = "\n".join(lines)
    if not language or len(whole) > MOST:
        return [[("", line)] for line in lines]
    done: list[list[Piece]] = [[]]
    for _, token, text in _lexer(language).get_tokens_unprocessed(whole):
        first, *rest = text.split("\n")
        _put(done[-1], token, first)
        for line in rest:
            done.append([])
            _put(done[-1], token, line)
    # A lexer that lost or invented a character must not change what a reviewer reads.
    if "\n".join("".join(text for _, text in line) for line in done) != whole:
        return [[("", line)] for line in lines]
    return done if lines else []


def _put(line: list[Piece], token: _TokenType, text: str) -> None:
    kind = _class(token)
    if text and line and line[-1][0] == kind:
        line[-1] = (kind, line[-1][1] + text)
    elif text:
        line.append((kind, text))


@cache
def _class(token: _TokenType) -> str:
    return next((name for kind, name in CLASSES if token in kind), "") if token is not Token else ""


@cache
def _lexer(language: str) -> Lexer:
    return get_lexer_by_name(language)
