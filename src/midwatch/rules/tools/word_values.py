"""Which words of a command may name files: patterns, delimiters, messages and other text that a program takes do not.

Whatever is not known here for certain may be a path.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Final

from midwatch.rules.tools.command_lists import attached, bare_name, git_verb


@dataclass(frozen=True, slots=True)
class _Options:
    """What a program takes as text; a letter or a name that is not here may take a path."""

    text: str = ""
    """Letters that take text."""
    flags: str = ""
    """Letters that take nothing."""
    long: frozenset[str] = frozenset()
    """Long options that take text, which may be the next word."""
    joined: frozenset[str] = frozenset()
    """Long options that take text only behind `=`, or nothing."""
    pattern: bool = False
    """Whether the first plain word is a pattern, unless an option gave one."""
    ends: bool = False
    """Whether its options end at the first plain word."""


def _options(text: str, flags: str, long: str = "", joined: str = "", *, pattern: bool = False) -> _Options:
    longs, joins = (frozenset(f"--{name}" for name in names.split()) for names in (long, joined))
    return _Options(text, flags, longs, joins, pattern)


_GREP: Final = _options(
    "emABC",
    "ivwxncHhlLoqsrREFGPTUZaby",
    "regexp max-count after-context before-context context include exclude exclude-dir label",
    "color colour ignore-case recursive line-number fixed-strings extended-regexp count only-matching invert-match",
    pattern=True,
)
_SEARCHED: Final = _options(
    "SG",
    "piEFwbzartumc",
    "grep author committer since until after before date glob",
    "format pretty branches tags remotes decorate oneline stat name-only all reverse patch",
)
_TEXT: Final[dict[str, _Options]] = {
    "cut": _options("dfbc", "nsz", "delimiter fields bytes characters output-delimiter"),
    "sort": _options("tkS", "bdfgiMhnRrVmCcsuz", "field-separator key buffer-size parallel"),
    "paste": _options("d", "sz", "delimiters"),
    "join": _options("taevo", "iz"),
    "nl": _options("bdfhilnsvw", "p", "body-numbering section-delimiter number-separator number-format number-width"),
    "column": _options("s", "tx", "separator output-separator"),
    "tac": _options("s", "br", "separator"),
    "numfmt": _options("d", "z", "delimiter"),
    "xargs": _Options("dInPLsE", "0rtxpo", frozenset({"--delimiter", "--max-args", "--max-procs"}), ends=True),
    "rg": _options(
        "egmABCtTjrMd",
        "ivwxncHlLoqsSFPUuaN0p.",
        "regexp glob iglob type type-not max-count max-depth replace context sort color",
        "hidden no-ignore ignore-case files-with-matches count line-number fixed-strings only-matching multiline",
        pattern=True,
    ),
    **dict.fromkeys(("grep", "egrep", "fgrep"), _GREP),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _Options("F", long=frozenset({"--field-separator"}), ends=True)),
}
_GIT_TEXT: Final[dict[str, _Options]] = {
    "commit": _options("m", "apsvqneioz", "message author date trailer cleanup", "amend no-edit no-verify signoff all"),
    "tag": _options("m", "aflid", "message format sort"),
    "merge": _options("m", "nqve", "message", "no-ff ff-only squash no-edit"),
    "stash": _options("m", "kuapqS", "message", "include-untracked keep-index"),
    "grep": _options("emABC", "ivwxncHhlLoqrEFGPaIpWz", "max-depth", "cached untracked count", pattern=True),
    **dict.fromkeys(("log", "show", "diff", "rev-list", "reflog"), _SEARCHED),
}
_NOTHING_KNOWN: Final = _Options()
_SPEAKERS: Final = frozenset({"tr", "echo", "printf", "basename", "dirname", "seq"})
"""They open no file, whatever their words."""
_PATTERN_LETTERS: Final = frozenset("ef")
_PATTERN_NAMES: Final = frozenset({"--regexp"})


def path_values(argv: Sequence[str], expands: Set[int] = frozenset()) -> Iterator[str]:
    """Give what may be a path: plain words, and values written together with their options.

    `expands` are the words that a shell may make more words of; none of those is taken for text.
    """
    if bare_name(argv[0]) in _SPEAKERS:
        yield from (argv[at] for at in sorted(expands))
        return
    options, words = _known(argv)
    wild = {at - len(argv) + len(words) for at in expands}
    yield from _Reading(options, words, wild).paths()


def _known(argv: Sequence[str]) -> tuple[_Options, Sequence[str]]:
    program = bare_name(argv[0])
    if program != "git":
        return _TEXT.get(program, _NOTHING_KNOWN), argv[1:]
    verb, rest = git_verb(argv)
    return (_GIT_TEXT[verb], rest) if verb in _GIT_TEXT else (_NOTHING_KNOWN, argv[1:])


@dataclass(frozen=True, slots=True)
class _Reading:
    """The words of one command, read from the left as its program does."""

    options: _Options
    words: Sequence[str]
    wild: Set[int]

    def paths(self) -> Iterator[str]:
        pattern_due = self._starts_with_a_pattern()
        at, sure = 0, True
        while at < len(self.words):
            word = self.words[at]
            if word == "--":
                break
            if not _is_option(word):
                if not pattern_due or at in self.wild:
                    yield from (word, *attached(word))
                pattern_due = False
                if self.options.ends:
                    break
                sure = True
            else:
                yield from self._attached(word)
                takes = sure and self._takes_next(word) and at + 1 not in self.wild
                sure = takes or self._takes_nothing(word)
                at += takes
            at += 1
        yield from (value for word in self.words[at + 1 :] for value in _any_values(word))

    def _starts_with_a_pattern(self) -> bool:
        """Whether no option gives the pattern; one that is not known might."""
        given = [word for word in self.words if _is_option(word)]
        return self.options.pattern and all(map(self._gives_no_pattern, given))

    def _gives_no_pattern(self, word: str) -> bool:
        if word.startswith("--"):
            return word.partition("=")[0] in (self.options.long | self.options.joined) - _PATTERN_NAMES
        end = self._text_from(word)
        letters = word[1 : end + 1]
        known = all(letter in self.options.flags or letter.isdigit() for letter in word[1:end])
        return known and _PATTERN_LETTERS.isdisjoint(letters)

    def _text_from(self, word: str) -> int:
        """The first letter whose text is the rest of the word, or begins with the next one."""
        return next((at for at, letter in enumerate(word) if at and letter in self.options.text), len(word))

    def _takes_next(self, word: str) -> bool:
        if word.startswith("--"):
            return word in self.options.long
        return self._text_from(word) == len(word) - 1 and all(letter in self.options.flags for letter in word[1:-1])

    def _takes_nothing(self, word: str) -> bool:
        if word.startswith("--"):
            return "=" in word or word in self.options.joined
        return all(letter in self.options.flags or letter.isdigit() for letter in word[1 : self._text_from(word)])

    def _attached(self, word: str) -> Sequence[str]:
        """Give the values that may be attached, up to the first letter whose text is the rest."""
        values = attached(word)
        # Where an option before it takes the whole word, it lies below a folder called like that; `..` leaves it.
        if ".." in word.split("/"):
            return values
        if word.startswith("--"):
            return () if word.partition("=")[0] in self.options.long | self.options.joined else values
        return values[: self._text_from(word) - 1]


def _is_option(word: str) -> bool:
    return word.startswith("-") and word not in {"-", "--"}


def _any_values(word: str) -> Iterator[str]:
    if not word.startswith("-"):
        yield word
    yield from attached(word)
