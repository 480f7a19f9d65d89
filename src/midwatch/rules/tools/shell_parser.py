"""A command line split into simple commands as a POSIX shell would, or the reason why its text alone is not enough."""

import re
from dataclasses import dataclass, field
from typing import Final

LONGEST: Final = 20_000
"""A person would not read a longer command before approving it."""
_OPERATORS: Final = re.compile(r"\|\||&&|\|&|;;&?|;&|&>>|&>|>>|>\||>&|<<<|<<-?|<&|<>|[;|&<>()\n]")
_REDIRECTIONS: Final = frozenset({">", ">>", ">|", ">&", "<", "<&", "<>", "&>", "&>>"})
_JOINS: Final = frozenset({";", "&&", "||", "|", "|&", "&", "\n"})
_KEYWORDS: Final = "if then else elif fi for while until do done case esac function select coproc { } [[ !"
_GLOB: Final = frozenset("*?[")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
# How Claude Code writes a long commit message: a quoted here-document is text and nothing else. Atomic, because a
# shell ends it at the first such line, whatever follows.
_QUOTED_TEXT: Final = re.compile(r"\$\(cat <<'([A-Z]+)'\n(?>(.*?)(?<=\n)\1\n)[ \t]*\)", re.DOTALL)
# What a shell puts a value in for. A line that goes on after a dollar hides what follows it, and which letters beyond
# ASCII may begin a name depends on the locale.
_EXPANDS: Final = re.compile(r"\$(?:[A-Za-z0-9_{(\['\"@*#!$-]|[^\x00-\x7f]|\\\n)|`")
_EXPANDS_IN_QUOTES: Final = re.compile(r"\$(?:[A-Za-z0-9_{(\[@*#!$-]|[^\x00-\x7f]|\\\n)|`")
_READ_TWICE_ALIKE: Final = re.compile(r"[\w./,:+-]+")
_STREAM: Final = re.compile(r"[0-9]{1,9}")
_NEW_STREAM: Final = re.compile(r"\{.*\}", re.DOTALL)
_SPEAKERS: Final = frozenset({"echo", "printf", "exit", "return", "test", "[", ":", "true"})
"""Where the number in `$?` is only a number."""


@dataclass(frozen=True, slots=True)
class Redirection:
    """Where a stream goes or comes from."""

    operator: str
    target: str

    @property
    def writes(self) -> bool:
        """Whether it can change the target."""
        return self.operator not in {"<", "<&"}

    @property
    def is_stream(self) -> bool:
        """Whether it only joins two streams that are open, such as 2>&1."""
        return self.operator in {">&", "<&"} and bool(_STREAM.fullmatch(self.target) or self.target == "-")


@dataclass(frozen=True, slots=True)
class Simple:
    """One program with its words."""

    words: tuple[str, ...]
    assignments: tuple[str, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    before: str = ""
    """The operator that joins it to the one before."""
    after: str = ""
    expands: tuple[int, ...] = ()
    """Which words a shell replaces by the names of files or of a home."""


class Unclear(ValueError):
    """The text alone does not say what would run."""


@dataclass(slots=True)
class _Reader:
    text: str
    at: int = 0
    tokens: list[tuple[str, str]] = field(default_factory=list)
    """Each with what it is: an `operator`, a `word`, an `assignment` if it comes first, `names` of files, or a word
    with the `status` of the command before."""
    word: str | None = None
    bare: str = ""
    """The part of the word outside quotes."""
    lead: str = ""
    """The part of the word before its first quote."""
    status: bool = False

    def read(self) -> list[tuple[str, str]]:
        while self.at < len(self.text):
            self._step(self.text[self.at])
        self._end_word()
        return self.tokens

    def _step(self, one: str) -> None:
        if one in " \t":
            self._end_word()
            self.at += 1
        elif one == "#" and self.word is None:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif one == "'":
            self._single()
        elif one == '"':
            self._double()
        elif one == "\\":
            self._escape()
        elif found := _OPERATORS.match(self.text, self.at):
            self._operator(found.group())
        else:
            self._plain(one)

    def _plain(self, one: str) -> None:
        if _EXPANDS.match(self.text, self.at):
            raise Unclear("it puts in the value of a variable or the output of a command")
        self.status = self.status or self.text.startswith("$?", self.at)
        if self.word is None or (self.lead and self.word == self.lead):
            self.lead += one
        self._add(one)
        self.bare += one
        self.at += 1

    def _single(self) -> None:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Unclear("a quote is not closed")
        self._add(self.text[self.at + 1 : end])
        self.at = end + 1

    def _double(self) -> None:
        self._add("")
        self.at += 1
        while self.text[self.at : self.at + 1] != '"':
            if self.at >= len(self.text):
                raise Unclear("a quote is not closed")
            self._inside_double()
        self.at += 1

    def _inside_double(self) -> None:
        one, following = self.text[self.at], self.text[self.at + 1 : self.at + 2]
        if one == "\\" and following and following in '$`"\\\n':
            self._add("" if following == "\n" else following)
            self.at += 2
        elif quoted := _QUOTED_TEXT.match(self.text, self.at):
            # Inside a substitution a shell also ends it at a line that only begins with its end and goes on to `)`.
            if any(line.startswith(quoted.group(1)) for line in quoted.group(2).splitlines()):
                raise Unclear("a line of the text begins like its end")
            self._add(quoted.group(2).rstrip("\n"))
            self.at = quoted.end()
        elif _EXPANDS_IN_QUOTES.match(self.text, self.at):
            raise Unclear("it puts in the value of a variable or the output of a command")
        else:
            self.status = self.status or self.text.startswith("$?", self.at)
            self._add(one)
            self.at += 1

    def _escape(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if not following:
            raise Unclear("it ends in the middle of a word")
        if following != "\n":
            self._add(following)
        elif not self._between_words():
            raise Unclear("a line is broken in the middle of a word")
        self.at += 2

    def _between_words(self) -> bool:
        """Whether a broken line leaves every word and operator whole, so that a blank in its place means the same."""
        starts = self.word is None and self.text[max(0, self.at - 1) : self.at] in {"", " ", "\t", "\n"}
        return starts or self.text[self.at + 2 : self.at + 3] in {"", " ", "\t", "\n"}

    def _operator(self, operator: str) -> None:
        # The digit of 2>file names a stream; it is no word of the command.
        directly = self.text[: self.at].endswith(self.lead)  # not `3"">file`
        if operator[0] in "<>" and self.word is not None and self.word == self.lead and directly:
            self._stream(self.lead)
        self._end_word()
        if operator not in _REDIRECTIONS and operator not in _JOINS:
            raise Unclear("it uses a here-document, a subshell or a process in place of a file")
        self.tokens.append((operator, "operator"))
        self.at += len(operator)

    def _stream(self, name: str) -> None:
        if _STREAM.fullmatch(name):
            self._forget()
        elif _NEW_STREAM.fullmatch(name) or (name.isascii() and name.isdecimal()):
            raise Unclear("it names a stream in an unusual way")

    def _add(self, text: str) -> None:
        self.word = (self.word or "") + text

    def _end_word(self) -> None:
        if self.word is None:
            return
        # Braces nest, so their content does not show whether they expand to words.
        if "{" in self.bare and ("," in self.bare or ".." in self.bare):
            raise Unclear("braces expand to several words")
        bare = self.bare.replace("$?", "") if self.status else self.bare
        names = not _GLOB.isdisjoint(bare) or bare.startswith("~")
        if names and self.status:
            raise Unclear("it puts in how the command before ended")
        # Only bare letters name a variable: 'x=/../y' in quotes is a program.
        kind = "assignment" if _NAME.match(self.lead) else "names" if names else "status" if self.status else "word"
        self.tokens.append((self.word, kind))
        self._forget()

    def _forget(self) -> None:
        self.word, self.bare, self.lead, self.status = None, "", "", False


def split_commands(text: str) -> tuple[Simple, ...]:
    """Split a command line; raise Unclear where a shell would compute what runs."""
    if any(ord(one) < 32 and one not in "\n\t" for one in text) or "\x7f" in text:
        raise Unclear("it holds control characters")
    tokens = _Reader(text).read()
    commands: list[Simple] = []
    part: list[tuple[str, str]] = []
    before = ""
    for word, what in [*tokens, ("\n", "operator")]:
        if what != "operator" or word not in _JOINS:
            part.append((word, what))
            continue
        if part:
            commands.append(_simple(part, before, word))
            part, before = [], word
        elif word != "\n":
            raise Unclear("an operator is where a command should be")
    return tuple(commands)


def _simple(part: list[tuple[str, str]], before: str, after: str) -> Simple:
    words: list[str] = []
    assignments: list[str] = []
    redirections: list[Redirection] = []
    expands: list[int] = []
    pending = ""
    for text, what in part:
        if what == "operator" and pending:
            raise Unclear("a redirection has no target")
        if what == "operator":
            pending = text
        elif pending:
            redirections.append(_redirection(pending, text, what))
            pending = ""
        elif not words and what == "assignment":
            assignments.append(text)
        else:
            _require_plain(words, text, what)
            names = what == "names" or (what == "assignment" and not _GLOB.isdisjoint(text))
            expands += [len(words)] if names else []
            words.append(text)
    if pending:
        raise Unclear("a redirection has no target")
    if words and words[0] in _KEYWORDS.split():
        raise Unclear("it is a small program, not a list of commands")
    return Simple(tuple(words), tuple(assignments), tuple(redirections), before, after, tuple(expands))


def _require_plain(words: list[str], text: str, what: str) -> None:
    """Refuse words that mean something else than they say."""
    timed = bool(words) and set(words) <= {"time", "-p", "--"}  # what follows the keyword `time` is a command anew
    if timed and (what == "assignment" or text in _KEYWORDS.split()):
        raise Unclear("it is a small program, not a list of commands")
    if what == "status" and words[:1] and words[0] not in _SPEAKERS:
        raise Unclear("it puts in how the command before ended")
    if what == "status" and not words:
        raise Unclear("it runs what a number names")


def _redirection(operator: str, target: str, what: str) -> Redirection:
    if what == "status":
        raise Unclear("it puts in how the command before ended")
    # Only a home is known by its text; a wildcard becomes the one file it fits, git's own included.
    if what != "word" and not _GLOB.isdisjoint(target):
        raise Unclear("a wildcard is used where a redirection needs one file")
    # Bash expands the file of `>&` a second time, whatever its quotes: `>&'$(command)'` runs it.
    if operator in {">&", "<&"} and not _READ_TWICE_ALIKE.fullmatch(target):
        raise Unclear("a shell reads the file behind it twice")
    return Redirection(operator, target)
