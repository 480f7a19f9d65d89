"""Lists of tools: which bind a job, what an entry is, and which entries would always allow a call."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from midwatch.errors import Misuse
from midwatch.rules.tools.command_law import patterns
from midwatch.rules.tools.command_lists import only_looks
from midwatch.rules.tools.shell_parser import Simple, Unclear, split_commands
from midwatch.rules.tools.tool_calls import ToolCall, ToolFacts, ToolKind, ToolOutcome, decide
from midwatch.rules.tools.tool_case import ParsedCall
from midwatch.rules.tools.vocabulary import understood

_ENTRY: Final = re.compile(r"[A-Za-z][\w.:-]{0,99}(?:\([^\n]{1,200}\))?")
_MOST_ENTRIES: Final = 3
"""A person does not read more entries than this before pressing a button."""
_MOST_WORDS: Final = 3
_READABLE: Final = re.compile(r"[A-Za-z][\w:-]{0,60}(?:\([\w ./:=@+*-]{1,80}\))?", re.ASCII)
"""What is seen is what is meant: no hidden letters, no commas, nothing that a button would cut."""


_WILD: Final = re.compile(r"[*?\[]")
_NAME_VERBS: Final = frozenset({("git",), ("bun",), ("bunx",)})


@dataclass(frozen=True, slots=True)
class ToolLists:
    """The lists there are, from the widest to the narrowest."""

    settings: tuple[str, ...]
    chosen: bool = False
    """Whether a person set the settings' list; the one that comes with Midwatch does not bind inside walls."""
    project: tuple[str, ...] = ()
    work: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    """What a person always allows in this project; it counts as named by each list."""

    @property
    def written(self) -> tuple[tuple[str, ...], ...]:
        """The lists that a person wrote: a call must be on each of them."""
        own = ((self.settings,) if self.chosen else ()) + tuple(one for one in (self.project, self.work) if one)
        return tuple((*one, *self.always) for one in own)

    @property
    def without_walls(self) -> tuple[str, ...]:
        """The list that binds where walls are weak: what a person wrote, else the one that comes with Midwatch."""
        return self.written[0] if self.written else (*self.settings, *self.always)

    def told(self, *, walled: bool) -> tuple[str, ...]:
        """What an agent's prompt says that it may use; nothing where everything runs."""
        if self.written:
            return self.written[-1]
        return () if walled else self.without_walls


def require_tools(tools: Iterable[str]) -> None:
    """Refuse what is no entry of a list of tools when a person writes it."""
    for tool in tools:
        if not _ENTRY.fullmatch(tool):
            raise Misuse(f"{tool!r} is not a tool.", hint="Write it as Read, Edit(src/**) or Bash(npm run *).")


def is_inside(tool: str, granted: Iterable[str]) -> bool:
    """Whether one of the granted entries means all that this one does.

    A bare name means all of its tool, `Bash(npm *)` also `Bash(npm test *)`, and `Edit(src/**)` what is below `src/`.
    Anything else must be granted as it is written.
    """
    known = set(granted)
    if {tool, tool.partition("(")[0]} & known:
        return True
    return any(_narrower_command(tool, one) or _narrower_path(tool, one) for one in known)


def _narrower_command(tool: str, granted: str) -> bool:
    """Git and bun need some verbs named, so a longer pattern of theirs can mean more than a shorter one."""
    for wanted, given in zip(patterns((tool,)), patterns((granted,)), strict=False):
        start = given[:-1]
        plain = not any(_WILD.search(word) for word in (*start, *wanted[: -1 if wanted[-1:] == ("*",) else None]))
        open_ended = given[-1:] == ("*",) and bool(start)
        means_all = start[:1] not in _NAME_VERBS or (start[:1] == ("git",) and len(start) > 1)
        return plain and open_ended and means_all and wanted[: len(start)] == start
    return False


def _narrower_path(tool: str, granted: str) -> bool:
    folder = granted.removesuffix("**)")
    name, opened, base = folder.partition("(")
    if folder == granted or name == "Bash" or not opened or not base.endswith("/") or _WILD.search(base):
        return False
    return tool.startswith(folder) and ".." not in tool[len(folder) : -1].split("/")


def always_for(call: ToolCall, facts: ToolFacts) -> tuple[str, ...]:
    """Give the entries that would let this call through; nothing where no entry does."""
    wish = understood(call)
    entries = _commands(wish) if wish.kind is ToolKind.RUN else (wish.tool,) if wish.tool else ()
    if not entries or len(entries) > _MOST_ENTRIES or not all(map(_READABLE.fullmatch, entries)):
        return ()
    wider = replace(
        facts,
        allowed_tools=(*facts.allowed_tools, *entries),
        narrowing=tuple((*tools, *entries) for tools in facts.narrowing),
    )
    return entries if decide(call, wider).outcome is ToolOutcome.ALLOW else ()


def _commands(wish: ParsedCall) -> tuple[str, ...]:
    try:
        commands = (Simple(wish.argv),) if wish.argv is not None else split_commands(wish.command or "")
    except Unclear:
        return ()
    named = [one.words for one in commands if one.words and one.words[0] != "cd" and not only_looks(one.words)]
    return tuple(dict.fromkeys(f"Bash({' '.join(_meant(words))} *)" for words in named))


def _meant(words: Sequence[str]) -> Sequence[str]:
    """A program with its verb: `npm install`, `python -m pytest`, `make`."""
    at = next((at for at, word in enumerate(words[1:], 1) if not word.startswith("-")), 0)
    return words[: min(at + 1, _MOST_WORDS)] if at else words[:1]
