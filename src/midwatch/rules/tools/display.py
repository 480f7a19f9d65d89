"""What a tool call would do, word for word, for the person who is asked; hidden characters are made visible."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from midwatch.rules.tools.tool_case import ToolCall, ToolKind, Wish
from midwatch.rules.tools.visible import visible
from midwatch.rules.tools.vocabulary import understood

_OLD_AND_NEW: Final = (("old_string", "new_string"), ("old_source", "new_source"))
_WHOLE: Final = (("change", ""), ("moved_from", "moved from "), ("content", "+"), ("diff", ""))


def shown(call: ToolCall) -> str:
    """Show exactly what would run or change; nothing is cut, so that an approval covers all of it."""
    wish = understood(call)
    if wish.kind is ToolKind.RUN and not wish.malformed:
        return visible(_command(wish))
    if wish.kind is ToolKind.WRITE and not wish.malformed:
        return visible("\n".join((f"{call.tool} {', '.join(dict.fromkeys(wish.paths))}", *_changes(call.input))))
    if wish.kind is ToolKind.FETCH and wish.url:
        return visible(f"{call.tool} {wish.url}")
    return visible(f"{call.tool} {json.dumps(_plain(call.input), ensure_ascii=False, indent=2, sort_keys=True)}")


def _command(wish: Wish) -> str:
    """Words no shell reads are quoted one by one, so that none can pretend to be two."""
    text = " ".join(json.dumps(word, ensure_ascii=False) for word in wish.argv or ()) or wish.command or ""
    # Further lines are marked as a shell marks them, so that none can pretend to be the folder.
    return "$ " + text.replace("\n", "\n> ") + (f"\nin {wish.cwd}" if wish.cwd else "")


def _changes(given: Mapping[str, Any]) -> Iterator[str]:
    """Give the edit as lines taken out and put in."""
    for old, new in _OLD_AND_NEW:
        yield from _marked("-", given.get(old))
        yield from _marked("+", given.get(new))
    for word, mark in _WHOLE:
        yield from _marked(mark, given.get(word))
    edits = given.get("edits")
    for edit in edits if isinstance(edits, (list, tuple)) else ():
        yield from _changes(edit) if isinstance(edit, Mapping) else ()


def _marked(mark: str, text: object) -> Iterator[str]:
    if isinstance(text, str) and text:
        yield from (f"{mark}{line}" for line in text.split("\n"))


def _plain(value: object) -> object:
    """Give a value JSON can write, whatever stood in the call."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value if isinstance(value, (str, int, float, bool)) or value is None else repr(value)
