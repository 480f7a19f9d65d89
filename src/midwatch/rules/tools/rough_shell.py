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
_MOST_NO_SUMS: Final = 200
_OPERATORS: Final = re.compile(r"\|\||&&|\|&|;;&?|;&|&>>|&>|>>|>\||>&|<<<|<<-?|<\(|>\(|<&|<>|\(\(|[;|&<>()\n]")
_REDIRECTIONS: Final = frozenset({">", ">>", ">|", ">&", "<", "<&", "<>", "&>", "&>>", "<<<"})
_BEFORE_A_COMMAND: Final = words_of("if then else elif fi while until do done ! { } time coproc esac")
_COMPARES: Final = frozenset({"<", ">", "&&", "||", "(", ")", "|"})
"""What these mean inside `[[ ]]`."""
_NO_COMMANDS: Final = frozenset({"for", "select", "case", "function"})
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")
_VARIABLE: Final = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\}|[0-9@*#?$!-])")
_STREAM: Final = re.compile(r"[0-9]+|\{[A-Za-z_][^\s{}]*\}")
"""What names a stream right before a redirection; it is no word of the command."""
_ESCAPED: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI: Final = re.compile(r"\$'((?:[^'\\]|\\.)*)'?", re.DOTALL)
_TICKED: Final = re.compile(r"`((?:[^`\\]|\\.)*)`?", re.DOTALL)
_JOINED: Final = re.compile(r"[$|&;<>()](?:\\\n)+")
_NOTHING: Final = re.compile(r"[ \t]*\)")
_MARKS: Final = frozenset("$|&;<>()")
_PLAIN: Final = re.compile(r"[^ \t\n'\"\\`$;|&<>()#]+")
_PLAIN_IN_QUOTES: Final = re.compile(r'[^"\\`$]+')
_KNOWN: Final = {"HOME": "~", "PWD": "."}


def _unescaped(found: re.Match[str]) -> str:
    r"""One character of `$'...'`, as far as it matters: `\x73` is a letter, `\n` no name of a program."""
    hexed = found.group(1) or found.group(2) or found.group(3)
    code = int(hexed, 16) if hexed else int(found.group(4), 8) if found.group(4) else -1
    if code < 0:
        return {"n": "\n", "t": "\t"}.get(found.group(5), found.group(5))
    return chr(code) if 0 < code < 0xD800 else " "


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
    keyword: str = ""
    """The keyword before the first word: `time` and `coproc` take words of their own."""
    compared: bool = False
    """Whether a comparison in it has come to its end."""


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
    cases: int = 0
    """How many `case` are open in the innermost substitution: there `)` ends a pattern."""
    pattern: bool = False
    """Whether a further pattern of `case` is being read."""
    nested: bool = False
    """Whether a substitution is being read."""
    no_sums: set[int] = field(default_factory=set)
    """Where doubled parentheses turned out to be no sum."""
    documents: list[tuple[str, bool, bool]] = field(default_factory=list)
    """Here-documents that begin at the next line: each with its last line, whether tabs before that count not, and
    whether the text is quoted, so that no shell puts values in."""

    def commands(self, closing: str) -> None:
        """Read commands up to a closing mark, or to the end."""
        outer, depth, base, cases, nested = self.draft, self.depth, self.base, self.cases, self.nested
        documents, self.documents = self.documents, []
        # What runs in a substitution changes nothing for the commands around it, such as their folder.
        self.draft = _Draft()
        if closing:
            self._deeper()
        self.base, self.cases, self.nested = self.depth, 0, bool(closing) or self.nested
        while self.at < len(self.text):
            if self.text[self.at] == closing and self.depth == self.base and not self._in_words():
                self.at += 1
                break
            self._step(self.text[self.at])
        self._end_command()
        self.draft, self.depth, self.base, self.cases, self.nested = outer, depth, base, cases, nested
        self.documents = documents

    def _in_words(self) -> bool:
        """Whether a `)` here ends a pattern of `case`, or is part of a comparison; `esac` may come right before it."""
        draft = self.draft
        return self._comparing() or self.cases > (draft.word == "esac" and not draft.words and not draft.quoted)

    def _comparing(self) -> bool:
        """Whether this is inside `[[ ]]`."""
        draft = self.draft
        return draft.words[:1] == ["[["] and not draft.compared and draft.word != "]]"

    def _join(self) -> None:
        """Take out the ends of broken lines after a mark: what follows belongs to the mark."""
        while found := _JOINED.match(self.text, self.at):
            self.text = self.text[: self.at + 1] + self.text[found.end() :]
        if self.text[self.at + 1 : self.at + 2] in _MARKS and (found := _JOINED.match(self.text, self.at + 1)):
            self.text = self.text[: self.at + 2] + self.text[found.end() :]

    def _step(self, one: str) -> None:
        if one in _MARKS:
            self._join()
        if one in " \t":
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
        elif self.text.startswith("$'", self.at):
            found = _ANSI.match(self.text, self.at)
            self._add(_ESCAPED.sub(_unescaped, found.group(1)) if found else "", quoted=True)
            self.at = found.end() if found else len(self.text)
        elif self.text.startswith('$"', self.at):
            self.at += 1
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
                self._expansion(quoted=True)
            else:
                self._run_of(_PLAIN_IN_QUOTES)
        self.at += 1

    def _run_of(self, plain: re.Pattern[str]) -> None:
        """Add everything up to the next character that means something."""
        found = plain.match(self.text, self.at)
        run = found.group() if found else self.text[self.at]
        self._add(run)
        self.at += len(run)

    def _expansion(self, *, quoted: bool = False) -> None:
        """What a shell would put in; the commands in it are read too."""
        self._join()
        if self.text[self.at] == "`":
            self._ticked(quoted=quoted)
        elif self.text.startswith("$((", self.at):
            if not self._counted(3, "))"):
                self._substitution(2, ")")
            self._add(HOLE)
        elif self.text.startswith("$[", self.at) and self._counted(2, "]"):
            self._add(HOLE)
        elif self.text.startswith("$(", self.at):
            self._substitution(2, ")")
            self._add(HOLE)
        elif found := _VARIABLE.match(self.text, self.at):
            name = found.group(1) or found.group(2) or ""
            self._add(_KNOWN[name] if name in _KNOWN and not self.draft.word else HOLE)
            self.at = found.end()
        elif self.text.startswith("${", self.at):
            self._braces(quoted=quoted)
        else:
            self._add("$")
            self.at += 1

    def _substitution(self, marks: int, closing: str) -> None:
        self.at += marks
        self.commands(closing)

    def _ticked(self, *, quoted: bool) -> None:
        """Backticks: a shell takes out one layer of backslashes before it reads the commands in them."""
        found = _TICKED.match(self.text, self.at)
        inner = found.group(1) if found else self.text[self.at + 1 :]
        self.at = found.end() if found else len(self.text)
        layer = r'\\(?:\n|([$`\\"]))' if quoted else r"\\(?:\n|([$`\\]))"
        self._inside(re.sub(layer, lambda found: found.group(1) or "", inner))
        self._add(HOLE)

    def _inside(self, text: str, *, document: bool = False) -> None:
        """Read a text of its own: what is in backticks, or a here-document."""
        inner = _Reader(text, depth=self.depth)
        inner._deeper()
        if document:
            inner._values()
        else:
            inner.commands("")
        self.found += inner.found

    def _values(self) -> None:
        """Read what a shell puts into a text that is otherwise data."""
        while self.at < len(self.text):
            one = self.text[self.at]
            if one == "`":
                self._ticked(quoted=False)
            elif one == "$":
                self._expansion(quoted=True)
            else:
                self.at += 2 if one == "\\" else 1

    def _braces(self, *, quoted: bool) -> None:
        """`${name:-$(command)}`: the commands in it are read, the value is not known."""
        self.at += 2
        outer, self.draft = self.draft, _Draft()
        self._deeper()
        while self.at < len(self.text) and self.text[self.at] != "}":
            one = self.text[self.at]
            if one in "$`" or one == '"' or (one == "'" and not quoted):
                self._expansion(quoted=quoted) if quoted and one in "$`" else self._marked(one)
            elif not quoted and self.text.startswith(("<(", ">("), self.at):
                self._substitution(2, ")")
            else:
                self.at += 2 if one == "\\" else 1
        self.at += 1
        self.draft, self.depth = outer, self.depth - 1
        self._add(HOLE)

    def _counted(self, marks: int, closing: str) -> bool:
        """Read a sum, whose values may be commands; without its proper end it is none, and nothing was read."""
        if self.at in self.no_sums:
            return False
        start, text, found, outer = self.at, self.text, len(self.found), self.draft
        opens, closes = ("[", "]") if closing == "]" else ("(", ")")
        self.at, self.draft, inner = self.at + marks, _Draft(), 0
        self._deeper()
        while self.at < len(self.text):
            one = self.text[self.at]
            if inner == 0 and self.text.startswith(closing, self.at):
                self.at += len(closing)
                self.draft, self.depth = outer, self.depth - 1
                return True
            if one == ")" and inner == 0 and closing == "))":
                break
            inner += (one == opens) - (one == closes)
            if one in "$`'\"":
                self._marked(one)
            else:
                self.at += 2 if one == "\\" else 1
        self.at, self.text, self.draft, self.depth = start, text, outer, self.depth - 1
        del self.found[found:]
        self.no_sums.add(start)
        if len(self.no_sums) > _MOST_NO_SUMS:
            raise TooDeep
        return False

    def _operator(self, operator: str) -> None:
        if operator in _COMPARES and self._comparing():
            self._end_word()
        elif operator in {"<(", ">("}:
            self._substitution(0, ")")
            self._add(HOLE)
        elif operator in _REDIRECTIONS or operator in {"<<", "<<-"}:
            self._redirected(operator)
        elif operator == "((":
            self._doubled()
        elif operator in "()":
            self._opened() if operator == "(" else self._closed()
        else:
            self._joined(operator)

    def _doubled(self) -> None:
        """A sum in doubled parentheses; without their end they are two subshells."""
        self.at -= 2
        if not self._counted(2, "))"):
            if "<<" in self.text[self.at :]:  # a shell reads it twice, and here-documents end elsewhere the second time
                raise TooDeep
            self.at += 1
            self._opened()

    def _redirected(self, operator: str) -> None:
        draft = self.draft
        if draft.word is not None and not draft.quoted and _STREAM.fullmatch(draft.word):
            draft.word = None
        self._end_word()
        draft.pending = operator

    def _joined(self, operator: str) -> None:
        if self.pattern and operator == "|":
            self.draft = _Draft()
            return
        self._end_command()
        if operator == "\n":
            self._skip_documents()
        elif operator in {";;", ";&", ";;&"}:
            self.pattern = self.cases > 0

    def _opened(self) -> None:
        """A subshell, a list of values, a pattern, or the empty parentheses of a function."""
        draft = self.draft
        if draft.words[:1] == ["function"]:
            self._end_command()
            if empty := _NOTHING.match(self.text, self.at):
                self.at = empty.end()
            else:
                self._deeper()
        elif draft.word is None and not draft.words:
            self._deeper()
        elif _NOTHING.match(self.text, self.at) and not (draft.word or "").endswith("="):
            self.draft = _Draft()
            self._skip_to(")")
            self.at += 1
        else:
            self._values_in_parentheses()

    def _values_in_parentheses(self) -> None:
        """Words that are no commands; those that a shell runs to get their values are."""
        known, depth = len(self.found), self.depth + 1
        self._substitution(0, ")")
        self.found[known:] = [one for one in self.found[known:] if one.depth > depth]
        self._add(HOLE)

    def _closed(self) -> None:
        """The end of a subshell, or of a pattern of `case`, which is no command."""
        if self.pattern or self.draft.words[:1] == ["case"] or self.depth == self.base:
            self.draft, self.pattern = _Draft(), False
        else:
            self._end_command()
            self.depth -= 1

    def _skip_documents(self) -> None:
        """Pass over the text of the here-documents that begin here: it is data, but for the values put into it."""
        documents, self.documents = self.documents, []
        for ends, tabs, quoted in documents:
            start = self.at
            end = self._end_of_document(ends, tabs=tabs, quoted=quoted)
            if not quoted:
                self._inside(self.text[start:end], document=True)

    def _end_of_document(self, ends: str, *, tabs: bool, quoted: bool) -> int:
        """Go behind the last line of a here-document, and give where its text ended."""
        while self.at < len(self.text):
            start = self.at
            self._skip_to("\n")
            while not quoted and self._is_broken(start):
                self.at += 1
                self._skip_to("\n")
            line = self.text[start : self.at]
            line = line if quoted else line.replace("\\\n", "")
            shown = line.lstrip("\t") if tabs else line
            if shown == ends:
                self.at += 1
                return start
            # Inside a substitution a shell also ends it at a line that begins so and goes on to the closing mark.
            if self.nested and ends and shown.startswith(ends) and ")" in shown[len(ends) :]:
                self.at = (
                    start + self.text[start : self.at].find(ends) + len(ends)
                    if ends in self.text[start : self.at]
                    else self.at
                )
                return start
            self.at += 1
        return len(self.text)

    def _is_broken(self, start: int) -> bool:
        line = self.text[start : self.at]
        return self.at < len(self.text) and (len(line) - len(line.rstrip("\\"))) % 2 == 1

    def _add(self, text: str, *, quoted: bool = False) -> None:
        self.draft.word = (self.draft.word or "") + text
        self.draft.quoted = self.draft.quoted or quoted

    def _end_word(self) -> None:
        draft = self.draft
        if draft.word is None:
            return
        word, plain = draft.word, not draft.quoted
        draft.word, draft.quoted = None, False
        if draft.pending in {"<<", "<<-"}:
            self.documents.append((word, draft.pending == "<<-", not plain))
            draft.pending = ""
        elif draft.pending:
            draft.redirections.append(Redirection(draft.pending, word))
            twice = draft.pending == ">&" and any(mark in word for mark in ("$", "`", "<(", ">("))
            draft.pending = ""
            if twice:  # bash expands this one file a second time, whatever its quotes
                self._inside(f": {word}")
        elif draft.words or not self._comes_before(word, plain=plain):
            self._next_word(word, plain=plain)

    def _comes_before(self, word: str, *, plain: bool) -> bool:
        """Whether a word only comes before a command: a keyword, its option, or an assignment."""
        draft = self.draft
        if plain and word in _BEFORE_A_COMMAND:
            draft.keyword = word
            if word == "esac":
                self.cases, self.pattern = max(0, self.cases - 1), False
            return True
        return bool(_NAME.match(word)) or (draft.keyword == "time" and word in {"-p", "--"})

    def _next_word(self, word: str, *, plain: bool) -> None:
        """Keep a word, unless it begins the body of a loop, a function or a coprocess."""
        draft = self.draft
        first = draft.words[0] if draft.words else ""
        named = draft.keyword == "coproc" and len(draft.words) == 1
        if plain and (
            (first in _NO_COMMANDS - {"case"} and word in {"do", "{"}) or (named and word in _BEFORE_A_COMMAND)
        ):
            draft.words.clear()
            draft.keyword = word
            return
        if plain and not draft.words and word == "case":
            self.cases += 1
        draft.words.append(word)
        draft.compared = draft.compared or word == "]]"

    def _end_command(self) -> None:
        self._end_word()
        draft, self.draft = self.draft, _Draft()
        words = () if draft.words[:1] and draft.words[0] in _NO_COMMANDS else tuple(draft.words)
        if words or draft.redirections:
            self.found.append(RoughCommand(words, tuple(draft.redirections), self.depth))
