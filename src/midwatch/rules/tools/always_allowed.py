"""What "always allow here" would add to a project's list, as entries that a person can read and take back."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from midwatch.rules.tools.command_lists import only_looks
from midwatch.rules.tools.shell_parser import Simple, Unclear, split_commands
from midwatch.rules.tools.tool_calls import ToolCall, ToolFacts, ToolKind, ToolOutcome, decide
from midwatch.rules.tools.tool_case import ParsedCall
from midwatch.rules.tools.vocabulary import understood

MOST: Final = 3
"""A person does not read more entries than this before pressing a button."""
_MOST_WORDS: Final = 3
_READABLE: Final = re.compile(r"[A-Za-z][\w:-]{0,60}(?:\([\w ./:=@+*-]{1,80}\))?", re.ASCII)
"""What is seen is what is meant: no hidden letters, no commas, nothing that a button would cut."""


def always_for(call: ToolCall, facts: ToolFacts) -> tuple[str, ...]:
    """Give the entries that would let this call through; nothing where no entry does."""
    wish = understood(call)
    entries = _commands(wish) if wish.kind is ToolKind.RUN else (wish.tool,) if wish.tool else ()
    if not entries or len(entries) > MOST or not all(map(_READABLE.fullmatch, entries)):
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
