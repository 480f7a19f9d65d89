"""A command line read roughly: its simple commands as far as the text shows them; here-documents are data.

Nothing is refused here. What a shell would compute (variables, output of commands) becomes a hole in its word.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from midwatch.rules.tools.command_lists import words_of
from midwatch.rules.tools.shell_parser import Redirection

HOLE: Final = "\0"
"""Stands in a word for what only a shell can know."""
DEEPEST: Final = 40
_OPERATORS: Final = re.compile(r"\|\||&&|\|&|;;&?|;&|&>>|&>|>>|>\||>&|<<<|<<-?|<\(|>\(|<&|<>|\(\(|[;|&<>()\n]")
_REDIRECTIONS: Final = frozenset({">", ">>", ">|", ">&", "<", "<&", "<>", "&>", "&>>", "<<<"})
_BEFORE_A_COMMAND: Final = words_of("if then else elif fi while until do done ! { } time coproc esac")
_COMPARES: Final = frozenset({"<", ">", "&&", "||", "(", ")", "|"})
"""What these mean inside `[[ ]]`."""
_NO_COMMANDS: Final = frozenset({"for", "select", "case", "function"})
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")
_VARIABLE: Final = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\}|[0-9@*#?$!-])")
_DELIMITER: Final = re.compile(r"[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([^\s;&|<>()'\"]+))")
_PLAIN: Final = re.compile(r"[^\s'\"\\`$;|&<>()#]+")
_PLAIN_IN_QUOTES: Final = re.compile(r'[^"\\`$]+')
_KNOWN: Final = {"HOME": "~", "PWD": "."}


@dataclass(frozen=True, slots=True)
class RoughCommand:
    """One program with its words, as far as they are known."""

    words: tuple[str, ...]
    redirections: tuple[Redirection, ...] = ()
    depth: int = 0
    """How many subshells it is inside."""


class TooDeep(ValueError):
    """The text nests commands more deeply than anybody writes them."""


@dataclass(slots=True)
class _Draft:
    """A command that is being read."""

    words: list[str] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)
    word: str | None = None
    quoted: bool = False
    """Whether any part of the word was quoted: then it is neither a keyword nor an assignment."""
    pending: str = ""
    """A redirection that waits for its target."""


def read_roughly(text: str) -> tuple[RoughCommand, ...]:
    """Give every simple command of a text, those in subshells and substitutions included."""
    reader = _Reader(text.replace("\0", " "))
    reader.commands("")
    return tuple(reader.found)


@dataclass(slots=True)
class _Reader:
    text: str
    at: int = 0
    found: list[RoughCommand] = field(default_factory=list)
    draft: _Draft = field(default_factory=_Draft)
    depth: int = 0
    base: int = 0
    """The depth at which the innermost substitution began."""
    documents: list[tuple[str, bool]] = field(default_factory=list)
    """Here-documents that begin at the next line: each with its last line, and whether tabs before it count not."""

    def commands(self, closing: str) -> None:
        """Read commands up to a closing mark, or to the end."""
        outer, depth, base = self.draft, self.depth, self.base
        # What runs in a substitution changes nothing for the commands around it, such as their folder.
        self.draft = _Draft()
        if closing:
            self._deeper()
        self.base = self.depth
        while self.at < len(self.text):
            if self.text[self.at] == closing and self.depth == self.base:
                self.at += 1
                break
            self._step(self.text[self.at])
        self._end_command()
        self.draft, self.depth, self.base = outer, depth, base

    def _step(self, one: str) -> None:
        if one in " \t\r":
            self._end_word()
            self.at += 1
        elif one == "#" and self.draft.word is None:
            self._skip_to("\n")
        elif one in "'\"\\`$":
            self._marked(one)
        elif found := _OPERATORS.match(self.text, self.at):
            self.at += len(found.group())
            self._operator(found.group())
        else:
            self._run_of(_PLAIN)

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep

    def _skip_to(self, mark: str) -> None:
        end = self.text.find(mark, self.at)
        self.at = len(self.text) if end < 0 else end

    def _marked(self, one: str) -> None:
        """Read one quote, escape or expansion."""
        if one == "'":
            self.at += 1
            start = self.at
            self._skip_to("'")
            self._add(self.text[start : self.at], quoted=True)
            self.at += 1
        elif one == '"':
            self._double()
        elif one == "\\":
            following = self.text[self.at + 1 : self.at + 2]
            if following != "\n":
                self._add(following, quoted=True)
            self.at += 2
        else:
            self._expansion()

    def _double(self) -> None:
        self._add("", quoted=True)
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != '"':
            one = self.text[self.at]
            if one == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                self._add(following if following in '$`"\\' else "" if following == "\n" else one + following)
                self.at += 2
            elif one in "$`":
                self._expansion()
            else:
                self._run_of(_PLAIN_IN_QUOTES)
        self.at += 1

    def _run_of(self, plain: re.Pattern[str]) -> None:
        """Add everything up to the next character that means something."""
        found = plain.match(self.text, self.at)
        run = found.group() if found else self.text[self.at]
        self._add(run)
        self.at += len(run)

    def _expansion(self) -> None:
        """What a shell would put in; the commands in it are read too."""
        if self.text[self.at] == "`":
            self._substitution(1, "`")
        elif self.text.startswith("$((", self.at):
            self._skip_to("))")
            self.at += 2
            self._add(HOLE)
        elif self.text.startswith("$(", self.at):
            self._substitution(2, ")")
        elif found := _VARIABLE.match(self.text, self.at):
            name = found.group(1) or found.group(2) or ""
            self._add(_KNOWN[name] if name in _KNOWN and not self.draft.word else HOLE)
            self.at = found.end()
        elif self.text.startswith("${", self.at):
            self._braces()
        elif self.text.startswith("$'", self.at):
            self.at += 1
        else:
            self._add("$")
            self.at += 1

    def _substitution(self, marks: int, closing: str) -> None:
        self.at += marks
        self.commands(closing)
        self._add(HOLE)

    def _braces(self) -> None:
        """`${name:-$(command)}`: the commands in it are read, the value is not known."""
        self.at += 2
        outer, self.draft = self.draft, _Draft()
        self._deeper()
        while self.at < len(self.text) and self.text[self.at] != "}":
            one = self.text[self.at]
            if one in "$`":
                self._expansion()
            else:
                self.at += 2 if one == "\\" else 1
        self.at += 1
        self.draft, self.depth = outer, self.depth - 1
        self._add(HOLE)

    def _operator(self, operator: str) -> None:
        if self.draft.words[:1] == ["[["] and operator in _COMPARES:
            self._end_word()
        elif operator in {"<(", ">("}:
            self._substitution(0, ")")
        elif operator in {"<<", "<<-"}:
            self._document(operator)
        elif operator in _REDIRECTIONS:
            self._redirected(operator)
        elif operator == "((":
            self._counted()
        elif operator in "()":
            self._opened() if operator == "(" else self._closed()
        else:
            self._joined(operator)

    def _counted(self) -> None:
        """A sum in doubled parentheses; without their end they are two subshells."""
        if self.text.find("))", self.at) < 0:
            self.at -= 1
            self._opened()
        else:
            self._skip_to("))")
            self.at += 2

    def _redirected(self, operator: str) -> None:
        draft = self.draft
        if draft.word is not None and draft.word.isdecimal() and not draft.quoted:
            draft.word = None  # the digit of 2>file names a stream
        self._end_word()
        draft.pending = operator

    def _joined(self, operator: str) -> None:
        self._end_command()
        if operator == "\n":
            self._skip_documents()

    def _opened(self) -> None:
        """A subshell, a list of values, or the empty parentheses of a function."""
        draft = self.draft
        if draft.word is not None and draft.word.endswith("="):
            self._skip_to(")")
            self.at += 1
            self._end_word()
        elif draft.word is not None or draft.words:
            self.draft = _Draft()
            self._skip_to(")")
            self.at += 1
        else:
            self._deeper()

    def _closed(self) -> None:
        """The end of a subshell, or of a pattern of `case`, which is no command."""
        if self.depth > self.base:
            self._end_command()
            self.depth -= 1
        else:
            self.draft = _Draft()

    def _document(self, operator: str) -> None:
        self._end_word()
        if found := _DELIMITER.match(self.text, self.at):
            self.at = found.end()
            ends = next(part for part in found.groups() if part is not None)
            self.documents.append((ends, operator == "<<-"))

    def _skip_documents(self) -> None:
        """Pass over the text of the here-documents that begin here: it is data."""
        for ends, tabs in self.documents:
            while self.at < len(self.text):
                start = self.at
                self._skip_to("\n")
                line = self.text[start : self.at]
                self.at += 1
                if (line.lstrip("\t") if tabs else line) == ends:
                    break
        self.documents.clear()

    def _add(self, text: str, *, quoted: bool = False) -> None:
        self.draft.word = (self.draft.word or "") + text
        self.draft.quoted = self.draft.quoted or quoted

    def _end_word(self) -> None:
        draft = self.draft
        if draft.word is None:
            return
        word, plain = draft.word, not draft.quoted
        draft.word, draft.quoted = None, False
        if draft.pending:
            draft.redirections.append(Redirection(draft.pending, word))
            draft.pending = ""
        elif draft.words or not ((plain and word in _BEFORE_A_COMMAND) or _NAME.match(word)):
            draft.words.append(word)

    def _end_command(self) -> None:
        self._end_word()
        draft, self.draft = self.draft, _Draft()
        words = () if draft.words[:1] and draft.words[0] in _NO_COMMANDS else tuple(draft.words)
        if words or draft.redirections:
            self.found.append(RoughCommand(words, tuple(draft.redirections), self.depth))
